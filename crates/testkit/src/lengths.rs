//! Lengths as an index stores them, computed another way.

/// Rounds a length as it is stored in a byte: all of it up to 24, and the four highest bits of the rest.
pub(crate) fn length_in_a_byte(length: u32) -> u32 {
    if length < 24 {
        return length;
    }
    let mut beyond = length - 24;
    let mut dropped_bits = 0;
    while beyond >= 16 {
        beyond /= 2;
        dropped_bits += 1;
    }
    24 + (beyond << dropped_bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_lose_their_low_bits() {
        for (length, kept) in [
            (0, 0),
            (23, 23),
            (40, 40),
            (41, 40),
            (42, 42),
            (57, 56),
            (200, 200),
        ] {
            assert_eq!(length_in_a_byte(length), kept, "{length}");
        }
    }
}
