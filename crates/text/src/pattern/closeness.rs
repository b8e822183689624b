//! Closeness of a word to the one that a pattern allows errors in.

use super::forms::Pattern;
use super::limits::EDITS_MAX;
use super::matcher::PatternMatcher;
use super::verdict::Verdict;

/// Closeness of a word to the one of a pattern, closest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Closeness {
    /// It is the word.
    Equal,
    /// It begins with the word.
    Begins,
    /// It, or its beginning, is this many edits away.
    Edits(u8),
}

/// A pattern made ready to tell how close words are.
#[derive(Debug)]
pub struct ClosenessTo<'p> {
    to: &'p str,
    is_start: bool,
    most: u8,
    /// The same pattern with fewer edits, fewest first.
    nearer: Vec<(u8, PatternMatcher)>,
}

impl<'p> ClosenessTo<'p> {
    /// Makes a pattern ready; `None` for one that names no word.
    pub fn new(pattern: &'p Pattern) -> Option<ClosenessTo<'p>> {
        let (to, most, is_start) = match pattern {
            Pattern::Near { term, edits, .. } => (term, *edits, false),
            Pattern::NearStart { start, edits } => (start, *edits, true),
            Pattern::Prefix(_) | Pattern::Wildcard(_) | Pattern::Regex(_) => return None,
        };
        let most = most.min(EDITS_MAX);
        let nearer = (1..most).map(|edits| {
            let nearer = match is_start {
                true => Pattern::near_start(to, edits),
                false => Pattern::near(to, edits),
            };
            (edits, PatternMatcher::new(&nearer))
        });
        Some(ClosenessTo {
            to,
            is_start,
            most,
            nearer: nearer.collect(),
        })
    }

    /// Returns the closeness of a word that the pattern matches.
    pub fn of_match(&mut self, word: &str) -> Closeness {
        if word == self.to {
            return Closeness::Equal;
        }
        if self.is_start && word.starts_with(self.to) {
            return Closeness::Begins;
        }
        for (edits, matcher) in &mut self.nearer {
            if matcher.judge(word) == Verdict::Match {
                return Closeness::Edits(*edits);
            }
        }
        Closeness::Edits(self.most)
    }
}

impl Pattern {
    /// Returns the closeness of a word of the set; `None` for one that is not of it, and for patterns that name no word.
    pub fn closeness(&self, word: &str) -> Option<Closeness> {
        let mut to = ClosenessTo::new(self)?;
        self.matches(word).then(|| to.of_match(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The slow twin tries a pattern of each number of edits.
        #[test]
        fn closeness_is_the_least_number_of_edits(
            typed in "[ab]{1,5}",
            words in prop::collection::vec("[abc]{0,7}", 1..20),
            edits in 0u8..=EDITS_MAX,
            is_start: bool,
        ) {
            let with = |edits| match is_start {
                true => Pattern::near_start(&typed, edits),
                false => Pattern::near(&typed, edits),
            };
            let pattern = with(edits);
            let mut to = ClosenessTo::new(&pattern).unwrap();
            for word in words.iter().filter(|word| pattern.matches(word)) {
                let expected = match (1..=edits).find(|&edits| with(edits).matches(word)) {
                    _ if *word == typed => Closeness::Equal,
                    _ if is_start && word.starts_with(&typed) => Closeness::Begins,
                    // A pattern of words near another allows one edit at least.
                    least => Closeness::Edits(least.unwrap_or(edits.max(1))),
                };
                prop_assert_eq!(to.of_match(word), expected);
                prop_assert_eq!(pattern.closeness(word), Some(expected));
            }
        }
    }
}
