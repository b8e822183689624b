//! Levels of buckets within each other: from a document to the ordinals of the buckets that it is in.

use super::code_counts::ARRAY_CODES;
use super::keys::{FieldCodes, Keys, each_key};
use fields::facet::Buckets;
use index::DocId;

/// Ordinal of no bucket.
const NO_ORDINAL: u32 = u32::MAX;

/// Buckets of one facet in a segment, each within a bucket of the level before.
#[derive(Debug)]
pub(super) struct Level<'a> {
    codes: FieldCodes<'a>,
    keys: Keys,
    /// Pairs of an ordinal of the level before.
    stride: u64,
    ordinals: Ordinals,
}

/// Ordinals of pairs of an ordinal of the level before and a key.
#[derive(Debug)]
enum Ordinals {
    /// That of each pair.
    Array(Vec<u32>),
    /// Pairs, increasing, and their ordinals.
    Sorted(Vec<(u64, u32)>),
}

impl<'a> Level<'a> {
    /// Numbers buckets, which are given for each ordinal of the level before. The matches of the segment bound its table.
    pub(super) fn new<'b>(
        codes: FieldCodes<'a>,
        keys: Keys,
        buckets: impl Iterator<Item = &'b Buckets>,
        matches_count: u64,
    ) -> Level<'a> {
        let stride = keys.end(&codes);
        let (mut pairs, mut next, mut outers) = (Vec::new(), 0u32, 0u64);
        for buckets in buckets {
            for (name, _) in &buckets.counts {
                if let Some(key) = keys.find(&codes, name) {
                    pairs.push((outers * stride + key, next));
                }
                next += 1;
            }
            outers += 1;
        }
        let cells = outers.saturating_mul(stride);
        let ordinals = match cells <= ARRAY_CODES.max(matches_count) {
            true => {
                let mut array = vec![NO_ORDINAL; cells as usize];
                for (pair, ordinal) in pairs {
                    array[pair as usize] = ordinal;
                }
                Ordinals::Array(array)
            }
            false => Ordinals::Sorted(pairs),
        };
        Level {
            codes,
            keys,
            stride,
            ordinals,
        }
    }

    fn ordinal(&self, outer: u32, key: u64) -> Option<u32> {
        if key >= self.stride {
            return None;
        }
        let pair = u64::from(outer) * self.stride + key;
        match &self.ordinals {
            Ordinals::Array(array) => {
                let ordinal = array.get(pair as usize).copied();
                ordinal.filter(|&ordinal| ordinal != NO_ORDINAL)
            }
            Ordinals::Sorted(pairs) => {
                let found = pairs.binary_search_by_key(&pair, |&(pair, _)| pair);
                found.ok().map(|at| pairs[at].1)
            }
        }
    }
}

/// Calls `each` with the ordinals of the buckets of the last level that a document is in, given that of the first one.
pub(super) fn each_ordinal(
    levels: &[Level<'_>],
    doc: DocId,
    outer: u32,
    each: &mut dyn FnMut(u32),
) {
    let Some((level, inner)) = levels.split_first() else {
        return each(outer);
    };
    each_key(&level.codes, &level.keys, true, doc, &mut |key| {
        if let Some(ordinal) = level.ordinal(outer, key) {
            each_ordinal(inner, doc, ordinal, each);
        }
    });
}
