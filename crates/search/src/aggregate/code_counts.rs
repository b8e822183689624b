//! Counts of codes over the matches of a segment.
//!
//! Few codes are counted in an array; where the matches are few beside the codes, their codes are sorted instead.

use super::sites::Codes;
use crate::collect::doc_bits::Matches;

/// Codes up to which an array is taken for any number of matches.
pub(super) const ARRAY_CODES: u64 = 4_096;
/// Greatest number of codes of an array for each match.
pub(super) const CODES_A_MATCH: u64 = 8;

/// Documents, or values, of each code.
#[derive(Debug, Default)]
pub(super) struct CodeCounts {
    /// Codes and counts, by code, without zeros.
    pub(super) counts: Vec<(u64, u64)>,
    /// Documents that have a value.
    pub(super) documents_count: u64,
}

/// Counts the codes that `key` makes of those of each document, once a document with `once`; `keys_count` is above all
/// keys.
pub(super) fn count(
    codes: &Codes<'_>,
    matches: Matches<'_>,
    once: bool,
    keys_count: u64,
    key: impl Fn(u64) -> u64,
) -> CodeCounts {
    let matches_count = matches.count();
    let is_array = keys_count <= ARRAY_CODES.max(matches_count.saturating_mul(CODES_A_MATCH));
    match is_array {
        true => in_array(codes, matches, once, keys_count as usize, key),
        false => sorted(codes, matches, once, key),
    }
}

fn in_array(
    codes: &Codes<'_>,
    matches: Matches<'_>,
    once: bool,
    keys_count: usize,
    key: impl Fn(u64) -> u64,
) -> CodeCounts {
    // The last one is for codes that a damaged column may have.
    let mut array = vec![0u32; keys_count + 1];
    let last = keys_count;
    let documents_count = if codes.has_lists() {
        each_key(codes, matches, once, key, |key| {
            array[(key as usize).min(last)] += 1;
        })
    } else {
        // A missing value has code 0, which no key is made of.
        let mut missing = 0;
        matches.each(|doc| match codes.code(doc) {
            0 => missing += 1,
            code => array[(key(code) as usize).min(last)] += 1,
        });
        matches.count() - missing
    };
    let counts = (0..).zip(&array[..last]);
    let counts = counts.filter(|(_, count)| **count > 0);
    CodeCounts {
        counts: counts
            .map(|(key, &count)| (key, u64::from(count)))
            .collect(),
        documents_count,
    }
}

fn sorted(
    codes: &Codes<'_>,
    matches: Matches<'_>,
    once: bool,
    key: impl Fn(u64) -> u64,
) -> CodeCounts {
    let mut keys = Vec::new();
    let documents_count = each_key(codes, matches, once, key, |key| keys.push(key));
    keys.sort_unstable();
    let runs = keys.chunk_by(|a, b| a == b);
    CodeCounts {
        counts: runs.map(|run| (run[0], run.len() as u64)).collect(),
        documents_count,
    }
}

/// Calls `each` with the keys of every match, once a document with `once`. Returns the number of documents with a value.
#[inline(always)]
fn each_key(
    codes: &Codes<'_>,
    matches: Matches<'_>,
    once: bool,
    key: impl Fn(u64) -> u64,
    mut each: impl FnMut(u64),
) -> u64 {
    let mut documents_count = 0;
    matches.each(|doc| {
        let mut before = u64::MAX;
        codes.each_code(doc, |code| {
            let key = key(code);
            if before == u64::MAX {
                documents_count += 1;
            }
            if !once || key != before {
                each(key);
            }
            before = key;
        });
    });
    documents_count
}
