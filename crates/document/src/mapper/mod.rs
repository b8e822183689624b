//! Choice of the fields of a record that are a document's id, URL, title and body.
//!
//! ```text
//! record  := fields by name, of any JSON
//! part    := the field that the user names, else the one with the part's own name, else the first known name that the record has
//! ```
//!
//! Each record is interpreted by itself, so no sample of a source decides. Fields keep their names: one that is title or body by
//! another name is a field of the document, too, as it was sent, and [`PartNames`] tell so.

use crate::part_names::PartNames;
use crate::record::record;
use crate::text_of_value::{get, scalar, text, text_of_fields, without_nul};
use crate::{Document, ID_BYTES_MAX, LineError, PART_NAMES, URL_BYTES_MAX};
use json::{Map, Value};
use std::collections::BTreeSet;

/// Names in the order of preference, without case, `_` and `-`.
const IDS: [&str; 6] = ["id", "docid", "docno", "uid", "key", "slug"];
const URLS: [&str; 6] = ["url", "link", "uri", "href", "permalink", "path"];
const TITLES: [&str; 5] = ["title", "headline", "name", "subject", "question"];
const BODIES: [&str; 10] = [
    "body",
    "text",
    "content",
    "contents",
    "description",
    "abstract",
    "summary",
    "html",
    "message",
    "passage",
];

/// Id of an export or of an action of Elasticsearch: it is about the record, and no field of it.
const ID_OF_ELASTICSEARCH: &str = "_id";

/// Characters from which on a string without a known name is text.
const TEXT_CHARS_MIN: usize = 20;

/// Names of fields, where the user gives them. A name with dots leads into objects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldNames {
    /// The id.
    pub id: Option<String>,
    /// The URL.
    pub url: Option<String>,
    /// The title.
    pub title: Option<String>,
    /// The body: one field or several, joined.
    pub body: Vec<String>,
}

/// Origin of a record, which names a document that has no name of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin<'a> {
    /// A line of a file: `notes.jsonl#7`.
    Line {
        /// The file.
        file: &'a str,
        /// The line, from 1.
        line: u64,
    },
    /// A record of a file that is one of several, of which each may have the same ids: `file:///notes/people.csv#7`.
    OfFolder {
        /// URL of the file.
        url: &'a str,
        /// The line, from 1.
        line: u64,
    },
    /// A request, whose lines are not the same the next time.
    Request,
}

/// Interpreter of the records of one source.
#[derive(Debug, Default)]
pub struct Mapper {
    names: FieldNames,
    /// Names found, as `id = slug`.
    found: BTreeSet<String>,
    /// Whether a record had a URL, so that one without an address is a mistake.
    has_urls: bool,
    without_text: u64,
}

impl Document {
    /// Makes a document of one line of JSON, as a request has it.
    ///
    /// # Errors
    /// The line is no document.
    pub fn from_json_line(line: &[u8]) -> Result<Document, LineError> {
        Mapper::default().document(record(line)?, Origin::Request)
    }
}

/// Text of a part, and the name of its field.
type Named = (String, String);

impl Mapper {
    /// Creates an interpreter that takes the fields of these names.
    pub fn new(names: FieldNames) -> Mapper {
        Mapper {
            names,
            ..Mapper::default()
        }
    }

    /// Returns the address of a document that has an id and no URL.
    pub fn address_of_id(id: &str) -> String {
        format!("id:{id}")
    }

    /// Returns which fields became which part, once for each way.
    pub fn found(&self) -> impl Iterator<Item = &str> {
        self.found.iter().map(String::as_str)
    }

    /// Returns the number of documents with neither title nor body.
    pub fn without_text(&self) -> u64 {
        self.without_text
    }

    /// Makes a document of a record.
    ///
    /// # Errors
    /// The record is empty, has no address, or its id, URL, title or body is none.
    pub fn document(&mut self, record: Map, origin: Origin<'_>) -> Result<Document, LineError> {
        self.document_with_id(None, record, origin)
    }

    /// Does the same for a record that may have an id outside of its fields.
    pub(crate) fn document_with_id(
        &mut self,
        id_outside: Option<String>,
        record: Map,
        origin: Origin<'_>,
    ) -> Result<Document, LineError> {
        let mut record = lifted(record);
        if record.is_empty() {
            return Err(LineError::Empty);
        }
        if record.contains_key(PART_NAMES) {
            return Err(LineError::Reserved);
        }
        let own_url = record.get("url").and_then(Value::as_str);
        if self.names.url.is_none() && own_url == Some("") {
            return Err(LineError::EmptyUrl);
        }
        let url = pick("url", &self.names.url, &URLS, &mut record, scalar)?;
        let id = pick("id", &self.names.id, &IDS, &mut record, scalar)?;
        let title = pick("title", &self.names.title, &TITLES, &mut record, text)?;
        let taken: Vec<&str> = [&url, &id, &title]
            .into_iter()
            .flatten()
            .map(|(name, _)| &**name)
            .collect();
        let (body_names, body) = self.body(&mut record, &taken)?;
        self.note([("url", &url), ("id", &id), ("title", &title)], &body_names);
        let id = id_outside.or(id.map(drop_name)).filter(|id| !id.is_empty());
        if let Some(id) = id.as_ref().filter(|id| id.len() > ID_BYTES_MAX) {
            return Err(LineError::LongId { bytes: id.len() });
        }
        let url = match (url.map(drop_name), &id) {
            (Some(url), _) => {
                self.has_urls = true;
                url
            }
            (None, Some(id)) => match origin {
                Origin::OfFolder { url, .. } => format!("{url}#{id}"),
                Origin::Line { .. } | Origin::Request => Mapper::address_of_id(id),
            },
            (None, None) => match origin {
                Origin::Line { file, line } if !self.has_urls => format!("{file}#{line}"),
                Origin::OfFolder { url, line } if !self.has_urls => format!("{url}#{line}"),
                Origin::Line { .. } | Origin::OfFolder { .. } | Origin::Request => {
                    return Err(LineError::NoUrl);
                }
            },
        };
        if url.len() > URL_BYTES_MAX {
            return Err(LineError::LongUrl { bytes: url.len() });
        }
        let (title_name, title) = title.unwrap_or_default();
        self.without_text += u64::from(title.is_empty() && body.is_empty());
        record.retain(|_, value| !value.is_null());
        PartNames::of_parts(title_name, body_names).note_in(&mut record);
        Ok(Document {
            url,
            id,
            title,
            body,
            fields: record,
        })
    }

