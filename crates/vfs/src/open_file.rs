//! An open file, by what its storage can give of it.

use crate::read::read_exactly;
use crate::{ReadFile, Region, StorageError};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// File that is open for reading.
#[derive(Debug, Clone)]
pub enum OpenFile {
    /// The whole file, mapped or in memory already.
    Region(Region),
    /// A handle, by which bytes must be read to be had.
    Handle(Arc<dyn ReadFile>),
}

impl OpenFile {
    /// Returns the length in bytes, which is that at opening.
    pub fn length(&self) -> u64 {
        match self {
            OpenFile::Region(region) => region.len() as u64,
            OpenFile::Handle(file) => file.length(),
        }
    }

    /// Returns the bytes of a range, all of them. `path` is for messages.
    ///
    /// # Errors
    /// A failure of the storage, also where fewer bytes came; a range that lies outside the file.
    pub fn read(&self, path: &Path, range: Range<u64>) -> Result<Vec<u8>, StorageError> {
        match self {
            OpenFile::Handle(file) => read_exactly(&**file, path, range),
            OpenFile::Region(region) => {
                let start = usize::try_from(range.start).unwrap_or(usize::MAX);
                let end = usize::try_from(range.end).unwrap_or(usize::MAX);
                let bytes = region.get(start..end).map(<[u8]>::to_vec);
                let outside =
                    || StorageError::from_io("read", path, io::ErrorKind::InvalidInput.into());
                bytes.ok_or_else(outside)
            }
        }
    }
}
