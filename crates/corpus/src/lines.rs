//! Lines of an input, of bounded length.

use crate::input::Input;
use std::io::{self, BufRead, BufReader};

const BUFFER_BYTES: usize = 128 << 10;

/// Reader of lines.
pub(crate) struct Lines {
    pub(crate) input: BufReader<Input>,
    /// Number of the line read last, from 1.
    pub(crate) number: u64,
}

impl Lines {
    pub(crate) fn new(input: Input) -> Lines {
        Lines {
            input: BufReader::with_capacity(BUFFER_BYTES, input),
            number: 0,
        }
    }

    /// Appends the next line, with its newline, to `text`, which grows to `bytes_max` at most: the rest of a longer line is
    /// skipped. Returns the length of the line in bytes; 0 at the end.
    pub(crate) fn read(&mut self, text: &mut Vec<u8>, bytes_max: usize) -> io::Result<u64> {
        let mut bytes = 0;
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let newline = memchr::memchr(b'\n', buffer);
            let part = newline.map_or(buffer, |at| &buffer[..=at]);
            let room = bytes_max.saturating_sub(text.len());
            text.extend_from_slice(&part[..part.len().min(room)]);
            let taken = part.len();
            bytes += taken as u64;
            self.input.consume(taken);
            if newline.is_some() || taken == 0 {
                self.number += u64::from(bytes > 0);
                return Ok(bytes);
            }
        }
    }
}
