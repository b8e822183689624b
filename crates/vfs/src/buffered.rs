//! Buffered writer: few large operations, and a failure that stays.
use crate::{StorageError, WriteFile};
use std::io::{self, Write};
use std::path::Path;

/// Destination of buffered bytes. One call is one operation at the disk.
pub(crate) trait Sink: Send {
    fn path(&self) -> &Path;
    /// Appends all of `bytes`.
    fn append(&mut self, bytes: &[u8]) -> Result<(), StorageError>;
    /// Makes the appended bytes durable.
    fn sync(&mut self) -> Result<(), StorageError>;
    /// Makes the appended bytes durable, and the file complete.
    fn finish(&mut self) -> Result<(), StorageError>;
    /// Returns whether the file still has a name.
    fn has_name(&self) -> bool {
        true
    }
}

/// A file being written to a sink.
///
/// After a failed write nobody knows what the file holds, so everything later fails too: a caller
/// that overlooked the first error cannot finish a file with a hole.
pub(crate) struct Buffered<S: Sink> {
    sink: S,
    buffer: Vec<u8>,
    buffer_bytes_max: usize,
    failed: Option<io::ErrorKind>,
}

impl<S: Sink> Buffered<S> {
    pub(crate) fn new(sink: S, buffer_bytes_max: usize) -> Buffered<S> {
        Buffered {
            sink,
            buffer: Vec::new(),
            buffer_bytes_max,
            failed: None,
        }
    }

    fn make_durable(
        &mut self,
        how: impl FnOnce(&mut S) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        self.write_buffer()?;
        let result = how(&mut self.sink);
        // A second sync may report success although the first lost pages: there is no second one.
        self.failed = result.as_ref().err().map(StorageError::kind);
        result
    }

    fn write_buffer(&mut self) -> Result<(), StorageError> {
        if let Some(kind) = self.failed {
            let source = io::Error::new(kind, "an earlier write to this file failed");
            return Err(StorageError::from_io("write", self.sink.path(), source));
        }
        if self.buffer.is_empty() {
            return Ok(());
        }
        let result = self.sink.append(&self.buffer);
        self.buffer.clear();
        self.failed = result.as_ref().err().map(StorageError::kind);
        result
    }
}

impl<S: Sink> Write for Buffered<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() + bytes.len() > self.buffer_bytes_max || self.failed.is_some() {
            self.write_buffer()?;
        }
        // At most a buffer at a time, so that an operation's size has a limit.
        let taken = bytes.len().min(self.buffer_bytes_max);
        if self.buffer.capacity() == 0 {
            self.buffer.reserve_exact(self.buffer_bytes_max);
        }
        self.buffer.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(self.write_buffer()?)
    }
}

impl<S: Sink> WriteFile for Buffered<S> {
    fn sync(&mut self) -> Result<(), StorageError> {
        self.make_durable(S::sync)
    }

    fn finish(mut self: Box<Self>) -> Result<(), StorageError> {
        self.make_durable(S::finish)
    }

    fn has_name(&self) -> bool {
        self.sink.has_name()
    }
}

impl<S: Sink> Drop for Buffered<S> {
    fn drop(&mut self) {
        // As a killed process leaves it: whatever had been written, synced or not. Nobody is left
        // to be told of an error, and an unfinished file is not read.
        let _ = self.write_buffer();
    }
}
