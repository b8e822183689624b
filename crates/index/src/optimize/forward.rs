//! Forward index for bisection: the terms of each document.

use super::live::{GONE, Live};
use super::pages::Pages;
use crate::order::Node;
use crate::{Field, IndexError, Segment, TermRecord};
use fst::{Streamer, map::OpBuilder};
use std::collections::BTreeMap;

/// Limits of the rarest term that takes part: a term needs a 4096th of the documents, but not fewer than 16 nor more
/// than 4096. Rarer terms have short lists whose places chance decides, and together they cost more time than frequent
/// ones. (On 190,548 blog posts: a tenth less time than with all terms of 16 documents, for an index of the same size.)
const DOCUMENTS_MIN: u32 = 16;
const DOCUMENTS_SHARE_MIN: u32 = 4096;
/// Inverse of the highest share of documents of a term that takes part: terms of more than a third are everywhere. A
/// share of a tenth, as in the literature, made the index 0.2 % larger.
const DOCUMENTS_SHARE_MAX: u32 = 3;
/// Memory of bisection for each document, each term of each thread, and each posting.
const DOCUMENT_BYTES: u64 = 40;
const TERM_BYTES: u64 = 20;
const POSTING_BYTES: u64 = 4;

/// Terms of every document, by the document's place in an initial order.
pub(crate) struct Forward {
    terms: Vec<u32>,
    /// End of the terms of each place.
    ends: Vec<usize>,
    pub(crate) terms_count: usize,
    /// Frequent terms left out for lack of memory.
    pub(crate) left_out: u64,
}

impl Forward {
    /// Returns the documents with their terms.
    pub(crate) fn nodes(&mut self) -> Vec<Node<'_>> {
        let mut rest = &mut self.terms[..];
        let mut start = 0;
        let mut nodes = Vec::with_capacity(self.ends.len());
        for (place, &end) in (0..).zip(&self.ends) {
            let (terms, after) = rest.split_at_mut(end - start);
            nodes.push(Node { place, terms });
            rest = after;
            start = end;
        }
        nodes
    }
}

/// Inverts the postings of the words of all live documents. `place_of` is the place of each document in the initial
/// order, by its arrival. Of the terms that are neither rare nor everywhere, the most frequent are left out until the
/// rest fits the memory limit.
pub(crate) fn forward_of(
    segments: &[Segment],
    live: &Live,
    place_of: &[u32],
    memory_bytes: u64,
    threads: usize,
) -> Result<Forward, IndexError> {
    let (chosen, left_out) = choose(segments, live.count(), memory_bytes, threads)?;
    let mut ends = vec![0usize; place_of.len()];
    each_posting(segments, live, &chosen, |_, arrival| {
        ends[place_of[arrival as usize] as usize] += 1;
    })?;
    let mut start = 0;
    for end in &mut ends {
        // Holds the place of the document's next term until all are there; then it is the end.
        start += std::mem::replace(end, start);
    }
    let mut terms = vec![0; start];
    let mut terms_count = 0;
    each_posting(segments, live, &chosen, |term, arrival| {
        let end = &mut ends[place_of[arrival as usize] as usize];
        terms[*end] = term;
        *end += 1;
        terms_count = term as usize + 1;
    })?;
    Ok(Forward {
        terms,
        ends,
        terms_count,
        left_out,
    })
}

/// Frequencies of the terms that take part.
struct Chosen {
    documents_min: u32,
    documents_max: u32,
}

fn choose(
    segments: &[Segment],
    documents_count: u32,
    memory_bytes: u64,
    threads: usize,
) -> Result<(Chosen, u64), IndexError> {
    let documents_min =
        (documents_count / DOCUMENTS_SHARE_MIN).clamp(DOCUMENTS_MIN, DOCUMENTS_SHARE_MIN);
    let documents_max = (documents_count / DOCUMENTS_SHARE_MAX).max(documents_min);
    let mut terms_by_frequency: BTreeMap<u32, u64> = BTreeMap::new();
    each_term(segments, |found| {
        let frequency = frequency_of(found);
        if (documents_min..=documents_max).contains(&frequency) {
            *terms_by_frequency.entry(frequency).or_default() += 1;
        }
        Ok(())
    })?;
    let term_bytes = TERM_BYTES * threads as u64;
    let mut needed_bytes = DOCUMENT_BYTES * u64::from(documents_count);
    for (&frequency, &terms) in &terms_by_frequency {
        needed_bytes += terms * (u64::from(frequency) * POSTING_BYTES + term_bytes);
    }
    let mut left_out = 0;
    while needed_bytes > memory_bytes
        && let Some((frequency, terms)) = terms_by_frequency.pop_last()
    {
        needed_bytes -= terms * (u64::from(frequency) * POSTING_BYTES + term_bytes);
        left_out += terms;
    }
    let documents_max = terms_by_frequency
        .last_key_value()
        .map_or(0, |(&most, _)| most);
    let chosen = Chosen {
        documents_min,
        documents_max,
    };
    Ok((chosen, left_out))
}

/// Lists of a term: segment and record of each.
type Found = [(usize, TermRecord)];

/// Returns the number of documents of a term, deleted ones included, which is accurate enough for the choice.
fn frequency_of(found: &Found) -> u32 {
    let counts = found.iter().map(|(_, record)| record.documents_count);
    counts.fold(0, u32::saturating_add)
}

/// Calls `each` for the lists of every term of the field text, in order.
fn each_term(
    segments: &[Segment],
    mut each: impl FnMut(&Found) -> Result<(), IndexError>,
) -> Result<(), IndexError> {
    let union: OpBuilder = segments
        .iter()
        .map(|segment| segment.terms_of(Field::Text))
        .collect();
    let mut terms = union.union();
    let mut found = Vec::new();
    while let Some((_, places)) = terms.next() {
        found.clear();
        for place in places {
            found.push((place.index, segments[place.index].record(place.value)?));
        }
        each(&found)?;
    }
    Ok(())
}

/// Calls `each(term, arrival)` for every posting of a chosen term and a live document. Terms are numbered from 0.
fn each_posting(
    segments: &[Segment],
    live: &Live,
    chosen: &Chosen,
    mut each: impl FnMut(u32, u32),
) -> Result<(), IndexError> {
    let mut term = 0;
    let mut pages = Pages::of(segments);
    each_term(segments, |found| {
        if !(chosen.documents_min..=chosen.documents_max).contains(&frequency_of(found)) {
            return Ok(());
        }
        for (segment, record) in found {
            let mut blocks = segments[*segment].blocks(record)?;
            for block in 0..blocks.blocks_count() {
                blocks.load(block);
                for &doc in blocks.docs() {
                    let arrival = live.arrival(*segment, doc);
                    if arrival != GONE {
                        each(term, arrival);
                    }
                }
            }
            blocks.take_error().map_or(Ok(()), Err)?;
        }
        term += 1;
        pages.read(found);
        Ok(())
    })
}
