//! Counts of the positions at which one word stands at a given distance from another, over many documents.
//!
//! The sums of a document's values are the positions of a word in it. Phrases need them of two words in thousands of
//! consecutive documents, most of which fail. So nothing is written out, and the start of every document's values is
//! located before any value is read. Locating does not depend on the positions, so the processor overlaps many.

use super::decode_sums;
#[cfg(target_arch = "x86_64")]
use super::{
    avx512,
    few::{self, Places},
    scalar::{Mixed, Parts, parts},
};
use crate::{memory, packed::BLOCK};

/// Location of the values of a document in the bytes of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stretch {
    /// Offset of the first byte of the block that holds all values.
    pub start: u32,
    /// Offset of the end of these bytes. 0: the values are not in one block.
    pub end: u32,
    /// Number of values of the block, at most 256.
    pub count: u32,
    /// Index of the first value of the document.
    pub from: u32,
    /// Number of values of the document.
    pub wanted: u32,
}

/// Mark of a count that was not determined.
pub const UNKNOWN: u32 = u32::MAX;

/// Upper limit on the documents counted together.
pub const TOGETHER: usize = 64;
/// Prefetch distance, in documents.
const AHEAD: usize = 8;

/// The values of a word in some documents.
#[derive(Debug, Clone, Copy)]
pub struct Word<'a> {
    /// The bytes of its list.
    pub bytes: &'a [u8],
    /// Stretches, by document.
    pub stretches: &'a [Stretch],
}

impl<'a> Word<'a> {
    /// Returns the block of a document and the stretch in it; `None` where the stretch is missing or out of bounds.
    #[inline(always)]
    fn block(&self, document: usize) -> Option<(&'a [u8], Stretch)> {
        let stretch = *self.stretches.get(document)?;
        let is_inside = stretch.end > 0
            && stretch.count <= BLOCK as u32
            && stretch.from.checked_add(stretch.wanted)? <= stretch.count;
        let bytes = self
            .bytes
            .get(stretch.start as usize..stretch.end as usize)?;
        is_inside.then_some((bytes, stretch))
    }

    #[inline(always)]
    fn prefetch(&self, document: usize) {
        if let Some(stretch) = self.stretches.get(document) {
            // High parts come first and take one or two cache lines.
            memory::prefetch(self.bytes, stretch.start as usize);
            memory::prefetch(self.bytes, stretch.start as usize + 64);
        }
    }
}

/// Counts for each document the positions of the first word that have a position of the second `distance` further on.
/// A count is [`UNKNOWN`] where the document is damaged, not in one block, or beyond the form in use. At most
/// [`TOGETHER`] documents.
#[inline]
pub fn count_followed(first: Word<'_>, second: Word<'_>, distance: i32, counts: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    if crate::kernels::COUNT_FOLLOWED.form() == crate::processor::Level::Avx512 {
        // SAFETY: the processor supports the target features of this function.
        return unsafe { count_followed_avx512(first, second, distance, counts) };
    }
    count_followed_plain(first, second, distance, counts);
}

/// Twin of every vectorised [`count_followed`].
pub fn count_followed_plain(first: Word<'_>, second: Word<'_>, distance: i32, counts: &mut [u32]) {
    let mut places = [[0; BLOCK]; 2];
    for document in 0..counts.len().min(AHEAD) {
        first.prefetch(document);
        second.prefetch(document);
    }
    for (document, count) in counts.iter_mut().enumerate() {
        first.prefetch(document + AHEAD);
        second.prefetch(document + AHEAD);
        let counted = count_in(first, second, document, distance, &mut places);
        *count = counted.unwrap_or(UNKNOWN);
    }
}

