//! Blocks of 256 increasing documents: bit-packed gaps, or bits where the documents are dense.
//!
//! ```text
//! block := packed                       gaps, see `packed`
//!        | 41 words:u8 word:u64le*words
//! ```
//!
//! Bit i of word w stands for document `first + 64 w + i`. `first` is the highest multiple of 64 that is not after
//! the first possible document: `(base + 1) & !63`. Exactly 256 bits are set; the last of them is in the last word.
//!
//! Why bits: membership of a document is one bit test, and sets are joined and intersected a word at a time, without
//! decoding. A block takes this form where it costs at most 1.5 times the bytes of packed gaps.
//!
//! Example: documents 0, 1, 2, 4, 5, 6, 8, … (three of four) are `41 06  77 × 42  17 00 00 00 00 00`.

mod chain;

pub use chain::Chain;

use crate::limits::{self, LengthBytes};
use crate::packed::{self, BLOCK};
use crate::sorted::Pairs;
use crate::{CodecError, bits};

/// The first byte of a block of bits, which is no bit width of a packed block.
const BITS: u8 = 0x41;
const HEADER_BYTES: usize = 2;
const WORDS_MAX: usize = 255;
/// Upper limit on the bytes of the bit form for every two bytes of packed gaps.
const BYTES_FOR_TWO: usize = 3;

/// Appends the block of the documents whose gaps from `base` and from each other are `gaps`. Sums wrap, so that a
/// `base` of `u32::MAX` stands before document 0. No gap is 0.
pub fn encode(base: u32, gaps: &[u32; BLOCK], out: &mut Vec<u8>) {
    let start = out.len();
    packed::encode(gaps, out);
    let first = first_of(base);
    let mut docs = *gaps;
    packed::prefix_sum(&mut docs, base);
    let words_count = (docs[BLOCK - 1].wrapping_sub(first) / 64) as usize + 1;
    let packed_bytes = out.len() - start;
    if words_count > WORDS_MAX
        || docs[BLOCK - 1] < first
        || (HEADER_BYTES + words_count * 8) * 2 > packed_bytes * BYTES_FOR_TWO
    {
        return;
    }
    let mut words = [0u64; WORDS_MAX];
    bits::set(&mut words, first, &docs);
    out.truncate(start);
    out.extend([BITS, words_count as u8]);
    for word in &words[..words_count] {
        out.extend_from_slice(&word.to_le_bytes());
    }
}

/// Decodes the block at the start of `bytes` and returns the number of bytes read.
/// After an error the content of `docs` is unspecified.
#[inline]
pub fn decode(bytes: &[u8], base: u32, docs: &mut [u32; BLOCK]) -> Result<usize, CodecError> {
    match Bits::read(bytes, base)? {
        None => packed::decode_gaps(bytes, base, docs),
        Some(set) => {
            set.spread(docs)?;
            Ok(set.bytes_taken())
        }
    }
}

/// Returns the length in bytes of the block at the start of `bytes`. Only packed blocks are validated: a block of bits
/// is not read beyond its header.
pub fn encoded_bytes(bytes: &[u8]) -> Result<usize, CodecError> {
    match Bits::read(bytes, u32::MAX)? {
        None => packed::encoded_bytes(bytes),
        Some(set) => Ok(set.bytes_taken()),
    }
}

/// A block of bits, as it lies in memory.
#[derive(Debug, Clone, Copy)]
pub struct Bits<'a> {
    first: u32,
    words: &'a [[u8; 8]],
}

