//! Selection and order of the best of many scored documents.
//!
//! Scores are compared as integers, with the number of the document behind them: that sorts without branches
//! that depend on the data. What decides between equal scores is fetched only where scores are equal.

use crate::context::scratch::kept_by_thread;
use index::DocId;

/// What decides between equal scores, the least first: hash of the URL, segment, document.
pub(crate) type Tie = (u64, u32, DocId);

/// Room to choose and to sort in.
#[derive(Debug, Default)]
pub(crate) struct Best {
    keys: Vec<u64>,
    numbers: Vec<u32>,
    /// Documents of one score, with what decides between them.
    equal: Vec<(Tie, u32)>,
}

kept_by_thread!(Best);

impl Best {
    /// Numbers of the documents, the best first. `tie` says what decides between equal scores.
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

    /// Numbers of the `k` best of the documents, of which there are as many at least, in any order.
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
        // Not all that score as much as the worst can stay.
        numbers.extend(keys[..k].iter().filter(|key| !is_worst(key)).map(number));
        let better = numbers.len();
        numbers.extend(keys.iter().filter(|key| is_worst(key)).map(number));
        sort_equals(&mut numbers[better..], equal, &tie);
        numbers.truncate(k);
        numbers
    }

    /// Scores and numbers as integers that increase from the best score on.
    fn note(&mut self, scores: impl Iterator<Item = f32>) {
        let key = |(number, score): (u32, f32)| u64::from(place(score)) << 32 | u64::from(number);
        self.keys.clear();
        self.keys.extend((0..).zip(scores).map(key));
        self.numbers.clear();
    }

    /// Lets go of room that few searches need.
    pub(crate) fn shrink(&mut self, entries_max: usize) {
        self.keys.clear();
        self.keys.shrink_to(entries_max);
        self.numbers.clear();
        self.numbers.shrink_to(entries_max);
        self.equal.clear();
        self.equal.shrink_to(entries_max);
    }
}

/// The number of the document that a key is of.
fn number(key: &u64) -> u32 {
    *key as u32
}

/// Puts documents of one score in order; each is asked once.
fn sort_equals(numbers: &mut [u32], room: &mut Vec<(Tie, u32)>, tie: impl Fn(u32) -> Tie) {
    room.clear();
    room.extend(numbers.iter().map(|&number| (tie(number), number)));
    room.sort_unstable();
    for (slot, &(_, number)) in numbers.iter_mut().zip(&*room) {
        *slot = number;
    }
}

/// An integer the smaller the higher the score is, in the order of `f32::total_cmp`.
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
            // No two documents are equal in all.
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
