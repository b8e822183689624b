//! Summaries of the fields of an index, for people.

use crate::{DocId, Field, Index, IndexError};
use fields::{FieldType, Prior, Searched, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Values shown of a field.
const EXAMPLES: usize = 3;
/// Distinct values up to which they are counted across segments.
const DISTINCT_MAX: usize = 1 << 20;

/// Summary of one field of an index.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldSummary {
    /// Name.
    pub name: String,
    /// Type.
    pub kind: FieldType,
    /// Whether its words are searched.
    pub is_searched: bool,
    /// Search of the field's own words, which its name finds; `None` where it has none.
    pub searched: Option<Searched>,
    /// Its prior, where it has one.
    pub prior: Option<Prior>,
    /// Own words of live documents.
    pub words_count: u64,
    /// Values that do not fit the type: they are stored, and not compared. Those of deleted documents count until their
    /// segment is merged.
    pub misfits_count: u64,
    /// Live documents that have a value.
    pub documents_count: u64,
    /// Values of live documents.
    pub values_count: u64,
    /// Distinct values of live documents; a lower bound where `distinct_is_exact` is false.
    pub distinct_count: u64,
    /// Whether all distinct values were counted.
    pub distinct_is_exact: bool,
    /// Size of its columns, in bytes.
    pub bytes: u64,
    /// Least value of a live document.
    pub least: Option<Value>,
    /// Greatest value of a live document.
    pub greatest: Option<Value>,
    /// The most frequent values of live documents, with their documents.
    pub frequent: Vec<(Value, u64)>,
}

/// Value as a key of a map, in the order of values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    Number(u64),
    Word(String),
}

impl Index {
    /// Returns a summary of each field, in the order of names. Reads all columns.
    pub fn field_summaries(&self) -> Result<Vec<FieldSummary>, IndexError> {
        let names = self.fields().iter();
        names
            .map(|(name, kind)| self.field_summary(name, kind))
            .collect()
    }

    fn field_summary(&self, name: &str, kind: FieldType) -> Result<FieldSummary, IndexError> {
        let mut summary = FieldSummary {
            name: name.to_owned(),
            kind,
            is_searched: self.fields().is_searched(name),
            searched: self.fields().searched(name),
            prior: self.fields().prior(name),
            words_count: 0,
            misfits_count: 0,
            documents_count: 0,
            values_count: 0,
            distinct_count: 0,
            distinct_is_exact: true,
            bytes: 0,
            least: None,
            greatest: None,
            frequent: Vec::new(),
        };
        if let Some(searched) = summary.searched {
            let (field, statistics) = (Field::of_number(searched.number), self.statistics());
            let documents_count = statistics.documents_count();
            let words = statistics.average_length(field) * documents_count as f64;
            summary.words_count = words.round() as u64;
            // Of a field with columns, documents are counted there.
            summary.documents_count = match kind {
                FieldType::Text if searched.is_title() => documents_count,
                FieldType::Text => statistics.document_frequency(field, "")?,
                _ => 0,
            };
        }
        let mut counts: HashMap<Key, u64> = HashMap::new();
        for segment in self.segments(..) {
            summary.misfits_count += segment.misfits(name)?.0;
            let sizes = segment.column_bytes()?;
            let own = sizes.iter().filter(|(column, _)| *column == name);
            summary.bytes += own.map(|(_, bytes)| bytes).sum::<u64>();
            let Some(column) = segment.column(name)? else {
                continue;
            };
            let mut by_code: BTreeMap<u64, u64> = BTreeMap::new();
            for doc in (0..segment.documents_count()).map(DocId) {
                if segment.is_deleted(doc) {
                    continue;
                }
                let mut before = 0;
                column.each_code(doc, |code| {
                    summary.values_count += 1;
                    summary.documents_count += u64::from(before == 0);
                    if code != before {
                        *by_code.entry(code).or_default() += 1;
                    }
                    before = code;
                });
            }
            for (code, count) in by_code {
                let Some(value) = column.value(code) else {
                    continue;
                };
                let key = match &value {
                    Value::Keyword(word) => Key::Word(word.clone()),
                    value => Key::Number(value.key().unwrap_or_default()),
                };
                match counts.len() < DISTINCT_MAX || counts.contains_key(&key) {
                    true => *counts.entry(key).or_default() += count,
                    false => summary.distinct_is_exact = false,
                }
            }
        }
        summary.distinct_count = counts.len() as u64;
        let value = |key: &Key| match key {
            Key::Number(key) => Value::of_key(kind, *key),
            Key::Word(word) => Some(Value::Keyword(word.clone())),
        };
        summary.least = counts.keys().min().and_then(value);
        summary.greatest = counts.keys().max().and_then(value);
        let mut most = BTreeSet::new();
        for (key, count) in &counts {
            most.insert((std::cmp::Reverse(*count), key));
            if most.len() > EXAMPLES {
                most.pop_last();
            }
        }
        let frequent = most
            .iter()
            .filter_map(|(count, key)| Some((value(key)?, count.0)));
        summary.frequent = frequent.collect();
        Ok(summary)
    }
}
