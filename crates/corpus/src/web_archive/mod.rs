//! Documents of a WARC file: the pages that a crawler kept.
//!
//! A document is an answer with status 200 in HTML or plain text, or a text that was converted (WET files). Its URL is
//! that of the record. Of several answers of one URL the last one counts, as for any other source. Revisit records
//! hold no page. Everything else is counted by its kind.

use crate::ReaderError;
use crate::file::{self, Markup};
use crate::input::{Input, Meter};
use crate::limits::{Allowance, Beyond, FileLimits};
use crate::step::{BadDocument, Place, Step};
use document::Document;
use std::io::{self, BufReader};
use std::path::PathBuf;
use web::warc::{Body, BodyNote, Item, Kind, Limits, Reader, Record};

/// Endings of WARC and ARC files, before that of compression.
pub(crate) const ENDINGS: [&str; 2] = ["warc", "arc"];

/// Bytes read from the file at once.
const BUFFER_BYTES: usize = 128 << 10;

/// Limits of the reader: a record beyond that of a document is read past.
const LIMITS: Limits = Limits {
    block_bytes_max: file::FILE_BYTES_MAX as usize,
    record_bytes_max: 1 << 30,
};

/// Reader of one WARC file.
pub(crate) struct WebArchive {
    place: Place,
    reader: Reader<BufReader<Input>>,
    allowance: Allowance,
    ended: bool,
    meter: Meter,
}

