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

/// The number in all of `bytes`.
#[inline]
pub(crate) fn read(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, &byte| number << 8 | u64::from(byte))
}
