//! Budget of one file in the child: decoded bytes, members and their depth.
//!
//! The limits hold for the file and everything inside it together, so archives within archives gain nothing.

use crate::fault::{Fault, UsedUp};
use crate::protocol::TEXT_BYTES_MAX;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// Upper limit on the decoded bytes of a file with all of its members.
const DECODED_BYTES_MAX: u64 = 1 << 30;

/// Decoded bytes beyond which the ratio applies.
const RATIO_FROM_BYTES: u64 = 64 << 20;

/// Upper limit on decoded bytes for each byte of the file, above [`RATIO_FROM_BYTES`].
const RATIO_MAX: u64 = 200;

/// Upper limit on the members of a file, those of archives inside it included.
const MEMBERS_MAX: u32 = 100_000;

/// Upper limit on archives within archives.
pub(crate) const DEPTH_MAX: u32 = 3;

/// Upper limit on a file that is held in memory.
pub(crate) const HELD_BYTES_MAX: u64 = 128 << 20;

/// Counters of one file, shared by the readers inside it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Budget(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    source: AtomicU64,
    decoded: AtomicU64,
    members: AtomicU32,
}

impl Budget {
    /// Returns a reader that counts the bytes of the file itself.
    pub(crate) fn source<R: Read>(&self, inner: R) -> Counted<R> {
        let (budget, is_source) = (self.clone(), true);
        Counted {
            inner,
            budget,
            is_source,
        }
    }

    /// Returns a reader that counts decoded bytes and fails beyond their limit.
    pub(crate) fn decoded<R: Read>(&self, inner: R) -> Counted<R> {
        let (budget, is_source) = (self.clone(), false);
        Counted {
            inner,
            budget,
            is_source,
        }
    }

    /// Counts a member.
    pub(crate) fn member(&self) -> Result<(), Fault> {
        let members = self.0.members.fetch_add(1, Relaxed) + 1;
        match members > MEMBERS_MAX {
            true => Err(Fault::File(format!(
                "more than {MEMBERS_MAX} members; the rest is left out"
            ))),
            false => Ok(()),
        }
    }

    fn count_decoded(&self, bytes: u64) -> io::Result<()> {
        let decoded = self.0.decoded.fetch_add(bytes, Relaxed) + bytes;
        let source = self.0.source.load(Relaxed);
        let reason = if decoded > DECODED_BYTES_MAX {
            format!("more than {DECODED_BYTES_MAX} decoded bytes; the rest is left out")
        } else if decoded > RATIO_FROM_BYTES && decoded / RATIO_MAX > source {
            format!(
                "{decoded} decoded bytes from {source} compressed ones, more than {RATIO_MAX} for each; \
                 the rest is left out"
            )
        } else {
            return Ok(());
        };
        Err(io::Error::other(UsedUp(reason)))
    }
}

/// Reader that counts its bytes.
pub(crate) struct Counted<R> {
    inner: R,
    budget: Budget,
    is_source: bool,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if self.is_source {
            let source = &self.budget.0.source;
            source.fetch_add(read as u64, Relaxed);
        } else {
            self.budget.count_decoded(read as u64)?;
        }
        Ok(read)
    }
}

/// Reads all bytes of a document or of a member, up to 64 MiB. `what` names it in the fault.
pub(crate) fn read_document(reader: impl Read, what: &str) -> Result<Vec<u8>, Fault> {
    read_up_to(reader, TEXT_BYTES_MAX as u64, what)
}

/// Reads all bytes, up to `max`.
pub(crate) fn read_up_to(reader: impl Read, max: u64, what: &str) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    let read = reader.take(max + 1).read_to_end(&mut bytes);
    read.map_err(|error| Fault::of(&error, what))?;
    match bytes.len() as u64 > max {
        true => Err(Fault::bad(format!("longer than {max} bytes"))),
        false => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bomb_ends_where_the_ratio_begins_to_count() {
        let budget = Budget::default();
        let mut source = budget.source(&[0u8; 1000][..]);
        io::copy(&mut source, &mut io::sink()).unwrap();
        let mut bomb = budget.decoded(io::repeat(0));
        let error = io::copy(&mut bomb, &mut io::sink()).unwrap_err();
        let Fault::File(reason) = Fault::of(&error, "x") else {
            panic!("{error}")
        };
        assert!(reason.contains("from 1000 compressed ones"), "{reason}");
        assert!(budget.0.decoded.load(Relaxed) < RATIO_FROM_BYTES + (1 << 20));
    }

    #[test]
    fn members_are_counted_over_all_archives() {
        let budget = Budget::default();
        for _ in 0..MEMBERS_MAX {
            budget.clone().member().unwrap();
        }
        assert!(matches!(budget.member(), Err(Fault::File(_))));
    }

    #[test]
    fn a_long_member_is_bad_and_others_are_not() {
        let fault = read_up_to(io::repeat(1), 10, "x").unwrap_err();
        assert!(matches!(fault, Fault::Document(_)), "{fault:?}");
        assert_eq!(read_up_to(&b"0123456789"[..], 10, "x").unwrap().len(), 10);
    }
}
