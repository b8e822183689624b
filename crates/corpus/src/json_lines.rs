//! Reader of a file of JSON: one document for each line, or for each object of an array or printed over several lines.

use crate::ReaderError;
use crate::input::{Input, InputError};
use crate::records::{JsonStream, ObjectRead, is_stream};
use crate::step::{BadDocument, Place, Step};
use document::{Change, ChangeReader, Mapper};
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use web::charset::Encodings;

/// Upper limit on the bytes of a line. It bounds memory: a longer line is skipped.
pub(crate) const LINE_BYTES_MAX: usize = 64 << 20;

/// Bytes decompressed at once; they stay in the second-level cache until they are parsed.
const BUFFER_BYTES: usize = 128 << 10;

/// Upper limit on the capacity of a line buffer that is kept, so that one huge line does not hold memory for ever.
const LINE_BYTES_KEPT: usize = 1 << 20;

/// Bytes without a document after which control returns to the caller, which can report the place.
const MEANWHILE_BYTES: u64 = 1 << 20;

/// Reader of one file of JSON lines.
pub(crate) struct JsonLines {
    place: Place,
    input: BufReader<Input>,
    line: Vec<u8>,
    /// Bytes of the current line so far, including those not kept; `None` between lines.
    line_bytes: Option<u64>,
    line_bytes_max: usize,
    ended: bool,
    changes: ChangeReader,
    shape: Shape,
}

/// Shape of the file, known from its beginning.
enum Shape {
    Unknown,
    Lines,
    Stream(JsonStream),
}

/// Result of reading a line.
enum LineRead {
    /// The line, with its newline if it has one.
    Whole,
    /// The line was too long and has been skipped.
    TooLong { bytes: u64 },
    /// The line continues beyond the byte budget.
    Unfinished,
    /// The rest of the file cannot be divided into objects.
    Stray(&'static str),
    /// There is no further line.
    End,
}

impl JsonLines {
    /// Creates a reader of `input`. `name` stands for the file in reasons.
    pub(crate) fn new(
        name: String,
        input: Input,
        line_bytes_max: usize,
        mapper: Mapper,
    ) -> JsonLines {
        // JSON is UTF-8; some programs write UTF-16.
        let input = input.in_utf8(Encodings::Unicode);
        let input = BufReader::with_capacity(BUFFER_BYTES, input);
        JsonLines {
            place: Place {
                file: name,
                ..Place::default()
            },
            input,
            line: Vec::new(),
            line_bytes: None,
            line_bytes_max,
            ended: false,
            changes: ChangeReader::new(mapper),
            shape: Shape::Unknown,
        }
    }

    /// Addresses records without a URL of their own below that of the file.
    pub(crate) fn within(mut self, url: String) -> JsonLines {
        self.place.url = Some(url);
        self
    }

    /// Returns the place of the line read last.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    pub(crate) fn mapper(&self) -> &Mapper {
        self.changes.mapper()
    }

    /// Reads to the next document or bad line; empty lines are skipped. A long stretch without either is split into
    /// several steps.
    pub(crate) fn next(&mut self) -> Result<Step, ReaderError> {
        self.input.get_mut().resume();
        let step = self.step();
        self.input.get_mut().pause();
        self.place.decoded_bytes = self.input.get_ref().decoded_bytes();
        step
    }

    fn step(&mut self) -> Result<Step, ReaderError> {
        let mut budget = MEANWHILE_BYTES;
        loop {
            if self.ended {
                return Ok(Step::End);
            }
            if budget == 0 {
                return Ok(Step::Meanwhile);
            }
            match self.read_record(&mut budget) {
                Ok(LineRead::Unfinished) => {}
                Ok(LineRead::Stray(reason)) => {
                    self.ended = true;
                    return Ok(self.bad(reason.to_owned(), self.line.len() as u64));
                }
                Ok(LineRead::Whole) => {
                    if let Some(step) = self.parse() {
                        return Ok(step);
                    }
                }
                Ok(LineRead::TooLong { bytes }) => {
                    let max = self.line_bytes_max;
                    let what = match self.shape {
                        Shape::Stream(_) => "object",
                        _ => "line",
                    };
                    let reason =
                        format!("the {what} is {bytes} bytes long; at most {max} are taken");
                    return Ok(self.bad(reason, bytes));
                }
                Ok(LineRead::End) => {
                    self.ended = true;
                    if let Err(error) = self.changes.end() {
                        return Ok(self.bad(error.to_string(), 0));
                    }
                }
                Err(error) => {
                    self.ended = true;
                    let text_bytes = self.line.len() as u64;
                    return match self.input.get_ref().explain(error) {
                        InputError::Damaged(reason) => Ok(self.bad(reason, text_bytes)),
                        InputError::Beyond(beyond) => Ok(self.bad(beyond.to_string(), text_bytes)),
                        InputError::Io(source) => Err(ReaderError::Io {
                            path: PathBuf::from(&self.place.file),
                            source,
                        }),
                    };
                }
            }
        }
    }

