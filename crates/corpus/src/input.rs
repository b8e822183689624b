//! How are a file's bytes read, compressed or not, and how many of them have been?

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
}

/// The bytes of a file as documents are read from it: decompressed where its name ends in `.zst` or `.gz`.
pub fn open_decompressed(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    Ok(Input::open(path, &Meter::default())?.bytes)
}

/// A file's or a stream's bytes after decompression.
pub(crate) struct Input {
    bytes: Box<dyn Read + Send>,
    compressed: bool,
    failed: Arc<AtomicBool>,
}

impl Input {
    /// Opens a file; its ending says whether it is compressed.
    pub(crate) fn open(path: &Path, meter: &Meter) -> io::Result<Input> {
        let failed = Arc::new(AtomicBool::new(false));
        let source = Counted {
            inner: File::open(path)?,
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
        })
    }

    /// An uncompressed stream.
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
        }
    }

    /// Says whose fault an error of `read` was.
    pub(crate) fn explain(&self, error: io::Error) -> InputError {
        if !self.compressed || self.failed.load(Ordering::Relaxed) {
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
        self.bytes.read(buffer)
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