    /// Returns the names and the text of the body: the fields that the user names, else `body`, else the first known one,
    /// else all long strings.
    fn body(&self, record: &mut Map, taken: &[&str]) -> Result<(Vec<String>, String), LineError> {
        let named = &self.names.body;
        if named.is_empty()
            && let Some(body) = take_own("body", record, text)
        {
            without_nul("body", &body)?;
            return Ok((vec!["body".to_owned()], body));
        }
        let filled = |name: &&str| {
            let value = get(record, name).and_then(text);
            value.is_some_and(|value| !value.trim().is_empty()) && !taken.contains(name)
        };
        let names: Vec<&str> = match named.as_slice() {
            [] => match in_order(&BODIES, record).into_iter().find(filled) {
                Some(known) => vec![known],
                None => record
                    .iter()
                    .filter(|(_, value)| value.as_str().is_some_and(is_long_text))
                    .map(|(name, _)| &**name)
                    .filter(filled)
                    .collect(),
            },
            named => named.iter().map(String::as_str).filter(filled).collect(),
        };
        let body = text_of_fields(record, names.iter().copied());
        without_nul("body", &body)?;
        Ok((names.into_iter().map(str::to_owned).collect(), body))
    }

    /// Notes the names of parts that are not the parts' own.
    fn note(&mut self, parts: [(&str, &Option<Named>); 3], body_names: &[String]) {
        for (part, named) in parts {
            if let Some((name, _)) = named
                && name != part
            {
                self.found.insert(format!("{part} = {name}"));
            }
        }
        if !body_names.is_empty() && body_names != ["body"] {
            self.found
                .insert(format!("body = {}", body_names.join(", ")));
        }
    }
}

/// Returns the text of a part: of the field that the user names, else of the one with the part's own name, which is no further
/// field of the document, else of the first known one.
fn pick(
    part: &'static str,
    named: &Option<String>,
    known: &[&str],
    record: &mut Map,
    read: fn(&Value) -> Option<String>,
) -> Result<Option<Named>, LineError> {
    let found = match named {
        Some(name) => filled(record, name, read),
        None => match take_own(part, record, read) {
            Some(text) => Some((part.to_owned(), text)),
            None => {
                let mut names = in_order(known, record).into_iter();
                names.find_map(|name| filled(record, name, read))
            }
        },
    };
    if let Some((name, text)) = &found {
        without_nul(part, text)?;
        if name == ID_OF_ELASTICSEARCH {
            record.remove(ID_OF_ELASTICSEARCH);
        }
    }
    Ok(found)
}

/// Takes the text of the field with the part's own name out of a record.
fn take_own(part: &str, record: &mut Map, read: fn(&Value) -> Option<String>) -> Option<String> {
    match record.get(part)? {
        Value::String(_) => match record.remove(part) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        },
        other => {
            let text = read(other)?;
            record.remove(part);
            Some(text)
        }
    }
}

fn filled(record: &Map, name: &str, read: fn(&Value) -> Option<String>) -> Option<Named> {
    let text = get(record, name).and_then(read)?;
    (!text.trim().is_empty()).then(|| (name.to_owned(), text))
}

/// Returns whether a string without a known name is text, and no address or hash: it is long and may have words.
fn is_long_text(text: &str) -> bool {
    text.chars().nth(TEXT_CHARS_MIN).is_some()
        && text.contains(|letter: char| letter.is_whitespace() || !letter.is_ascii())
}

fn drop_name((_, text): Named) -> String {
    text
}

/// Returns the fields of a record, with those of `_source`, in which exports of Elasticsearch wrap them.
fn lifted(mut record: Map) -> Map {
    match record.remove("_source") {
        Some(Value::Object(source)) => {
            record.remove("_index");
            record.remove("_score");
            record.extend(source);
        }
        Some(other) => {
            record.insert("_source".to_owned(), other);
        }
        None => {}
    }
    record
}

/// Returns the record's names that are known, in the order of preference.
fn in_order<'a>(known: &[&str], record: &'a Map) -> Vec<&'a str> {
    let bare = |name: &str| -> String {
        let letters = name.chars().filter(|c| !matches!(c, '_' | '-' | ' '));
        letters.flat_map(char::to_lowercase).collect()
    };
    let mut found: Vec<(usize, &str)> = Vec::new();
    for name in record.keys() {
        let bare = bare(name);
        let rank = known.iter().position(|known| *known == bare);
        found.extend(rank.map(|rank| (rank, name.as_str())));
    }
    found.sort();
    found.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests;
