//! Counted source of a WARC file's bytes, with a search for the next gzip member.

use std::io::{self, BufRead, Read};

/// First bytes of a gzip member: the magic number and the only method there is.
const MAGIC: [u8; 3] = [0x1f, 0x8b, 0x08];

/// Bytes taken last that can be given again: damage shows late, and the next member may begin before that place.
const HISTORY_BYTES: usize = 1 << 20;

/// Source that counts the bytes taken, remembers whether it failed itself, and can go back a bounded way.
pub(crate) struct Counted<R> {
    inner: R,
    position: u64,
    /// Bytes taken last, while a compressed file is read.
    history: Option<Vec<u8>>,
    /// Bytes that are given again before those of the source.
    replay: Vec<u8>,
    replay_at: usize,
    /// Sum of the ways back. It is kept below the bytes read, so that reading stays linear.
    back_bytes: u64,
    /// Whether the source failed, as opposed to what a decoder says about its bytes.
    pub(crate) failed: bool,
}

impl<R: BufRead> Counted<R> {
    pub(crate) fn new(inner: R) -> Counted<R> {
        Counted {
            inner,
            position: 0,
            history: None,
            replay: Vec::new(),
            replay_at: 0,
            back_bytes: 0,
            failed: false,
        }
    }

    /// Returns the number of bytes taken.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Starts to keep the bytes taken last.
    pub(crate) fn keep_history(&mut self) {
        self.history.get_or_insert_default();
    }

    /// Goes back to a place, or as near to it as the history and the bound on all ways back allow.
    pub(crate) fn go_back(&mut self, to: u64) {
        let budget = (self.position + HISTORY_BYTES as u64).saturating_sub(self.back_bytes);
        let wanted = self.position.saturating_sub(to).min(budget);
        let Some(history) = &mut self.history else {
            return;
        };
        let way = history
            .len()
            .min(usize::try_from(wanted).unwrap_or(usize::MAX));
        let mut replay = history.split_off(history.len() - way);
        replay.extend_from_slice(&self.replay[self.replay_at..]);
        self.replay = replay;
        self.replay_at = 0;
        self.position -= way as u64;
        self.back_bytes += way as u64;
    }

    /// Gives the magic number that has just been taken again.
    fn unread_magic(&mut self) {
        let length = MAGIC.len();
        self.position -= length as u64;
        if let Some(history) = &mut self.history {
            history.truncate(history.len().saturating_sub(length));
        }
        if self.replay_at >= length && self.replay_at < self.replay.len() {
            self.replay_at -= length;
        } else {
            // The search has come to the source's own bytes, so nothing of the replay is left.
            self.replay.clear();
            self.replay.extend_from_slice(&MAGIC);
            self.replay_at = 0;
        }
    }

    /// Goes to the next bytes that look like a gzip member; false at the end of the file.
    pub(crate) fn seek_member(&mut self) -> io::Result<bool> {
        let mut matched = 0;
        loop {
            let buffer = self.fill_buf()?;
            if buffer.is_empty() {
                return Ok(false);
            }
            let mut taken = 0;
            while taken < buffer.len() && matched < MAGIC.len() {
                if matched == 0 {
                    match memchr::memchr(MAGIC[0], &buffer[taken..]) {
                        Some(place) => taken += place,
                        None => {
                            taken = buffer.len();
                            break;
                        }
                    }
                }
                if buffer[taken] == MAGIC[matched] {
                    matched += 1;
                    taken += 1;
                } else if matched > 0 {
                    // No proper suffix of the magic number is a prefix of it.
                    matched = 0;
                }
            }
            self.consume(taken);
            if matched == MAGIC.len() {
                self.unread_magic();
                return Ok(true);
            }
        }
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let source = self.fill_buf()?;
        let taken = source.len().min(buffer.len());
        buffer[..taken].copy_from_slice(&source[..taken]);
        self.consume(taken);
        Ok(taken)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.replay_at < self.replay.len() {
            return Ok(&self.replay[self.replay_at..]);
        }
        match self.inner.fill_buf() {
            Ok(buffer) => Ok(buffer),
            Err(error) => {
                // A decoder repeats the read after an interruption.
                self.failed |= error.kind() != io::ErrorKind::Interrupted;
                Err(error)
            }
        }
    }

    fn consume(&mut self, bytes: usize) {
        self.position += bytes as u64;
        let is_replay = self.replay_at < self.replay.len();
        if let Some(history) = &mut self.history {
            let taken = match is_replay {
                true => &self.replay[self.replay_at..],
                // Bytes that are there are given again without a read.
                false => self.inner.fill_buf().unwrap_or(&[]),
            };
            history.extend_from_slice(&taken[..bytes.min(taken.len())]);
            if history.len() > 2 * HISTORY_BYTES {
                history.drain(..history.len() - HISTORY_BYTES);
            }
        }
        match is_replay {
            true => self.replay_at += bytes,
            false => self.inner.consume(bytes),
        }
    }
}
