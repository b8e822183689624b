//! Unsigned integers in the fewest whole bytes that hold the highest of them, low byte first.

/// Returns the bytes of each number below `count`: 0 where `count` is at most 1, at most 4.
pub(crate) fn width_of(count: u64) -> usize {
    match count {
        0..=1 => 0,
        2..=0x100 => 1,
        0x101..=0x1_0000 => 2,
        0x1_0001..=0x100_0000 => 3,
        _ => 4,
    }
}

/// Reads the number in all of `bytes`, at most 4.
#[inline]
pub(crate) fn read(bytes: &[u8]) -> u32 {
    // Unrolled, because a loop costs more than the few bytes.
    match *bytes {
        [] => 0,
        [a] => a.into(),
        [a, b] => u16::from_le_bytes([a, b]).into(),
        [a, b, c] => u32::from_le_bytes([a, b, c, 0]),
        [a, b, c, d, ..] => u32::from_le_bytes([a, b, c, d]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_from_as_many_bytes_as_the_highest_takes() {
        for highest in [
            0u32,
            1,
            255,
            256,
            65_535,
            65_536,
            (1 << 24) - 1,
            1 << 24,
            u32::MAX,
        ] {
            let width = width_of(u64::from(highest) + 1);
            let bytes = highest.to_le_bytes();
            assert_eq!(read(&bytes[..width]), highest);
            assert!(width == 0 || read(&bytes[..width - 1]) != highest);
        }
    }
}
