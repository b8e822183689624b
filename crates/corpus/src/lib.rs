//! Documents and their sources.
//!
//! - [`Document`]: `{url, title, body}` and further fields.
//! - [`Reader`]: a stream of documents from files, folders and standard input. Bad documents are counted and reported,
//!   never fatal. [`Extract`]: documents inside archives, mail, office documents and PDF. [`PassedOver`]: input that is named and not read. [`FileLimits`]: limits on the input from one file.
//! - [`machine`]: the documentation installed on this machine.

pub mod document;
pub mod json_line;
pub mod reader;

pub mod extraction;
pub mod limits;
pub mod passed_over;

mod arguments;
mod body;
mod collection;
mod contained;
mod field_names;
mod file;
mod folder;
mod front_matter;
#[cfg(feature = "html")]
mod html;
mod input;
mod iso_date;
mod json_lines;
mod light;
mod lines;
mod logs;
mod markdown;
mod opened;
mod records;
mod roff;
mod rust_docs;
mod source;
mod step;
mod trec;
mod walk;
mod web_archive;
mod wiki;

pub mod machine;

pub use body::{BodyEntries, BodyEntry, BodyError, BodyForm, EntryText, decoded_body};
pub use contained::{decompressed, is_text_name, text_document};
pub use document::{Document, site_of, url_hash};
pub use extraction::{Extract, Extracted, Extraction, Extractor, Kind};
pub use field_names::FieldNames;
pub use folder::path_of_file_url;
pub use input::{decompressed_name, open_decompressed};
pub use iso_date::iso_date;
pub use json_line::LineError;
pub use limits::FileLimits;
pub use machine::MachineRoots;
pub use passed_over::PassedOver;
pub use reader::{BadDocument, Next, Place, Progress, ReadOptions, Reader, ReaderError, Source};