    /// Parses the current line; `None` for an empty line, and for one that is an action on the next line.
    fn parse(&mut self) -> Option<Step> {
        let line = std::mem::take(&mut self.line);
        let step = self.parse_line(&line);
        self.line = line;
        step
    }

    fn parse_line(&mut self, line: &[u8]) -> Option<Step> {
        let text_bytes = line.len() as u64;
        let line = match self.place.line {
            1 => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line),
            _ => line,
        };
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        let not_read = |kind: &str| {
            let kind = kind.to_owned();
            Some(Step::NotRead { kind })
        };
        let document = match self.changes.read(line, self.place.origin()) {
            Ok(None) => return None,
            Ok(Some(Change::Put(document))) => document,
            // A file has nothing that could be changed.
            Ok(Some(Change::Patch { absent, .. })) => match absent {
                Some(document) => document,
                None => return not_read("updates of a part of a document"),
            },
            Ok(Some(Change::Delete { .. })) => return not_read("deletions"),
            Err(error) => return Some(self.bad(error.to_string(), text_bytes)),
        };
        Some(Step::Good {
            document,
            text_bytes,
        })
    }

    /// Reads the next line, or the next object.
    fn read_record(&mut self, budget: &mut u64) -> io::Result<LineRead> {
        if matches!(self.shape, Shape::Unknown) {
            let beginning = self.input.fill_buf().inspect_err(|_| self.place.line = 1)?;
            self.shape = match is_stream(beginning) {
                true => Shape::Stream(JsonStream::default()),
                false => Shape::Lines,
            };
            self.place.line = matches!(self.shape, Shape::Stream(_)).into();
        }
        let Shape::Stream(stream) = &mut self.shape else {
            return self.read_line(budget);
        };
        let Self { input, line, .. } = self;
        let bytes_max = self.line_bytes_max as u64;
        let read = stream.read(input, line, bytes_max, &mut self.place.line, budget)?;
        Ok(match read {
            ObjectRead::Whole => LineRead::Whole,
            ObjectRead::TooLong { bytes } => LineRead::TooLong { bytes },
            ObjectRead::Unfinished => LineRead::Unfinished,
            ObjectRead::End => LineRead::End,
            ObjectRead::Truncated => LineRead::Stray("the file ends within an object"),
            ObjectRead::Stray => LineRead::Stray(
                "neither a JSON object nor what parts objects; the rest is left out",
            ),
        })
    }

    fn bad(&self, reason: String, text_bytes: u64) -> Step {
        let (file, line) = (self.place.file.clone(), self.place.line);
        Step::Bad {
            bad: BadDocument { file, line, reason },
            text_bytes,
        }
    }

    /// Continues the current line or begins the next one. Past `line_bytes_max`, counts bytes up to the line's end
    /// without keeping them. Stops when `budget`, in bytes, is used up.
    fn read_line(&mut self, budget: &mut u64) -> io::Result<LineRead> {
        let mut bytes = match self.line_bytes {
            Some(bytes) => bytes,
            None => {
                if self.line.capacity() > LINE_BYTES_KEPT {
                    self.line = Vec::new();
                }
                self.line.clear();
                self.place.line += 1;
                0
            }
        };
        let bytes_max = self.line_bytes_max as u64;
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let newline = memchr::memchr(b'\n', buffer);
            let part = newline.map_or(buffer, |at| &buffer[..=at]);
            let part_bytes = part.len();
            bytes += part_bytes as u64;
            if bytes <= bytes_max {
                self.line.extend_from_slice(part);
            }
            self.input.consume(part_bytes);
            *budget = budget.saturating_sub(part_bytes as u64);
            // Without a newline the line continues, unless nothing was read: then the input has ended.
            if newline.is_some() || part_bytes == 0 {
                self.line_bytes = None;
                return Ok(match bytes {
                    0 => LineRead::End,
                    bytes if bytes > bytes_max => LineRead::TooLong { bytes },
                    _ => LineRead::Whole,
                });
            }
            if *budget == 0 {
                self.line_bytes = Some(bytes);
                return Ok(LineRead::Unfinished);
            }
        }
    }
}
