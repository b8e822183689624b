//! Copy of one file into a storage, complete before it has its name.

use crate::IndexError;
use vfs::{Region, SharedStorage, StorageError};

/// Prefix of names that no generation has.
const TEMPORARY: &str = "tmp-";
const CHUNK_BYTES: usize = 1 << 20;

/// Returns the name of a file that is not complete yet; the next commit removes what an interruption leaves of it.
pub(super) fn temporary_name(name: &str) -> String {
    format!("{TEMPORARY}{name}")
}

/// Copies the first `length` bytes of `bytes` to the file `name`, replacing an earlier one. Reports the length of each
/// piece to `advance`.
pub(super) fn copy_file(
    bytes: &Region,
    length: usize,
    target: &SharedStorage,
    name: &str,
    advance: &mut dyn FnMut(u64),
) -> Result<(), IndexError> {
    let temporary = format!("{TEMPORARY}copy-{name}");
    let mut out = target.create(&temporary)?;
    let mut start = 0;
    let length = length.min(bytes.len());
    while start < length {
        let end = length.min(start + CHUNK_BYTES);
        out.write_all(&bytes[start..end]).map_err(|error| {
            StorageError::from_io("write", &target.location().join(name), error)
        })?;
        bytes.release(start..end);
        advance((end - start) as u64);
        start = end;
    }
    out.finish()?;
    target.rename(&temporary, name)?;
    Ok(())
}

/// Removes the temporary files of an interrupted backup.
pub(super) fn remove_temporary(target: &SharedStorage) -> Result<(), IndexError> {
    for name in target.list()? {
        if name.starts_with(TEMPORARY) {
            target.remove(&name)?;
        }
    }
    Ok(())
}
