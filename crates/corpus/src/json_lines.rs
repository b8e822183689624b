//! How are documents read from a file of JSON lines?

use crate::input::{Input, InputError};
use crate::reader::{BadDocument, Step};
use crate::{Document, ReaderError};
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

/// The longest line that is taken. It bounds memory: a longer one is passed over unread.
pub(crate) const LINE_BYTES_MAX: usize = 64 << 20;

/// Bytes decompressed at once: they stay in the second-level cache until they are parsed.
const BUFFER_BYTES: usize = 128 << 10;

/// A line buffer above this is given back after use: one huge line need not cost memory for ever.
const LINE_BYTES_KEPT: usize = 1 << 20;

/// The documents of one file of JSON lines.
pub(crate) struct JsonLines {
    name: String,
    input: BufReader<Input>,
    line: Vec<u8>,
    line_number: u64,
    line_bytes_max: usize,
    ended: bool,
}

/// What was read of a line.
enum LineRead {
    /// The line, with its newline if it has one.
    Whole,
    /// The line was too long and has been passed over.
    TooLong { bytes: u64 },
    /// There was no further line.
    End,
}

impl JsonLines {
    /// Reads `input`, called `name` in reasons.
    pub(crate) fn new(name: String, input: Input, line_bytes_max: usize) -> JsonLines {
        let input = BufReader::with_capacity(BUFFER_BYTES, input);
        JsonLines {
            name,
            input,
            line: Vec::new(),
            line_number: 0,
            line_bytes_max,
            ended: false,
        }
    }

    /// The next document or bad line; empty lines are passed over.
    pub(crate) fn next(&mut self) -> Result<Step, ReaderError> {
        loop {
            if self.ended {
                return Ok(Step::End);
            }
            if self.line.capacity() > LINE_BYTES_KEPT {
                self.line = Vec::new();
            }
            self.line.clear();
            self.line_number += 1;
            match read_line(&mut self.input, &mut self.line, self.line_bytes_max) {
                Ok(LineRead::Whole) => {
                    if let Some(step) = self.parse() {
                        return Ok(step);
                    }
                }
                Ok(LineRead::TooLong { bytes }) => {
                    let max = self.line_bytes_max;
                    let reason = format!("the line is {bytes} bytes long; at most {max} are taken");
                    return Ok(self.bad(reason, bytes));
                }
                Ok(LineRead::End) => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    let text_bytes = self.line.len() as u64;
                    return match self.input.get_ref().explain(error) {
                        InputError::Damaged(reason) => Ok(self.bad(reason, text_bytes)),
                        InputError::Io(source) => Err(ReaderError::Io {
                            path: PathBuf::from(&self.name),
                            source,
                        }),
                    };
                }
            }
        }
    }

    /// Judges the line that was read; `None` when it is empty.
    fn parse(&self) -> Option<Step> {
        let text_bytes = self.line.len() as u64;
        let mut line = self.line.as_slice();
        if self.line_number == 1 {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        Some(match Document::from_json_line(line) {
            Ok(document) => Step::Good {
                document,
                text_bytes,
            },
            Err(error) => self.bad(error.to_string(), text_bytes),
        })
    }

    fn bad(&self, reason: String, text_bytes: u64) -> Step {
        let (file, line) = (self.name.clone(), self.line_number);
        Step::Bad {
            bad: BadDocument { file, line, reason },
            text_bytes,
        }
    }
}

/// Appends the next line to `line`; past `bytes_max` it only counts up to the line's end.
fn read_line(
    input: &mut impl BufRead,
    line: &mut Vec<u8>,
    bytes_max: usize,
) -> io::Result<LineRead> {
    let mut bytes = 0u64;
    loop {
        let buffer = match input.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let newline = memchr::memchr(b'\n', buffer);
        let part = newline.map_or(buffer, |at| &buffer[..=at]);
        let part_bytes = part.len();
        bytes += part_bytes as u64;
        if bytes <= bytes_max as u64 {
            line.extend_from_slice(part);
        }
        input.consume(part_bytes);
        // Without a newline the line goes on, unless nothing came: then the input is at its end.
        if newline.is_some() || part_bytes == 0 {
            return Ok(match bytes {
                0 => LineRead::End,
                bytes if bytes > bytes_max as u64 => LineRead::TooLong { bytes },
                _ => LineRead::Whole,
            });
        }
    }
}
