//! Byte stream of a file: decompressed, counted, and held to its limits.

use crate::limits::{Allowance, Beyond, FileLimits};
use crate::opened::{OpenError, open_named};
use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use web::charset::{Encodings, Utf8Reader};

/// Upper limit on the zstd window, that of `zstd --long=27`. It bounds memory.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// Upper limit on the memory of an xz decoder, in KiB: the dictionary of `xz -9` is 64 MiB.
const XZ_MEMORY_KIB_MAX: u32 = 192 << 10;

/// Endings of the names of compressed files.
pub(crate) const COMPRESSED: [&str; 4] = [".zst", ".gz", ".xz", ".bz2"];

/// Returns a name without the ending that says how the file is compressed.
pub fn decompressed_name(name: &str) -> &str {
    let mut bare = COMPRESSED
        .iter()
        .filter_map(|ending| name.strip_suffix(ending));
    bare.next().unwrap_or(name)
}

/// Bytes of one read request to the system.
const READ_BYTES: usize = 256 << 10;

/// Account of the source bytes read so far, and of the texts whose encoding was guessed; shared by all inputs of one reader.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter(Arc<Account>);

#[derive(Debug, Default)]
struct Account {
    bytes: AtomicU64,
    /// Texts by the name of the encoding that was guessed.
    guesses: Mutex<BTreeMap<&'static str, u64>>,
}

impl Meter {
    pub(crate) fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// Counts bytes that are skipped without being read.
    pub(crate) fn skip(&self, bytes: u64) {
        self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Counts a text whose encoding was guessed.
    pub(crate) fn guess(&self, encoding: &'static str) {
        *self.guessed().entry(encoding).or_default() += 1;
    }

    /// Returns the encodings guessed, each with the number of texts.
    pub(crate) fn guesses(&self) -> Vec<(&'static str, u64)> {
        let guesses = self.guessed();
        guesses
            .iter()
            .map(|(&name, &count)| (name, count))
            .collect()
    }

    fn guessed(&self) -> MutexGuard<'_, BTreeMap<&'static str, u64>> {
        // Counts are whole between any two steps.
        self.0
            .guesses
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reason why an input stopped before its end.
#[derive(Debug)]
pub(crate) enum InputError {
    /// The system reported a read error.
    Io(io::Error),
    /// The compressed data is truncated or damaged: a fault of the file, not of the machine.
    Damaged(String),
    /// The file exceeded a limit.
    Beyond(Beyond),
}

/// Opens a file for reading as documents are read: decompressed where its name ends in `.zst`, `.gz`, `.xz` or
/// `.bz2`. The limits for files among many do not apply.
pub fn open_decompressed(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    let input = Input::without_limits(open_named(path)?, &ending)?;
    Ok(Box::new(input))
}

/// The decompressed bytes of a file or a stream.
pub(crate) struct Input {
    bytes: Box<dyn Read + Send>,
    compressed: bool,
    failed: Arc<AtomicBool>,
    allowance: Allowance,
    meter: Meter,
    /// Value of the meter when the file was opened.
    meter_start: u64,
}

impl Input {
    /// Opens a file named by the user. Its extension tells whether it is compressed.
    pub(crate) fn open(path: &Path, limits: FileLimits, meter: &Meter) -> Result<Input, OpenError> {
        let file = open_named(path)?;
        Input::new(file, path, limits, meter).map_err(OpenError::Io)
    }

    /// Opens a file named by the user whose gzip members the reader decompresses itself, as each is a record.
    pub(crate) fn open_members(
        path: &Path,
        limits: FileLimits,
        meter: &Meter,
    ) -> Result<Input, OpenError> {
        let file = open_named(path)?;
        let input = match path.extension().is_some_and(|ending| ending == "gz") {
            true => Input::of_bytes(file, "", limits, meter),
            false => Input::new(file, path, limits, meter),
        };
        input.map_err(OpenError::Io)
    }

    /// Reads an open file. The extension of its path tells whether it is compressed.
    pub(crate) fn new(
        file: File,
        path: &Path,
        limits: FileLimits,
        meter: &Meter,
    ) -> io::Result<Input> {
        let ending = path
            .extension()
            .and_then(|ending| ending.to_str())
            .unwrap_or("");
        Input::of_bytes(file, ending, limits, meter)
    }

    /// Reads bytes. `ending` tells whether they are compressed: `gz`, `zst`, `xz` or `bz2`.
    pub(crate) fn of_bytes(
        bytes: impl Read + Send + 'static,
        ending: &str,
        limits: FileLimits,
        meter: &Meter,
    ) -> io::Result<Input> {
        let failed = Arc::new(AtomicBool::new(false));
        let source = Counted {
            inner: bytes,
            meter: meter.clone(),
            failed: failed.clone(),
        };
        let (bytes, compressed): (Box<dyn Read + Send>, bool) = match ending {
            "zst" => {
                let source = BufReader::with_capacity(READ_BYTES, source);
                let mut decoder = zstd::stream::read::Decoder::with_buffer(source)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
                (Box::new(decoder), true)
            }
            "gz" => (Box::new(MultiGzDecoder::new(source)), true),
            "bz2" => (Box::new(MultiBzDecoder::new(source)), true),
            "xz" => {
                let source = BufReader::with_capacity(READ_BYTES, source);
                let decoder = XzReader::new_mem_limit(source, true, XZ_MEMORY_KIB_MAX);
                (Box::new(decoder), true)
            }
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

    /// Reads bytes as [`Input::of_bytes`] does, without limits.
    pub(crate) fn without_limits(
        bytes: impl Read + Send + 'static,
        ending: &str,
    ) -> io::Result<Input> {
        let mut input = Input::of_bytes(bytes, ending, FileLimits::default(), &Meter::default())?;
        input.allowance = Allowance::endless();
        Ok(input)
    }

    /// Reads an uncompressed stream, without limits.
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

    /// Makes the input a text in UTF-8, whatever its encoding is of those that its format allows. A guess is counted.
    pub(crate) fn in_utf8(self, encodings: Encodings) -> Input {
        let meter = self.meter.clone();
        let told = move |encoding| meter.guess(encoding);
        Input {
            bytes: Box::new(Utf8Reader::new(self.bytes, encodings, told)),
            ..self
        }
    }

    /// Returns the account that the input is counted in.
    pub(crate) fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Returns the number of decoded bytes so far.
    pub(crate) fn decoded_bytes(&self) -> u64 {
        self.allowance.decoded()
    }

    /// Starts counting time against this file's limit.
    pub(crate) fn resume(&mut self) {
        self.allowance.resume();
    }

    /// Stops counting time against this file's limit.
    pub(crate) fn pause(&mut self) {
        self.allowance.pause();
    }

    /// Classifies an error of `read`: a fault of the machine, of the file, or an exceeded limit.
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
            // Only a further byte proves that the file continues.
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

/// Reader that counts bytes and records failures of the source, which a decoder may hide.
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
