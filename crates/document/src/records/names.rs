//! Choice of the fields of a record that are a document's id, URL, title and body.

use crate::json_line::{LineError, URL_BYTES_MAX};
use crate::{Document, FieldNames};
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

/// Characters from which on a string without a known name is text.
const TEXT_CHARS_MIN: usize = 20;

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
    /// A request, whose lines are not the same the next time.
    Request,
}

/// Interpreter of the records of one source.
#[derive(Debug, Default)]
pub struct Mapper {
    names: FieldNames,
    /// Names found, as `id = slug`.
    found: BTreeSet<String>,
    /// Whether a record had a URL, so that one without is a mistake.
    has_urls: bool,
}

impl Mapper {
    /// Creates an interpreter that takes the fields of these names.
    pub fn new(names: FieldNames) -> Mapper {
        Mapper {
            names,
            ..Mapper::default()
        }
    }

    /// Returns whether records are taken as they are where they can be.
    pub fn is_default(&self) -> bool {
        self.names.is_empty()
    }

    /// Notes a document that was taken as it is.
    pub fn note_url(&mut self) {
        self.has_urls = true;
    }

    /// Returns which fields became which part, once for each way.
    pub fn found(&self) -> impl Iterator<Item = &str> {
        self.found.iter().map(String::as_str)
    }

    /// Makes a document of a record.
    pub fn document(
        &mut self,
        record: Map<String, Value>,
        origin: Origin<'_>,
    ) -> Result<Document, LineError> {
        let mut record = lifted(record);
        let url = self.pick("url", &self.names.url, &URLS, &record, scalar)?;
        let id = self.pick("id", &self.names.id, &IDS, &record, scalar)?;
        let title = self.pick("title", &self.names.title, &TITLES, &record, text)?;
        let taken: Vec<&str> = [&url, &id, &title]
            .into_iter()
            .flatten()
            .map(|(name, _)| &**name)
            .collect();
        let (body_names, body) = self.body(&record, &taken)?;
        let title_name = title.as_ref().map(|(name, _)| name.clone());
        let (title, id) = (title.map(drop_name), id.map(drop_name));
        if title.is_none() && body_names.is_empty() {
            return Err(LineError::NoKnownText);
        }
        let url = match (url.map(drop_name), &id) {
            (Some(url), _) => {
                self.has_urls = true;
                url
            }
            (None, _) if self.has_urls => return Err(LineError::NoUrl),
            (None, Some(id)) => format!("id:{id}"),
            (None, None) => match origin {
                Origin::Line { file, line } => format!("{file}#{line}"),
                Origin::Request => return Err(LineError::NoUrl),
            },
        };
        if url.len() > URL_BYTES_MAX {
            return Err(LineError::LongUrl { bytes: url.len() });
        }
        // What is stored as title and body is not stored again.
        for name in body_names.iter().chain(&title_name) {
            record.remove(name);
        }
        let title = title.unwrap_or_default();
        record.retain(|_, value| !value.is_null());
        Ok(Document {
            url,
            id,
            title,
            body,
            fields: record,
        })
    }

    /// Returns the name and the value of a part: of the field that the user names, else of the first known one.
    fn pick(
        &self,
        part: &'static str,
        named: &Option<String>,
        known: &[&str],
        record: &Map<String, Value>,
        read: fn(&Value) -> Option<String>,
    ) -> Result<Option<(String, String)>, LineError> {
        let candidates: Vec<&str> = match named {
            Some(name) => vec![name],
            None => in_order(known, record),
        };
        let filled = |name: &str| {
            let value = get(record, name).and_then(read)?;
            (!value.trim().is_empty()).then(|| (name.to_owned(), value))
        };
        match candidates.into_iter().find_map(filled) {
            Some((_, value)) if value.contains('\0') => Err(LineError::Nul { field: part }),
            found => Ok(found),
        }
    }

    /// Returns the names and the text of the body: the fields that the user names, else the first known one, else all
    /// long strings.
    fn body(
        &mut self,
        record: &Map<String, Value>,
        taken: &[&str],
    ) -> Result<(Vec<String>, String), LineError> {
        let filled = |name: &&str| {
            let value = get(record, name).and_then(text);
            value.is_some_and(|value| !value.trim().is_empty()) && !taken.contains(name)
        };
        let names: Vec<&str> = match self.names.body.as_slice() {
            [] => {
                let known = in_order(&BODIES, record).into_iter().find(filled);
                let is_long = |name: &&str| {
                    let value = record.get(*name).and_then(Value::as_str);
                    value.is_some_and(|value| value.chars().nth(TEXT_CHARS_MIN).is_some())
                };
                match known {
                    Some(known) => vec![known],
                    None => record
                        .keys()
                        .map(String::as_str)
                        .filter(is_long)
                        .filter(filled)
                        .collect(),
                }
            }
            named => named.iter().map(String::as_str).filter(filled).collect(),
        };
        let texts = names
            .iter()
            .filter_map(|name| get(record, name).and_then(text));
        let body = texts.collect::<Vec<_>>().join("\n");
        if body.contains('\0') {
            return Err(LineError::Nul { field: "body" });
        }
        let told = |part: &str, names: &[&str]| format!("{part} = {}", names.join(", "));
        if !names.is_empty() && names != ["body"] {
            self.found.insert(told("body", &names));
        }
        for (part, known) in [("url", &URLS[..]), ("id", &IDS), ("title", &TITLES)] {
            let name = in_order(known, record)
                .into_iter()
                .find(|name| taken.contains(name));
            if let Some(name) = name.filter(|name| *name != part) {
                self.found.insert(told(part, &[name]));
            }
        }
        Ok((names.into_iter().map(str::to_owned).collect(), body))
    }
}

fn drop_name((_, value): (String, String)) -> String {
    value
}

/// Returns the fields of a record, with those of `_source`, in which exports of Elasticsearch wrap them.
fn lifted(mut record: Map<String, Value>) -> Map<String, Value> {
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
fn in_order<'a>(known: &[&str], record: &'a Map<String, Value>) -> Vec<&'a str> {
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

/// Returns the value of a field, or of `a.b` within an object.
fn get<'a>(record: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    if let Some(value) = record.get(name) {
        return Some(value);
    }
    let (outer, inner) = name.split_once('.')?;
    get(record.get(outer)?.as_object()?, inner)
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns the text of a value: a string, a number, or a list of them, one a line.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Array(items) => {
            let texts: Vec<String> = items.iter().filter_map(scalar).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        other => scalar(other),
    }
}
