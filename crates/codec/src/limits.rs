//! Length limits: selection of the postings of a block that can reach a score, by comparing bytes.
//!
//! ```text
//! frequency    1  1  3  2        limits  - 40 44 47 …   by frequency
//! length byte 39 41 46 50        passes  39 < 40, 46 < 47
//! ```
//!
//! A score rises with the frequency and falls with the length. So for each frequency, the postings that reach a given
//! score are those whose length is below a limit. 64 length bytes are compared at once with 64 limits looked up at
//! once, and postings that cannot matter are never scored.

pub use crate::arrays::{LIMITS, LengthBytes};
use crate::packed::BLOCK;

/// Writes the indexes of the postings whose length byte is below the limit of their frequency to `kept` and returns
/// their number. A length byte of 255 counts as 254. Considers the first 256 frequencies.
#[inline]
pub fn shorter(
    frequencies: &[u32],
    lengths: &LengthBytes,
    limits: &[u8; LIMITS],
    kept: &mut [u8; BLOCK],
) -> usize {
    #[cfg(target_arch = "x86_64")]
    if crate::kernels::SHORTER.form() == crate::processor::Level::Avx512 {
        // SAFETY: the processor supports the target features of this function.
        return unsafe { shorter_avx512(frequencies, lengths, limits, kept) };
    }
    #[cfg(target_arch = "aarch64")]
    if crate::kernels::SHORTER.form() == crate::processor::Level::Neon {
        // SAFETY: the processor supports the target features of this function.
        return unsafe { crate::neon::shorter(frequencies, lengths, limits, kept) };
    }
    shorter_one_by_one(frequencies, lengths, limits, kept)
}

/// Twin of every vectorised [`shorter`].
pub fn shorter_one_by_one(
    frequencies: &[u32],
    lengths: &LengthBytes,
    limits: &[u8; LIMITS],
    kept: &mut [u8; BLOCK],
) -> usize {
    let mut count = 0;
    let postings = frequencies.iter().zip(lengths).take(BLOCK);
    for (index, (&frequency, &length)) in postings.enumerate() {
        let limit = limits[(frequency as usize).min(LIMITS - 1)];
        // Always written, counted only when kept: no branch to mispredict. The index stays below 256.
        kept[count % BLOCK] = index as u8;
        count += usize::from(length.min(254) < limit);
    }
    count
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,popcnt")]
fn shorter_avx512(
    frequencies: &[u32],
    lengths: &LengthBytes,
    limits: &[u8; LIMITS],
    kept: &mut [u8; BLOCK],
) -> usize {
    use std::arch::x86_64::*;
    const LANES: usize = 64;
    // SAFETY: the limits are 64 bytes.
    let limits = unsafe { _mm512_loadu_si512(limits.as_ptr().cast()) };
    let last = _mm512_set1_epi8(LIMITS as i8 - 1);
    let steps: [u8; LANES] = std::array::from_fn(|index| index as u8);
    // SAFETY: 64 bytes.
    let mut indexes = unsafe { _mm512_loadu_si512(steps.as_ptr().cast()) };
    let mut count = 0;
    let frequencies = &frequencies[..frequencies.len().min(BLOCK)];
    for (number, frequencies) in frequencies.chunks(LANES).enumerate() {
        let mut quarters = [_mm_setzero_si128(); 4];
        for (quarter, frequencies) in quarters.iter_mut().zip(frequencies.chunks(16)) {
            let there = (1u32 << frequencies.len()).wrapping_sub(1) as u16;
            // SAFETY: only values of the chunk are read, those whose bit in `there` is set.
            let vector = unsafe { _mm512_maskz_loadu_epi32(there, frequencies.as_ptr().cast()) };
            *quarter = _mm512_cvtusepi32_epi8(vector);
        }
        let [a, b, c, d] = quarters;
        let low = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(a), b);
        let high = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(c), d);
        let all = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
        let limit = _mm512_permutexvar_epi8(_mm512_min_epu8(all, last), limits);
        // SAFETY: `number` is below 4, so the 64 bytes lie within the 320.
        let length = unsafe { _mm512_loadu_si512(lengths.as_ptr().add(number * LANES).cast()) };
        let length = _mm512_min_epu8(length, _mm512_set1_epi8(254u8 as i8));
        let there = u64::MAX >> (LANES - frequencies.len());
        let mask = _mm512_mask_cmplt_epu8_mask(there, length, limit);
        let found = _mm512_maskz_compress_epi8(mask, indexes);
        // SAFETY: the vectors before this one held at least `count` postings, a multiple of 64 below 256, so 64 bytes
        // from `count` on lie within the 256.
        unsafe { _mm512_storeu_si512(kept.as_mut_ptr().add(count).cast(), found) };
        count += mask.count_ones() as usize;
        indexes = _mm512_add_epi8(indexes, _mm512_set1_epi8(LANES as i8));
    }
    count
}

