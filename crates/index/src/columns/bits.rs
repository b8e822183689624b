//! Numbers of one width, packed one after another, low bits first.

/// Widest number, in bits: with an offset of 7 bits it still fits 8 bytes.
pub(super) const WIDTH_MAX: u32 = 56;
/// Bytes after the last number, so that every number is read by one load of 8 bytes.
const PADDING_BYTES: usize = 8;

/// Returns the bits of `number`.
pub(super) fn width_of(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// Returns the bytes of `count` numbers.
pub(super) fn bytes_of(count: u64, width: u32) -> u64 {
    match width {
        0 => 0,
        width => (count * u64::from(width)).div_ceil(8) + PADDING_BYTES as u64,
    }
}

/// Packed numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    width: u32,
    mask: u64,
}

impl<'a> Bits<'a> {
    /// Opens `count` numbers; `None` where `bytes` is not as long as they make it.
    pub(super) fn open(bytes: &'a [u8], count: u64, width: u32) -> Option<Bits<'a>> {
        let is_it = width <= WIDTH_MAX && bytes.len() as u64 == bytes_of(count, width);
        is_it.then_some(Bits {
            bytes,
            width,
            mask: (1 << width) - 1,
        })
    }

    /// Returns the number at `index`; 0 past the last.
    #[inline(always)]
    pub(super) fn get(&self, index: usize) -> u64 {
        let bit = index * self.width as usize;
        let eight = self
            .bytes
            .get(bit / 8..)
            .and_then(|rest| rest.first_chunk());
        match eight {
            Some(eight) => u64::from_le_bytes(*eight) >> (bit % 8) & self.mask,
            None => 0,
        }
    }
}

/// Packs numbers of at most `width` bits.
pub(super) fn pack(numbers: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    if width == 0 {
        return;
    }
    let (mut pending, mut pending_bits) = (0u128, 0);
    for number in numbers {
        pending |= u128::from(number) << pending_bits;
        pending_bits += width;
        while pending_bits >= 8 {
            out.push(pending as u8);
            pending >>= 8;
            pending_bits -= 8;
        }
    }
    if pending_bits > 0 {
        out.push(pending as u8);
    }
    out.extend_from_slice(&[0; PADDING_BYTES]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(numbers in prop::collection::vec(any::<u64>(), 0..200), width in 0..=WIDTH_MAX) {
            let numbers: Vec<u64> = numbers.iter().map(|number| number & ((1 << width) - 1)).collect();
            let mut bytes = Vec::new();
            pack(numbers.iter().copied(), width, &mut bytes);
            if !numbers.is_empty() {
                let bits = Bits::open(&bytes, numbers.len() as u64, width).unwrap();
                for (index, &number) in numbers.iter().enumerate() {
                    prop_assert_eq!(bits.get(index), number);
                }
                prop_assert_eq!(bits.get(1 << 40), 0);
                prop_assert!(Bits::open(&bytes, numbers.len() as u64 + 9, width).is_none() || width == 0);
            }
        }
    }

    #[test]
    fn widths_are_those_of_the_greatest() {
        assert_eq!([0, 1, 2, 255, 256].map(width_of), [0, 1, 2, 8, 9]);
        assert!(Bits::open(&[0; 100], 1, WIDTH_MAX + 1).is_none());
    }
}