impl<'a> Bits<'a> {
    /// Returns the block at the start of `bytes` where it is a block of bits, `None` where it is packed.
    #[inline]
    pub fn read(bytes: &'a [u8], base: u32) -> Result<Option<Bits<'a>>, CodecError> {
        let [BITS, words_count, ..] = *bytes else {
            return Ok(None);
        };
        let end = HEADER_BYTES + usize::from(words_count) * 8;
        let Some(words) = bytes.get(HEADER_BYTES..end) else {
            let what = "block of bits";
            return Err(CodecError::Truncated { at: 2, what });
        };
        Ok(Some(Bits {
            first: first_of(base),
            words: words.as_chunks().0,
        }))
    }

    /// Returns the document of the first bit, a multiple of 64.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// Returns the number of words, each of 64 documents.
    pub fn words_count(&self) -> usize {
        self.words.len()
    }

    /// Returns word `number`; 0 past the last.
    #[inline]
    pub fn word(&self, number: usize) -> u64 {
        self.words
            .get(number)
            .map_or(0, |word| u64::from_le_bytes(*word))
    }

    /// Returns the length of the block in bytes, header included.
    #[inline]
    pub fn bytes_taken(&self) -> usize {
        HEADER_BYTES + self.words.len() * 8
    }

    /// Sets the bits of the documents in `window`, whose first bit stands for document `base`, a multiple of 64.
    #[inline]
    pub fn join_into(&self, window: &mut [u64], base: u32) {
        let (skipped, at) = if self.first < base {
            ((base - self.first) as usize / 64, 0)
        } else {
            (0, (self.first - base) as usize / 64)
        };
        let (Some(words), Some(window)) = (self.words.get(skipped..), window.get_mut(at..)) else {
            return;
        };
        bits::join(window, words);
    }

    /// Finds documents of `wanted` (at most 256, increasing) in the block and returns the number of pairs. Each pair is
    /// an index in `wanted` and an index in the block, as in [`crate::sorted::intersect`].
    #[inline]
    pub fn intersect(&self, wanted: &[u32], pairs: &mut Pairs) -> usize {
        find(self.words, self.first, wanted, pairs)
    }

    /// Copies the length bytes of the documents to `picked`. Returns `false` where there are not 256 documents or one
    /// is past the end of `bytes`.
    #[inline]
    pub fn pick(&self, bytes: &[u8], picked: &mut LengthBytes) -> bool {
        limits::pick_bits(bytes, self.first, self.words, picked)
    }

    /// Writes the documents at `indexes`, which increase, to `docs`. Stops at an index past the last document of the block.
    #[inline]
    pub fn docs_at(&self, indexes: &[u8], docs: &mut [u32]) {
        let mut words = self.words.iter().map(|word| u64::from_le_bytes(*word));
        let (mut before, mut ones, mut rest) = (0, 0, 0u64);
        let mut base = self.first.wrapping_sub(64);
        for (&index, doc) in indexes.iter().zip(docs) {
            while before + ones <= u32::from(index) {
                let Some(word) = words.next() else {
                    return;
                };
                before += ones;
                ones = word.count_ones();
                rest = word;
                base = base.wrapping_add(64);
            }
            let mut from = rest;
            for _ in before..u32::from(index) {
                from &= from - 1;
            }
            *doc = base.wrapping_add(from.trailing_zeros());
        }
    }

    /// Decodes all documents of the block.
    pub fn spread(&self, docs: &mut [u32; BLOCK]) -> Result<(), CodecError> {
        let count = documents_of(self.words, self.first, docs);
        if count == BLOCK {
            return Ok(());
        }
        Err(CodecError::TooLarge {
            at: 1,
            what: "bits of a block that are not 256",
            found: count as u64,
            max: BLOCK as u64,
        })
    }
}

/// Writes the documents of the bits that are set, up to the capacity of `docs`, and returns the number of set bits.
pub(crate) fn documents_of(words: &[[u8; 8]], first: u32, docs: &mut [u32; BLOCK]) -> usize {
    #[cfg(target_arch = "x86_64")]
    if crate::kernels::SPREAD.form() == crate::processor::Level::Avx512 {
        // SAFETY: the processor has AVX-512F and POPCNT, the only target features of this function.
        return unsafe { spread_avx512(words, first, docs) };
    }
    #[cfg(target_arch = "aarch64")]
    if crate::kernels::SPREAD.form() == crate::processor::Level::Neon {
        // SAFETY: the processor supports the target features of this function.
        return unsafe { crate::neon::spread(words, first, docs) };
    }
    spread_any(words, first, docs)
}

/// AVX-512 form: makes sixteen documents at once and moves those whose bits are set together.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,popcnt")]
fn spread_avx512(words: &[[u8; 8]], first: u32, docs: &mut [u32; BLOCK]) -> usize {
    use std::arch::x86_64::*;
    const LANES: usize = 16;
    let steps = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let mut all = _mm512_add_epi32(_mm512_set1_epi32(first as i32), steps);
    let mut count = 0;
    for word in words {
        for half in word.as_chunks::<2>().0 {
            let mask = u16::from_le_bytes(*half);
            let found = _mm512_maskz_compress_epi32(mask, all);
            if count + LANES <= BLOCK {
                // SAFETY: sixteen documents from `count` on lie within the 256.
                unsafe { _mm512_storeu_si512(docs.as_mut_ptr().add(count).cast(), found) };
            } else if let Some(rest) = docs.get_mut(count..) {
                let mut some = [0u32; LANES];
                // SAFETY: `some` has room for sixteen.
                unsafe { _mm512_storeu_si512(some.as_mut_ptr().cast(), found) };
                let taken = rest.len().min(mask.count_ones() as usize);
                rest[..taken].copy_from_slice(&some[..taken]);
            }
            count += mask.count_ones() as usize;
            all = _mm512_add_epi32(all, _mm512_set1_epi32(LANES as i32));
        }
    }
    count
}

/// Scalar twin of every vectorised form.
fn spread_any(words: &[[u8; 8]], first: u32, docs: &mut [u32; BLOCK]) -> usize {
    let mut count = 0;
    for (number, word) in words.iter().enumerate() {
        let mut word = u64::from_le_bytes(*word);
        let base = first.wrapping_add(number as u32 * 64);
        while word != 0 {
            if let Some(slot) = docs.get_mut(count) {
                *slot = base.wrapping_add(word.trailing_zeros());
            }
            count += 1;
            word &= word - 1;
        }
    }
    count
}

/// Finds the values of `wanted` (increasing, at most 256) whose bit is set, counted from `first`, and returns their
/// number. Each pair is an index in `wanted` and the number of bits set before the value, modulo 256.
#[inline]
pub(crate) fn find(words: &[[u8; 8]], first: u32, wanted: &[u32], pairs: &mut Pairs) -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "popcnt,bmi1,bmi2,lzcnt")]
        fn find_popcnt(w: &[[u8; 8]], first: u32, wanted: &[u32], pairs: &mut Pairs) -> usize {
            find_any(w, first, wanted, pairs)
        }
        match crate::kernels::FIND.form() {
            crate::processor::Level::Avx512 => {
                // SAFETY: the processor supports the target features of this function.
                return unsafe { find_avx512(words, first, wanted, pairs) };
            }
            crate::processor::Level::Avx2 => {
                // SAFETY: as above.
                return unsafe { find_popcnt(words, first, wanted, pairs) };
            }
            _ => {}
        }
    }
    find_any(words, first, wanted, pairs)
}

