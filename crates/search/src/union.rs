//! How many documents hold any of several terms?
//!
//! Of one term the list knows. Of two, what they share is subtracted (and found in the shorter one's time);
//! of more, windows of documents are joined as bits.

use crate::conjunction::{Conjunction, clip, mark};
use crate::list::{List, first_damage};
use codec::bits;
use index::{DocId, IndexError, Segment};
use std::ops::Range;

/// Documents of a window of bits.
const WIDTH: u32 = 16384;

/// How many documents of `range` hold any of the terms.
pub(crate) fn count(
    mut lists: Vec<List<'_>>,
    range: Range<u32>,
    segment: &Segment,
) -> Result<u64, IndexError> {
    let whole = range == (0..segment.documents_count()) && !segment.has_deletions();
    match lists.len() {
        0 => Ok(0),
        1 if whole => Ok(lists[0].cost().into()),
        2 if whole => {
            let sum = u64::from(lists[0].cost()) + u64::from(lists[1].cost());
            Ok(sum - Conjunction::new(lists).count(range, segment)?)
        }
        _ => {
            let count = count_bits(&mut lists, range, segment);
            first_damage(&mut lists)?;
            Ok(count)
        }
    }
}

fn count_bits(lists: &mut [List<'_>], range: Range<u32>, segment: &Segment) -> u64 {
    let mut count = 0;
    let mut base = range.start & !63;
    let mut any = [0; (WIDTH / 64) as usize];
    while base < range.end {
        let width = WIDTH.min(range.end - base);
        let words = &mut any[..width.div_ceil(64) as usize];
        words.fill(0);
        for list in lists.iter_mut() {
            mark(list, base, words);
        }
        clip(words, base, &range);
        if segment.has_deletions() {
            remove_deleted(words, base, segment);
        }
        count += bits::count(words);
        base += width;
    }
    count
}

fn remove_deleted(words: &mut [u64], base: u32, segment: &Segment) {
    for (number, word) in words.iter_mut().enumerate() {
        let mut rest = *word;
        while rest != 0 {
            let bit = rest.trailing_zeros();
            rest &= rest - 1;
            if segment.is_deleted(DocId(base + number as u32 * 64 + bit)) {
                *word &= !(1 << bit);
            }
        }
    }
}
