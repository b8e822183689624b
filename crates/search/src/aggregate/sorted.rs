//! The best matches by the values of fields.

use super::sites::Codes;
use crate::collect::DocBits;
use crate::collect::doc_bits::{Matches, each_document};
use crate::collect::topk::after::After;
use crate::collect::topk::hit::ScoredHit;
use fields::facet::{CodedValues, SITE};
use fields::{BadTest, Schema, Value};
use index::{BLOCK_DOCUMENTS, DocId, IndexError, Segment};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::fmt;
use std::sync::Arc;

/// Keys of an order up to which nothing is allocated for each document.
const FEW: usize = 2;
/// Fields named in an error.
const NAMES_TOLD: usize = 12;
/// Upper limit on the keys of an order.
const KEYS_MAX: usize = 8;

/// Words of a block of a column.
const BLOCK_WORDS: usize = BLOCK_DOCUMENTS as usize / 64;
/// Mean number of matches of a block from which the best blocks are looked at first.
const MATCHES_A_BLOCK: u64 = 8;

/// Field by which matches are ordered. Of a list, the least value counts in ascending order, the greatest in descending.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SortKey {
    /// Name of the field.
    pub field: String,
    /// Whether the greatest value is first.
    #[serde(default)]
    pub descending: bool,
    /// Whether documents without a value are first; otherwise they are last, in either order.
    #[serde(default)]
    pub missing_first: bool,
}

/// Hit of an order by values.
#[derive(Debug, Clone, PartialEq)]
pub struct SortedHit {
    /// The value of each key; `None` where the document has none.
    pub values: Vec<Option<Value>>,
    /// The document; its score is 0.
    pub hit: ScoredHit,
}

/// Returns the error of a field without values in columns, which says what it was for, and what fields there are, with the
/// `others`.
pub(super) fn unknown_field(
    field: &str,
    purpose: &str,
    schema: &Schema,
    others: &[&'static str],
) -> BadTest {
    let names = schema.columnar().map(|(name, _)| name).take(NAMES_TOLD);
    let names: Vec<&str> = names.chain(others.iter().copied()).collect();
    let reason = format!(
        "there is no field `{field}` that hits can be {purpose}; there is {}",
        names.join(", ")
    );
    BadTest { reason }
}

impl SortKey {
    /// Reads keys of fields of `schema`, or of sites: `date:desc,price,lang:asc:first`.
    pub fn parse_all(text: &str, schema: &Schema) -> Result<Vec<SortKey>, BadTest> {
        let bad = |reason: String| BadTest { reason };
        let keys = text.split(',').map(str::trim).filter(|key| !key.is_empty());
        let keys: Vec<&str> = keys.collect();
        if keys.is_empty() || keys.len() > KEYS_MAX {
            return Err(bad(format!(
                "give 1 to {KEYS_MAX} fields, as in date:desc,price"
            )));
        }
        let key = |text: &str| {
            let mut parts = text.split(':');
            let field = parts.next().unwrap_or_default();
            let is_known =
                field == SITE || schema.get(field).is_some_and(|kind| kind.is_columnar());
            if !is_known {
                return Err(unknown_field(field, "sorted by", schema, &[SITE]));
            }
            let mut key = SortKey {
                field: field.to_owned(),
                descending: false,
                missing_first: false,
            };
            for part in parts {
                match part {
                    "asc" => key.descending = false,
                    "desc" => key.descending = true,
                    "first" => key.missing_first = true,
                    "last" => key.missing_first = false,
                    other => {
                        return Err(bad(format!(
                            "`{other}` is no order; write asc or desc, and first or last for documents without a value"
                        )));
                    }
                }
            }
            Ok(key)
        };
        keys.into_iter().map(key).collect()
    }

    /// Returns the order of two documents by all keys, given their values.
    pub fn order_of(keys: &[SortKey], a: &[Option<Value>], b: &[Option<Value>]) -> Ordering {
        let mut both = keys.iter().zip(a.iter().zip(b));
        let order = |(key, (a, b)): (&SortKey, (&Option<Value>, &Option<Value>))| {
            Some(key.order(a.as_ref(), b.as_ref())).filter(|order| order.is_ne())
        };
        both.find_map(order).unwrap_or(Ordering::Equal)
    }

    /// Returns the order of two documents by this key.
    fn order(&self, a: Option<&Value>, b: Option<&Value>) -> Ordering {
        match (a, b) {
            (Some(a), Some(b)) if self.descending => b.order(a),
            (Some(a), Some(b)) => a.order(b),
            (None, None) => Ordering::Equal,
            (None, Some(_)) if self.missing_first => Ordering::Less,
            (Some(_), None) if !self.missing_first => Ordering::Less,
            _ => Ordering::Greater,
        }
    }

    /// Returns the rank of a document in its segment: lower ones are first.
    #[inline]
    fn rank(&self, codes: Option<&Codes<'_>>, doc: DocId) -> u64 {
        match (codes.and_then(|codes| codes.ends(doc)), self.descending) {
            (Some((least, _)), false) => least,
            (Some((_, greatest)), true) => u64::MAX - greatest,
            (None, _) if self.missing_first => 0,
            (None, _) => u64::MAX,
        }
    }
}

impl SortKey {
    /// Returns the rank of documents whose value is `value`, if any may have it, and the first rank after it.
    fn rank_after(&self, codes: Option<&Codes<'_>>, value: Option<&Value>) -> (Option<u64>, u64) {
        let Some(value) = value else {
            return match self.missing_first {
                true => (Some(0), 1),
                false => (Some(u64::MAX), u64::MAX),
            };
        };
        let count = codes.map_or(0, Codes::codes_count);
        let order = |code: u64| {
            let own = codes.and_then(|codes| codes.value(code));
            own.map_or(Ordering::Greater, |own| own.order(value))
        };
        // The first code whose value is not less.
        let (mut low, mut high) = (1, count + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            match order(middle) {
                Ordering::Less => low = middle + 1,
                _ => high = middle,
            }
        }
        let is_same = low <= count && order(low).is_eq();
        match (self.descending, is_same) {
            (false, true) => (Some(low), low + 1),
            (false, false) => (None, low),
            (true, true) => (Some(u64::MAX - low), u64::MAX - low + 1),
            (true, false) => (None, u64::MAX - low + 1),
        }
    }
}

impl fmt::Display for SortKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = if self.descending { "desc" } else { "asc" };
        write!(f, "{}:{order}", self.field)?;
        match self.missing_first {
            true => f.write_str(":first"),
            false => Ok(()),
        }
    }
}