/// AVX-512 form: counts the bits of eight words at once and sums the counts by a multiplication. It replaces a walk
/// over words, whose length is hard to predict.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq,popcnt,bmi1,bmi2,lzcnt")]
fn find_avx512(words: &[[u8; 8]], first: u32, wanted: &[u32], pairs: &mut Pairs) -> usize {
    use std::arch::x86_64::*;
    const LANES: usize = 8;
    // Factor whose product with eight byte counts has running sums in its bytes.
    const SUMS: u64 = 0x0101_0101_0101_0101;
    let (mut count, mut counted, mut before, mut sums) = (0, 0, 0u8, 0u64);
    for (index, &doc) in wanted.iter().enumerate().take(BLOCK) {
        let at = doc.wrapping_sub(first);
        let number = at as usize / 64;
        let Some(word) = words.get(number) else {
            // The document is before the first bit or after the last.
            continue;
        };
        while counted <= number {
            before = before.wrapping_add((sums >> 56) as u8);
            let some = (words.len() - counted).min(LANES);
            let mask = (0xff_u32 >> (LANES - some)) as u8;
            // SAFETY: from `counted` on there are `some` words, and no other is read.
            let eight =
                unsafe { _mm512_maskz_loadu_epi64(mask, words.as_ptr().add(counted).cast()) };
            let counts = _mm512_cvtepi64_epi8(_mm512_popcnt_epi64(eight));
            sums = (_mm_cvtsi128_si64(counts) as u64).wrapping_mul(SUMS);
            counted += LANES;
        }
        let word = u64::from_le_bytes(*word);
        let below = word & ((1 << (at % 64)) - 1);
        // Bits of the earlier words of these eight; 0 for the first word.
        let inside = ((sums << 8) >> (number % LANES * 8)) as u8;
        pairs.wanted[count] = index as u8;
        pairs.block[count] = before
            .wrapping_add(inside)
            .wrapping_add(below.count_ones() as u8);
        count += (word >> (at % 64) & 1) as usize;
    }
    count
}

/// Scalar twin of every vectorised form.
#[inline(always)]
fn find_any(words: &[[u8; 8]], first: u32, wanted: &[u32], pairs: &mut Pairs) -> usize {
    let (mut count, mut passed, mut before) = (0, 0, 0u8);
    for (index, &doc) in wanted.iter().enumerate().take(BLOCK) {
        let at = doc.wrapping_sub(first);
        let number = at as usize / 64;
        let Some(word) = words.get(number) else {
            // The document is before the first bit or after the last.
            continue;
        };
        while passed < number {
            before = before.wrapping_add(u64::from_le_bytes(words[passed]).count_ones() as u8);
            passed += 1;
        }
        let word = u64::from_le_bytes(*word);
        let below = word & ((1 << (at % 64)) - 1);
        // Always written, counted only when found: no branch to mispredict.
        pairs.wanted[count] = index as u8;
        pairs.block[count] = before.wrapping_add(below.count_ones() as u8);
        count += (word >> (at % 64) & 1) as usize;
    }
    count
}

