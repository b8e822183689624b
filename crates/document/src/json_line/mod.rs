//! Conversion of one line of JSON into a document.
//!
//! line := `{"url": string, "title": string?, "body": string?, "id": (string | number)?, field...}`
//!
//! - `url` is required, not empty and at most 8 KiB.
//! - `id` has at most 2 KiB.
//! - `title` and `body` may be missing or null, but not both: a line without text is a mistake
//!   (usually a corpus with other names for its fields), and silence would hide it.
//! - Every other field is kept as it was sent: numbers digit by digit, lists and objects up to [`json::DEPTH_MAX`] levels
//!   deep. Null counts as missing.
//! - Refused with the path and the reason: what is nested deeper, a field that occurs twice (choosing one would be a
//!   guess), NUL in `url`, `id`, `title` or `body` (terminals and C programs truncate text there), lone surrogates.
//!
//! The depth is limited before anything recurses: a list a million deep costs no stack.

use crate::Document;
use json::{Map, ParseError, Problem, Value};

/// Upper limit on the bytes of a URL.
pub const URL_BYTES_MAX: usize = 8 << 10;

/// Upper limit on the bytes of an id: it is in every answer that has the document.
pub const ID_BYTES_MAX: usize = 2 << 10;

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
    /// The required field `url` is missing.
    #[error("no `url`: a document is {{\"url\", \"title\", \"body\"}}")]
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
    /// Both title and body are missing.
    #[error("neither `title` nor `body`: a document is {{\"url\", \"title\", \"body\"}}")]
    NoText,
    /// None of the fields is a title or a text.
    #[error("no field is a title or a text; name them with --title and --body")]
    NoKnownText,
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

impl Document {
    /// Parses a document from one line of JSON.
    pub fn from_json_line(line: &[u8]) -> Result<Document, LineError> {
        of_record(record(line)?)
    }
}

/// Parses a line that is a record of any shape.
pub fn record(line: &[u8]) -> Result<Map, LineError> {
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

/// Makes a document of a record with the names of its parts.
fn of_record(mut record: Map) -> Result<Document, LineError> {
    let url = text(record.remove("url"), "url")?.ok_or(LineError::NoUrl)?;
    if url.is_empty() {
        return Err(LineError::EmptyUrl);
    }
    if url.len() > URL_BYTES_MAX {
        return Err(LineError::LongUrl { bytes: url.len() });
    }
    let id = match record.remove("id") {
        Some(Value::Number(number)) => Some(number.to_string()),
        found @ (None | Some(Value::Null | Value::String(_))) => {
            text(found, "id")?.filter(|id| !id.is_empty())
        }
        Some(other) => {
            return Err(LineError::WrongType {
                field: "id",
                expected: "a string or a number",
                found: other.kind(),
            });
        }
    };
    if let Some(id) = id.as_ref().filter(|id| id.len() > ID_BYTES_MAX) {
        return Err(LineError::LongId { bytes: id.len() });
    }
    let title = text(record.remove("title"), "title")?;
    let body = text(record.remove("body"), "body")?;
    if title.is_none() && body.is_none() {
        return Err(LineError::NoText);
    }
    record.retain(|_, value| !value.is_null());
    Ok(Document {
        url,
        id,
        title: title.unwrap_or_default(),
        body: body.unwrap_or_default(),
        fields: record,
    })
}

/// Returns the text of a field that must be a string; `None` for null.
fn text(value: Option<Value>, field: &'static str) -> Result<Option<String>, LineError> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if memchr::memchr(0, text.as_bytes()).is_some() => {
            Err(LineError::Nul { field })
        }
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(LineError::WrongType {
            field,
            expected: "a string",
            found: other.kind(),
        }),
    }
}

#[cfg(test)]
mod tests;
