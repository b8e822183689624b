//! The document, and the one reading of JSON that makes documents.
//!
//! - [`Document`]: an address, and fields of any JSON; URL, title and body are fields with a role.
//! - [`url_hash`], [`site_of`]: what an index keeps of an address.
//! - [`Mapper`]: the document of a line or of a record of any shape, with the names that the user gives, else guessed.
//!   Files, `shorttail add` and servers that write read through it, so one line is one document everywhere.
//! - [`BodyEntries`]: the values of a stream of JSON, each with its line.
//!
//! Pure: bytes in, values out. Readers of files are in the crate `corpus`.

mod document;
mod iso_date;

pub mod json_line;
pub mod records;

mod field_names;

pub mod body;

pub use body::{BodyEntries, BodyEntry, BodyError, BodyForm, EntryText};
pub use document::{Document, site_of, url_hash};
pub use field_names::FieldNames;
pub use iso_date::iso_date;
pub use json_line::LineError;
pub use records::{Action, Mapper, Origin};
