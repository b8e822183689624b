//! Columns of a block of documents, and the selection of their rows.

use crate::plan::scorer::BLOCK;

/// The numbers of all rows, increasing.
pub(crate) const ROWS: [u8; BLOCK] = {
    let mut rows = [0; BLOCK];
    let mut row = 0;
    while row < BLOCK {
        rows[row] = row as u8;
        row += 1;
    }
    rows
};

/// Moves the values at `rows`, increasing, to the beginning of a column.
#[inline]
pub(crate) fn pick<T: Copy>(values: &mut [T; BLOCK], rows: &[u8]) {
    for (at, &row) in rows.iter().enumerate() {
        values[at] = values[row as usize];
    }
}
