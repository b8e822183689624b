//! Columns: the values of typed fields by document, for filters, sorting and facets.
//!
//! The columns of a segment have a file of their own, derived from its stored documents (see `derive`). A segment of
//! documents without a field has no column of it.
//!
//! ```text
//! payload    := { values [starts] [table] bounds }{columns} directory directory_start:u64le
//! values     := bits{documents}                  one value a document: its code less the least code
//!             | bits{values}                     several: the codes of all documents, one after another
//! starts     := bits{documents + 1}              several values: the first of each document, and the end
//! table      := u64le{codes}                     ranked numbers: their keys, increasing
//!             | words                            keywords: see `words`
//! bounds     := { least:bits greatest:bits }{documents / 1024, rounded up}     codes; 0 where there is no value
//! directory  := JSON, see `directory`
//! ```
//!
//! A value is a *code*: 1 and up in the order of values; 0 where a document has none. Numbers of a narrow range are
//! coded by their distance from the least one, in steps of their greatest common divisor; floats with few decimals as
//! the integers that they are times a power of ten (Afroozeh & Boncz, "ALP: adaptive lossless floating-point
//! compression", 2023, section 3.1). All other values are coded by rank.
//!
//! Invariants: the values of a document increase (keywords) or do not decrease; every code is in the table.

mod bits;
mod column;
mod derive;
mod directory;
mod encode;
mod summary;
mod words;

pub use column::{CodeRange, Column};
pub(crate) use derive::{Gathered, each_value, write_missing};
pub use summary::FieldSummary;

use crate::live::LiveFile;
use crate::sealed::{Identity, Seal};
use crate::section::{Section, open_live};
use crate::{IndexError, Segment};
use directory::Directory;
use std::sync::{Arc, OnceLock};
use vfs::SharedStorage;

/// Documents of a block, which has a least and a greatest code.
pub const BLOCK_DOCUMENTS: u32 = 1024;

/// Columns of one segment. Their directory is read at the first look-up.
#[derive(Debug)]
pub(crate) struct Columns {
    payload: Section,
    /// Directory; `None` where it is damaged.
    directory: OnceLock<Option<Directory>>,
}

impl Columns {
    pub(crate) fn open(
        storage: &SharedStorage,
        name: &str,
        identity: Identity,
        seal: Seal,
    ) -> Result<Columns, IndexError> {
        Ok(Columns {
            payload: open_live(storage, name, identity, seal)?,
            directory: OnceLock::new(),
        })
    }

    pub(crate) fn file(&self) -> &Arc<LiveFile> {
        self.payload.file()
    }

    fn directory(&self) -> Result<&Directory, IndexError> {
        let read = || Directory::read(&self.payload);
        let directory = self.directory.get_or_init(read).as_ref();
        directory.ok_or_else(|| {
            let end = self.payload.len() as u64;
            self.payload
                .damaged(end, "the directory of columns is unreadable")
        })
    }

    fn column(&self, name: &str, documents_count: u32) -> Result<Option<Column<'_>>, IndexError> {
        let Some(entry) = self.directory()?.get(name) else {
            return Ok(None);
        };
        let column = Column::open(&self.payload, entry, documents_count);
        let damaged = || {
            let what = format!("the column {name} is unreadable");
            self.payload.damaged(entry.values.start, &what)
        };
        column.map(Some).ok_or_else(damaged)
    }
}

impl Segment {
    /// Returns the column of a field; `None` where no document of the segment has a value.
    pub fn column(&self, name: &str) -> Result<Option<Column<'_>>, IndexError> {
        match &self.columns {
            Some(columns) => columns.column(name, self.documents_count()),
            None => Ok(None),
        }
    }

    /// Returns the names and sizes of the columns, in the order of names.
    pub(crate) fn column_bytes(&self) -> Result<Vec<(&str, u64)>, IndexError> {
        match &self.columns {
            Some(columns) => Ok(columns.directory()?.bytes().collect()),
            None => Ok(Vec::new()),
        }
    }
}
