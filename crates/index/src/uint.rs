//! Numbers in as few whole bytes as the highest of them asks for, the low byte first.

/// Bytes of each of the numbers below `count`: none where there is one number alone, 4 at most.
pub(crate) fn width_of(count: u64) -> usize {
    match count {
        0..=1 => 0,
        2..=0x100 => 1,
        0x101..=0x1_0000 => 2,
        0x1_0001..=0x100_0000 => 3,
        _ => 4,
    }
}

/// The number in all of `bytes`, which are 4 at most.
#[inline]
pub(crate) fn read(bytes: &[u8]) -> u32 {
    // Written out: a loop over so few costs more than they do.
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
