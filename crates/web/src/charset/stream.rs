//! Reader of a stream of text in any encoding, as UTF-8.
//!
//! ```text
//! start   a byte-order mark, or NUL bytes on one side of ASCII letters, decide: UTF-16 or UTF-8
//! ASCII   handed on; the first other byte decides, with the 256 KiB from it on: UTF-8, or a guess by letters
//! UTF-8   handed on; what is none is windows-1252, as texts of both are joined in practice
//! ```
//!
//! So the encoding does not depend on how the stream is cut, and memory is bounded.

use super::{GUESSED_BYTES_MAX, guess, wide};
use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8, WINDOWS_1252};
use std::io::{self, Read};

/// Bytes that are read at once, and with which the stream begins.
const CHUNK_BYTES: usize = 64 << 10;

/// Which encodings a stream is looked at for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encodings {
    /// Any.
    Any,
    /// UTF-8 and UTF-16: texts whose format allows no other, whose bytes are handed on as they are.
    Unicode,
}

/// Reader of a stream as UTF-8. `told` is called once with the name of an encoding that was guessed.
pub struct Utf8Reader<R, F> {
    source: R,
    encodings: Encodings,
    mode: Mode,
    /// Bytes of the source that are not decoded yet.
    raw: Vec<u8>,
    has_ended: bool,
    out: String,
    /// Bytes handed on as they are, and those of `out`.
    out_at: usize,
    told: F,
    has_told: bool,
}

enum Mode {
    Start,
    Ascii,
    Utf8,
    Other(Box<Decoder>),
    /// Bytes are handed on as they are.
    Plain,
}

impl<R: Read, F: FnMut(&'static str)> Utf8Reader<R, F> {
    /// Creates the reader of `source`.
    pub fn new(source: R, encodings: Encodings, told: F) -> Utf8Reader<R, F> {
        Utf8Reader {
            source,
            encodings,
            mode: Mode::Start,
            raw: Vec::new(),
            has_ended: false,
            out: String::new(),
            out_at: 0,
            told,
            has_told: false,
        }
    }

    /// Reads until there are `bytes` that are not decoded, or the source ends.
    fn gather(&mut self, bytes: usize) -> io::Result<()> {
        while self.raw.len() < bytes && !self.has_ended {
            let before = self.raw.len();
            self.raw.resize(before + CHUNK_BYTES, 0);
            let read = self.source.read(&mut self.raw[before..]);
            self.raw.truncate(before + *read.as_ref().unwrap_or(&0));
            match read {
                Ok(0) => self.has_ended = true,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn tell(&mut self, encoding: &'static Encoding) {
        if !self.has_told {
            self.has_told = true;
            (self.told)(encoding.name());
        }
    }

    /// Decodes further bytes into `out`, or changes the mode.
    fn advance(&mut self) -> io::Result<()> {
        self.out.clear();
        self.out_at = 0;
        match &mut self.mode {
            Mode::Start => self.start(),
            Mode::Ascii => self.ascii(),
            Mode::Utf8 => self.utf8(),
            Mode::Plain => Ok(()),
            Mode::Other(_) => self.other(),
        }
    }

    fn start(&mut self) -> io::Result<()> {
        self.gather(1024)?;
        self.mode = match Encoding::for_bom(&self.raw) {
            Some((encoding, mark_bytes)) => {
                self.raw.drain(..mark_bytes);
                match encoding == UTF_8 {
                    true => Mode::Ascii,
                    false => Mode::Other(Box::new(encoding.new_decoder_without_bom_handling())),
                }
            }
            None => match wide(&self.raw) {
                Some(encoding) => {
                    self.tell(encoding);
                    Mode::Other(Box::new(encoding.new_decoder_without_bom_handling()))
                }
                None => Mode::Ascii,
            },
        };
        if self.encodings == Encodings::Unicode && matches!(self.mode, Mode::Ascii) {
            self.mode = Mode::Plain;
        }
        Ok(())
    }

    fn ascii(&mut self) -> io::Result<()> {
        self.gather(1)?;
        let ascii_bytes = match self.raw.is_ascii() {
            true => self.raw.len(),
            false => self.raw.iter().take_while(|byte| byte.is_ascii()).count(),
        };
        if ascii_bytes > 0 {
            self.hand_on(ascii_bytes);
            return Ok(());
        }
        self.gather(GUESSED_BYTES_MAX)?;
        let is_utf8 = match std::str::from_utf8(&self.raw) {
            Ok(_) => true,
            // The end of what was gathered may cut a character; text of another encoding hardly begins as UTF-8.
            Err(error) => error.error_len().is_none() && !self.has_ended || error.valid_up_to() > 0,
        };
        self.mode = match is_utf8 {
            true => Mode::Utf8,
            false => {
                let (encoding, _) = guess(&self.raw);
                self.tell(encoding);
                Mode::Other(Box::new(encoding.new_decoder_without_bom_handling()))
            }
        };
        Ok(())
    }

    fn utf8(&mut self) -> io::Result<()> {
        // A character has at most four bytes.
        self.gather(4)?;
        let (valid_bytes, bad_bytes) = match std::str::from_utf8(&self.raw) {
            Ok(_) => (self.raw.len(), 0),
            Err(error) => {
                let cut_bytes = self.raw.len() - error.valid_up_to();
                (error.valid_up_to(), error.error_len().unwrap_or(cut_bytes))
            }
        };
        if valid_bytes > 0 {
            self.hand_on(valid_bytes);
            return Ok(());
        }
        if bad_bytes > 0 {
            self.tell(WINDOWS_1252);
            let (text, _) = WINDOWS_1252.decode_without_bom_handling(&self.raw[..bad_bytes]);
            self.out.push_str(&text);
            self.raw.drain(..bad_bytes);
        }
        Ok(())
    }

    /// Hands on the first bytes, which are UTF-8.
    fn hand_on(&mut self, bytes: usize) {
        // They were looked at above; a second look costs little and needs no unsafe code.
        self.out
            .push_str(&String::from_utf8_lossy(&self.raw[..bytes]));
        self.raw.drain(..bytes);
    }

    fn other(&mut self) -> io::Result<()> {
        self.gather(1)?;
        let Mode::Other(decoder) = &mut self.mode else {
            return Ok(());
        };
        let bytes = self.raw.len();
        self.out.reserve(
            decoder
                .max_utf8_buffer_length(bytes)
                .unwrap_or(3 * bytes + 16),
        );
        let (result, read, _) = decoder.decode_to_string(&self.raw, &mut self.out, self.has_ended);
        self.raw.drain(..read);
        if self.has_ended && result == CoderResult::InputEmpty {
            // A decoder that has seen the end may not be asked again.
            self.mode = Mode::Utf8;
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.has_ended && self.raw.is_empty()
    }
}

impl<R: Read, F: FnMut(&'static str)> Read for Utf8Reader<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let ready = &self.out.as_bytes()[self.out_at..];
            if !ready.is_empty() {
                let taken = ready.len().min(buffer.len());
                buffer[..taken].copy_from_slice(&ready[..taken]);
                self.out_at += taken;
                return Ok(taken);
            }
            if let Mode::Plain = self.mode {
                if self.raw.is_empty() {
                    return self.source.read(buffer);
                }
                let taken = self.raw.len().min(buffer.len());
                buffer[..taken].copy_from_slice(&self.raw[..taken]);
                self.raw.drain(..taken);
                return Ok(taken);
            }
            // A decoder may have something left after the last byte.
            let was_done = self.is_done() && !matches!(self.mode, Mode::Start);
            self.advance()?;
            if was_done && self.out.is_empty() {
                return Ok(0);
            }
        }
    }
}
