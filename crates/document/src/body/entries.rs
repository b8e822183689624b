//! Reader of the entries of a body.

use super::scan::{Scanned, ValueScan};
use serde::de::IgnoredAny;
use std::io::{self, BufRead, BufReader, Read};

/// Size of the buffer for decoded bytes.
const BUFFER_BYTES: usize = 64 << 10;
/// White space after a first `{` beyond which its line counts as blank.
const BLANKS_MAX: usize = 4 << 10;
/// Upper limit on the characters of the JSON parser's message that are shown: it may quote the body.
const MESSAGE_CHARS_MAX: usize = 160;

/// Form of a body as its content type says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BodyForm {
    /// The first byte decides.
    #[default]
    ByFirstByte,
    /// JSON: an array, or values one a line; no plain text.
    Json,
    /// JSON values one a line, whatever the first byte is.
    JsonLines,
}

impl BodyForm {
    /// Returns the form that a `Content-Type` names. Most clients send one that says nothing of the body.
    pub fn of_content_type(content_type: &str) -> BodyForm {
        let essence = content_type.split(';').next().unwrap_or("").trim();
        match essence.to_ascii_lowercase().as_str() {
            "application/json" | "text/json" => BodyForm::Json,
            "application/x-ndjson"
            | "application/ndjson"
            | "application/jsonl"
            | "application/x-jsonl"
            | "application/jsonlines"
            | "application/x-jsonlines"
            | "application/json-lines" => BodyForm::JsonLines,
            _ => BodyForm::ByFirstByte,
        }
    }
}

/// Bytes of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryText {
    /// JSON value of an array or of a stream of objects; its syntax is checked.
    Json(Vec<u8>),
    /// Line of a body of JSON lines; whether it is JSON is for its reader.
    JsonLine(Vec<u8>),
    /// Line of a body that is not JSON.
    Plain(Vec<u8>),
    /// The entry is longer than the limit, and was skipped.
    TooLong {
        /// Its length in bytes.
        bytes: u64,
    },
}

/// Entry of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyEntry {
    /// Number of its first line, from 1.
    pub line: u64,
    /// Its bytes.
    pub text: EntryText,
}

/// Failure after which a body is read no further.
#[derive(Debug)]
pub enum BodyError {
    /// The body is not what its first byte or its content type says.
    Damaged {
        /// Line, from 1.
        line: u64,
        /// Offset in the decompressed body, in bytes, from 0.
        offset: u64,
        /// What is wrong, and what to send.
        reason: String,
    },
    /// The body cannot be read on: it was cut off, is too long, or its compression is damaged.
    Unreadable {
        /// Offset in the decompressed body up to which it was read.
        offset: u64,
        /// The failure.
        source: io::Error,
    },
}

/// Meaning of the body, once its first byte is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Array,
    Values,
    JsonLines,
    PlainLines,
}

/// What may come next in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// A value, or the end right after the beginning.
    ValueOrEnd,
    /// A value, after a comma.
    Value,
    /// A comma or the end.
    CommaOrEnd,
    /// Nothing but white space.
    Nothing,
}

/// Position in a decompressed body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct At {
    line: u64,
    offset: u64,
}

/// Reader of the entries of a body, one after the other.
pub struct BodyEntries<R> {
    input: BufReader<R>,
    /// Bytes that were read ahead to tell the shape, and how many of them are read again.
    ahead: Vec<u8>,
    ahead_used: usize,
    at: At,
    form: BodyForm,
    entry_bytes_max: u64,
    shape: Option<Shape>,
    expected: Expected,
}

impl<R: Read> BodyEntries<R> {
    /// Creates a reader of a decompressed body. Entries longer than `entry_bytes_max` are skipped.
    pub fn new(body: R, form: BodyForm, entry_bytes_max: u64) -> BodyEntries<R> {
        BodyEntries {
            input: BufReader::with_capacity(BUFFER_BYTES, body),
            ahead: Vec::new(),
            ahead_used: 0,
            at: At { line: 1, offset: 0 },
            form,
            entry_bytes_max,
            shape: None,
            expected: Expected::ValueOrEnd,
        }
    }

    /// Reads the next entry; `None` at the end. After an error nothing more can be read.
    ///
    /// # Errors
    /// A damaged body, and one that cannot be read on.
    pub fn next_entry(&mut self) -> Result<Option<BodyEntry>, BodyError> {
        let shape = match self.shape {
            Some(shape) => shape,
            None => match self.find_shape()? {
                Some(shape) => *self.shape.insert(shape),
                None => return Ok(None),
            },
        };
        match shape {
            Shape::Array => self.next_of_array(),
            Shape::Values => self.next_of_values(),
            Shape::JsonLines | Shape::PlainLines => self.next_line(shape),
        }
    }

