//! Which of many scored documents are the best, and in which order?
//!
//! Scores are compared as integers, with the number of the document behind them: that sorts without branches
//! that depend on the data. What decides between equal scores is fetched only where scores are equal.

/// Numbers of the documents, the best first. `tie` says what puts equal scores in order, the least first.
pub(crate) fn sorted<K: Ord>(
    scores: impl Iterator<Item = f32>,
    tie: impl Fn(u32) -> K,
) -> Vec<u32> {
    let mut keys = keys(scores);
    keys.sort_unstable();
    let mut numbers: Vec<u32> = keys.iter().map(|&key| key as u32).collect();
    let mut at = 0;
    for equal in keys.chunk_by(|one, other| one >> 32 == other >> 32) {
        let end = at + equal.len();
        if equal.len() > 1 {
            numbers[at..end].sort_by_cached_key(|&number| tie(number));
        }
        at = end;
    }
    numbers
}

/// Numbers of the `k` best of the documents, of which there are as many at least, in any order.
pub(crate) fn chosen<K: Ord>(
    k: usize,
    scores: impl Iterator<Item = f32>,
    tie: impl Fn(u32) -> K,
) -> Vec<u32> {
    let mut keys = keys(scores);
    let Some(last) = k.checked_sub(1) else {
        return Vec::new();
    };
    let (_, &mut worst, rest) = keys.select_nth_unstable(last);
    let is_worst = |key: &u64| key >> 32 == worst >> 32;
    let number = |&key: &u64| key as u32;
    if !rest.iter().any(is_worst) {
        return keys[..k].iter().map(number).collect();
    }
    // Not all that score as much as the worst can stay.
    let mut equal: Vec<u32> = keys
        .iter()
        .filter(|key| is_worst(key))
        .map(number)
        .collect();
    equal.sort_by_cached_key(|&number| tie(number));
    let better = keys[..k].iter().filter(|key| !is_worst(key));
    let mut numbers: Vec<u32> = better.map(number).collect();
    equal.truncate(k - numbers.len());
    numbers.append(&mut equal);
    numbers
}

/// Scores and numbers as integers that increase from the best score on.
fn keys(scores: impl Iterator<Item = f32>) -> Vec<u64> {
    let key = |(number, score): (u32, f32)| u64::from(place(score)) << 32 | u64::from(number);
    (0..).zip(scores).map(key).collect()
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
            let tie = |number: u32| (documents[number as usize].1, number);
            let score = |number: u32| f32::from(documents[number as usize].0) / 2.0;
            let scores = || (0..documents.len() as u32).map(score);
            let mut expected: Vec<u32> = (0..documents.len() as u32).collect();
            expected.sort_by(|&a, &b| score(b).total_cmp(&score(a)).then_with(|| tie(a).cmp(&tie(b))));
            prop_assert_eq!(&sorted(scores(), tie), &expected);
            let k = cut.index(documents.len() + 1);
            let mut some = chosen(k, scores(), tie);
            some.sort_by_key(|number| expected.iter().position(|one| one == number));
            prop_assert_eq!(&some, &expected[..k]);
        }

        #[test]
        fn places_are_in_total_order(one in any::<f32>(), other in any::<f32>()) {
            prop_assert_eq!(place(one).cmp(&place(other)), other.total_cmp(&one));
        }
    }
}
