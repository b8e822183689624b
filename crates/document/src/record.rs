//! Records: the lines of JSON that documents are made of, and what is wrong with those that make none.
//!
//! - Every field is kept as it was sent: numbers digit by digit, lists and objects up to [`json::DEPTH_MAX`] levels
//!   deep. Null counts as missing.
//! - Refused with the path and the reason: what is nested deeper, a field that occurs twice (choosing one would be a
//!   guess), lone surrogates.
//!
//! The depth is limited before anything recurses: a list a million deep costs no stack.

use json::{Map, ParseError, Problem};

/// Upper limit on the bytes of a URL.
pub const URL_BYTES_MAX: usize = 8 << 10;

/// Upper limit on the bytes of an id: it is in every answer that has the document.
pub const ID_BYTES_MAX: usize = 2 << 10;

/// Field of a document that tells which of the others are its title and its body, where those have other names. It is stored with
/// the others, and shown to nobody: `{"title": "headline", "body": ["lead", "text"]}`.
pub const PART_NAMES: &str = "_names";

/// Reason why a line is not a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// Not UTF-8.
    #[error("not UTF-8 at byte {offset} of the line; save the file as UTF-8")]
    NotUtf8 {
        /// Offset of the first invalid byte, from 0.
        offset: usize,
    },
    /// Not JSON.
    #[error("not a JSON object at byte {offset} of the line: {message}")]
    NotJson {
        /// Approximate byte offset of the error, from 0.
        offset: usize,
        /// Message of the JSON parser.
        message: String,
    },
    /// There is neither a URL nor an id, or others of the source have a URL.
    #[error("no `url`, and no id in its place: every document has an address")]
    NoUrl,
    /// The URL is the empty string.
    #[error("`url` is empty")]
    EmptyUrl,
    /// The URL is longer than [`URL_BYTES_MAX`].
    #[error("`url` is {bytes} bytes long; at most {URL_BYTES_MAX} are taken")]
    LongUrl {
        /// Length of the URL in bytes.
        bytes: usize,
    },
    /// The id is longer than [`ID_BYTES_MAX`].
    #[error("`id` is {bytes} bytes long; at most {ID_BYTES_MAX} are taken")]
    LongId {
        /// Length of the id in bytes.
        bytes: usize,
    },
    /// The record has no field.
    #[error(
        "the object is empty: a document has an address and fields, {{\"url\", \"title\", \"body\", …}}"
    )]
    Empty,
    /// The record has a field whose name is taken.
    #[error(
        "a field is named `{}`, which Shorttail uses itself; rename it",
        PART_NAMES
    )]
    Reserved,
    /// An action of a bulk request names no document.
    #[error("the action has no `_id`: it names no document")]
    NoId,
    /// A bulk request ends with an action that wants a further line.
    #[error("the action of this line has no document: the next line is missing")]
    NoSource,
    /// The line after `update` says nothing to change.
    #[error("the line after `update` has no `doc`; scripts are not run")]
    NoPatch,
    /// A field has a value of the wrong type.
    #[error("`{field}` must be {expected}, not {found}")]
    WrongType {
        /// Name of the field.
        field: &'static str,
        /// Expected type.
        expected: &'static str,
        /// Type found.
        found: &'static str,
    },
    /// A field occurs twice.
    #[error("`{field}` occurs twice")]
    Twice {
        /// Path of the field.
        field: String,
    },
    /// A field is nested too deep.
    #[error("`{field}` is nested deeper than {max} levels; flatten it", max = json::DEPTH_MAX)]
    Deep {
        /// Path of the field.
        field: String,
    },
    /// A text contains NUL.
    #[error("`{field}` holds the character NUL (\\u0000)")]
    Nul {
        /// Name of the field.
        field: &'static str,
    },
}

/// Parses a line that is a record of any shape.
pub(crate) fn record(line: &[u8]) -> Result<Map, LineError> {
    // The whole line is validated at once: faster than validation of each string.
    let line = std::str::from_utf8(line).map_err(|error| LineError::NotUtf8 {
        offset: error.valid_up_to(),
    })?;
    json::parse_object(line).map_err(refused)
}

fn refused(error: ParseError) -> LineError {
    let (offset, field) = (error.offset, error.path);
    let message = match error.problem {
        Problem::Twice => return LineError::Twice { field },
        Problem::Deep if !field.is_empty() => return LineError::Deep { field },
        Problem::Syntax(what) => what.to_owned(),
        _ => "expected a document {\"url\", \"title\", \"body\"}".to_owned(),
    };
    LineError::NotJson { offset, message }
}
