//! Protocol between parent and child, over two pipes.
//!
//! ```text
//! to the child    := file{n}
//! file            := name_bytes:u32le name chunk{n} 0:u32le
//! chunk           := bytes:u32le data                 1 to 65,536 bytes
//! from the child  := ready-line (result-line{n} end-line){n}
//! ```
//!
//! Lines are JSON, one [`Reply`] each. A result may come before the whole file has been sent.

use json::{Map, Value};
use serde::{Deserialize, Serialize};
use std::io::{self, Read};

/// Upper limit on the data of a chunk.
pub(crate) const CHUNK_BYTES_MAX: usize = 64 << 10;

/// Upper limit on the bytes of a name. Linux has 255.
pub(crate) const NAME_BYTES_MAX: usize = 4 << 10;

/// Upper limit on the text of one document.
pub(crate) const TEXT_BYTES_MAX: usize = 64 << 20;

/// Upper limit on a line: the longest text, with room for escapes and fields.
pub(crate) const LINE_BYTES_MAX: usize = TEXT_BYTES_MAX + (16 << 20);

/// Line from the child.
#[derive(Debug, Serialize, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    /// The child is confined and waits for files.
    Ready,
    /// The child could not confine itself and ends.
    Refused { reason: String },
    /// A document.
    Document {
        path: String,
        title: String,
        body: String,
        #[serde(default)]
        fields: Map<String, Value>,
    },
    /// A document that cannot be read; an empty path for the file itself.
    Bad { path: String, reason: String },
    /// A member of an archive whose name is not that of a document.
    LeftOut { name: String },
    /// The end of the file's results, with the processor time of the child so far.
    End { cpu_ms: u64 },
}

/// Reader of the chunks of one file.
pub(crate) struct Chunks<R> {
    source: R,
    left: usize,
    ended: bool,
    read: u64,
}

impl<R: Read> Chunks<R> {
    /// Creates the reader of the file whose name has been read.
    pub(crate) fn new(source: R) -> Chunks<R> {
        Chunks {
            source,
            left: 0,
            ended: false,
            read: 0,
        }
    }
}

impl<R: Read> Read for Chunks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() || self.ended {
            return Ok(0);
        }
        if self.left == 0 {
            self.left = read_u32(&mut self.source)? as usize;
            if self.left == 0 {
                self.ended = true;
                return Ok(0);
            }
        }
        let taken = buffer.len().min(self.left);
        let read = self.source.read(&mut buffer[..taken])?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= read;
        self.read += read as u64;
        Ok(read)
    }
}

/// Reads a number of four bytes, the lowest first.
pub(crate) fn read_u32(source: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    source.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

/// Appends a piece of a message: its length and its bytes.
pub(crate) fn push_piece(message: &mut Vec<u8>, piece: &[u8]) {
    let bytes = u32::try_from(piece.len()).expect("a piece of at most 64 KiB");
    message.extend_from_slice(&bytes.to_le_bytes());
    message.extend_from_slice(piece);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_the_bytes_that_were_sent() {
        let mut message = Vec::new();
        for piece in [b"abc".as_slice(), b"d", b"", b"next"] {
            push_piece(&mut message, piece);
        }
        let mut source = message.as_slice();
        let mut read = String::new();
        Chunks::new(&mut source).read_to_string(&mut read).unwrap();
        assert_eq!(read, "abcd");
        assert_eq!(read_u32(&mut source).unwrap(), 4);
        let cut = &message[..6];
        assert!(Chunks::new(cut).read_to_end(&mut Vec::new()).is_err());
    }

    #[test]
    fn a_line_is_read_back() {
        for reply in [
            Reply::Ready,
            Reply::End { cpu_ms: 3 },
            Reply::Bad {
                path: "a".to_owned(),
                reason: "b\n\u{2028}".to_owned(),
            },
        ] {
            let line = serde_json::to_string(&reply).unwrap();
            assert!(!line.contains('\n'));
            assert_eq!(serde_json::from_str::<Reply>(&line).unwrap(), reply);
        }
    }
}
