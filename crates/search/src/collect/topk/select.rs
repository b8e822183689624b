//! Selection and order of the best of many scored documents.
//!
//! Scores are compared as integers, followed by the number of the document, so sorting has no branches
//! that depend on the data. The tie breakers are fetched only for equal scores.

use crate::context::scratch::kept_by_thread;
use index::DocId;

/// Tie breaker between equal scores, least first: hash of the URL, segment, document.
pub(crate) type Tie = (u64, u32, DocId);

/// Working memory for selection and sorting.
#[derive(Debug, Default)]
pub(crate) struct Best {
    keys: Vec<u64>,
    numbers: Vec<u32>,
    /// Documents of one score, with their tie breakers.
    equal: Vec<(Tie, u32)>,
}

kept_by_thread!(Best);

impl Best {
    /// Returns the numbers of the documents, best first. `tie` returns the tie breaker of a document.
    pub(crate) fn sorted(
        &mut self,
        scores: impl Iterator<Item = f32>,
        tie: impl Fn(u32) -> Tie,
    ) -> &[u32] {
        self.note(scores);
        let Best {
            keys,
            numbers,
            equal,
        } = self;
        keys.sort_unstable();
        numbers.extend(keys.iter().map(number));
        let mut at = 0;
        for same in keys.chunk_by(|one, other| one >> 32 == other >> 32) {
            let end = at + same.len();
            if same.len() > 1 {
                sort_equals(&mut numbers[at..end], equal, &tie);
            }
            at = end;
        }
        numbers
    }

    /// Returns the numbers of the `k` best documents, of at least `k`, in any order.
    pub(crate) fn chosen(
        &mut self,
        k: usize,
        scores: impl Iterator<Item = f32>,
        tie: impl Fn(u32) -> Tie,
    ) -> &[u32] {
        self.note(scores);
        let Best {
            keys,
            numbers,
            equal,
        } = self;
        let Some(last) = k.checked_sub(1) else {
            return &[];
        };
        let (_, &mut worst, rest) = keys.select_nth_unstable(last);
        let is_worst = |key: &u64| key >> 32 == worst >> 32;
        if !rest.iter().any(is_worst) {
            numbers.extend(keys[..k].iter().map(number));
            return numbers;
        }
        // Of the documents with the worst score, only some can stay.
        numbers.extend(keys[..k].iter().filter(|key| !is_worst(key)).map(number));
        let better = numbers.len();
        numbers.extend(keys.iter().filter(|key| is_worst(key)).map(number));
        sort_equals(&mut numbers[better..], equal, &tie);
        numbers.truncate(k);
        numbers
    }

    /// Records scores and numbers as integers that increase from the best score on.
    fn note(&mut self, scores: impl Iterator<Item = f32>) {
        let key = |(number, score): (u32, f32)| u64::from(place(score)) << 32 | u64::from(number);
        self.keys.clear();
        self.keys.extend((0..).zip(scores).map(key));
        self.numbers.clear();
    }

    /// Frees memory that few searches need.
    pub(crate) fn shrink(&mut self, entries_max: usize) {
        self.keys.clear();
        self.keys.shrink_to(entries_max);
        self.numbers.clear();
        self.numbers.shrink_to(entries_max);
        self.equal.clear();
        self.equal.shrink_to(entries_max);
    }
}

/// Returns the document number of a key.
fn number(key: &u64) -> u32 {
    *key as u32
}

/// Sorts documents of one score; the tie breaker of each is fetched once.
fn sort_equals(numbers: &mut [u32], room: &mut Vec<(Tie, u32)>, tie: impl Fn(u32) -> Tie) {
    // Most equal scores are of two documents.
    if let [one, other] = numbers {
        if tie(*other) < tie(*one) {
            std::mem::swap(one, other);
        }
        return;
    }
    room.clear();
    room.extend(numbers.iter().map(|&number| (tie(number), number)));
    room.sort_unstable();
    for (slot, &(_, number)) in numbers.iter_mut().zip(&*room) {
        *slot = number;
    }
}

/// Returns an integer that falls as the score rises, in the order of `f32::total_cmp`.
fn place(score: f32) -> u32 {
    let bits = score.to_bits();
    match score.is_sign_negative() {
        true => bits,
        false => !(bits | 1 << 31),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_by_comparing(documents in prop::collection::vec((-3i8..4, 0u64..9), 0..90), cut in any::<prop::sample::Index>()) {
            // No two documents have equal tie breakers.
            let tie = |number: u32| (documents[number as usize].1, 0, DocId(number));
            let score = |number: u32| f32::from(documents[number as usize].0) / 2.0;
            let scores = || (0..documents.len() as u32).map(score);
            let mut expected: Vec<u32> = (0..documents.len() as u32).collect();
            expected.sort_by(|&a, &b| score(b).total_cmp(&score(a)).then_with(|| tie(a).cmp(&tie(b))));
            let mut best = Best::default();
            prop_assert_eq!(best.sorted(scores(), tie), &expected);
            let k = cut.index(documents.len() + 1);
            let mut some = best.chosen(k, scores(), tie).to_vec();
            some.sort_by_key(|number| expected.iter().position(|one| one == number));
            prop_assert_eq!(&some, &expected[..k]);
        }

        #[test]
        fn places_are_in_total_order(one in any::<f32>(), other in any::<f32>()) {
            prop_assert_eq!(place(one).cmp(&place(other)), other.total_cmp(&one));
        }
    }
}
