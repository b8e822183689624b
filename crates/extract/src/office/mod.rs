//! Office documents and books: XML inside zip archives.

mod cell_formats;
mod epub;
mod flow;
mod open_document;
mod package;
mod sheets;
mod slides;
mod word;
mod xml;

pub(crate) use epub::read_epub;
pub(crate) use open_document::read_open_document;
pub(crate) use sheets::read_sheets;
pub(crate) use slides::read_slides;
pub(crate) use word::read_word;
