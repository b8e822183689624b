//! The bytes of a file, decompressed, counted, and within its limits.

use crate::limits::{Allowance, Beyond, FileLimits};
use crate::opened::{OpenError, open_named};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The largest zstd window that is taken: what `zstd --long=27` writes. It bounds memory.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// Bytes asked of the system at once.
const READ_BYTES: usize = 256 << 10;

/// Counts the source bytes read so far; shared by all inputs of one reader.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter(Arc<AtomicU64>);

impl Meter {
    pub(crate) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts bytes that are passed over without being read.
    pub(crate) fn skip(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Why an input stopped before its end.
#[derive(Debug)]
pub(crate) enum InputError {
    /// The system could not read.
    Io(io::Error),
    /// The compressed data is cut off or damaged: the fault of the file, not of the machine.
    Damaged(String),
    /// The file went beyond a limit.
    Beyond(Beyond),
}

/// The bytes of a file as documents are read from it: decompressed where its name ends in `.zst` or
/// `.gz`, and without the limits that bound a file among many.
pub fn open_decompressed(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    let mut input = Input::new(
        open_named(path)?,
        path,
        FileLimits::default(),
        &Meter::default(),
    )?;
    input.allowance = Allowance::endless();
    Ok(Box::new(input))
}

/// A file's or a stream's bytes after decompression.
pub(crate) struct Input {
    bytes: Box<dyn Read + Send>,
    compressed: bool,
    failed: Arc<AtomicBool>,
    allowance: Allowance,
    meter: Meter,
    /// The meter when the file was opened.
    meter_start: u64,
}

impl Input {
    /// Opens a file that its user named; its ending says whether it is compressed.
    pub(crate) fn open(path: &Path, limits: FileLimits, meter: &Meter) -> Result<Input, OpenError> {
        let file = open_named(path)?;
        Input::new(file, path, limits, meter).map_err(OpenError::Io)
    }

    /// Reads an opened file; the ending of its path says whether it is compressed.
    pub(crate) fn new(
        file: File,
        path: &Path,
        limits: FileLimits,
        meter: &Meter,
    ) -> io::Result<Input> {
        let failed = Arc::new(AtomicBool::new(false));
        let source = Counted {
            inner: file,
            meter: meter.clone(),
            failed: failed.clone(),
        };
        let ending = path
            .extension()
            .and_then(|ending| ending.to_str())
            .unwrap_or("");
        let (bytes, compressed): (Box<dyn Read + Send>, bool) = match ending {
            "zst" => {
                let source = BufReader::with_capacity(READ_BYTES, source);
                let mut decoder = zstd::stream::read::Decoder::with_buffer(source)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                (Box::new(decoder), true)
            }
            "gz" => (Box::new(MultiGzDecoder::new(source)), true),
            _ => (Box::new(source), false),
        };
        Ok(Input {
            bytes,
            compressed,
            failed,
            allowance: Allowance::new(limits, compressed),
            meter: meter.clone(),
            meter_start: meter.bytes(),
        })
    }

    /// An uncompressed stream, which has no limits.
    pub(crate) fn from_reader(stream: impl Read + Send + 'static, meter: &Meter) -> Input {
        let failed = Arc::new(AtomicBool::new(false));
        let source = Counted {
            inner: stream,
            meter: meter.clone(),
            failed: failed.clone(),
        };
        Input {
            bytes: Box::new(source),
            compressed: false,
            failed,
            allowance: Allowance::endless(),
            meter: meter.clone(),
            meter_start: meter.bytes(),
        }
    }

    /// Decoded bytes so far.
    pub(crate) fn decoded_bytes(&self) -> u64 {
        self.allowance.decoded()
    }

    /// Counts the time from here on as time of this file.
    pub(crate) fn resume(&mut self) {
        self.allowance.resume();
    }

    /// Counts no time of this file from here on.
    pub(crate) fn pause(&mut self) {
        self.allowance.pause();
    }

    /// Says whose fault an error of `read` was.
    pub(crate) fn explain(&self, error: io::Error) -> InputError {
        let inner = error.get_ref();
        if let Some(beyond) = inner.and_then(|inner| inner.downcast_ref::<Beyond>()) {
            InputError::Beyond(*beyond)
        } else if !self.compressed || self.failed.load(Ordering::Relaxed) {
            InputError::Io(error)
        } else if error.kind() == io::ErrorKind::UnexpectedEof {
            InputError::Damaged("file ends early; fetch or compress it again".to_owned())
        } else {
            InputError::Damaged(format!(
                "compressed data is damaged ({error}); the rest is left out"
            ))
        }
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.allowance.left();
        if left == 0 && !buffer.is_empty() {
            // Only a further byte shows that the file does not end here.
            return match self.bytes.read(&mut buffer[..1])? {
                0 => Ok(0),
                _ => Err(self.allowance.beyond_bytes().into()),
            };
        }
        let taken = buffer
            .len()
            .min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = self.bytes.read(&mut buffer[..taken])?;
        let source_bytes = self.meter.bytes() - self.meter_start;
        self.allowance.count(read as u64, source_bytes)?;
        Ok(read)
    }
}

/// Counts what is read, and remembers that reading failed: a decoder may hide whose error it was.
struct Counted<R> {
    inner: R,
    meter: Meter,
    failed: Arc<AtomicBool>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.inner.read(buffer) {
            Ok(read) => {
                self.meter.skip(read as u64);
                Ok(read)
            }
            Err(error) => {
                if error.kind() != io::ErrorKind::Interrupted {
                    self.failed.store(true, Ordering::Relaxed);
                }
                Err(error)
            }
        }
    }
}
