//! Conversion of one line of JSON into a document.
//!
//! line := `{"url": string, "title": string?, "body": string?, "id": (string | number)?, field...}`
//!
//! - `url` is required, not empty and at most 8 KiB.
//! - `title` and `body` may be missing or null, but not both: a line without text is a mistake
//!   (usually a corpus with other names for its fields), and silence would hide it.
//! - Every other field is kept, lists and objects nested up to [`DEPTH_MAX`] deep too. Null counts as missing.
//! - Refused with a reason: a field that occurs twice (choosing one would be a guess), NUL in `url`, `id`, `title` or
//!   `body` (terminals and C programs truncate text there), lone surrogates.
//!
//! The line is parsed in one pass, and what is nested deeper is skipped: a list a million deep costs no stack.

use crate::Document;
use nested::Nested;
use serde::de::{Deserializer as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Upper limit on the bytes of a URL.
pub const URL_BYTES_MAX: usize = 8 << 10;

/// Upper limit on the depth of lists and objects in a field that is kept.
pub const DEPTH_MAX: usize = 32;

/// Upper limit on the characters of the JSON parser's message that are shown: it may quote the line.
const MESSAGE_CHARS_MAX: usize = 160;

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
        /// Name of the field.
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
        // The whole line is validated at once: faster than the parser's validation of each string.
        let line = std::str::from_utf8(line).map_err(|error| LineError::NotUtf8 {
            offset: error.valid_up_to(),
        })?;
        let mut parser = serde_json::Deserializer::from_str(line);
        let found = parser.deserialize_map(LineVisitor).map_err(not_json)?;
        parser.end().map_err(not_json)?;
        found.into_document()
    }
}

fn not_json(error: serde_json::Error) -> LineError {
    let whole = error.to_string();
    let message = whole.split(" at line ").next().unwrap_or(&whole);
    let message = message.chars().take(MESSAGE_CHARS_MAX).collect();
    LineError::NotJson {
        offset: error.column().saturating_sub(1),
        message,
    }
}

/// Value of a field, reduced to the types that a document holds.
#[derive(Default)]
enum Found {
    #[default]
    Nothing,
    Text(String),
    Number(Number),
    Truth(bool),
    /// A list or an object; `None` where it is nested too deep.
    List(Option<Value>),
    Object(Option<Value>),
}

impl Found {
    fn name(&self) -> &'static str {
        match self {
            Found::Nothing => "null",
            Found::Text(_) => "a string",
            Found::Number(_) => "a number",
            Found::Truth(_) => "a truth value",
            Found::List(_) => "a list",
            Found::Object(_) => "an object",
        }
    }

    /// Returns the text of a field that must be a string; `None` for null.
    fn into_text(self, field: &'static str) -> Result<Option<String>, LineError> {
        match self {
            Found::Nothing => Ok(None),
            Found::Text(text) if memchr::memchr(0, text.as_bytes()).is_some() => {
                Err(LineError::Nul { field })
            }
            Found::Text(text) => Ok(Some(text)),
            other => Err(LineError::WrongType {
                field,
                expected: "a string",
                found: other.name(),
            }),
        }
    }
}

/// Fields of a line before validation.
#[derive(Default)]
struct LineFields {
    url: Option<Found>,
    id: Option<Found>,
    title: Option<Found>,
    body: Option<Found>,
    others: Map<String, Value>,
    twice: Option<String>,
}

impl LineFields {
    fn into_document(self) -> Result<Document, LineError> {
        if let Some(field) = self.twice {
            return Err(LineError::Twice { field });
        }
        let url = self
            .url
            .unwrap_or_default()
            .into_text("url")?
            .ok_or(LineError::NoUrl)?;
        if url.is_empty() {
            return Err(LineError::EmptyUrl);
        }
        if url.len() > URL_BYTES_MAX {
            return Err(LineError::LongUrl { bytes: url.len() });
        }
        let id = match self.id.unwrap_or_default() {
            Found::Number(number) => Some(number.to_string()),
            found @ (Found::Nothing | Found::Text(_)) => {
                found.into_text("id")?.filter(|id| !id.is_empty())
            }
            other => {
                let (expected, found) = ("a string or a number", other.name());
                return Err(LineError::WrongType {
                    field: "id",
                    expected,
                    found,
                });
            }
        };
        let title = self.title.unwrap_or_default().into_text("title")?;
        let body = self.body.unwrap_or_default().into_text("body")?;
        if title.is_none() && body.is_none() {
            return Err(LineError::NoText);
        }
        let (title, body) = (title.unwrap_or_default(), body.unwrap_or_default());
        Ok(Document {
            url,
            id,
            title,
            body,
            fields: self.others,
        })
    }
}

struct LineVisitor;

impl<'de> Visitor<'de> for LineVisitor {
    type Value = LineFields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a document {\"url\", \"title\", \"body\"}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LineFields, A::Error> {
        let mut line = LineFields::default();
        while let Some(key) = map.next_key::<Key>()? {
            let value = map.next_value::<Found>()?;
            let (field, known) = match key {
                Key::Url => ("url", &mut line.url),
                Key::Id => ("id", &mut line.id),
                Key::Title => ("title", &mut line.title),
                Key::Body => ("body", &mut line.body),
                Key::Other(name) => {
                    let kept = match value {
                        Found::Text(text) => Value::String(text),
                        Found::Number(number) => Value::Number(number),
                        Found::Truth(truth) => Value::Bool(truth),
                        Found::List(Some(value)) | Found::Object(Some(value)) => value,
                        Found::Nothing | Found::List(None) | Found::Object(None) => continue,
                    };
                    if line.others.contains_key(&name) {
                        line.twice = Some(name.chars().take(MESSAGE_CHARS_MAX).collect());
                    } else {
                        line.others.insert(name, kept);
                    }
                    continue;
                }
            };
            if known.replace(value).is_some() {
                line.twice = Some(field.to_owned());
            }
        }
        Ok(line)
    }
}

enum Key {
    Url,
    Id,
    Title,
    Body,
    Other(String),
}

impl<'de> serde::Deserialize<'de> for Key {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_str(KeyVisitor)
    }
}

struct KeyVisitor;

impl Visitor<'_> for KeyVisitor {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field's name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Key, E> {
        Ok(match name {
            "url" => Key::Url,
            "id" => Key::Id,
            "title" => Key::Title,
            "body" => Key::Body,
            other => Key::Other(other.to_owned()),
        })
    }
}

impl<'de> serde::Deserialize<'de> for Found {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Found, D::Error> {
        deserializer.deserialize_any(FoundVisitor)
    }
}

struct FoundVisitor;

impl<'de> Visitor<'de> for FoundVisitor {
    type Value = Found;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Found, E> {
        Ok(Found::Nothing)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Found, E> {
        Ok(Found::Truth(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Found, E> {
        Ok(Found::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Found, E> {
        Ok(Found::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Found, E> {
        Ok(Number::from_f64(value).map_or(Found::Nothing, Found::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Found, E> {
        Ok(Found::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Found, A::Error> {
        Ok(Found::List(Nested(DEPTH_MAX).visit_seq(list)?))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Found, A::Error> {
        Ok(Found::Object(Nested(DEPTH_MAX).visit_map(map)?))
    }
}

mod nested;

#[cfg(test)]
mod tests;
