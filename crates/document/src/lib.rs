//! The document, and the one reading of JSON that makes documents.
//!
//! - [`Document`]: an address, and fields of any JSON; URL, title and body are fields with a role.
//! - [`url_hash`], [`site_of`]: what an index keeps of an address.
//! - [`Mapper`]: the document of a record of any shape, with the names that the user gives, else guessed.
//! - [`Change`]: a document to put, to patch or to delete; [`ChangeReader`] reads changes from lines of JSON, those of
//!   Elasticsearch's `_bulk` included. Files, `shorttail add` and servers that write read through it, so one line is one
//!   document everywhere.
//! - [`BodyEntries`]: the values of a stream of JSON, each with its line.
//!
//! Pure: bytes in, values out. Readers of files are in the crate `corpus`.

mod bulk;
mod change;
mod change_reader;
mod document;
mod iso_date;
mod mapper;
mod part_names;
mod patch;
mod record;
mod text_of_value;

pub mod body;

pub use body::{BodyEntries, BodyEntry, BodyError, BodyForm, EntryText};
pub use change::Change;
pub use change_reader::ChangeReader;
pub use document::{Document, site_of, url_hash};
pub use iso_date::iso_date;
pub use mapper::{FieldNames, Mapper, Origin};
pub use part_names::PartNames;
pub use record::{ID_BYTES_MAX, LineError, PART_NAMES, URL_BYTES_MAX};