fn count_in(
    first: Word<'_>,
    second: Word<'_>,
    document: usize,
    distance: i32,
    places: &mut [[u32; BLOCK]; 2],
) -> Option<u32> {
    let read = |word: Word<'_>, places: &mut [u32; BLOCK]| {
        let (bytes, stretch) = word.block(document)?;
        let places = &mut places[..stretch.wanted as usize];
        let (count, from) = (stretch.count as usize, stretch.from as usize);
        decode_sums(bytes, count, from, 0, places).ok()
    };
    let [first_places, second_places] = places;
    read(first, first_places)?;
    read(second, second_places)?;
    let of = |word: Word<'_>| word.stretches[document].wanted as usize;
    let mut later = second_places[..of(second)].iter().peekable();
    let mut count = 0;
    for &place in &first_places[..of(first)] {
        let Some(wanted) = place.checked_add_signed(distance) else {
            continue;
        };
        while later.next_if(|&&place| place < wanted).is_some() {}
        count += u32::from(later.peek() == Some(&&wanted));
    }
    Some(count)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vpopcntdq,avx512vbmi,avx512vbmi2,popcnt,bmi1,bmi2,lzcnt"
)]
fn count_followed_avx512(first: Word<'_>, second: Word<'_>, distance: i32, counts: &mut [u32]) {
    let (counts, rest) = counts.split_at_mut(counts.len().min(TOGETHER));
    rest.fill(UNKNOWN);
    let mut starts = [[UNKNOWN; 2]; TOGETHER];
    for (number, word) in [first, second].into_iter().enumerate() {
        for document in 0..counts.len().min(AHEAD) {
            word.prefetch(document);
        }
        for (document, starts) in starts[..counts.len()].iter_mut().enumerate() {
            word.prefetch(document + AHEAD);
            if let Some((mixed, stretch)) = mixed(word, document)
                && let Ok(bit) = avx512::after_ones(mixed.highs, stretch.from as usize)
            {
                starts[number] = bit as u32;
                memory::prefetch(mixed.lows, (stretch.from * mixed.bits / 8) as usize);
            }
        }
    }
    let words = [first, second];
    for (document, count) in counts.iter_mut().enumerate() {
        *count = count_one(&words, document, starts[document], distance).unwrap_or(UNKNOWN);
    }
}

