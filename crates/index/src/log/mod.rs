//! Write-ahead log: changes that are acknowledged before a commit has them.
//!
//! ```text
//! log    := group*                                     file log-<number>; every group begins at a multiple of 512 bytes
//! group  := head payload padding
//! head   := magic[4] kind:u32le payload_bytes:u32le records:u32le first_record:u64le payload_hash:u64le head_hash:u64le
//! payload := bytes:u32le lz4{ record* }                bytes: of the records, uncompressed
//! record := 0x01 url id title body fields | 0x02 url   put, delete; each text bytes:vint utf8; fields: JSON
//! kind   := 1 records | 2 mark | 3 end                 a mark and an end have no payload
//! ```
//!
//! Hashes are XXH3-64, seeded with the identifier of the index and the number of the log, so that a group of another log,
//! or one inside the text of a document, is not taken for one of this log.
//!
//! Law: a group is written only after the group before it is durable, and the first group of a log only after the end of
//! the log before. So a group whose head is valid proves that all groups before it were acknowledged. What is unreadable
//! before such a head is a *loss*; what is unreadable after the last one is the torn *tail* of a write that nobody was
//! told of. A mark is written after a pause, and proves the last group before it.
//!
//! The manifest has the number of the last log that its generation contains; later logs are replayed by the next writer.
//! Puts and deletes of whole documents may be replayed any number of times.

mod follow;
mod group;
mod loss;
mod read;
mod record;
mod replay;
mod write;

pub use follow::{LogPosition, LogRead, LogReader};
pub use loss::LogLoss;
pub use record::LogRecord;
pub(crate) use replay::{Logged, OpenLog, open_after, read_after, read_opened};
pub use write::{LogBatch, LogWriter};

use crate::{IndexError, manifest};
use vfs::SharedStorage;

/// Returns whether the newest generation of an index lacks changes that a log has: a writer that was killed left them, or one
/// is writing them. The next writer to open the index commits them.
///
/// # Errors
/// A failure of the storage.
pub fn has_changes_beyond(storage: &SharedStorage) -> Result<bool, IndexError> {
    match manifest::read_newest(storage)? {
        Some(manifest) => Ok(!open_after(storage, &manifest)?.is_empty()),
        None => Ok(false),
    }
}
