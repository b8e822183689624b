//! Directory of the columns of a segment.

use crate::section::Section;
use fields::FieldType;
use serde::{Deserialize, Serialize};

/// Documents of a block, which has a least and a greatest code.
pub const BLOCK_DOCUMENTS: u32 = 1024;

/// Part of the payload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) start: u64,
    pub(super) bytes: u64,
}

/// Way from values to codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Coding {
    /// Keys from `base` on, in steps of `step`. With a scale, keys are those of integers: the floats times ten to that
    /// power.
    Linear {
        base: u64,
        step: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scale: Option<u32>,
    },
    /// Rank among the keys of the table.
    Ranked,
    /// Rank among the words of the table.
    Words,
}

/// Description of one column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ColumnEntry {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: FieldType,
    pub(super) coding: Coding,
    /// Greatest code.
    pub(super) codes: u64,
    /// Least code stored, 0 or 1: 0 where a document may have no value.
    pub(super) floor: u64,
    /// Width of the codes, in bits; `None`: the bits of the greatest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) width: Option<u32>,
    /// Values of all documents.
    pub(super) values_count: u64,
    pub(super) values: Part,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) starts: Option<Part>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) table: Option<Part>,
    pub(super) bounds: Part,
    /// Values of documents that do not fit the type.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) misfits_count: u64,
    /// Law of conversion of values ([`fields::ValueLaw`]), where it matters for the values of this column.
    #[serde(default, skip_serializing_if = "fields::ValueLaw::is_first")]
    pub(super) law: fields::ValueLaw,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Columns in the order of their names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Directory(pub(super) Vec<ColumnEntry>);

impl Directory {
    /// Reads the directory at the end of a payload; `None` where it is damaged.
    pub(super) fn read(payload: &Section) -> Option<Directory> {
        let end = payload.len().checked_sub(8)?;
        let start = usize::try_from(payload.read_u64(end)).ok()?;
        let directory: Directory = serde_json::from_slice(payload.get(start..end)?).ok()?;
        let is_sorted = directory.0.is_sorted_by(|a, b| a.name < b.name);
        is_sorted.then_some(directory)
    }

    /// Returns the description of a column that has values.
    pub(super) fn get(&self, name: &str) -> Option<&ColumnEntry> {
        self.entry(name).filter(|entry| entry.values_count > 0)
    }

    /// Returns the description of a column, which may have misfits alone.
    pub(super) fn entry(&self, name: &str) -> Option<&ColumnEntry> {
        let at = self
            .0
            .binary_search_by(|entry| entry.name.as_str().cmp(name));
        at.ok().map(|at| &self.0[at])
    }

    /// Returns the name and the size of each column that has values.
    pub(super) fn bytes(&self) -> impl Iterator<Item = (&str, u64)> {
        let columns = self.0.iter().filter(|entry| entry.values_count > 0);
        columns.map(|entry| {
            let optional = [entry.starts, entry.table].into_iter().flatten();
            let parts = [entry.values, entry.bounds].into_iter().chain(optional);
            (entry.name.as_str(), parts.map(|part| part.bytes).sum())
        })
    }
}
