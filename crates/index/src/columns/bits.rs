//! Numbers of one width, packed one after another, low bits first.

/// Widest number, in bits: with an offset of 7 bits it still fits 8 bytes.
pub(super) const WIDTH_MAX: u32 = 56;
/// Bytes after the last number, so that every number is read by one load of 8 bytes.
const PADDING_BYTES: usize = 8;

/// Returns the bits of `number`.
pub(super) fn width_of(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// Returns a width of at least `width`: 8 or 16 where that is up to three bits more, since whole bytes are compared many
/// at a time.
pub(super) fn whole_bytes(width: u32) -> u32 {
    match width {
        6..=8 => 8,
        13..=16 => 16,
        width => width,
    }
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

    /// Returns which of the 64 numbers from `index` on, a multiple of 8, are from `low` to `high`, one bit each; none
    /// past the last.
    #[inline]
    pub(super) fn within(&self, index: usize, low: u64, high: u64) -> u64 {
        let high = high.min(self.mask);
        if low > high {
            return 0;
        }
        match self.sixty_four(index) {
            Some(bytes) if self.width <= 32 => {
                within_range(bytes, self.width, low as u32, high as u32)
            }
            _ => self.within_slow(index, low, high),
        }
    }

    /// Returns the bytes of the 64 numbers from `index` on and of the load of the last; `None` where there are fewer.
    #[inline]
    fn sixty_four(&self, index: usize) -> Option<&'a [u8]> {
        let (start, width) = (index / 8 * self.width as usize, self.width as usize);
        self.bytes.get(start..start + 8 * width + PADDING_BYTES)
    }

    #[cold]
    fn within_slow(&self, index: usize, low: u64, high: u64) -> u64 {
        let mut word = 0;
        for bit in 0..64 {
            let is_there = (index + bit) * self.width as usize / 8 < self.end();
            let number = self.get(index + bit);
            word |= u64::from(is_there && low <= number && number <= high) << bit;
        }
        word
    }

    /// Returns the number of bytes that numbers begin in.
    fn end(&self) -> usize {
        match self.width {
            0 => usize::MAX,
            _ => self.bytes.len().saturating_sub(PADDING_BYTES),
        }
    }
}

/// Returns which of the 64 numbers of `width` bits in `bytes` are from `low` to `high`, one bit each.
#[inline]
fn within_range(bytes: &[u8], width: u32, low: u32, high: u32) -> u64 {
    if width == 1 {
        // The numbers are the bits, or their opposites.
        let word = bytes
            .first_chunk()
            .map_or(0, |eight| u64::from_le_bytes(*eight));
        return match (low, high) {
            (0, 0) => !word,
            (1, _) => word,
            _ => u64::MAX,
        };
    }
    let mut flags = [0u8; 64];
    // One comparison each: numbers below `low` wrap around.
    match (width, bytes.first_chunk::<64>(), bytes.first_chunk::<128>()) {
        (8, Some(numbers), _) => {
            let (low, most) = (low as u8, (high - low) as u8);
            for (flag, number) in flags.iter_mut().zip(numbers) {
                *flag = u8::from(number.wrapping_sub(low) <= most);
            }
        }
        (16, _, Some(bytes)) => {
            let (low, most) = (low as u16, (high - low) as u16);
            let (pairs, _) = bytes.as_chunks::<2>();
            for (flag, pair) in flags.iter_mut().zip(pairs) {
                *flag = u8::from(u16::from_le_bytes(*pair).wrapping_sub(low) <= most);
            }
        }
        (width, _, _) => {
            let mut numbers = [0; 64];
            unpack(bytes, width, &mut numbers);
            for (flag, number) in flags.iter_mut().zip(&numbers) {
                *flag = u8::from(number.wrapping_sub(low) <= high - low);
            }
        }
    }
    let (eights, _) = flags.as_chunks::<8>();
    let mut word = 0;
    for (number, eight) in eights.iter().enumerate() {
        // Every factor moves one flag to its place in the highest byte.
        let bits = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        word |= bits << (8 * number);
    }
    word
}

/// Calls the form of `unpack_width` for a width.
macro_rules! of_width {
    ($bytes:expr, $width:expr, $out:expr, $($known:literal)+) => {
        match $width {
            $($known => unpack_width::<$known>($bytes, $out),)+
            _ => {}
        }
    };
}

/// Unpacks 64 numbers of at most 32 bits.
#[inline]
fn unpack(bytes: &[u8], width: u32, out: &mut [u32; 64]) {
    of_width!(bytes, width, out,
        1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
}

/// Unpacks 64 numbers of `WIDTH` bits: all shifts are known when this is compiled.
fn unpack_width<const WIDTH: usize>(bytes: &[u8], out: &mut [u32; 64]) {
    let (eights, _) = out.as_chunks_mut::<8>();
    for (number, eight) in eights.iter_mut().enumerate() {
        // Eight numbers end with a byte.
        let start = number * WIDTH;
        let Some(bytes) = bytes.get(start..start + WIDTH + PADDING_BYTES) else {
            return;
        };
        for (number, out) in eight.iter_mut().enumerate() {
            let bit = number * WIDTH;
            let Some(loaded) = bytes[bit / 8..].first_chunk() else {
                return;
            };
            *out = (u64::from_le_bytes(*loaded) >> (bit % 8)) as u32 & (u32::MAX >> (32 - WIDTH));
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
        fn numbers_come_back(
            numbers in prop::collection::vec(any::<u64>(), 0..200),
            width in 0..=WIDTH_MAX,
            low in any::<u64>(),
            high in any::<u64>(),
        ) {
            let numbers: Vec<u64> = numbers.iter().map(|number| number & ((1 << width) - 1)).collect();
            let mut bytes = Vec::new();
            pack(numbers.iter().copied(), width, &mut bytes);
            if !numbers.is_empty() {
                let bits = Bits::open(&bytes, numbers.len() as u64, width).unwrap();
                for (index, &number) in numbers.iter().enumerate() {
                    prop_assert_eq!(bits.get(index), number);
                }
                prop_assert_eq!(bits.get(1 << 40), 0);
                let (low, high) = (low.min(high) >> (64 - width.max(1)), low.max(high) >> (64 - width.max(1)));
                for index in (0..numbers.len()).step_by(8) {
                    let word = bits.within(index, low, high);
                    for (bit, number) in (0..64).zip(&numbers[index..]) {
                        prop_assert_eq!(word >> bit & 1 == 1, (low..=high).contains(number));
                    }
                }
                prop_assert!(Bits::open(&bytes, numbers.len() as u64 + 9, width).is_none() || width == 0);
            }
        }
    }

    #[test]
    fn widths_are_those_of_the_greatest() {
        assert_eq!([0, 1, 2, 255, 256].map(width_of), [0, 1, 2, 8, 9]);
        assert_eq!(
            [1, 5, 6, 8, 9, 13, 17].map(whole_bytes),
            [1, 5, 8, 8, 9, 16, 17]
        );
        assert!(Bits::open(&[0; 100], 1, WIDTH_MAX + 1).is_none());
    }
}