/// Place in an order, by ranks of one segment.
struct Begin {
    /// For each key: the rank of documents that have the same value, if any may, and the first rank after it.
    ranks: SmallVec<[(Option<u64>, u64); FEW]>,
    url_hash: u64,
}

impl Begin {
    fn after(after: &After, keys: &[SortKey], codes: &[Option<Codes<'_>>]) -> Begin {
        let rank = |(at, (key, codes)): (usize, (&SortKey, &Option<Codes<'_>>))| {
            let value = after.values.get(at).and_then(Option::as_ref);
            key.rank_after(codes.as_ref(), value)
        };
        Begin {
            ranks: keys.iter().zip(codes).enumerate().map(rank).collect(),
            url_hash: after.url_hash,
        }
    }

    /// Returns whether documents whose first key has this rank are before the place.
    #[inline]
    fn is_before(&self, first: u64) -> bool {
        let of_first = self.ranks.first();
        of_first.is_some_and(|&(same, after)| Some(first) != same && first < after)
    }

    /// Returns whether a document is after the place.
    fn precedes(&self, ranks: &[u64], url_hash: u64) -> bool {
        let mut both = self.ranks.iter().zip(ranks);
        match both.find(|((same, _), rank)| Some(**rank) != *same) {
            Some(((_, after), rank)) => rank >= after,
            None => url_hash > self.url_hash,
        }
    }
}

/// Document under comparison within a segment, ordered so that the worst of a heap is on top.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ranked {
    ranks: SmallVec<[u64; FEW]>,
    url_hash: u64,
    doc: DocId,
}

/// Returns the `k` first of some matches by `keys`, or the first after a place in their order; equal ones by the hash of
/// the URL.
pub fn best_by_values(
    keys: &[SortKey],
    segments: &[Arc<Segment>],
    matches: &DocBits,
    k: usize,
    after: Option<&After>,
) -> Result<Vec<SortedHit>, IndexError> {
    let mut all = Vec::new();
    for segment in segments {
        if let Some(matches) = matches.matches(segment.id()).filter(|_| k > 0) {
            all.push(best_of_segment(keys, segment, matches, k, after)?);
        }
    }
    Ok(merge_by_values(keys, all, k))
}

fn best_of_segment(
    keys: &[SortKey],
    segment: &Segment,
    matches: Matches<'_>,
    k: usize,
    after: Option<&After>,
) -> Result<Vec<SortedHit>, IndexError> {
    let mut codes = Vec::with_capacity(keys.len());
    for key in keys {
        codes.push(Codes::open(segment, &key.field)?);
    }
    let after = after.map(|after| Begin::after(after, keys, &codes));
    let mut best: BinaryHeap<Ranked> = BinaryHeap::with_capacity(k.min(1 << 16) + 1);
    // First rank beyond which no document can enter.
    let mut worst = u64::MAX;
    let mut offer = |doc: DocId, worst: &mut u64| {
        let rank_of = |(key, codes): (&SortKey, &Option<Codes<'_>>)| key.rank(codes.as_ref(), doc);
        let mut both = keys.iter().zip(&codes);
        let first = both.next().map_or(0, rank_of);
        let is_before = |begin: &Begin| begin.is_before(first);
        if first > *worst || after.as_ref().is_some_and(is_before) {
            return;
        }
        let mut ranks = SmallVec::new();
        ranks.push(first);
        ranks.extend(both.map(rank_of));
        let ranked = Ranked {
            ranks,
            url_hash: segment.url_hash(doc),
            doc,
        };
        if let Some(begin) = &after
            && !begin.precedes(&ranked.ranks, ranked.url_hash)
        {
            return;
        }
        if best.len() < k {
            best.push(ranked);
        } else if let Some(mut top) = best.peek_mut()
            && ranked < *top
        {
            *top = ranked;
        }
        if best.len() == k
            && let Some(top) = best.peek()
        {
            *worst = top.ranks[0];
        }
    };
    match blocks_by_rank(keys, &codes, matches, segment) {
        None => matches.each(|doc| offer(doc, &mut worst)),
        Some(blocks) => {
            for (rank, block) in blocks {
                if rank > worst {
                    break;
                }
                let first = block as usize * BLOCK_WORDS;
                let words = matches.words.iter().enumerate().skip(first);
                for (number, &word) in words.take(BLOCK_WORDS) {
                    each_document(number as u32, word, &mut |doc| offer(doc, &mut worst));
                }
            }
        }
    }
    let value_of = |(key, codes): (&SortKey, &Option<Codes<'_>>), doc: DocId| {
        let codes = codes.as_ref()?;
        let (least, greatest) = codes.ends(doc)?;
        codes.value(if key.descending { greatest } else { least })
    };
    let hits = best.into_sorted_vec().into_iter().map(|ranked| SortedHit {
        values: keys
            .iter()
            .zip(&codes)
            .map(|one| value_of(one, ranked.doc))
            .collect(),
        hit: ScoredHit {
            score: 0.0,
            url_hash: ranked.url_hash,
            site_hash: segment.site_hash(ranked.doc),
            segment: segment.id(),
            doc: ranked.doc,
        },
    });
    Ok(hits.collect())
}

/// Returns the blocks of a column by the rank that their documents have at least, the lowest first; `None` where the order
/// does not matter much, or ranks are unknown.
fn blocks_by_rank(
    keys: &[SortKey],
    codes: &[Option<Codes<'_>>],
    matches: Matches<'_>,
    segment: &Segment,
) -> Option<Vec<(u64, u32)>> {
    let (key, codes) = (keys.first()?, codes.first()?.as_ref()?);
    let blocks_count = segment.documents_count().div_ceil(BLOCK_DOCUMENTS);
    if key.missing_first || matches.count() < u64::from(blocks_count) * MATCHES_A_BLOCK {
        return None;
    }
    let Codes::Column(_) = codes else {
        return None;
    };
    let rank = |block: u32| {
        let ends = codes.block_ends(DocId(block * BLOCK_DOCUMENTS));
        match (ends, key.descending) {
            (Some((least, _)), false) => least,
            (Some((_, greatest)), true) => u64::MAX - greatest,
            (None, _) => u64::MAX,
        }
    };
    let mut blocks: Vec<(u64, u32)> = (0..blocks_count)
        .map(|block| (rank(block), block))
        .collect();
    blocks.sort_unstable();
    Some(blocks)
}

/// Merges orders of several parts; returns the `k` first.
pub fn merge_by_values(keys: &[SortKey], parts: Vec<Vec<SortedHit>>, k: usize) -> Vec<SortedHit> {
    let mut all: Vec<SortedHit> = parts.into_iter().flatten().collect();
    all.sort_by(|a, b| {
        let by_values = SortKey::order_of(keys, &a.values, &b.values);
        by_values.then_with(|| a.hit.rank(&b.hit))
    });
    all.truncate(k);
    all
}