/// Returns the parts of a document's block and its stretch in it; `None` where sixteen values cannot be decoded at a
/// time.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn mixed(word: Word<'_>, document: usize) -> Option<(Mixed<'_>, Stretch)> {
    let (bytes, stretch) = word.block(document)?;
    match parts(bytes, stretch.count as usize) {
        Ok(Parts::Mixed(mixed)) if mixed.bits <= avx512::BITS_MAX => Some((mixed, stretch)),
        _ => None,
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vpopcntdq,avx512vbmi,avx512vbmi2,popcnt,bmi1,bmi2,lzcnt"
)]
fn count_one(
    words: &[Word<'_>; 2],
    document: usize,
    starts: [u32; 2],
    distance: i32,
) -> Option<u32> {
    if starts.contains(&UNKNOWN) {
        return None;
    }
    let places_of = |word: usize| {
        let (block, stretch) = mixed(words[word], document)?;
        Some(Places {
            block,
            wanted: stretch.wanted as usize,
            from: stretch.from as usize,
            start: starts[word] as usize,
        })
    };
    let (first, second) = (places_of(0)?, places_of(1)?);
    if let Some(count) = few::count_equal(first, second, distance) {
        return Some(count);
    }
    // The shorter list is probed against the longer: the number of pairs is the same from either side.
    match first.wanted <= second.wanted {
        true => count_among(first, second, distance),
        false => count_among(second, first, distance.wrapping_neg()),
    }
}

/// Numbers aligned to a cache line.
#[cfg(target_arch = "x86_64")]
#[repr(align(64))]
struct Targets([u32; avx512::LANES]);

/// Counts the positions of `few` (at most sixteen) that have a position of `many` exactly `distance` further on.
#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vpopcntdq,avx512vbmi,avx512vbmi2,popcnt,bmi1,bmi2,lzcnt"
)]
fn count_among(few: Places<'_>, many: Places<'_>, distance: i32) -> Option<u32> {
    use avx512::LANES;
    use std::arch::x86_64::*;
    /// Number of positions compared side by side.
    const GROUP: usize = 4;
    if few.wanted == 0 || few.wanted > LANES {
        return (few.wanted == 0).then_some(0);
    }
    // Unused lanes hold a value that is no position.
    let mut all = _mm512_set1_epi32(-1);
    let at = (few.from, few.start);
    let base = distance as u32;
    let read = avx512::read::<true, _>(few.block, at, base, few.wanted, |done, sums, used| {
        all = _mm512_mask_expand_epi32(all, used << done, sums);
        true
    });
    read.ok()?;
    let mut targets = Targets([0; LANES]);
    // SAFETY: there is room for sixteen.
    unsafe { _mm512_store_si512(targets.0.as_mut_ptr().cast(), all) };
    let last = _mm512_set1_epi32(targets.0[few.wanted - 1] as i32);
    let groups = &targets.0.as_chunks::<GROUP>().0[..few.wanted.div_ceil(GROUP)];
    let mut count = 0;
    let at = (many.from, many.start);
    let read = avx512::read::<true, _>(many.block, at, 0, many.wanted, |_, sums, used| {
        let mut equal = 0;
        for group in groups {
            for target in group {
                let target = _mm512_set1_epi32(*target as i32);
                equal |= _mm512_mask_cmpeq_epi32_mask(used, sums, target);
            }
        }
        count += equal.count_ones();
        // The following sums exceed every target.
        _mm512_mask_cmpge_epi32_mask(used, sums, last) == 0
    });
    read.ok().map(|()| count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels;
    use proptest::prelude::*;

    /// Returns the positions of a word in some documents: the bytes, and the stretch of each document.
    fn list(documents: &[std::collections::BTreeSet<u32>]) -> (Vec<u8>, Vec<Stretch>) {
        let (mut bytes, mut stretches) = (vec![0xff; 3], Vec::new());
        for some in documents.chunks(3) {
            let mut gaps = Vec::new();
            let start = bytes.len() as u32;
            let first = stretches.len();
            for places in some {
                let from = gaps.len() as u32;
                let mut before = 0;
                for place in places {
                    gaps.push(place - before);
                    before = *place;
                }
                let wanted = places.len() as u32;
                stretches.push(Stretch {
                    start,
                    from,
                    wanted,
                    ..Stretch::default()
                });
            }
            if gaps.is_empty() {
                continue;
            }
            super::super::encode(&gaps, &mut bytes);
            for stretch in &mut stretches[first..] {
                stretch.end = bytes.len() as u32;
                stretch.count = gaps.len() as u32;
            }
        }
        (bytes, stretches)
    }

    fn places() -> impl Strategy<Value = Vec<std::collections::BTreeSet<u32>>> {
        let near = prop::collection::btree_set(0u32..60, 0..20);
        let far = prop::collection::btree_set(0u32..9000, 0..40);
        prop::collection::vec(prop_oneof![near, far], 20)
    }

    proptest! {
        #[test]
        fn counts_are_those_of_comparing_all(first in places(), second in places(), distance in -3i32..4) {
            let of = [kernels::COUNT_FOLLOWED, kernels::RICE_SUMS, kernels::RICE_SUMS_ONE_BY_ONE];
            kernels::in_each_form(&of, || {
                let (first_bytes, first_stretches) = list(&first);
                let (second_bytes, second_stretches) = list(&second);
                let word = |bytes, stretches| Word { bytes, stretches };
                let first_word = word(&first_bytes[..], &first_stretches[..]);
                let second_word = word(&second_bytes[..], &second_stretches[..]);
                let (mut counts, mut plain) = ([7; 20], [7; 20]);
                count_followed(first_word, second_word, distance, &mut counts);
                count_followed_plain(first_word, second_word, distance, &mut plain);
                for (document, (first, second)) in first.iter().zip(&second).enumerate() {
                    let is_followed = |place: &&u32| {
                        place.checked_add_signed(distance).is_some_and(|place| second.contains(&place))
                    };
                    let expected = first.iter().filter(is_followed).count() as u32;
                    let of_block = first_stretches[document].end > 0 && second_stretches[document].end > 0;
                    prop_assert!(plain[document] == expected || plain[document] == UNKNOWN && !of_block);
                    prop_assert!([plain[document], UNKNOWN].contains(&counts[document]));
                    // The form in use must not answer UNKNOWN for what it can count.
                    prop_assert!(counts[document] == plain[document] || first.len().min(second.len()) > 16 || first_bytes.contains(&0x40));
                }
                Ok(())
            })?;
        }

        #[test]
        fn any_bytes_give_counts_or_none(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            stretches in prop::collection::vec((0u32..200, 0u32..250, 0u32..300, 0u32..260, 0u32..50), 30),
            distance in -3i32..4,
        ) {
            let of = [kernels::COUNT_FOLLOWED, kernels::RICE_SUMS, kernels::RICE_SUMS_ONE_BY_ONE];
            kernels::check_each_form(&of, || {
                let stretches: Vec<Stretch> = stretches
                    .iter()
                    .map(|&(start, end, count, from, wanted)| Stretch { start, end, count, from, wanted })
                    .collect();
                let word = Word { bytes: &bytes, stretches: &stretches };
                let mut counts = [0; 30];
                count_followed(word, word, distance, &mut counts);
                count_followed_plain(word, word, distance, &mut counts);
            });
        }
    }
}
