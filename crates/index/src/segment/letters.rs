//! Filter of words by their length and letters: what is not within some edits of another word need not be read.
//!
//! ```text
//! length 5:   has  has_odd  place        of "tiger": e g i r t, all an odd number of times, at place 71,204
//! ```
//!
//! Words are kept by their length, and each length in columns: of a list of 200,000 words, a fifth is compared, several at a time.

use std::ops::Range;

/// Length that stands for all longer ones, in characters.
const LENGTH_MAX: usize = 63;
/// Words compared at a time.
const WORDS: usize = 64;

/// What edits change little of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Letters {
    characters: usize,
    /// Which letters, by their last five bits, it has.
    has: u32,
    /// Which of them it has an odd number of.
    has_odd: u32,
}

impl Letters {
    pub(super) fn of(word: &str) -> Letters {
        let mut letters = Letters {
            characters: 0,
            has: 0,
            has_odd: 0,
        };
        for character in word.chars() {
            let bit = 1 << (u32::from(character) % 32);
            letters.characters += 1;
            letters.has |= bit;
            letters.has_odd ^= bit;
        }
        letters
    }
}

/// Letters of words, by the length of the words and in the order of their places.
#[derive(Debug, Default)]
pub(super) struct LettersByLength(Vec<OfLength>);

#[derive(Debug, Default)]
struct OfLength {
    has: Vec<u32>,
    has_odd: Vec<u32>,
    places: Vec<u32>,
}

impl LettersByLength {
    /// Adds the letters of a word, whose place follows all others.
    pub(super) fn push(&mut self, place: usize, letters: Letters) {
        let length = letters.characters.min(LENGTH_MAX);
        if self.0.len() <= length {
            self.0.resize_with(length + 1, OfLength::default);
        }
        let of = &mut self.0[length];
        of.has.push(letters.has);
        of.has_odd.push(letters.has_odd);
        of.places.push(place as u32);
    }

    /// Returns the places in `range` of all words within `edits` of one with these letters, and of some others, in order.
    pub(super) fn within(&self, edits: u8, of: Letters, range: Range<usize>) -> Vec<usize> {
        let edits = usize::from(edits);
        let least = of.characters.saturating_sub(edits).min(LENGTH_MAX);
        let most = (of.characters + edits).min(LENGTH_MAX);
        let mut found = Vec::new();
        for length in self.0.iter().take(most + 1).skip(least) {
            length.within(edits, of, &range, &mut found);
        }
        found.sort_unstable();
        found
    }
}

impl OfLength {
    fn within(&self, edits: usize, of: Letters, range: &Range<usize>, found: &mut Vec<usize>) {
        let place_of = |at: usize| self.places.partition_point(|&place| (place as usize) < at);
        let (start, end) = (place_of(range.start), place_of(range.end));
        let columns = self.has[start..end]
            .chunks(WORDS)
            .zip(self.has_odd[start..end].chunks(WORDS));
        for (at, (has, has_odd)) in (start..).step_by(WORDS).zip(columns) {
            let mut differ = [1; WORDS];
            let each = differ.iter_mut().zip(has.iter().zip(has_odd));
            match edits {
                0 | 1 => each.for_each(|(differ, (has, odd))| {
                    *differ = without_bits::<2>(has ^ of.has) | without_bits::<2>(odd ^ of.has_odd);
                }),
                _ => each.for_each(|(differ, (has, odd))| {
                    *differ = without_bits::<4>(has ^ of.has) | without_bits::<4>(odd ^ of.has_odd);
                }),
            }
            let near = differ
                .iter()
                .enumerate()
                .filter(|(_, differ)| **differ == 0);
            found.extend(near.map(|(word, _)| self.places[at + word] as usize));
        }
    }
}

/// Returns a set of bits without `COUNT` of them, 0 where it has no more: several at a time, unlike counting them.
#[inline(always)]
fn without_bits<const COUNT: usize>(mut bits: u32) -> u32 {
    for _ in 0..COUNT {
        bits &= bits.wrapping_sub(1);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The slow twin compares the letters of each word.
        #[test]
        fn words_of_near_letters_are_found(
            words in prop::collection::vec("[a-d]{0,6}|[a-eé]{55,75}", 0..200),
            typed in "[a-d]{1,6}|[a-eé]{55,75}",
            edits in 1u8..=2,
            start in 0usize..50,
            count in 0usize..200,
        ) {
            let mut letters = LettersByLength::default();
            for (place, word) in words.iter().enumerate() {
                letters.push(place, Letters::of(word));
            }
            let of = Letters::of(&typed);
            let most = u32::from(edits) * 2;
            let is_near = |word: &String| {
                let word = Letters::of(word);
                let least = of.characters.saturating_sub(edits.into()).min(LENGTH_MAX);
                word.characters.min(LENGTH_MAX) >= least
                    && word.characters.min(LENGTH_MAX) <= of.characters + usize::from(edits)
                    && (word.has ^ of.has).count_ones() <= most
                    && (word.has_odd ^ of.has_odd).count_ones() <= most
            };
            let range = start..start + count;
            let in_range = words.iter().enumerate().filter(|(place, _)| range.contains(place));
            let expected: Vec<usize> = in_range
                .filter(|(_, word)| is_near(word))
                .map(|(place, _)| place)
                .collect();
            prop_assert_eq!(letters.within(edits, of, range.clone()), expected);
        }
    }
}
