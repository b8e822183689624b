//! Distinct words of a phrase, and the positions of words that stand within some slop.
//!
//! Let the adjusted position of word i be a_i = position − i. The phrase matches at an occurrence p of its first word
//! if positions for the other words can be chosen, distinct for repeated words, so that max(a) − min(a) ≤ slop.

use crate::context::cancel::{self, StopRef};
use crate::plan::node::PhraseNode;
use index::{IndexError, Segment, TermRecord};
use smallvec::SmallVec;

/// Units of work for reading and comparing the positions of a word in one document.
pub(crate) fn positions_work(positions: &[u32]) -> u32 {
    const POSITIONS_PER_UNIT: usize = 256;
    cancel::DOCUMENT + (positions.len() / POSITIONS_PER_UNIT) as u32
}

/// The records of a phrase's distinct words, cheapest first, and the distinct word at each place of the phrase.
type DistinctRecords = (SmallVec<[TermRecord; FEW]>, Numbers);

/// Numbers of words, without allocation for phrases of up to `FEW` words.
pub(crate) type Numbers = SmallVec<[usize; FEW]>;
const FEW: usize = 8;

/// Looks up a phrase's words; `None` when the segment lacks one.
pub(crate) fn distinct_records(
    phrase: &PhraseNode,
    segment: &Segment,
) -> Result<Option<DistinctRecords>, IndexError> {
    let mut distinct: SmallVec<[&str; FEW]> = SmallVec::new();
    let mut found: SmallVec<[TermRecord; FEW]> = SmallVec::new();
    let mut words = Numbers::new();
    for word in &phrase.words {
        if let Some(known) = distinct.iter().position(|other| *other == word.term) {
            words.push(known);
            continue;
        }
        let Some(record) = word.record(segment)? else {
            return Ok(None);
        };
        words.push(found.len());
        found.push(record);
        distinct.push(&word.term);
    }
    let mut by_cost: Numbers = (0..found.len()).collect();
    by_cost.sort_by_key(|&index| found[index].documents_count);
    for word in &mut words {
        *word = by_cost.iter().position(|index| index == word).unwrap_or(0);
    }
    let records = by_cost.iter().map(|&index| found[index]).collect();
    Ok(Some((records, words)))
}

/// Counts the occurrences of the first word around which the others can be placed within the slop. Void where `stop`
/// aborted.
pub(crate) fn sloppy_frequency(
    positions: &[Vec<u32>],
    words: &[usize],
    slop: u32,
    stop: StopRef<'_>,
) -> u32 {
    let Some((&first, _)) = words.split_first() else {
        return 0;
    };
    let anchors = &positions[first];
    let count = anchors
        .iter()
        .filter(|&&anchor| {
            // `low` is the least adjusted position allowed. It may be negative.
            let anchor = i64::from(anchor);
            (anchor - i64::from(slop)..=anchor)
                .take_while(|_| !stop.aborts(placing_work(words)))
                .any(|low| can_place(positions, words, anchor, low, low + i64::from(slop)))
        })
        .count();
    count as u32
}

/// Units of work for one attempt to place the words of a phrase.
fn placing_work(words: &[usize]) -> u32 {
    const WORDS_PER_UNIT: usize = 8;
    (words.len() / WORDS_PER_UNIT) as u32
}

/// Returns whether all words after the first find places with adjusted positions in `low..=high`, the first word
/// standing at `anchor`. The intervals of one word's repetitions have equal widths and rise with the offset, so taking
/// the first free place for each is never worse than another choice.
fn can_place(positions: &[Vec<u32>], words: &[usize], anchor: i64, low: i64, high: i64) -> bool {
    for (offset, &list) in words.iter().enumerate().skip(1) {
        // The first of a word's repetitions (after the anchor) places them all.
        if words[1..offset].contains(&list) {
            continue;
        }
        let places = &positions[list];
        let mut next = 0;
        for (repeated, _) in words
            .iter()
            .enumerate()
            .skip(offset)
            .filter(|(_, other)| **other == list)
        {
            let repeated = repeated as i64;
            let from = (low + repeated).max(0);
            next = next.max(places.partition_point(|&place| i64::from(place) < from));
            if list == words[0] && places.get(next).map(|&place| i64::from(place)) == Some(anchor) {
                next += 1;
            }
            match places.get(next) {
                Some(&place) if i64::from(place) <= high + repeated => next += 1,
                _ => return false,
            }
        }
    }
    true
}
