//! Limits on the decoded bytes of a file and on the time of reading it.
//!
//! A megabyte of compressed bytes may decode to a gigabyte, so the length of a file limits nothing. Text compresses 3
//! to 10 times, repetitive logs 50 times; a decompression bomb 1,000 times (gzip) or 30,000 times (zstd). Time counts
//! only while the file is read and decoded: the speed of indexing and of other programs does not depend on the file.

use std::time::{Duration, Instant};

/// Decoded bytes of a file beyond which the ratio applies. Up to here a bomb costs less than a second.
const RATIO_FROM_BYTES: u64 = 64 << 20;

/// Upper limit on decoded bytes for each compressed byte, above [`RATIO_FROM_BYTES`].
const RATIO_MAX: u64 = 200;

/// Upper limit on the decoded bytes of any file: an hour of reading.
const DECODED_BYTES_MAX: u64 = 1 << 40;

/// Upper limit on the reading time of any file.
const TIME_MAX: Duration = Duration::from_secs(3600);

/// Limits for each file. Input beyond a limit is left out; documents read before stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimits {
    /// Limit on decoded bytes. `None`: 1 TiB, and for compressed files above 64 MiB also 200 times their length.
    pub decoded_bytes_max: Option<u64>,
    /// Limit on the time of reading and decoding.
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

/// Limit that a file exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Beyond {
    #[error("more than {max} decoded bytes; the rest is left out (--file-size-max takes more)")]
    Bytes { max: u64 },
    #[error(
        "{decoded} decoded bytes from {source_bytes} compressed ones, more than {RATIO_MAX} for each; \
         the rest is left out (--file-size-max takes more)"
    )]
    Ratio { decoded: u64, source_bytes: u64 },
    #[error("reading took more than {} s; the rest is left out (--file-time-max takes more)", max.as_secs_f64())]
    Time { max: Duration },
}

impl From<Beyond> for std::io::Error {
    fn from(beyond: Beyond) -> std::io::Error {
        std::io::Error::other(beyond)
    }
}

/// Bytes and time that one file has used, with its limits.
#[derive(Debug)]
pub(crate) struct Allowance {
    bytes_max: u64,
    ratio_max: Option<u64>,
    time_max: Duration,
    decoded: u64,
    spent: Duration,
    /// Start of the current period of reading.
    reading: Option<Instant>,
}

impl Allowance {
    /// Creates the allowance of a file under `limits`.
    pub(crate) fn new(limits: FileLimits, compressed: bool) -> Allowance {
        // An explicit limit is a decision about the file, so the ratio applies only without one.
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

    /// Creates an allowance without limits, for streams: their bytes and time are those of another program.
    pub(crate) fn endless() -> Allowance {
        let limits = FileLimits {
            decoded_bytes_max: Some(u64::MAX),
            time_max: Duration::MAX,
        };
        Allowance::new(limits, false)
    }

    /// Returns the number of decoded bytes so far.
    pub(crate) fn decoded(&self) -> u64 {
        self.decoded
    }

    /// Returns the number of bytes left within the limit.
    pub(crate) fn left(&self) -> u64 {
        self.bytes_max - self.decoded
    }

    /// Starts counting time.
    pub(crate) fn resume(&mut self) {
        self.reading = Some(Instant::now());
    }

    /// Stops counting time.
    pub(crate) fn pause(&mut self) {
        self.spent = self.elapsed();
        self.reading = None;
    }

    fn elapsed(&self) -> Duration {
        self.spent + self.reading.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Returns the error for bytes beyond the limit.
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

    /// Counts pieces of 1 MiB up to a limit, each decoded from `source_bytes` of the file.
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
        // A terabyte of text that compresses 128 times.
        let text = 8 << 10;
        let (mib, beyond) = counted(&mut Allowance::new(FileLimits::default(), true), text);
        assert_eq!((mib, beyond), (1 << 20, Beyond::Bytes { max: 1 << 40 }));
        // The ratio does not apply to an uncompressed file.
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
