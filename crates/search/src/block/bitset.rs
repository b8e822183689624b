//! Bits of the documents of a window.

use crate::block::term_scorer::List;
use index::DocId;
use std::ops::Range;

/// Sets the bits of a list's documents from `base` on, a multiple of 64.
pub(crate) fn mark(list: &mut List<'_>, base: u32, words: &mut [u64]) {
    let block = list.find(DocId(base));
    list.blocks.mark(block, base, words);
}

/// Clears the bits of documents outside the range.
pub(crate) fn clip(words: &mut [u64], base: u32, range: &Range<u32>) {
    if let Some(before @ 1..) = range.start.checked_sub(base)
        && let Some(first) = words.first_mut()
    {
        // The window begins with the word that the range begins in.
        *first &= u64::MAX << (before % 64);
    }
    let end = base.saturating_add(words.len() as u32 * 64);
    if let Some(after @ 1..) = end.checked_sub(range.end)
        && let Some(last) = words.last_mut()
    {
        *last &= u64::MAX >> (after % 64);
    }
}