#[inline]
fn first_of(base: u32) -> u32 {
    base.wrapping_add(1) & !63
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels;
    use crate::sorted::intersect_scalar;
    use proptest::prelude::*;

    fn check(base: u32, gaps: &[u32; BLOCK]) -> bool {
        let mut expected = *gaps;
        packed::prefix_sum(&mut expected, base);
        let mut bytes = Vec::new();
        encode(base, gaps, &mut bytes);
        let taken = bytes.len();
        bytes.extend([0xff; 5]);
        let mut docs = [0; BLOCK];
        assert_eq!(decode(&bytes, base, &mut docs), Ok(taken));
        assert_eq!(docs, expected);
        assert_eq!(encoded_bytes(&bytes), Ok(taken));
        for cut in 0..taken {
            assert!(decode(&bytes[..cut], base, &mut docs).is_err());
        }
        let Some(set) = Bits::read(&bytes, base).unwrap() else {
            return false;
        };
        let last = expected[BLOCK - 1];
        let all: Vec<u32> = (set.first().saturating_sub(9)..last + 70).collect();
        for wanted in all.chunks(BLOCK).chain(all.chunks(7)) {
            let (mut found, mut sought) = (Pairs::default(), Pairs::default());
            let count = set.intersect(wanted, &mut found);
            assert_eq!(count, intersect_scalar(wanted, &expected, &mut sought));
            assert_eq!(found.wanted[..count], sought.wanted[..count]);
            assert_eq!(found.block[..count], sought.block[..count]);
        }
        let mut some = [0; 3];
        set.docs_at(&[0, 77, 255], &mut some);
        assert_eq!(some, [0, 77, 255].map(|index: usize| expected[index]));
        let bytes: Vec<u8> = (0..=last).map(|doc| (doc % 251) as u8).collect();
        let mut picked = [0; BLOCK + 64];
        assert!(set.pick(&bytes, &mut picked));
        let of_docs = expected.map(|doc| (doc % 251) as u8);
        assert_eq!(picked[..BLOCK], of_docs);
        for window_base in [0, set.first() & !1023, set.first() + 128] {
            let mut window = [0; 16];
            let mut naive = window;
            set.join_into(&mut window, window_base);
            let inside = expected.iter().copied().filter(|&doc| doc >= window_base);
            bits::set(&mut naive, window_base, &inside.collect::<Vec<_>>());
            assert_eq!(window, naive);
        }
        true
    }

    #[test]
    fn close_documents_become_bits_and_far_ones_do_not() {
        assert!(!check(u32::MAX, &[1; BLOCK]), "a constant is smaller still");
        let mut gaps = [1; BLOCK];
        gaps[9] = 2;
        assert!(check(u32::MAX, &gaps));
        assert!(check(1000, &gaps));
        assert!(!check(1000, &gaps.map(|gap| gap * 100)));
    }

    proptest! {
        #[test]
        fn any_block_comes_back(
            gaps in prop::collection::vec(1u32..12, BLOCK),
            wide in 1u32..9,
            base in prop_oneof![Just(u32::MAX), 0u32..100_000],
        ) {
            let of = [kernels::SPREAD, kernels::FIND, kernels::PICK_BITS, kernels::JOIN];
            kernels::check_each_form(&of, || {
                let gaps: [u32; BLOCK] = std::array::from_fn(|i| gaps[i].min(wide));
                check(base, &gaps);
            });
        }

        #[test]
        fn any_bytes_give_documents_or_an_error(
            words_count: u8,
            rest in prop::collection::vec(any::<u8>(), 0..600),
            base: u32,
        ) {
            let of = [kernels::SPREAD, kernels::FIND, kernels::PICK_BITS, kernels::JOIN];
            kernels::in_each_form(&of, || {
                let mut bytes = vec![BITS, words_count];
                bytes.extend(&rest);
                let mut docs = [0; BLOCK];
                let read = decode(&bytes, base, &mut docs);
                if let Ok(Some(set)) = Bits::read(&bytes, base) {
                    let (mut fast, mut slow) = ([0; BLOCK], [0; BLOCK]);
                    let count = spread_any(set.words, set.first(), &mut slow);
                    prop_assert_eq!(documents_of(set.words, set.first(), &mut fast), count);
                    let kept = count.min(BLOCK);
                    prop_assert_eq!(&fast[..kept], &slow[..kept]);
                    let wanted: Vec<u32> = (0..256).map(|at| base.wrapping_add(at * 61)).collect();
                    prop_assert!(set.intersect(&wanted, &mut Pairs::default()) <= wanted.len());
                    set.docs_at(&[0, 9, 200, 255], &mut [0; 4]);
                    set.join_into(&mut [0; 9], base & !63);
                    let ones: u32 = (0..set.words_count()).map(|at| set.word(at).count_ones()).sum();
                    prop_assert_eq!(read.is_ok(), ones == 256);
                } else {
                    prop_assert!(read.is_err());
                }
                Ok(())
            })?;
        }
    }
}
