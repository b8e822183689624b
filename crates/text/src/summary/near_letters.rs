//! Filter of words by their letters: whether a pattern with errors can match a word or its stem, before it is stemmed.
//!
//! An edit brings at most one new letter into a word, so a word lacks at most as many letters of the pattern's as there are edits. A
//! stem of English has the letters of its word, and at most `e`, `i` and `y` beside them (see the rules in
//! [`needle`](super::needle)).

use crate::Analyzer;
use crate::language::{Language, Script};
use crate::pattern::Pattern;

/// Letters of a pattern with errors.
#[derive(Debug)]
pub(super) struct NearLetters {
    first: u8,
    letters: u32,
    edits: u32,
}

/// Returns the bit of a letter, which others may share.
#[inline]
fn bit(letter: u8) -> u32 {
    1 << (letter & 0x1f)
}

impl NearLetters {
    /// Returns the letters of a pattern; `None` for one without errors or with other than ASCII characters, and where the stems
    /// of words may have any letters.
    pub(super) fn of(analyzer: Analyzer, pattern: &Pattern) -> Option<NearLetters> {
        let stemmed_in = analyzer.language(Script::Latin);
        let stems_are_known = stemmed_in.is_none_or(|language| language == Language::English);
        let (word, edits) = match pattern {
            Pattern::Near {
                term,
                edits,
                fixed: 1..,
            } => (term, *edits),
            Pattern::NearStart { start, edits } => (start, *edits),
            _ => return None,
        };
        let &first = word.as_bytes().first()?;
        (stems_are_known && word.is_ascii()).then(|| NearLetters {
            first: first.to_ascii_lowercase(),
            letters: word
                .bytes()
                .fold(0, |letters, letter| letters | bit(letter)),
            edits: edits.into(),
        })
    }

    /// Returns whether the pattern may match a word or its stem, by the first letter and the letters of the word
    /// ([`letters_of`]).
    #[inline]
    pub(super) fn may_match(&self, first: u8, letters: u32) -> bool {
        self.first == first.to_ascii_lowercase()
            && (self.letters & !letters).count_ones() <= self.edits
    }
}

/// Returns the letters that a word or its stem may have, whatever their case.
#[inline]
pub(super) fn letters_of(word: &[u8]) -> u32 {
    let of_stems = bit(b'e') | bit(b'i') | bit(b'y');
    word.iter().fold(of_stems, |letters, &byte| match byte {
        0x80.. => u32::MAX,
        _ => letters | bit(byte),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Languages;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]

        /// The slow twin compares each word and its stem with the pattern.
        #[test]
        fn no_word_that_matches_is_passed_over(
            typed in "[a-e]{1,3}(bility|ying|ies|able|iveness|ed|ly)?",
            // A capital within would make a compound of it, which is analysed as it is.
            word in "[a-eA-E]?[a-e]{0,4}(bility|ying|ies|able|iveness|ed|ly|sky|ize)?[a-e]{0,2}",
            edits in 0u8..=2,
            is_start: bool,
        ) {
            prop_assume!(!word.is_empty());
            let pattern = match is_start {
                true => Pattern::near_start(&typed, edits),
                false => Pattern::near_of_one_initial(&typed, edits),
            };
            let standard = Languages::default().with(Language::English);
            for analyzer in [Analyzer::Plain, Analyzer::English, Analyzer::Standard(standard)] {
                let near = NearLetters::of(analyzer, &pattern).unwrap();
                let stems = analyzer.terms(&word);
                let written = word.to_ascii_lowercase();
                let matches = stems.iter().chain([&written]).any(|word| pattern.matches(word));
                let may_match = near.may_match(word.as_bytes()[0], letters_of(word.as_bytes()));
                prop_assert!(may_match || !matches, "{} {}", pattern, word);
            }
        }
    }
}
