//! Columns: the values of typed fields by document, for filters, sorting and facets.
//!
//! The columns of a segment have a file of their own, derived from its stored documents (see [`crate::derive`]). A segment of
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
mod directory;
mod encode;
mod lists;
mod words;

pub use column::{CodeRange, Column};
pub use directory::BLOCK_DOCUMENTS;
pub(crate) use encode::{Values, write_columns};
pub use lists::{LIST_BYTES_MAX, ListFigures, list_figures};

use crate::IndexError;
use crate::live::{Derived, LiveFile};
use crate::sealed::{Identity, Seal};
use crate::section::{Section, open_live};
use directory::Directory;
use fields::ValueLaw;
use lists::DocumentLists;
use std::sync::Arc;
use vfs::SharedStorage;

/// Columns of one segment. Their directory is read at the first look-up.
#[derive(Debug)]
pub(crate) struct Columns {
    payload: Section,
    directory: Derived<Directory>,
    /// Documents that pass the filters that are used often.
    lists: DocumentLists,
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
            directory: Derived::default(),
            lists: DocumentLists::default(),
        })
    }

    pub(crate) fn lists(&self) -> &DocumentLists {
        &self.lists
    }

    pub(crate) fn file(&self) -> &Arc<LiveFile> {
        self.payload.file()
    }

    /// Returns the names and sizes of the columns, in the order of names.
    pub(crate) fn bytes(&self) -> Result<Vec<(&str, u64)>, IndexError> {
        Ok(self.directory()?.bytes().collect())
    }

    /// Returns the number of values of a field that do not fit its type, and the law of its values; `None` where no document
    /// has a value, be it a misfit.
    pub(crate) fn misfits(&self, name: &str) -> Result<Option<(u64, ValueLaw)>, IndexError> {
        let entry = self.directory()?.entry(name);
        Ok(entry.map(|entry| (entry.misfits_count, entry.law)))
    }

    fn directory(&self) -> Result<&Directory, IndexError> {
        let unreadable = || {
            let end = self.payload.len() as u64;
            self.payload
                .damaged(end, "the directory of columns is unreadable")
        };
        let read = || Directory::read(&self.payload).ok_or_else(unreadable);
        self.directory.get_or_derive([&**self.file()], read)
    }

    /// Returns the column of a field of a segment with `documents_count` documents; `None` where no document has a value.
    pub(crate) fn column(
        &self,
        name: &str,
        documents_count: u32,
    ) -> Result<Option<Column<'_>>, IndexError> {
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
