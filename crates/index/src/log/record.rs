//! Records of the log: whole documents, and URLs of deleted ones.

use crate::row_text::{read_text, write_text};
use document::Document;
use std::collections::HashMap;

const PUT: u8 = 1;
const DELETE: u8 = 2;

/// Change of one document.
#[derive(Debug, Clone, PartialEq)]
pub enum LogRecord {
    /// The document replaces an earlier one with its URL.
    Put(Document),
    /// The document with this URL is deleted.
    Delete(String),
}

impl LogRecord {
    /// Returns the URL of the document.
    pub fn url(&self) -> &str {
        match self {
            LogRecord::Put(document) => &document.url,
            LogRecord::Delete(url) => url,
        }
    }

    /// Returns the last change of each document, in the order of these changes: what one commit makes of all of them. A
    /// commit deletes before it adds, so it must not be given a document to add and to delete.
    pub fn last_of_each(records: Vec<LogRecord>) -> Vec<LogRecord> {
        let mut last: HashMap<String, usize> = HashMap::with_capacity(records.len());
        for (at, record) in records.iter().enumerate() {
            last.insert(record.url().to_owned(), at);
        }
        let is_last = |(at, record): &(usize, LogRecord)| last.get(record.url()) == Some(at);
        let records = records.into_iter().enumerate().filter(is_last);
        records.map(|(_, record)| record).collect()
    }
}

pub(super) fn write_put(out: &mut Vec<u8>, document: &Document) {
    let fields = match document.fields.is_empty() {
        true => String::new(),
        false => serde_json::to_string(&document.fields).unwrap_or_default(),
    };
    out.push(PUT);
    let id = document.id.as_deref().unwrap_or("");
    for text in [&document.url, id, &document.title, &document.body, &fields] {
        write_text(out, text);
    }
}

pub(super) fn write_delete(out: &mut Vec<u8>, url: &str) {
    out.push(DELETE);
    write_text(out, url);
}

/// Reads the record at `at` and advances it; `None` where there is none.
pub(super) fn read(bytes: &[u8], at: &mut usize) -> Option<LogRecord> {
    let kind = *bytes.get(*at)?;
    *at += 1;
    let mut text = || read_text(bytes, at);
    match kind {
        PUT => {
            let (url, id, title, body, fields) = (text()?, text()?, text()?, text()?, text()?);
            let fields = match fields {
                "" => json::Map::new(),
                fields => json::parse_object(fields).ok()?,
            };
            Some(LogRecord::Put(Document {
                url: url.to_owned(),
                id: Some(id.to_owned()).filter(|id| !id.is_empty()),
                title: title.to_owned(),
                body: body.to_owned(),
                fields,
            }))
        }
        DELETE => Some(LogRecord::Delete(text()?.to_owned())),
        _ => None,
    }
}
