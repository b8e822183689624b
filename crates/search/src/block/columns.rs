//! Columns of a block of documents: which rows stay.

use crate::plan::scorer::BLOCK;

/// The indexes of a block's postings, in order.
pub(crate) const INDEXES: [u8; BLOCK] = {
    let mut indexes = [0; BLOCK];
    let mut index = 0;
    while index < BLOCK {
        indexes[index] = index as u8;
        index += 1;
    }
    indexes
};

/// Moves those at increasing indexes to the beginning.
#[inline]
pub(crate) fn pick<T: Copy>(values: &mut [T; BLOCK], indexes: &[u8]) {
    for (at, &index) in indexes.iter().enumerate() {
        values[at] = values[index as usize];
    }
}
