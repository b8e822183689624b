//! Edits of the beginnings of words, and which words have the same.
//!
//! A word that begins so begins so whatever follows. So one look at a word tells of all that share its first bytes, and a sorted list
//! of words is judged in runs instead of word by word.

use super::matcher::RowMatcher;

/// Judge of the beginnings of words, one after another: fastest in order.
#[derive(Debug)]
pub struct BeginningMatcher(RowMatcher);

/// What is known of a word and of others that begin as it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BeginningEdits {
    /// Fewest edits between the wanted beginning and any beginning of the word; `None` for more than are allowed.
    pub edits: Option<u8>,
    /// All words that begin with this many bytes of the word have the same; `None` where longer ones may have fewer.
    pub shared_bytes: Option<usize>,
}

impl BeginningMatcher {
    /// Makes a judge of words that begin within `edits` of `start`.
    pub fn new(start: &str, edits: u8) -> BeginningMatcher {
        BeginningMatcher(RowMatcher::of_beginning(start, edits))
    }

    /// Judges a word. Whether it has the first character of the beginning, as the words of
    /// [`Pattern::NearStart`](super::Pattern::NearStart) do, is not looked at.
    pub fn judge(&mut self, word: &str) -> BeginningEdits {
        let (edits, shared_bytes) = self.0.judge_beginning(word);
        BeginningEdits {
            edits,
            shared_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::{EDITS_MAX, Pattern};
    use proptest::prelude::*;

    proptest! {
        /// The slow twin tries a pattern of each number of edits, on every word.
        #[test]
        fn words_that_share_a_beginning_have_its_edits(
            start in "[abc][abcé]{0,4}",
            words in prop::collection::btree_set("[abcé]{1,7}", 1..30),
            edits in 0u8..=EDITS_MAX,
        ) {
            let initial = start.chars().next();
            let words: Vec<&String> =
                words.iter().filter(|word| word.chars().next() == initial).collect();
            let slow = |word: &str| (0..=edits).find(|&edits| Pattern::near_start(&start, edits).matches(word));
            let mut matcher = BeginningMatcher::new(&start, edits);
            for word in &words {
                let found = matcher.judge(word);
                prop_assert_eq!(found.edits, slow(word), "{} {}", start, word);
                let Some(bytes) = found.shared_bytes else {
                    continue;
                };
                for other in words.iter().filter(|other| other.starts_with(&word[..bytes])) {
                    prop_assert_eq!(found.edits, slow(other), "{} {} {}", start, word, other);
                }
            }
        }
    }
}