/// Copies the bytes of up to 256 documents to `picked`; 0 for a document past the end of `bytes`.
#[inline]
pub fn pick(bytes: &[u8], docs: &[u32], picked: &mut LengthBytes) {
    let docs = &docs[..docs.len().min(BLOCK)];
    if (crate::lanes::max(docs) as usize) < bytes.len() {
        for (slot, &doc) in picked.iter_mut().zip(docs) {
            // SAFETY: no document is above the maximum, which lies within the bytes.
            *slot = unsafe { *bytes.get_unchecked(doc as usize) };
        }
        return;
    }
    for (slot, &doc) in picked.iter_mut().zip(docs) {
        *slot = bytes.get(doc as usize).copied().unwrap_or(0);
    }
}

/// Copies the bytes of the documents whose bits are set to `picked`. The first bit stands for document `first`, a
/// multiple of 64. Returns `false` where there are not 256 documents or one is past the end of `bytes`.
#[inline]
pub fn pick_bits(bytes: &[u8], first: u32, words: &[[u8; 8]], picked: &mut LengthBytes) -> bool {
    let Some(bytes) = bytes.get(first as usize..) else {
        return false;
    };
    #[cfg(target_arch = "x86_64")]
    if crate::kernels::PICK_BITS.form() == crate::processor::Level::Avx512 {
        // SAFETY: the processor supports the target features of this function.
        return unsafe { pick_bits_avx512(bytes, words, picked) };
    }
    #[cfg(target_arch = "aarch64")]
    if crate::kernels::PICK_BITS.form() == crate::processor::Level::Neon {
        // SAFETY: the processor supports the target features of this function.
        return unsafe { crate::neon::pick_bits(bytes, words, picked) };
    }
    pick_bits_one_by_one(bytes, words, picked)
}

