//! Counts of facets within the buckets of others.
//!
//! ```text
//! site:terms:2{date:year{price:stats}}
//!
//! ordinals of       site      site, date     matches ──► level of site ──► level of date ──► counts of price
//!                0  a.test    2023                       each finds the ordinals of a document's buckets anew
//!                1  b.test    2024
//!                2            2022 …
//! ```
//!
//! A level numbers its buckets, each within one of the level before. Every facet is one pass over the matches, which walks
//! through the levels above it, so that no document is kept for a bucket: memory grows with the buckets alone. Of values that
//! are not shown nothing is counted within. A facet within nothing is counted by codes, as one without facets within it.

use super::code_counts::{ARRAY_CODES, CODES_A_MATCH};
use super::facet_error::FacetError;
use super::flat::{all_of, buckets_of, of_segment};
use super::keys::{FieldCodes, Keys, each_key};
use super::levels::{Level, each_ordinal};
use crate::collect::doc_bits::Matches;
use crate::context::cancel::Stop;
use fields::facet::{Buckets, WEIGHT_MAX};
use fields::{Facet, FacetCounts, Value};
use index::{IndexError, Segment};

/// Documents between two tests for cancellation.
const DOCUMENTS_BETWEEN: u32 = 1_024;

/// Matches of a segment, with the levels that facets are within.
#[derive(Debug)]
pub(super) struct Walked<'a> {
    segment: &'a Segment,
    matches: Matches<'a>,
    levels: Vec<Level<'a>>,
}

/// State of the facets of a request.
#[derive(Debug)]
pub(super) struct Counting<'r> {
    /// Whether no other part of the index has matches.
    is_whole: bool,
    /// Whether no other segment has.
    is_only: bool,
    /// Weight of what is counted within buckets.
    weight: u64,
    stop: &'r Stop<'r>,
}

/// Counts of pairs of an ordinal and a key.
#[derive(Debug)]
struct PairCounts {
    /// Pairs that occur, increasing, with their counts.
    counts: Vec<(u64, u64)>,
    /// Documents, and documents with a value, of each ordinal.
    documents: Vec<(u64, u64)>,
    /// Pairs of an ordinal.
    stride: u64,
}

impl<'a> Walked<'a> {
    pub(super) fn new(segment: &'a Segment, matches: Matches<'a>) -> Walked<'a> {
        Walked {
            segment,
            matches,
            levels: Vec::new(),
        }
    }

    fn codes(&self, facet: &Facet) -> Result<FieldCodes<'a>, IndexError> {
        FieldCodes::open(self.segment, &facet.field)
    }
}

