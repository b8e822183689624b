//! Decoded bytes of a WARC file, plain or of gzip members, with the place of each in the file.

use super::source::Counted;
use flate2::bufread::GzDecoder;
use std::collections::VecDeque;
use std::io::{self, BufRead, Read};

/// Bytes decoded at once.
const CHUNK_BYTES: usize = 32 << 10;

/// Reason why no more bytes can be decoded here.
pub(crate) enum Fault {
    /// The source failed.
    Io(io::Error),
    /// The file ends inside a gzip member.
    Torn,
    /// The gzip member at this place is damaged.
    Damaged { offset: u64, what: String },
}

/// Result of decoding more bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Filled {
    /// There are more bytes.
    Bytes,
    /// The gzip member has ended, and crossing into the next was not asked for.
    MemberEnd,
    /// The file has ended.
    End,
}

/// State of the source.
enum Input<R> {
    /// Nothing has been read.
    Unknown(Counted<R>),
    Plain(Counted<R>),
    /// Between two gzip members.
    Between(Counted<R>),
    Member(Box<GzDecoder<Counted<R>>>),
    /// Placeholder while the state changes.
    Gone,
}

/// A gzip member: the decoded bytes before it, and its place in the file.
struct Member {
    begin: u64,
    offset: u64,
}

/// Decoded bytes, with a buffer that grows only where the caller asks for more bytes at once.
pub(crate) struct Stream<R> {
    input: Input<R>,
    buffer: Vec<u8>,
    start: usize,
    /// Number of decoded bytes taken.
    position: u64,
    members: VecDeque<Member>,
}

impl<R: BufRead> Stream<R> {
    pub(crate) fn new(source: R) -> Stream<R> {
        Stream {
            input: Input::Unknown(Counted::new(source)),
            buffer: Vec::new(),
            start: 0,
            position: 0,
            members: VecDeque::new(),
        }
    }

    /// Returns the number of decoded bytes taken.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Returns the bytes that are decoded and not taken.
    pub(crate) fn available(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Takes bytes that are available.
    pub(crate) fn take(&mut self, bytes: usize) {
        let bytes = bytes.min(self.buffer.len() - self.start);
        self.start += bytes;
        self.position += bytes as u64;
    }

    /// Returns the place in the file of the next byte: of its gzip member, and the decoded bytes of the member before
    /// it; the byte's own place and 0 in a plain file.
    pub(crate) fn place(&mut self) -> (u64, u64) {
        while self
            .members
            .get(1)
            .is_some_and(|next| next.begin <= self.position)
        {
            self.members.pop_front();
        }
        match self.members.front() {
            Some(member) => (member.offset, self.position - member.begin),
            None => (self.position, 0),
        }
    }

    /// Returns whether the file is compressed; false before the first byte is read.
    pub(crate) fn is_compressed(&self) -> bool {
        matches!(self.input, Input::Between(_) | Input::Member(_))
    }

    /// Returns the number of bytes taken from the file.
    pub(crate) fn source_position(&self) -> u64 {
        match &self.input {
            Input::Unknown(source) | Input::Plain(source) | Input::Between(source) => {
                source.position()
            }
            Input::Member(decoder) => decoder.get_ref().position(),
            Input::Gone => 0,
        }
    }

    /// Decodes more bytes, beyond the end of a gzip member only where `cross` says so.
    pub(crate) fn fill(&mut self, cross: bool) -> Result<Filled, Fault> {
        loop {
            match std::mem::replace(&mut self.input, Input::Gone) {
                Input::Gone => return Ok(Filled::End),
                Input::Unknown(mut source) => {
                    let begins = source.fill_buf().map(|bytes| bytes.starts_with(&[0x1f]));
                    self.input = match begins {
                        Ok(true) => {
                            source.keep_history();
                            Input::Between(source)
                        }
                        Ok(false) => Input::Plain(source),
                        Err(error) => {
                            self.input = Input::Unknown(source);
                            return Err(Fault::Io(error));
                        }
                    };
                }
                Input::Plain(mut source) => {
                    let read = self.append(&mut source);
                    self.input = Input::Plain(source);
                    return match read {
                        Ok(0) => Ok(Filled::End),
                        Ok(_) => Ok(Filled::Bytes),
                        Err(error) => Err(Fault::Io(error)),
                    };
                }
                Input::Between(mut source) => {
                    let ended = source.fill_buf().map(<[u8]>::is_empty);
                    match ended {
                        Ok(false) if cross => {
                            self.members.push_back(Member {
                                begin: self.position + self.available().len() as u64,
                                offset: source.position(),
                            });
                            self.input = Input::Member(Box::new(GzDecoder::new(source)));
                        }
                        other => {
                            self.input = Input::Between(source);
                            return match other {
                                Ok(true) => Ok(Filled::End),
                                Ok(false) => Ok(Filled::MemberEnd),
                                Err(error) => Err(Fault::Io(error)),
                            };
                        }
                    }
                }
                Input::Member(mut decoder) => match self.append(&mut *decoder) {
                    Ok(0) => self.input = Input::Between(decoder.into_inner()),
                    Ok(_) => {
                        self.input = Input::Member(decoder);
                        return Ok(Filled::Bytes);
                    }
                    Err(error) => {
                        let source = decoder.into_inner();
                        let failed = source.failed;
                        self.input = Input::Between(source);
                        return Err(self.fault(error, failed));
                    }
                },
            }
        }
    }

    fn fault(&self, error: io::Error, failed: bool) -> Fault {
        if failed {
            Fault::Io(error)
        } else if error.kind() == io::ErrorKind::UnexpectedEof {
            Fault::Torn
        } else {
            Fault::Damaged {
                offset: self.members.back().map_or(0, |member| member.offset),
                what: error.to_string(),
            }
        }
    }

    fn append(&mut self, source: &mut impl Read) -> io::Result<usize> {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        let length = self.buffer.len();
        self.buffer.resize(length + CHUNK_BYTES, 0);
        let read = loop {
            match source.read(&mut self.buffer[length..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.buffer.truncate(length + *read.as_ref().unwrap_or(&0));
        read
    }

    /// Drops what is decoded of the current gzip member and goes to the next bytes that look like one; false at the
    /// end of the file, and always in a plain file. With `back` the search begins behind the first byte of the current
    /// member: a damaged one is decoded beyond its end before that shows.
    pub(crate) fn next_member(&mut self, back: bool) -> io::Result<bool> {
        self.take(self.available().len());
        match std::mem::replace(&mut self.input, Input::Gone) {
            Input::Member(decoder) => self.input = Input::Between(decoder.into_inner()),
            other => self.input = other,
        }
        match &mut self.input {
            Input::Between(source) => {
                if let Some(member) = self.members.back()
                    && back
                {
                    source.go_back(member.offset + 1);
                }
                source.seek_member()
            }
            _ => Ok(false),
        }
    }
}
