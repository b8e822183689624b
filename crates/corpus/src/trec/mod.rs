//! Documents of TREC collections: SGML and web pages between `<DOC>` and `</DOC>`.
//!
//! ```text
//! <DOC> <DOCNO> FT911-3 </DOCNO> <HEADLINE> … </HEADLINE> <TEXT> … </TEXT> </DOC>
//! <DOC> <DOCNO> GX000-00-1 </DOCNO> <DOCHDR> http://…  headers </DOCHDR> a page in HTML </DOC>
//! ```

mod sgml;
#[cfg(test)]
mod tests;

use crate::ReaderError;
use crate::file::{self, Markup};
use crate::input::{Input, InputError, Meter};
use crate::lines::Lines;
use crate::step::{BadDocument, Place, Step};
use document::Document;
use std::path::PathBuf;

/// Endings of TREC files, before that of compression. Others are known by their beginning.
pub(crate) const ENDINGS: [&str; 5] = ["trec", "trectext", "trecweb", "sgml", "sgm"];

/// Upper limit on the bytes of a document. It bounds memory: a longer one is skipped.
const DOCUMENT_BYTES_MAX: usize = 64 << 20;
/// Bytes without a document after which control returns to the caller.
const MEANWHILE_BYTES: u64 = 1 << 20;

/// Reader of one TREC file.
pub(crate) struct Trec {
    place: Place,
    lines: Lines,
    /// Kept lines of the current document, and the length of all its lines; `None` between documents.
    block: Vec<u8>,
    block_bytes: Option<u64>,
    /// Number of the line on which the document begins.
    first_line: u64,
    ended: bool,
}

impl Trec {
    /// Creates a reader of `input`. `name` stands for the file in reasons.
    pub(crate) fn new(name: String, input: Input) -> Trec {
        Trec {
            place: Place {
                file: name,
                ..Place::default()
            },
            lines: Lines::new(input),
            block: Vec::new(),
            block_bytes: None,
            first_line: 0,
            ended: false,
        }
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Reads the next document.
    pub(crate) fn next(&mut self) -> Result<Step, ReaderError> {
        if self.ended {
            return Ok(Step::End);
        }
        self.lines.input.get_mut().resume();
        let step = self.step();
        self.lines.input.get_mut().pause();
        self.place.line = self.lines.number;
        self.place.decoded_bytes = self.lines.input.get_ref().decoded_bytes();
        step
    }

    fn step(&mut self) -> Result<Step, ReaderError> {
        if self.block_bytes.is_none() && !self.block.is_empty() {
            // Another document begins on the line on which the last one ended.
            let bytes = self.block.len() as u64;
            if let Some(step) = self.take_line(0, bytes) {
                return Ok(step);
            }
        }
        let mut read_bytes = 0;
        while read_bytes < MEANWHILE_BYTES {
            if self.is_too_long() {
                // Only its end is looked for.
                self.block.clear();
            }
            let before = self.block.len();
            let bytes = match self.lines.read(&mut self.block, DOCUMENT_BYTES_MAX) {
                Ok(0) => {
                    self.ended = true;
                    return Ok(match self.block_bytes {
                        Some(_) => self.bad("the file ends within a document".to_owned()),
                        None => Step::End,
                    });
                }
                Ok(bytes) => bytes,
                Err(error) => {
                    self.ended = true;
                    return match self.lines.input.get_ref().explain(error) {
                        InputError::Damaged(reason) => Ok(self.bad(reason)),
                        InputError::Beyond(beyond) => Ok(self.bad(beyond.to_string())),
                        InputError::Io(source) => Err(ReaderError::Io {
                            path: PathBuf::from(&self.place.file),
                            source,
                        }),
                    };
                }
            };
            read_bytes += bytes;
            if let Some(step) = self.take_line(before, bytes) {
                return Ok(step);
            }
        }
        Ok(Step::Meanwhile)
    }

    fn is_too_long(&self) -> bool {
        self.block_bytes
            .is_some_and(|bytes| bytes > DOCUMENT_BYTES_MAX as u64)
    }

    /// Takes the line that the block has from `start` on.
    fn take_line(&mut self, mut start: usize, bytes: u64) -> Option<Step> {
        match &mut self.block_bytes {
            Some(so_far) => *so_far += bytes,
            None => match sgml::find_tag(&self.block, "doc", 0) {
                Some(begin) => {
                    self.block.drain(..begin);
                    start = start.saturating_sub(begin);
                    self.block_bytes = Some(bytes);
                    self.first_line = self.lines.number;
                }
                None => {
                    self.block.clear();
                    return None;
                }
            },
        }
        let end = sgml::find_tag(&self.block, "/doc", start.min(self.block.len()))?;
        let is_too_long = self.is_too_long();
        let text_bytes = self.block_bytes.take().unwrap_or_default();
        let mut block = std::mem::take(&mut self.block);
        let close = memchr::memchr(b'>', &block[end..]);
        self.block = block.split_off(close.map_or(block.len(), |close| end + close + 1));
        if is_too_long {
            return Some(self.bad(format!(
                "the document is {text_bytes} bytes long; at most {DOCUMENT_BYTES_MAX} are taken"
            )));
        }
        block.truncate(end);
        Some(match document(&block, self.lines.input.get_ref().meter()) {
            Ok(document) => Step::Good {
                document,
                text_bytes,
            },
            Err(reason) => self.bad(reason),
        })
    }

    fn bad(&self, reason: String) -> Step {
        let bad = BadDocument {
            file: self.place.file.clone(),
            line: self.first_line.max(1),
            reason,
        };
        Step::Bad { bad, text_bytes: 0 }
    }
}

/// Makes a document of the text between `<DOC>` and `</DOC>`.
fn document(block: &[u8], meter: &Meter) -> Result<Document, String> {
    let number = sgml::element(block, "docno").ok_or("the document has no DOCNO")?;
    let number = String::from_utf8_lossy(number).trim().replace('\0', " ");
    if number.is_empty() {
        return Err("its DOCNO is empty".to_owned());
    }
    let own_url = format!("id:{number}");
    if own_url.len() > document::URL_BYTES_MAX {
        return Err("its DOCNO is longer than a URL may be".to_owned());
    }
    if let Some((header, page)) = sgml::element_and_rest(block, "dochdr") {
        let header = String::from_utf8_lossy(header);
        let address = header.split_whitespace().next().unwrap_or_default();
        let url = match address.contains("://") {
            true => address.to_owned(),
            false => own_url,
        };
        let page = file::document(url, &number, Markup::Html, page.to_vec(), meter);
        let mut document = page.map_err(|error| error.to_string())?;
        document.id = Some(number);
        return Ok(document);
    }
    let text = file::decode(block.to_vec(), meter).map_err(|error| error.to_string())?;
    let sgml::Text {
        title,
        body,
        fields,
    } = sgml::text(&text);
    if title.is_empty() && body.is_empty() {
        return Err(format!("{number} has no text"));
    }
    Ok(Document {
        url: own_url,
        title,
        body,
        fields,
        id: Some(number),
    })
}

/// Returns whether the beginning of a file is that of a TREC collection.
pub(crate) fn is_trec(beginning: &[u8]) -> bool {
    let text = beginning.trim_ascii_start();
    let is_doc = text
        .get(..4)
        .is_some_and(|tag| tag.eq_ignore_ascii_case(b"<doc"));
    is_doc
        && matches!(text.get(4), Some(b'>' | b' ' | b'\r' | b'\n'))
        && sgml::find_tag(text, "docno", 0).is_some()
}
