//! Encoding of one column.

use super::bits::{bytes_of, pack, whole_bytes, width_of};
use super::column::power_of_ten;
use super::directory::{BLOCK_DOCUMENTS, Coding, ColumnEntry, Directory, Part};
use super::words;
use crate::IndexError;
use crate::sealed::SealedWriter;
use fields::{FieldType, Value, ValueLaw};
use std::collections::{BTreeMap, HashMap};

/// Greatest number of codes of a linear coding.
const LINEAR_CODES_MAX: u64 = 1 << 40;
/// Greatest power of ten that makes floats integers.
const SCALE_MAX: u32 = 6;
/// Floats below this are exact as integers.
const EXACT_MAX: f64 = (1u64 << 53) as f64;

/// Values of one field in one segment, as they are found.
#[derive(Debug)]
pub(crate) struct Values {
    kind: FieldType,
    /// Documents and keys; of keywords, the number of the word.
    rows: Vec<(u32, u64)>,
    words: HashMap<Box<str>, u64>,
    misfits_count: u64,
    law: ValueLaw,
}

/// Values as codes.
struct Coded {
    coding: Coding,
    codes: u64,
    table: Vec<u8>,
    /// Documents and codes, in order.
    rows: Vec<(u32, u64)>,
}

impl Values {
    pub(crate) fn new(kind: FieldType) -> Values {
        Values {
            kind,
            rows: Vec::new(),
            words: HashMap::new(),
            misfits_count: 0,
            law: ValueLaw::First,
        }
    }

    /// Returns whether no document has a value, be it a misfit.
    fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.misfits_count == 0
    }

    /// Adds a leaf of a document; returns whether it fits.
    pub(crate) fn push_leaf(&mut self, doc: u32, json: &json::Value) -> bool {
        if !ValueLaw::First.agrees(self.kind, json) {
            self.law = ValueLaw::Second;
        }
        match Value::of(self.kind, json) {
            Some(value) => {
                self.push(doc, value);
                true
            }
            None => {
                self.misfits_count += 1;
                false
            }
        }
    }

    /// Adds a value of a document.
    pub(crate) fn push(&mut self, doc: u32, value: Value) {
        let key = match value {
            Value::Keyword(word) => {
                let next = self.words.len() as u64;
                *self.words.entry(word.into_boxed_str()).or_insert(next)
            }
            value => value.key().unwrap_or_default(),
        };
        self.rows.push((doc, key));
    }

    /// Writes the column; returns its description.
    fn write(
        self,
        name: &str,
        documents_count: u32,
        out: &mut SealedWriter,
    ) -> Result<ColumnEntry, IndexError> {
        let (kind, misfits_count, law) = (self.kind, self.misfits_count, self.law);
        if self.rows.is_empty() {
            return Ok(ColumnEntry {
                name: name.to_owned(),
                kind,
                coding: Coding::Ranked,
                codes: 0,
                floor: 0,
                width: None,
                values_count: 0,
                values: Part::default(),
                starts: None,
                table: None,
                bounds: Part::default(),
                misfits_count,
                law,
            });
        }
        let coded = self.coded();
        let has_lists = coded.rows.windows(2).any(|two| two[0].0 == two[1].0);
        let values_count = coded.rows.len() as u64;
        let floor = u64::from(has_lists || values_count == u64::from(documents_count));
        let mut put = |bytes: &[u8]| -> Result<Part, IndexError> {
            let start = out.position();
            out.write(bytes)?;
            Ok(Part {
                start,
                bytes: bytes.len() as u64,
            })
        };
        let least = width_of(coded.codes - floor);
        // Columns that are searched in no time may be as small as they can.
        let width = match values_count < BLOCK_DOCUMENTS.into() {
            true => least,
            false => whole_bytes(least),
        };
        let mut bytes = Vec::new();
        let codes = |at: u64| at - floor;
        let mut starts = None;
        let values = match has_lists {
            true => {
                let all = coded.rows.iter().map(|&(_, code)| codes(code));
                pack(all, width, &mut bytes);
                let values = put(&bytes)?;
                bytes.clear();
                let ends = starts_of(&coded.rows, documents_count);
                pack(ends, width_of(values_count), &mut bytes);
                starts = Some(put(&bytes)?);
                values
            }
            false => {
                let mut rows = coded.rows.iter().peekable();
                let all = (0..documents_count).map(|doc| {
                    let row = rows.next_if(|row| row.0 == doc);
                    codes(row.map_or(0, |&(_, code)| code))
                });
                pack(all, width, &mut bytes);
                put(&bytes)?
            }
        };
        let table = match coded.table.is_empty() {
            true => None,
            false => Some(put(&coded.table)?),
        };
        bytes.clear();
        let ends = block_ends(&coded.rows, documents_count);
        pack(
            ends.into_iter().flatten(),
            width_of(coded.codes),
            &mut bytes,
        );
        debug_assert!(values.bytes <= bytes_of(values_count.max(documents_count.into()), width));
        Ok(ColumnEntry {
            name: name.to_owned(),
            kind,
            coding: coded.coding,
            codes: coded.codes,
            floor,
            width: (width != least).then_some(width),
            values_count,
            values,
            starts,
            table,
            bounds: put(&bytes)?,
            misfits_count,
            law,
        })
    }

    /// Chooses the coding.
    fn coded(mut self) -> Coded {
        if self.kind == FieldType::Keyword {
            return self.coded_words();
        }
        self.rows.sort_unstable();
        let scale = match self.kind {
            FieldType::Float => self.scale(),
            _ => None,
        };
        if let Some(scale) = scale {
            for (_, key) in &mut self.rows {
                if let Some(scaled) = scaled(*key, scale) {
                    *key = scaled;
                }
            }
        }
        let is_integer = self.kind != FieldType::Float || scale.is_some();
        match is_integer {
            true => self.linear(scale),
            false => None,
        }
        .unwrap_or_else(|| self.ranked())
    }

    /// Returns the least power of ten that makes all floats integers, exactly.
    fn scale(&self) -> Option<u32> {
        (0..=SCALE_MAX).find(|&scale| self.rows.iter().all(|row| scaled(row.1, scale).is_some()))
    }

    /// Codes integers by their distance from the least; `None` where they lie too far apart.
    fn linear(&self, scale: Option<u32>) -> Option<Coded> {
        let keys = || self.rows.iter().map(|&(_, key)| key);
        let (least, greatest) = (keys().min()?, keys().max()?);
        let step = keys()
            .fold(0, |step, key| greatest_divisor(step, key - least))
            .max(1);
        let codes = ((greatest - least) / step).checked_add(1)?;
        // Few values far apart are better ranked.
        let is_short = codes <= LINEAR_CODES_MAX;
        is_short.then(|| Coded {
            coding: Coding::Linear {
                base: least,
                step,
                scale,
            },
            codes,
            table: Vec::new(),
            rows: self
                .rows
                .iter()
                .map(|&(doc, key)| (doc, (key - least) / step + 1))
                .collect(),
        })
    }

    fn ranked(&self) -> Coded {
        let mut keys: Vec<u64> = self.rows.iter().map(|&(_, key)| key).collect();
        keys.sort_unstable();
        keys.dedup();
        let rank = |key: u64| keys.partition_point(|&other| other < key) as u64 + 1;
        Coded {
            coding: Coding::Ranked,
            codes: keys.len() as u64,
            rows: self
                .rows
                .iter()
                .map(|&(doc, key)| (doc, rank(key)))
                .collect(),
            table: keys.iter().flat_map(|key| key.to_le_bytes()).collect(),
        }
    }

    fn coded_words(mut self) -> Coded {
        let mut words: Vec<(Box<str>, u64)> = self.words.drain().collect();
        words.sort_unstable();
        let mut ranks = vec![0; words.len()];
        for (rank, (_, number)) in (1..).zip(&words) {
            ranks[*number as usize] = rank;
        }
        for (_, key) in &mut self.rows {
            *key = ranks[*key as usize];
        }
        self.rows.sort_unstable();
        // A word that a document has twice counts once.
        self.rows.dedup();
        let mut table = Vec::new();
        words::write(words.iter().map(|(word, _)| &**word), &mut table);
        Coded {
            coding: Coding::Words,
            codes: words.len() as u64,
            table,
            rows: self.rows,
        }
    }
}

