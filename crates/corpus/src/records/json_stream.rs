//! Splitting of a stream of JSON into its objects: one array, or objects printed over several lines.

use document::body::{Scanned, ValueScan};
use std::io::{self, BufRead};

/// Splitter of the objects at the top of a stream.
#[derive(Debug, Default)]
pub(crate) struct JsonStream {
    /// The current object; `None` between two of them.
    object: Option<ValueScan>,
    /// Length of the current object so far, in bytes, including those not kept.
    bytes: u64,
}

/// Result of reading on.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ObjectRead {
    /// The object is complete.
    Whole,
    /// It was too long and has been skipped.
    TooLong {
        bytes: u64,
    },
    /// It continues beyond the byte budget.
    Unfinished,
    /// The stream ended within an object.
    Truncated,
    /// Something other than an object, a comma or the brackets of an array.
    Stray,
    End,
}

/// Returns whether the beginning of a stream is that of an array, or of an object that is printed over several lines.
pub(crate) fn is_stream(beginning: &[u8]) -> bool {
    let beginning = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning);
    let mut shown = beginning.trim_ascii_start().split(|&byte| byte == b'\n');
    let first = shown.next().unwrap_or_default().trim_ascii();
    first.starts_with(b"[") || first == b"{"
}

impl JsonStream {
    /// Reads towards the end of the next object, which is appended to `object` up to `bytes_max`. `line` counts
    /// newlines.
    pub(crate) fn read(
        &mut self,
        input: &mut impl BufRead,
        object: &mut Vec<u8>,
        bytes_max: u64,
        line: &mut u64,
        budget: &mut u64,
    ) -> io::Result<ObjectRead> {
        loop {
            if *budget == 0 {
                return Ok(ObjectRead::Unfinished);
            }
            let buffer = match input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                return Ok(match self.object {
                    None => ObjectRead::End,
                    Some(_) => ObjectRead::Truncated,
                });
            }
            let mut used = 0;
            let mut found = None;
            let mut start = self.object.as_ref().map(|_| 0);
            for &byte in buffer {
                used += 1;
                *line += u64::from(byte == b'\n');
                if self.object.is_none() {
                    match byte {
                        b'{' => {
                            self.bytes = 0;
                            start = Some(used - 1);
                            object.clear();
                        }
                        b'[' | b']' | b',' | 0xEF | 0xBB | 0xBF => continue,
                        byte if byte.is_ascii_whitespace() => continue,
                        _ => {
                            found = Some(ObjectRead::Stray);
                            break;
                        }
                    }
                }
                let scan = self.object.get_or_insert_default();
                if scan.take(byte) == Scanned::Last {
                    self.object = None;
                    found = Some(ObjectRead::Whole);
                    break;
                }
            }
            if let Some(start) = start {
                let part = &buffer[start..used];
                self.bytes += part.len() as u64;
                if self.bytes <= bytes_max {
                    object.extend_from_slice(part);
                }
            }
            input.consume(used);
            *budget = budget.saturating_sub(used as u64);
            match found {
                Some(ObjectRead::Whole) if self.bytes > bytes_max => {
                    return Ok(ObjectRead::TooLong { bytes: self.bytes });
                }
                Some(found) => return Ok(found),
                None => {}
            }
        }
    }
}