    /// Tells the shape by the first bytes; `None` for a body of blanks.
    fn find_shape(&mut self) -> Result<Option<Shape>, BodyError> {
        // The mark of UTF-8 is no text. A first read that has a part of it leaves it to the parser, which refuses it.
        if self.fill()?.starts_with(b"\xef\xbb\xbf") {
            self.consume(3, 0);
        }
        let Some(first) = self.skip_blanks()? else {
            return Ok(None);
        };
        Ok(Some(match (self.form, first) {
            (BodyForm::JsonLines, _) => Shape::JsonLines,
            (_, b'[') => {
                self.consume(1, 0);
                Shape::Array
            }
            (_, b'{') => self.values_or_lines()?,
            (BodyForm::Json, _) | (_, b'"') => Shape::JsonLines,
            _ => Shape::PlainLines,
        }))
    }

    /// Tells objects that are printed over several lines, whose first line is `{` alone, from one a line.
    fn values_or_lines(&mut self) -> Result<Shape, BodyError> {
        let mut ahead = Vec::new();
        let shape = loop {
            // What is read here is read again, so positions stay.
            let buffer = buffer_of(&mut self.input, self.at)?;
            match buffer.first().copied() {
                Some(b'\n') => break Shape::Values,
                Some(blank) if ahead.is_empty() || blank.is_ascii_whitespace() => ahead.push(blank),
                _ => break Shape::JsonLines,
            }
            self.input.consume(1);
            if ahead.len() > BLANKS_MAX {
                break Shape::Values;
            }
        };
        (self.ahead, self.ahead_used) = (ahead, 0);
        Ok(shape)
    }

    fn next_of_array(&mut self) -> Result<Option<BodyEntry>, BodyError> {
        use Expected::{CommaOrEnd, Nothing, Value, ValueOrEnd};
        loop {
            let Some(byte) = self.skip_blanks()? else {
                return match self.expected {
                    Nothing => Ok(None),
                    _ => Err(self.damaged("the array is not closed: the body ends before its `]`")),
                };
            };
            match (self.expected, byte) {
                (Nothing, _) => return Err(self.damaged("something follows the array")),
                (ValueOrEnd | CommaOrEnd, b']') => {
                    self.consume(1, 0);
                    self.expected = Nothing;
                }
                (CommaOrEnd, b',') => {
                    self.consume(1, 0);
                    self.expected = Value;
                }
                (CommaOrEnd, _) => {
                    return Err(self.damaged("the entries of the array need `,` between them"));
                }
                (Value | ValueOrEnd, b',' | b']' | b'}') => {
                    return Err(self.damaged("an entry of the array is missing here"));
                }
                (Value | ValueOrEnd, _) => {
                    self.expected = CommaOrEnd;
                    return self.value().map(Some);
                }
            }
        }
    }

    fn next_of_values(&mut self) -> Result<Option<BodyEntry>, BodyError> {
        match self.skip_blanks()? {
            None => Ok(None),
            Some(b'{') => self.value().map(Some),
            Some(_) => Err(self.damaged("an object is expected here")),
        }
    }

    /// Reads the value that begins here, and checks its syntax.
    fn value(&mut self) -> Result<BodyEntry, BodyError> {
        let start = self.at;
        let (mut scan, mut text) = (ValueScan::default(), Kept::new(self.entry_bytes_max));
        loop {
            let buffer = self.fill()?;
            if buffer.is_empty() {
                if scan.is_cut() {
                    let reason = format!("the body ends within the entry of line {}", start.line);
                    return Err(self.damaged(&reason));
                }
                break;
            }
            let (mut used, mut newlines, mut is_whole) = (0, 0, false);
            for &byte in buffer {
                let scanned = scan.take(byte);
                is_whole = scanned != Scanned::Within;
                if scanned != Scanned::Beyond {
                    used += 1;
                    newlines += u64::from(byte == b'\n');
                }
                if is_whole {
                    break;
                }
            }
            text.keep(&buffer[..used]);
            self.consume(used, newlines);
            if is_whole {
                break;
            }
        }
        let text = match text.ended() {
            Ok(text) => {
                check_syntax(&text, start)?;
                EntryText::Json(text)
            }
            Err(bytes) => EntryText::TooLong { bytes },
        };
        let line = start.line;
        Ok(BodyEntry { line, text })
    }

