//! Text of a sitemap: decompressed, valid UTF-8, and cut at the limits.

use flate2::bufread::MultiGzDecoder;
use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

/// Bytes decoded at once.
const CHUNK_BYTES: usize = 16 << 10;

/// Upper limit on the bytes of one element or text, which bounds memory.
const TOKEN_BYTES_MAX: usize = 1 << 20;

/// State that the source shares with the reader above it.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Bytes of the current element or text.
    token_bytes: Cell<usize>,
    pub(crate) decoded_bytes: Cell<u64>,
    pub(crate) is_cut: Cell<bool>,
}

impl Shared {
    /// Begins the next element or text.
    pub(crate) fn next_token(&self) {
        self.token_bytes.set(0);
    }

    /// Returns whether the element or text is longer than memory allows.
    pub(crate) fn token_is_long(&self) -> bool {
        self.token_bytes.get() > TOKEN_BYTES_MAX
    }
}

/// Source of valid UTF-8; bytes that are none become replacement characters.
pub(crate) struct Text<R: BufRead> {
    inner: Inner<R>,
    shared: Rc<Shared>,
    bytes_max: u64,
    /// Bytes read whose character is not complete.
    rest: Vec<u8>,
    ready: Vec<u8>,
    at: usize,
}

enum Inner<R: BufRead> {
    Plain(R),
    Gzip(Box<MultiGzDecoder<R>>),
}

impl<R: BufRead> Text<R> {
    pub(crate) fn new(mut source: R, bytes_max: u64) -> io::Result<(Text<R>, Rc<Shared>)> {
        let is_gzip = source.fill_buf()?.starts_with(&[0x1f]);
        let inner = match is_gzip {
            true => Inner::Gzip(Box::new(MultiGzDecoder::new(source))),
            false => Inner::Plain(source),
        };
        let shared = Rc::new(Shared::default());
        let text = Text {
            inner,
            shared: shared.clone(),
            bytes_max,
            rest: Vec::new(),
            ready: Vec::new(),
            at: 0,
        };
        Ok((text, shared))
    }

    /// Takes the byte order mark and the white space before the first character.
    pub(crate) fn skip_space(&mut self) -> io::Result<()> {
        loop {
            let buffer = self.fill_buf()?;
            let text = valid(buffer);
            let rest = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            let taken = text.len() - rest.len();
            let is_done = !rest.is_empty() || buffer.is_empty();
            self.consume(taken);
            self.shared.next_token();
            if is_done {
                return Ok(());
            }
        }
    }

    fn read_more(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.at = 0;
        while self.ready.is_empty() {
            let decoded = self.shared.decoded_bytes.get();
            let left = self.bytes_max - decoded;
            let length = self.rest.len();
            // One byte more than the limit shows that there is more.
            let wanted = (left + 1).min(CHUNK_BYTES as u64) as usize;
            self.rest.resize(length + wanted, 0);
            let read = loop {
                let buffer = &mut self.rest[length..];
                let read = match &mut self.inner {
                    Inner::Plain(source) => source.read(buffer),
                    Inner::Gzip(decoder) => decoder.read(buffer),
                };
                match read {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    read => break read,
                }
            };
            let read = *read.as_ref().unwrap_or(&0) as u64;
            let kept = read.min(left);
            if read > left {
                self.shared.is_cut.set(true);
            }
            self.rest.truncate(length + kept as usize);
            self.shared.decoded_bytes.set(decoded + kept);
            if kept == 0 {
                // An unfinished character at the end stands for nothing.
                self.rest.clear();
                return Ok(());
            }
            self.decode();
        }
        Ok(())
    }

    /// Moves complete bytes from `rest` to `ready`.
    fn decode(&mut self) {
        let mut bytes = &self.rest[..];
        let unfinished = loop {
            match std::str::from_utf8(bytes) {
                Ok(_) => {
                    self.ready.extend_from_slice(bytes);
                    break 0;
                }
                Err(error) => {
                    let (good, bad) = bytes.split_at(error.valid_up_to());
                    self.ready.extend_from_slice(good);
                    let Some(length) = error.error_len() else {
                        break bad.len();
                    };
                    self.ready.extend_from_slice("\u{fffd}".as_bytes());
                    bytes = &bad[length..];
                }
            }
        };
        self.rest.drain(..self.rest.len() - unfinished);
    }
}

/// Returns bytes that are valid UTF-8 as text, and none for others, which do not occur.
pub(crate) fn valid(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or("")
}

impl<R: BufRead> Read for Text<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let source = self.fill_buf()?;
        let taken = source.len().min(buffer.len());
        buffer[..taken].copy_from_slice(&source[..taken]);
        self.consume(taken);
        Ok(taken)
    }
}

impl<R: BufRead> BufRead for Text<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.ready.len() {
            if self.shared.token_is_long() {
                return Err(io::Error::other("an element or text is longer than 1 MiB"));
            }
            self.read_more()?;
        }
        Ok(&self.ready[self.at..])
    }

    fn consume(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.ready.len());
        let token_bytes = &self.shared.token_bytes;
        token_bytes.set(token_bytes.get() + bytes);
    }
}
