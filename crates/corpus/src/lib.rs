//! Sources of documents.
//!
//! - [`Reader`]: a stream of documents from files, folders and standard input. Bad documents are counted and reported,
//!   never fatal. [`Extract`]: documents inside archives, mail, office documents and PDF. [`PassedOver`]: input that is named and not read. [`FileLimits`]: limits on the input from one file.
//! - [`machine`]: the documentation installed on this machine.

pub mod reader;

pub mod extraction;
pub mod limits;
pub mod passed_over;

mod arguments;
mod collection;
mod contained;
mod file;
mod folder;
mod front_matter;
#[cfg(feature = "html")]
mod html;
mod input;
mod json_lines;
mod light;
mod lines;
mod logs;
mod man;
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

pub use contained::{decompressed, is_text_name, text_document};
pub use extraction::{Extract, Extracted, Extraction, Extractor, Kind};
pub use folder::path_of_file_url;
pub use input::{decompressed_name, open_decompressed};
pub use limits::FileLimits;
pub use machine::MachineRoots;
pub use passed_over::PassedOver;
pub use reader::{BadDocument, Next, Place, Progress, ReadOptions, Reader, ReaderError, Source};