impl WebArchive {
    /// Creates a reader of `input`, in which gzip members are not decompressed: they are records, and a damaged one
    /// costs no other. `name` stands for the file in reasons.
    pub(crate) fn new(name: String, input: Input, limits: FileLimits) -> WebArchive {
        let meter = input.meter().clone();
        let input = BufReader::with_capacity(BUFFER_BYTES, input);
        WebArchive {
            meter,
            allowance: Allowance::new(limits, name.ends_with(".gz")),
            place: Place {
                file: name,
                ..Place::default()
            },
            reader: Reader::with_limits(input, LIMITS),
            ended: false,
        }
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Reads the next record.
    pub(crate) fn next(&mut self) -> Result<Step, ReaderError> {
        if self.ended {
            return Ok(Step::End);
        }
        self.allowance.resume();
        let item = self.reader.next();
        let counted = self.count();
        self.allowance.pause();
        if let Err(beyond) = counted {
            self.ended = true;
            return Ok(self.bad(beyond.to_string(), 0));
        }
        match item {
            Ok(Some(Item::Record(record))) => Ok(self.step(&record)),
            Ok(Some(Item::Problem(problem))) => Ok(self.bad(problem.to_string(), 0)),
            Ok(None) => {
                self.ended = true;
                Ok(Step::End)
            }
            Err(error) => {
                self.ended = true;
                self.explain(error)
            }
        }
    }

    /// Counts the bytes decoded since the last record.
    fn count(&mut self) -> Result<(), Beyond> {
        let decoded = self.reader.decoded_bytes();
        self.place.decoded_bytes = decoded;
        let more = decoded.saturating_sub(self.allowance.decoded());
        if more > self.allowance.left() {
            return Err(self.allowance.beyond_bytes());
        }
        self.allowance.count(more, self.reader.source_bytes())
    }

    fn step(&self, record: &Record) -> Step {
        let (media_type, body) = match page_of(record) {
            Ok(page) => page,
            Err(kind) => return Step::NotRead { kind },
        };
        let text_bytes = body.bytes.len() as u64;
        let Some(url) = &record.uri else {
            return self.bad_record(record, "the record has no address", text_bytes);
        };
        let markup = match &*media_type {
            "text/plain" => Markup::Plain,
            _ => Markup::Html,
        };
        if let Some(note) = body.notes.iter().find(|note| is_unreadable(note)) {
            return self.bad_record(record, &note.to_string(), text_bytes);
        }
        let head = record.http();
        let content_type = head.as_ref().and_then(|head| head.header("content-type"));
        let charset = content_type.and_then(charset_of);
        let (url, name) = (url.clone(), name_of(url));
        match file::document_in(url, name, markup, body.bytes, charset, &self.meter) {
            Ok(mut document) => {
                if let Some(date) = record.date {
                    add_date(&mut document, date.to_string());
                }
                Step::Good {
                    document,
                    text_bytes,
                }
            }
            Err(error) => self.bad_record(record, &error.to_string(), text_bytes),
        }
    }

    fn bad_record(&self, record: &Record, reason: &str, text_bytes: u64) -> Step {
        let url = record.uri.as_deref().unwrap_or("-");
        let offset = record.place.offset;
        self.bad(format!("byte {offset}: {url}: {reason}"), text_bytes)
    }

    fn bad(&self, reason: String, text_bytes: u64) -> Step {
        let bad = BadDocument {
            file: self.place.file.clone(),
            line: 0,
            reason,
        };
        Step::Bad { bad, text_bytes }
    }

    fn explain(&self, source: io::Error) -> Result<Step, ReaderError> {
        let inner = source.get_ref();
        if let Some(beyond) = inner.and_then(|inner| inner.downcast_ref::<Beyond>()) {
            return Ok(self.bad(beyond.to_string(), 0));
        }
        let is_decoded = [".zst", ".xz", ".bz2"];
        if is_decoded
            .iter()
            .any(|ending| self.place.file.ends_with(ending))
        {
            let reason = format!("compressed data is damaged ({source}); the rest is left out");
            return Ok(self.bad(reason, 0));
        }
        Err(ReaderError::Io {
            path: PathBuf::from(&self.place.file),
            source,
        })
    }
}

/// Returns the media type and body of a page, or the kind of a record that is none.
fn page_of(record: &Record) -> Result<(String, Body), String> {
    match record.kind {
        Kind::Response => {}
        // A page as a browser showed it.
        Kind::Conversion if record.http().is_some() => {}
        Kind::Conversion => {
            let media_type = record.header("Content-Type").unwrap_or("");
            return match media_type.split(';').next().unwrap_or("").trim() {
                "text/plain" => Ok(("text/plain".to_owned(), record.http_body(usize::MAX))),
                other => Err(format!("conversion to {other}")),
            };
        }
        ref other => return Err(format!("{} record", other.as_str())),
    }
    let Some(head) = record.http() else {
        return Err("response without an HTTP head".to_owned());
    };
    match head.status {
        Some(200) => {}
        Some(status) => return Err(format!("status {status}")),
        None => return Err("response without a status".to_owned()),
    }
    match &*head.media_type() {
        media_type @ ("text/html" | "application/xhtml+xml" | "text/plain") => {
            let bytes_max = LIMITS.block_bytes_max;
            Ok((media_type.to_owned(), record.http_body(bytes_max)))
        }
        "" => Err("response without a media type".to_owned()),
        other => Err(other.chars().take(60).collect()),
    }
}

/// Returns the value of the parameter `charset` of a media type.
fn charset_of(content_type: &str) -> Option<&str> {
    let mut parameters = content_type.split(';').skip(1);
    parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then_some(value)
    })
}

/// Returns whether nothing of a body can be read. A beginning is a page, as in a browser.
fn is_unreadable(note: &BodyNote) -> bool {
    matches!(note, BodyNote::UnknownEncoding(_) | BodyNote::Ratio)
}

/// Returns the title of a page that has none: the last part of its path, or its address.
fn name_of(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let mut parts = path.rsplit('/');
    parts.next().filter(|name| !name.is_empty()).unwrap_or(url)
}

/// Adds the date of the visit where the page has none.
fn add_date(document: &mut Document, date: String) {
    let entry = document.fields.entry("date".to_owned());
    entry.or_insert_with(|| date.into());
}

#[cfg(test)]
mod tests;
