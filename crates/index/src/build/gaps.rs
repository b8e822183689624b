//! Byte code of the gaps between a term's positions in a run.
//!
//! ```text
//! gap  := bits 0-1: bytes - 1, bits 2-: the gap        1 to 4 bytes, low byte first
//!       | FF FF FF FF gap:u32le                        from 2^30 - 1 on
//! ```
//!
//! Unlike `codec::vint`, this is read and written without a branch that depends on the gap, because the sizes of gaps
//! in text order are unpredictable.

use super::arena::{Arena, Stream};
use crate::sealed::read_u32;

const WIDE: u32 = (1 << 30) - 1;

/// Appends a gap.
#[inline]
pub(super) fn push(arena: &mut Arena, stream: &mut Stream, gap: u32) {
    if gap >= WIDE {
        arena.push(stream, u32::MAX, 4);
        return arena.push(stream, gap, 4);
    }
    let bits = 32 - gap.leading_zeros();
    let bytes = (bits + 9) >> 3;
    arena.push(stream, gap << 2 | (bytes - 1), bytes);
}

/// Reads the gap at `at`, which is before the end of `bytes`, and advances `at`.
#[inline]
pub(super) fn read(bytes: &[u8], at: &mut usize) -> u32 {
    let word = match bytes[*at..].first_chunk() {
        Some(&four) => u32::from_le_bytes(four),
        None => read_last(&bytes[*at..]),
    };
    let gap_bytes = (word & 3) + 1;
    *at += gap_bytes as usize;
    if word == u32::MAX {
        *at += 4;
        return read_u32(bytes, *at - 4);
    }
    let unused = 32 - 8 * gap_bytes;
    word << unused >> unused >> 2
}

/// Reads the last bytes, fewer than four, padded with zeros.
#[cold]
fn read_last(bytes: &[u8]) -> u32 {
    let mut four = [0; 4];
    four[..bytes.len()].copy_from_slice(bytes);
    u32::from_le_bytes(four)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gaps_read_back(
            gaps in prop::collection::vec((any::<u32>(), 0u32..32).prop_map(|(gap, shift)| gap >> shift), 1..300),
        ) {
            let mut arena = Arena::default();
            let mut stream = arena.start();
            gaps.iter().for_each(|&gap| push(&mut arena, &mut stream, gap));
            let (mut bytes, mut at, mut found) = (Vec::new(), 0, Vec::new());
            arena.read(&stream, &mut bytes);
            while at < bytes.len() {
                found.push(read(&bytes, &mut at));
            }
            prop_assert_eq!(found, gaps);
        }
    }
}
