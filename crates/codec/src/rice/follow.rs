//! In how many places of many documents does one word stand at a distance from another?
//!
//! The sums of a document's values are the places of a word in it. For phrases they are wanted of two words, in
//! thousands of documents one after another, of which most fail: so nothing is written down, and where each
//! document's values begin is found of all before any is read. Nothing there depends on what the places are, so
//! that the processor does many side by side.

use super::decode_sums;
#[cfg(target_arch = "x86_64")]
use super::{
    Mixed, Parts, avx512,
    few::{self, Places},
    parts,
};
use crate::{memory, packed::BLOCK};

/// Where the values of a document stand in the bytes of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stretch {
    /// Where the bytes of the block start that all of them are in.
    pub start: u32,
    /// Where these bytes end. 0: the values are not in one block.
    pub end: u32,
    /// Values of the block, at most 256.
    pub count: u32,
    /// The index of the first of the document.
    pub from: u32,
    /// How many are the document's.
    pub wanted: u32,
}

/// A count that was not found out.
pub const UNKNOWN: u32 = u32::MAX;

/// Documents that are counted together.
pub const TOGETHER: usize = 64;
/// Documents that the places of values are asked for ahead.
const AHEAD: usize = 8;

/// The values of a word in some documents.
#[derive(Debug, Clone, Copy)]
pub struct Word<'a> {
    /// The bytes of its list.
    pub bytes: &'a [u8],
    /// By document.
    pub stretches: &'a [Stretch],
}

impl<'a> Word<'a> {
    /// The block of a document and the stretch in it; `None` where there is none.
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
            // High parts come first, and take one line of memory or two.
            memory::prefetch(self.bytes, stretch.start as usize);
            memory::prefetch(self.bytes, stretch.start as usize + 64);
        }
    }
}

/// For each document, how many of the first word's places have one of the second's `distance` further on;
/// [`UNKNOWN`] where it is damaged, not in one block, or too much for the form that is taken. At most
/// [`TOGETHER`] documents.
#[inline]
pub fn count_followed(first: Word<'_>, second: Word<'_>, distance: i32, counts: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    if crate::kernels::COUNT_FOLLOWED.form() == crate::processor::Level::Avx512 {
        // SAFETY: the processor has what the function is compiled for.
        return unsafe { count_followed_avx512(first, second, distance, counts) };
    }
    count_followed_plain(first, second, distance, counts);
}

/// The twin of every vectorised [`count_followed`].
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

/// The parts of a document's block, and the document's stretch in it; `None` where they have not the form that
/// can be read sixteen at a time.
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
    // The fewer are looked for among the more: as many have one before as have one after.
    match first.wanted <= second.wanted {
        true => count_among(first, second, distance),
        false => count_among(second, first, distance.wrapping_neg()),
    }
}

/// Numbers that begin with a cache line.
#[cfg(target_arch = "x86_64")]
#[repr(align(64))]
struct Targets([u32; avx512::LANES]);

/// How many of at most sixteen places have one of any number `distance` further on.
#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vpopcntdq,avx512vbmi,avx512vbmi2,popcnt,bmi1,bmi2,lzcnt"
)]
fn count_among(few: Places<'_>, many: Places<'_>, distance: i32) -> Option<u32> {
    use avx512::LANES;
    use std::arch::x86_64::*;
    /// Places looked for side by side.
    const GROUP: usize = 4;
    if few.wanted == 0 || few.wanted > LANES {
        return (few.wanted == 0).then_some(0);
    }
    // What no place is, in the lanes that are not used.
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
        // What follows is further on than any that is looked for.
        _mm512_mask_cmpge_epi32_mask(used, sums, last) == 0
    });
    read.ok().map(|()| count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels;
    use proptest::prelude::*;

    /// Some documents' places of a word: bytes, and where each document's are.
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
                    // The form taken is not one that knows nothing.
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