impl<'r> Counting<'r> {
    pub(super) fn new(is_whole: bool, is_only: bool, stop: &'r Stop<'r>) -> Counting<'r> {
        Counting {
            is_whole,
            is_only,
            weight: 0,
            stop,
        }
    }

    /// Counts a facet over all matches. `chosen` has the buckets that all parts together chose.
    pub(super) fn count(
        &mut self,
        facet: &Facet,
        parts: &mut [Walked<'_>],
        chosen: Option<&FacetCounts>,
    ) -> Result<FacetCounts, FacetError> {
        let chosen = chosen.map(|chosen| vec![chosen]);
        let counted = self.count_each(facet, parts, 1, chosen.as_deref())?;
        Ok(counted.into_iter().next().unwrap_or_default())
    }

    /// Counts a facet within each of some ordinals of the levels; `chosen` has the buckets of each, where they are chosen.
    fn count_each(
        &mut self,
        facet: &Facet,
        parts: &mut [Walked<'_>],
        ordinals: usize,
        chosen: Option<&[&FacetCounts]>,
    ) -> Result<Vec<FacetCounts>, FacetError> {
        // What has no facets within it is counted again, beside those that have.
        let chosen = chosen.filter(|_| !facet.within.is_empty());
        let mut all = match chosen {
            Some(chosen) => chosen.iter().map(|chosen| named_as(chosen)).collect(),
            None => vec![FacetCounts::default(); ordinals],
        };
        let mut opened = Vec::with_capacity(parts.len());
        for part in &*parts {
            let codes = part.codes(facet)?;
            let is_flat = part.levels.is_empty() && chosen.is_none();
            if is_flat {
                all[0].join(of_segment(facet, &codes, part.matches, self.is_only));
            }
            if is_flat && facet.within.is_empty() {
                continue;
            }
            let kind = facet.kind.as_buckets();
            let keys = kind.map_or(Keys::Codes, |kind| Keys::of(kind, &codes, part.matches));
            if !is_flat && chosen.is_none() {
                self.count_pairs(facet, part, &codes, &keys, &mut all)?;
            }
            opened.push((codes, keys));
        }
        let is_within = parts.first().is_some_and(|part| !part.levels.is_empty());
        if is_within && chosen.is_none() {
            self.charge(all.iter().map(|counts| counts.weight() - 1).sum())?;
        }
        let chooses = facet
            .kind
            .as_buckets()
            .is_some_and(|kind| kind.chosen_max().is_some());
        if facet.within.is_empty() || chooses && !self.is_whole && chosen.is_none() {
            return Ok(all);
        }
        if self.is_whole {
            all.iter_mut().for_each(|counts| counts.choose(facet));
        }
        self.count_within(facet, parts, opened, &mut all, chosen)?;
        Ok(all)
    }

    /// Counts the facets within the buckets of `all`.
    fn count_within<'a>(
        &mut self,
        facet: &Facet,
        parts: &mut [Walked<'a>],
        opened: Vec<(FieldCodes<'a>, Keys)>,
        all: &mut [FacetCounts],
        chosen: Option<&[&FacetCounts]>,
    ) -> Result<(), FacetError> {
        let ordinals: usize = all.iter().map(|counts| counts.buckets.counts.len()).sum();
        if ordinals == 0 {
            return Ok(());
        }
        self.charge((ordinals * facet.within.len()) as u64)?;
        for (part, (codes, keys)) in parts.iter_mut().zip(opened) {
            let buckets = all.iter().map(|counts| &counts.buckets);
            let level = Level::new(codes, keys, buckets, part.matches.count());
            part.levels.push(level);
        }
        let mut within: Vec<Vec<FacetCounts>> = Vec::with_capacity(ordinals);
        within.resize_with(ordinals, || Vec::with_capacity(facet.within.len()));
        for (at, facet) in facet.within.iter().enumerate() {
            let chosen = chosen.map(|chosen| {
                let within = chosen.iter().flat_map(|counts| &counts.within);
                within
                    .filter_map(|within| within.get(at))
                    .collect::<Vec<_>>()
            });
            // Not there before they are counted for the first time.
            let chosen = chosen.filter(|chosen| chosen.len() == ordinals);
            let counted = self.count_each(facet, parts, ordinals, chosen.as_deref())?;
            for (within, counts) in within.iter_mut().zip(counted) {
                within.push(counts);
            }
        }
        for part in parts {
            part.levels.pop();
        }
        let mut within = within.into_iter();
        for counts in all {
            counts.within = within.by_ref().take(counts.buckets.counts.len()).collect();
        }
        Ok(())
    }

    /// Adds the counts of a segment to those of each ordinal.
    fn count_pairs(
        &self,
        facet: &Facet,
        part: &Walked<'_>,
        codes: &FieldCodes<'_>,
        keys: &Keys,
        all: &mut [FacetCounts],
    ) -> Result<(), FacetError> {
        let kind = facet.kind.as_buckets();
        let counted = pairs(part, codes, keys, kind.is_some(), all.len(), self.stop)?;
        let mut rest = &counted.counts[..];
        for (ordinal, (sum, &(matches_count, documents_count))) in
            (0u64..).zip(all.iter_mut().zip(&counted.documents))
        {
            let first = ordinal * counted.stride;
            let own = rest.partition_point(|&(pair, _)| pair - first < counted.stride);
            let (own, others) = rest.split_at(own);
            rest = others;
            let own = own.iter().map(|&(pair, count)| (pair - first, count));
            let mut own: Vec<(u64, u64)> = own.collect();
            let mut counts = FacetCounts {
                matches_count,
                documents_count,
                ..FacetCounts::default()
            };
            match (kind, keys) {
                (None, _) if own.is_empty() => {}
                (None, _) => counts.figures = facet.kind.figures_of(&own, codes),
                (Some(kind), Keys::Codes) => {
                    counts.buckets = buckets_of(kind, codes, &mut own, self.is_only);
                }
                (Some(_), Keys::Spans(..)) => {
                    let named = own.into_iter();
                    counts.buckets =
                        all_of(named.filter_map(|(key, count)| Some((keys.name(key)?, count))));
                }
            }
            sum.join(counts);
        }
        Ok(())
    }

    /// Adds to the weight of the request.
    fn charge(&mut self, weight: u64) -> Result<(), FacetError> {
        self.weight += weight;
        match self.weight > WEIGHT_MAX {
            true => Err(FacetError::TooManyBuckets),
            false => Ok(()),
        }
    }
}

/// Returns the buckets of counts alone.
fn named_as(chosen: &FacetCounts) -> FacetCounts {
    let names = chosen.buckets.counts.iter();
    FacetCounts {
        buckets: Buckets {
            counts: names
                .map(|(name, _): &(Value, u64)| (name.clone(), 0))
                .collect(),
            ..Buckets::default()
        },
        ..FacetCounts::default()
    }
}

/// Counts the pairs of an ordinal and a key of all matches, once a document with `once`.
fn pairs(
    part: &Walked<'_>,
    codes: &FieldCodes<'_>,
    keys: &Keys,
    once: bool,
    ordinals: usize,
    stop: &Stop<'_>,
) -> Result<PairCounts, FacetError> {
    // The last key of each ordinal is for codes that a damaged column may have.
    let stride = keys.end(codes) + 1;
    let last = stride - 1;
    let cells = (ordinals as u64).saturating_mul(stride);
    let most = ARRAY_CODES.max(part.matches.count().saturating_mul(CODES_A_MATCH));
    let mut array = vec![0u32; if cells <= most { cells as usize } else { 0 }];
    let mut sorted = Vec::new();
    let mut documents = vec![(0, 0); ordinals];
    let (mut is_due, mut left) = (false, 1);
    part.matches.each(|doc| {
        left -= 1;
        if left == 0 {
            left = DOCUMENTS_BETWEEN;
            is_due = is_due || stop.is_due_now();
        }
        if is_due {
            return;
        }
        each_ordinal(&part.levels, doc, 0, &mut |ordinal| {
            let first = u64::from(ordinal) * stride;
            let has_value = each_key(codes, keys, once, doc, &mut |key| {
                let pair = first + key.min(last);
                match array.get_mut(pair as usize) {
                    Some(count) => *count += 1,
                    None => sorted.push(pair),
                }
            });
            if let Some(documents) = documents.get_mut(ordinal as usize) {
                documents.0 += 1;
                documents.1 += u64::from(has_value);
            }
        });
    });
    if is_due {
        return Err(FacetError::Cancelled);
    }
    let is_known = |&(pair, _): &(u64, u64)| pair % stride != last;
    let counts = match cells <= most {
        true => {
            let counts = (0..).zip(array).filter(|&(_, count)| count > 0);
            let counts = counts.map(|(pair, count)| (pair, u64::from(count)));
            counts.filter(is_known).collect()
        }
        false => {
            sorted.sort_unstable();
            let runs = sorted.chunk_by(|a, b| a == b);
            let counts = runs.map(|run| (run[0], run.len() as u64));
            counts.filter(is_known).collect()
        }
    };
    Ok(PairCounts {
        counts,
        documents,
        stride,
    })
}