/// Writes the columns of a segment that have values, and their directory.
pub(crate) fn write_columns(
    columns: BTreeMap<&str, Values>,
    documents_count: u32,
    out: &mut SealedWriter,
) -> Result<(), IndexError> {
    let mut directory = Directory::default();
    for (name, values) in columns.into_iter().filter(|(_, values)| !values.is_empty()) {
        directory.0.push(values.write(name, documents_count, out)?);
    }
    let start = out.position();
    out.write(&serde_json::to_vec(&directory).unwrap_or_default())?;
    out.write(&start.to_le_bytes())
}

/// Returns the key of the integer that a float times a power of ten is; `None` where the integer divided by that power
/// is another float.
fn scaled(key: u64, scale: u32) -> Option<u64> {
    let Some(Value::Float(number)) = Value::of_key(FieldType::Float, key) else {
        return None;
    };
    let integer = (number * power_of_ten(scale)).round();
    let is_exact = integer.abs() < EXACT_MAX && integer / power_of_ten(scale) == number;
    is_exact
        .then(|| Value::Integer(integer as i64).key())
        .flatten()
}

fn greatest_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Returns the first row of each document, and the end of the last.
fn starts_of(rows: &[(u32, u64)], documents_count: u32) -> impl Iterator<Item = u64> {
    let mut at = 0;
    (0..=documents_count).map(move |doc| {
        while rows.get(at).is_some_and(|row| row.0 < doc) {
            at += 1;
        }
        at as u64
    })
}

/// Returns the least and the greatest code of each block; zeros where it has none.
fn block_ends(rows: &[(u32, u64)], documents_count: u32) -> Vec<[u64; 2]> {
    let mut ends = vec![[0, 0]; documents_count.div_ceil(BLOCK_DOCUMENTS) as usize];
    for &(doc, code) in rows {
        let [least, greatest] = &mut ends[(doc / BLOCK_DOCUMENTS) as usize];
        if *least == 0 || code < *least {
            *least = code;
        }
        *greatest = code.max(*greatest);
    }
    ends
}
