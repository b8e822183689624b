//! Limits on the bytes that one file may decode to and on the time that reading it may take.
//!
//! A megabyte of compressed bytes may stand for a gigabyte, so the length of a file bounds nothing.
//! Text shrinks 3 to 10 times, logs that repeat themselves 50 times; a bomb shrinks 1,000 times (gzip)
//! or 30,000 times (zstd). Time counts only while the file is read and decoded: how fast documents are
//! indexed, and how long another program takes, is not the file's doing.

use std::time::{Duration, Instant};

/// Decoded bytes of a file from which on the ratio counts. Up to here a bomb costs less than a second.
const RATIO_FROM_BYTES: u64 = 64 << 20;

/// Decoded bytes for each compressed byte that are taken above [`RATIO_FROM_BYTES`].
const RATIO_MAX: u64 = 200;

/// Decoded bytes that are taken of any file: an hour of reading.
const DECODED_BYTES_MAX: u64 = 1 << 40;

/// Time that is taken for any file.
const TIME_MAX: Duration = Duration::from_secs(3600);

/// Limits for each file; what is beyond them is left out, and what was read before stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimits {
    /// Decoded bytes. `None`: 1 TiB, and for compressed files above 64 MiB 200 times the bytes they have.
    pub decoded_bytes_max: Option<u64>,
    /// Time of reading and decoding.
    pub time_max: Duration,
}

impl Default for FileLimits {
    fn default() -> FileLimits {
        FileLimits {
            decoded_bytes_max: None,
            time_max: TIME_MAX,
        }
    }
}

/// A file went beyond a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Beyond {
    #[error("more than {max} decoded bytes; the rest is left out (--file-bytes-max takes more)")]
    Bytes { max: u64 },
    #[error(
        "{decoded} decoded bytes from {source_bytes} compressed ones, more than {RATIO_MAX} for each; \
         the rest is left out (--file-bytes-max takes more)"
    )]
    Ratio { decoded: u64, source_bytes: u64 },
    #[error("reading took more than {} s; the rest is left out (--file-seconds-max takes more)", max.as_secs_f64())]
    Time { max: Duration },
}

impl From<Beyond> for std::io::Error {
    fn from(beyond: Beyond) -> std::io::Error {
        std::io::Error::other(beyond)
    }
}

/// What one file has used of its limits.
#[derive(Debug)]
pub(crate) struct Allowance {
    bytes_max: u64,
    ratio_max: Option<u64>,
    time_max: Duration,
    decoded: u64,
    spent: Duration,
    /// Since when the file is being read.
    reading: Option<Instant>,
}

impl Allowance {
    /// The allowance of a file under `limits`.
    pub(crate) fn new(limits: FileLimits, compressed: bool) -> Allowance {
        // Who names a number has thought about the file; the ratio is for those who have not.
        let by_ratio = compressed && limits.decoded_bytes_max.is_none();
        Allowance {
            bytes_max: limits.decoded_bytes_max.unwrap_or(DECODED_BYTES_MAX),
            ratio_max: by_ratio.then_some(RATIO_MAX),
            time_max: limits.time_max,
            decoded: 0,
            spent: Duration::ZERO,
            reading: None,
        }
    }

    /// No limit: for streams, whose bytes and time are another program's.
    pub(crate) fn endless() -> Allowance {
        let limits = FileLimits {
            decoded_bytes_max: Some(u64::MAX),
            time_max: Duration::MAX,
        };
        Allowance::new(limits, false)
    }

    /// Decoded bytes so far.
    pub(crate) fn decoded(&self) -> u64 {
        self.decoded
    }

    /// Decoded bytes that may follow.
    pub(crate) fn left(&self) -> u64 {
        self.bytes_max - self.decoded
    }

    /// Counts the time from here on.
    pub(crate) fn resume(&mut self) {
        self.reading = Some(Instant::now());
    }

    /// Counts no time from here on.
    pub(crate) fn pause(&mut self) {
        self.spent = self.elapsed();
        self.reading = None;
    }

    fn elapsed(&self) -> Duration {
        self.spent + self.reading.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// That bytes follow which may not.
    pub(crate) fn beyond_bytes(&self) -> Beyond {
        Beyond::Bytes {
            max: self.bytes_max,
        }
    }

    /// Counts `bytes` more, at most [`Allowance::left`], of a file of which `source_bytes` have been read.
    pub(crate) fn count(&mut self, bytes: u64, source_bytes: u64) -> Result<(), Beyond> {
        self.decoded += bytes;
        let decoded = self.decoded;
        if let Some(ratio) = self.ratio_max
            && decoded > RATIO_FROM_BYTES
            && decoded / ratio > source_bytes
        {
            return Err(Beyond::Ratio {
                decoded,
                source_bytes,
            });
        }
        let max = self.time_max;
        if self.elapsed() >= max {
            return Err(Beyond::Time { max });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts pieces of 1 MiB until a limit, each for `source_bytes` of the file.
    fn counted(allowance: &mut Allowance, source_bytes: u64) -> (u64, Beyond) {
        let mut read = 0;
        loop {
            read += source_bytes;
            if allowance.left() < 1 << 20 {
                return (allowance.decoded() >> 20, allowance.beyond_bytes());
            }
            if let Err(beyond) = allowance.count(1 << 20, read) {
                return (allowance.decoded() >> 20, beyond);
            }
        }
    }

    #[test]
    fn a_bomb_ends_where_the_ratio_begins_to_count_and_text_does_not() {
        let bomb = 1 << 10;
        let (mib, beyond) = counted(&mut Allowance::new(FileLimits::default(), true), bomb);
        assert_eq!(mib, 65);
        assert!(matches!(beyond, Beyond::Ratio { .. }), "{beyond}");
        // Text that shrinks 128 times, a terabyte of it.
        let text = 8 << 10;
        let (mib, beyond) = counted(&mut Allowance::new(FileLimits::default(), true), text);
        assert_eq!((mib, beyond), (1 << 20, Beyond::Bytes { max: 1 << 40 }));
        // A file that is not compressed is as long as it is.
        let (mib, _) = counted(&mut Allowance::new(FileLimits::default(), false), 0);
        assert_eq!(mib, 1 << 20);
    }

    #[test]
    fn a_number_of_bytes_stands_for_the_ratio() {
        let limits = FileLimits {
            decoded_bytes_max: Some(300 << 20),
            ..FileLimits::default()
        };
        let (mib, beyond) = counted(&mut Allowance::new(limits, true), 1);
        assert_eq!((mib, beyond), (300, Beyond::Bytes { max: 300 << 20 }));
    }

    #[test]
    fn time_counts_only_while_the_file_is_read() {
        let limits = FileLimits {
            time_max: Duration::from_millis(20),
            ..FileLimits::default()
        };
        let mut allowance = Allowance::new(limits, false);
        std::thread::sleep(limits.time_max * 2);
        assert_eq!(allowance.count(1, 1), Ok(()));
        allowance.resume();
        std::thread::sleep(limits.time_max * 2);
        allowance.pause();
        let max = limits.time_max;
        assert_eq!(allowance.count(1, 1), Err(Beyond::Time { max }));
    }
}