    fn next_line(&mut self, shape: Shape) -> Result<Option<BodyEntry>, BodyError> {
        loop {
            let line = self.at.line;
            let mut text = Kept::new(self.entry_bytes_max);
            let is_last = loop {
                let buffer = self.fill()?;
                if buffer.is_empty() {
                    break true;
                }
                let newline = memchr::memchr(b'\n', buffer);
                let part = &buffer[..newline.unwrap_or(buffer.len())];
                // Blanks before a text are not kept, so a long line of them is no entry.
                text.keep(match text.is_empty() {
                    true => part.trim_ascii_start(),
                    false => part,
                });
                let used = part.len() + usize::from(newline.is_some());
                self.consume(used, u64::from(newline.is_some()));
                if newline.is_some() {
                    break false;
                }
            };
            let text = match text.ended() {
                Ok(mut text) => {
                    text.truncate(text.trim_ascii_end().len());
                    match (text.is_empty(), is_last) {
                        (true, true) => return Ok(None),
                        (true, false) => continue,
                        (false, _) if shape == Shape::PlainLines => EntryText::Plain(text),
                        (false, _) => EntryText::JsonLine(text),
                    }
                }
                Err(bytes) => EntryText::TooLong { bytes },
            };
            return Ok(Some(BodyEntry { line, text }));
        }
    }

    /// Skips white space; returns the byte after it, which is not consumed.
    fn skip_blanks(&mut self) -> Result<Option<u8>, BodyError> {
        loop {
            let buffer = self.fill()?;
            if buffer.is_empty() {
                return Ok(None);
            }
            let blanks = buffer.len() - buffer.trim_ascii_start().len();
            let next = buffer.get(blanks).copied();
            let newlines = memchr::memchr_iter(b'\n', &buffer[..blanks]).count() as u64;
            self.consume(blanks, newlines);
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    /// Returns bytes that are not consumed; none at the end.
    fn fill(&mut self) -> Result<&[u8], BodyError> {
        match self.ahead_used < self.ahead.len() {
            true => Ok(&self.ahead[self.ahead_used..]),
            false => buffer_of(&mut self.input, self.at),
        }
    }

    fn consume(&mut self, bytes: usize, newlines: u64) {
        match self.ahead_used < self.ahead.len() {
            true => self.ahead_used += bytes,
            false => self.input.consume(bytes),
        }
        self.at.offset += bytes as u64;
        self.at.line += newlines;
    }

    fn damaged(&self, reason: &str) -> BodyError {
        damaged(self.at, reason)
    }
}

fn buffer_of<R: Read>(input: &mut BufReader<R>, at: At) -> Result<&[u8], BodyError> {
    loop {
        match input.fill_buf() {
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => {
                let offset = at.offset;
                return Err(BodyError::Unreadable { offset, source });
            }
        }
    }
    Ok(input.buffer())
}

fn damaged(at: At, reason: &str) -> BodyError {
    BodyError::Damaged {
        line: at.line,
        offset: at.offset,
        reason: reason.to_owned(),
    }
}

/// Bytes of an entry, up to the limit.
struct Kept {
    text: Vec<u8>,
    bytes: u64,
    bytes_max: u64,
}

impl Kept {
    fn new(bytes_max: u64) -> Kept {
        Kept {
            text: Vec::new(),
            bytes: 0,
            bytes_max,
        }
    }

    fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    fn keep(&mut self, part: &[u8]) {
        self.bytes += part.len() as u64;
        match self.bytes <= self.bytes_max {
            true => self.text.extend_from_slice(part),
            false => self.text = Vec::new(),
        }
    }

    /// Returns the bytes; their number where it is beyond the limit.
    fn ended(self) -> Result<Vec<u8>, u64> {
        match self.bytes <= self.bytes_max {
            true => Ok(self.text),
            false => Err(self.bytes),
        }
    }
}

/// Checks that a value is JSON; the failure has its place in the body.
fn check_syntax(text: &[u8], start: At) -> Result<(), BodyError> {
    let place = |offset: usize| At {
        line: start.line + memchr::memchr_iter(b'\n', &text[..offset]).count() as u64,
        offset: start.offset + offset as u64,
    };
    if let Err(error) = std::str::from_utf8(text) {
        return Err(damaged(place(error.valid_up_to()), "not UTF-8"));
    }
    match serde_json::from_slice::<IgnoredAny>(text) {
        Ok(_) => Ok(()),
        Err(error) => {
            let lines = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text).map(|at| at + 1));
            let line_start = lines
                .clone()
                .nth(error.line().saturating_sub(1))
                .unwrap_or(0);
            let offset = line_start + error.column().saturating_sub(1);
            let whole = error.to_string();
            let message = whole.split(" at line ").next().unwrap_or(&whole);
            let message: String = message.chars().take(MESSAGE_CHARS_MAX).collect();
            Err(damaged(place(offset.min(text.len())), &message))
        }
    }
}