/// Twin of the vectorised forms.
fn pick_bits_one_by_one(bytes: &[u8], words: &[[u8; 8]], picked: &mut LengthBytes) -> bool {
    let mut count = 0;
    for (number, word) in words.iter().enumerate() {
        let mut word = u64::from_le_bytes(*word);
        while word != 0 {
            let at = number * 64 + word.trailing_zeros() as usize;
            word &= word - 1;
            let (Some(&byte), true) = (bytes.get(at), count < BLOCK) else {
                return false;
            };
            picked[count] = byte;
            count += 1;
        }
    }
    count == BLOCK
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt,bmi2")]
fn pick_bits_avx512(bytes: &[u8], words: &[[u8; 8]], picked: &mut LengthBytes) -> bool {
    use std::arch::x86_64::*;
    let mut count = 0;
    for (number, word) in words.iter().enumerate() {
        let mask = u64::from_le_bytes(*word);
        let rest = bytes.get(number * 64..).unwrap_or(&[]);
        // The segment may end within the word; bits past its end are damage.
        let there = match rest.len() {
            0 => 0,
            1..64 => u64::MAX >> (64 - rest.len()),
            _ => u64::MAX,
        };
        if count > BLOCK || mask & !there != 0 {
            return false;
        }
        // SAFETY: only bytes of the slice are read, those whose bit in `there` is set.
        let vector = unsafe { _mm512_maskz_loadu_epi8(there, rest.as_ptr().cast()) };
        let found = _mm512_maskz_compress_epi8(mask, vector);
        // SAFETY: `count` is at most 256, and there is room for 64 more.
        unsafe { _mm512_storeu_si512(picked.as_mut_ptr().add(count).cast(), found) };
        count += mask.count_ones() as usize;
    }
    count == BLOCK
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits;
    use crate::kernels;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_form_is_the_plain_one(
            postings in prop::collection::vec((prop_oneof![0u32..70, any::<u32>()], any::<u8>()), 0..=BLOCK),
            limits in prop::collection::vec(any::<u8>(), LIMITS),
        ) {
            kernels::in_each_form(&[kernels::SHORTER], || {
                let limits: [u8; LIMITS] = std::array::from_fn(|at| limits[at]);
                let (frequencies, bytes): (Vec<u32>, Vec<u8>) = postings.iter().copied().unzip();
                let mut lengths = [7; BLOCK + 64];
                lengths[..bytes.len()].copy_from_slice(&bytes);
                let expected: Vec<u8> = (0..postings.len())
                    .filter(|&at| {
                        let limit = limits[(frequencies[at] as usize).min(LIMITS - 1)];
                        bytes[at].min(254) < limit
                    })
                    .map(|at| at as u8)
                    .collect();
                let mut kept = [0; BLOCK];
                let count = shorter(&frequencies, &lengths, &limits, &mut kept);
                prop_assert_eq!(&kept[..count], &expected);
                let count = shorter_one_by_one(&frequencies, &lengths, &limits, &mut kept);
                prop_assert_eq!(&kept[..count], &expected);
                Ok(())
            })?;
        }

        #[test]
        fn bytes_of_documents_and_of_bits(
            bytes in prop::collection::vec(any::<u8>(), 0..3000),
            gaps in prop::collection::vec(1u32..11, 200..300),
            first_word in 0u32..4,
        ) {
            kernels::in_each_form(&[kernels::MAX, kernels::PICK_BITS, kernels::SET], || {
                let first = first_word * 64;
                let docs: Vec<u32> = gaps
                    .iter()
                    .scan(first, |doc, gap| {
                        *doc += gap;
                        Some(*doc)
                    })
                    .collect();
                let mut picked = [0; BLOCK + 64];
                pick(&bytes, &docs, &mut picked);
                let expected = |doc: &u32| bytes.get(*doc as usize).copied().unwrap_or(0);
                let of_docs: Vec<u8> = docs.iter().take(BLOCK).map(expected).collect();
                prop_assert_eq!(&picked[..of_docs.len()], &of_docs);

                let mut words = vec![0u64; 64];
                bits::set(&mut words, first, &docs);
                let used = (docs[docs.len() - 1] - first) as usize / 64 + 1;
                let words: Vec<[u8; 8]> = words[..used].iter().map(|word| word.to_le_bytes()).collect();
                let possible = docs.len() == BLOCK && (docs[BLOCK - 1] as usize) < bytes.len();
                prop_assert_eq!(pick_bits(&bytes, first, &words, &mut picked), possible);
                if possible {
                    prop_assert_eq!(&picked[..BLOCK], &of_docs);
                }
                let rest = bytes.get(first as usize..).unwrap_or(&[]);
                prop_assert_eq!(pick_bits_one_by_one(rest, &words, &mut picked), possible);
                Ok(())
            })?;
        }
    }

    #[test]
    fn a_full_block_of_bits_gives_all_its_bytes() {
        let bytes: Vec<u8> = (0..5000u32).map(|at| (at * 7) as u8).collect();
        let docs: Vec<u32> = (0..256).map(|at| 64 + at * 3).collect();
        let mut words = [0u64; 12];
        bits::set(&mut words, 64, &docs);
        let words = words.map(|word| word.to_le_bytes());
        let mut picked = [0; BLOCK + 64];
        assert!(pick_bits(&bytes, 64, &words, &mut picked));
        let expected: Vec<u8> = docs.iter().map(|&doc| bytes[doc as usize]).collect();
        assert_eq!(&picked[..BLOCK], &expected[..]);
    }
}
