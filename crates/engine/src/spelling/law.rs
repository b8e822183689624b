//! The law of corrections: what a typing error costs, and what a corrected query is worth.
//!
//! ```text
//! score(query) = 0.6 · ln(documents with all of its words) - Σ cost(typed, word)
//! cost         = 3 an error, and by its kind
//!                2    two neighbours swapped · a letter left out · a letter doubled
//!                3.5  the key beside the right one
//!                5    another letter more
//!                6    another letter in place of one
//!                1    the first letters differ
//!                1    the word may be a stem that nobody writes
//! ```
//!
//! A noisy channel (Kernighan, Church, Gale: "A spelling correction program based on a noisy channel model", COLING 1990): the
//! cost of an error is about the logarithm of the number of errors of its kind that a word of eight letters admits, for the
//! kinds are about as frequent. The logarithm of the documents has less weight than in the channel, for rare words
//! are searched for more often than they are written. The errors of a word are those of the cheapest way from it to what was typed, by optimal string alignment: a
//! swapped pair is not edited again.

/// Weight of the logarithm of the number of documents.
const DOCUMENTS_WEIGHT: f64 = 0.6;

/// Costs, in hundredths.
const ERROR: u32 = 300;
const SWAPPED: u32 = ERROR + 200;
const LEFT_OUT: u32 = ERROR + 200;
const DOUBLED: u32 = ERROR + 200;
const KEY_BESIDE: u32 = ERROR + 350;
const ONE_MORE: u32 = ERROR + 500;
const ANOTHER: u32 = ERROR + 600;
const FIRST_LETTER: u32 = 100;
/// Cost of a word that is its own term where the term has other words.
pub(super) const MAYBE_STEM: u32 = 100;

/// Rows of a keyboard: most Latin layouts agree on nearly all neighbours.
const KEYS: [&[u8]; 3] = [b"qwertyuiop", b"asdfghjkl", b"zxcvbnm"];

/// Returns the score of a query that `documents` hold all words of, whose corrections cost `cost` hundredths.
pub(crate) fn score(documents: u64, cost: u32) -> f64 {
    DOCUMENTS_WEIGHT * (documents.max(1) as f64).ln() - f64::from(cost) / 100.0
}

/// Returns the cost of typing `typed` for `word`, in hundredths.
pub(super) fn cost(typed: &[char], word: &[char]) -> u32 {
    let width = word.len() + 1;
    // Cost of typing the first letters of `typed` for the first letters of `word`, by rows of `typed`.
    let mut rows = vec![0u32; (typed.len() + 1) * width];
    for (at, cell) in rows.iter_mut().take(width).enumerate() {
        *cell = at as u32 * LEFT_OUT;
    }
    for i in 1..=typed.len() {
        let letter = typed[i - 1];
        let more = match i >= 2 && typed[i - 2] == letter {
            true => DOUBLED,
            false => ONE_MORE,
        };
        rows[i * width] = rows[(i - 1) * width] + more;
        for j in 1..=word.len() {
            let replaced = match word[j - 1] {
                right if right == letter => 0,
                right if are_beside(letter, right) => KEY_BESIDE,
                _ => ANOTHER,
            };
            let above = (i - 1) * width + j;
            let mut least = (rows[above - 1] + replaced)
                .min(rows[above] + more)
                .min(rows[i * width + j - 1] + LEFT_OUT);
            if i >= 2 && j >= 2 && letter == word[j - 2] && typed[i - 2] == word[j - 1] {
                least = least.min(rows[(i - 2) * width + j - 2] + SWAPPED);
            }
            rows[i * width + j] = least;
        }
    }
    let first = match typed.first() == word.first() {
        true => 0,
        false => FIRST_LETTER,
    };
    rows[rows.len() - 1] + first
}

/// Returns whether two letters are on neighbouring keys.
fn are_beside(one: char, other: char) -> bool {
    let place = |letter: char| {
        let byte = u8::try_from(letter).ok()?;
        KEYS.iter().enumerate().find_map(|(row, keys)| {
            let column = keys.iter().position(|&key| key == byte)?;
            Some((row, column))
        })
    };
    let Some(((row, column), (other_row, other_column))) = place(one).zip(place(other)) else {
        return false;
    };
    match row.cmp(&other_row) {
        std::cmp::Ordering::Equal => column.abs_diff(other_column) == 1,
        // Each row begins half a key further to the right.
        std::cmp::Ordering::Less => {
            other_row == row + 1 && (other_column == column || other_column + 1 == column)
        }
        std::cmp::Ordering::Greater => {
            row == other_row + 1 && (column == other_column || column + 1 == other_column)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use text::Pattern;

    fn of(typed: &str, word: &str) -> u32 {
        let letters = |text: &str| text.chars().collect::<Vec<_>>();
        cost(&letters(typed), &letters(word))
    }

    #[test]
    fn each_error_by_its_kind() {
        assert_eq!(of("saturday", "saturday"), 0);
        assert_eq!(of("presidnet", "president"), SWAPPED);
        assert_eq!(of("saturdy", "saturday"), LEFT_OUT);
        assert_eq!(of("saturday", "saturdy"), ONE_MORE);
        assert_eq!(of("letter", "leter"), DOUBLED);
        assert_eq!(of("wotd", "word"), KEY_BESIDE);
        assert_eq!(of("wozd", "word"), ANOTHER);
        assert_eq!(of("qord", "word"), KEY_BESIDE + FIRST_LETTER);
        assert_eq!(of("owrd", "word"), SWAPPED + FIRST_LETTER);
        assert_eq!(of("snator", "sector"), 2 * ANOTHER);
        assert_eq!(of("", "ab"), 2 * LEFT_OUT + FIRST_LETTER);
        assert_eq!(of("ab", ""), 2 * ONE_MORE + FIRST_LETTER);
    }

    #[test]
    fn keys_are_beside_those_that_touch_them() {
        let beside: String = ('a'..='z').filter(|&key| are_beside('g', key)).collect();
        assert_eq!(beside, "bfhtvy");
        let beside: String = ('a'..='z').filter(|&key| are_beside('a', key)).collect();
        assert_eq!(beside, "qswz");
        assert!(!are_beside('ß', 'a') && !are_beside('a', 'a'));
    }

    #[test]
    fn frequent_words_win_over_rare_ones_and_one_error_over_two() {
        assert!(score(744, LEFT_OUT) > score(3, ONE_MORE));
        assert!(score(5, LEFT_OUT) > score(100_000, 2 * KEY_BESIDE));
        assert!(score(2, 0) > score(1, 0) && score(0, 0) == score(1, 0));
    }

    proptest! {
        #[test]
        fn every_edit_of_the_patterns_has_a_cost(typed in "[a-e]{0,6}", word in "[a-e]{1,6}") {
            let cost = of(&typed, &word);
            for edits in 1..=2u8 {
                if Pattern::near(&word, edits).matches(&typed) {
                    prop_assert!(cost <= u32::from(edits) * ANOTHER + FIRST_LETTER);
                } else {
                    prop_assert!(cost > u32::from(edits) * ERROR);
                }
            }
            prop_assert_eq!(of(&word, &typed) == 0, typed == word);
            for a in 'a'..='e' {
                for b in 'a'..='e' {
                    prop_assert_eq!(are_beside(a, b), are_beside(b, a));
                }
            }
        }
    }
}
