//! Documents and where they come from.
//!
//! - [`Document`]: `{url, title, body}` and further fields.
//! - [`Reader`]: a stream of documents out of files, folders and standard input; bad ones are
//!   counted and reported, never fatal.
//! - [`machine`]: the documentation that is on this machine already.

pub mod document;
pub mod json_line;
pub mod reader;

mod file;
mod folder;
mod html;
mod input;
mod json_lines;
mod roff;
mod rust_docs;

pub mod machine;

pub use document::{Document, site_of, url_hash};
pub use input::open_decompressed;
pub use json_line::LineError;
pub use machine::MachineRoots;
pub use reader::{BadDocument, Progress, Reader, ReaderError, Source};
