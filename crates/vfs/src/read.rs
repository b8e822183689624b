//! Reading of a file by ranges.

use crate::StorageError;
use std::io;
use std::ops::Range;
use std::path::Path;

/// Bytes of one read of a whole file.
const PIECE_BYTES: u64 = 8 << 20;

/// An open file that is read by ranges. Any threads may read at the same time.
pub trait ReadFile: Send + Sync + std::fmt::Debug {
    /// Returns the length in bytes, which is that at opening.
    fn length(&self) -> u64;
    /// Returns the bytes of a range, which lies in the file. Callers take a reply of another length for a cut connection.
    ///
    /// # Errors
    /// A failure of the storage: [`StorageError::is_transient`] where the same read may succeed soon.
    fn read(&self, range: Range<u64>) -> Result<Vec<u8>, StorageError>;
}

/// Reads a range of a file; `path` is for messages.
///
/// # Errors
/// Those of [`ReadFile::read`]; a reply of another length is a failure that may pass.
pub(crate) fn read_exactly(
    file: &dyn ReadFile,
    path: &Path,
    range: Range<u64>,
) -> Result<Vec<u8>, StorageError> {
    let bytes = file.read(range.clone())?;
    let wanted = range.end.saturating_sub(range.start);
    if bytes.len() as u64 == wanted {
        return Ok(bytes);
    }
    let what = format!(
        "{} bytes came of {wanted} from byte {}",
        bytes.len(),
        range.start
    );
    Err(StorageError::Unavailable {
        operation: "read",
        path: path.to_owned(),
        source: io::Error::new(io::ErrorKind::UnexpectedEof, what),
    })
}

/// Reads a whole file, in pieces.
pub(crate) fn read_whole(file: &dyn ReadFile, path: &Path) -> Result<Vec<u8>, StorageError> {
    let length = file.length();
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    let mut at = 0;
    while at < length {
        let end = length.min(at + PIECE_BYTES);
        bytes.append(&mut read_exactly(file, path, at..end)?);
        at = end;
    }
    Ok(bytes)
}
