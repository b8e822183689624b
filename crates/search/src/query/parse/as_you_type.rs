//! Queries while they are typed: the last word may go on, and words may have typing errors.
//!
//! ```text
//! how to ma      +how +to +(best of: ma, ma*~0)            the last word is a beginning
//! how to mak~    as typed: the text does not end in a letter or digit
//!
//! hwo to make    +hwo +to +make*~1, then
//!                +hwo~1 +to +make*~1                       hits of the second follow, where those of the first do not fill the page
//! ```
//!
//! A beginning of up to 3 characters has no errors, one of 4 to 7 one, a longer one two, and its first character is right
//! ([`typing_errors`]).

use super::terms::{near_query, word_query};
use crate::query::tree::Query;
use index::Field;
use text::{Analyzer, Pattern};

/// Characters of a word from which one typing error is allowed, and from which two are.
const ONE_ERROR_CHARACTERS: usize = 4;
const TWO_ERRORS_CHARACTERS: usize = 8;

/// Returns the typing errors that a word is searched with.
pub fn typing_errors(word: &str) -> u8 {
    match word.chars().count() {
        0..ONE_ERROR_CHARACTERS => 0,
        ONE_ERROR_CHARACTERS..TWO_ERRORS_CHARACTERS => 1,
        _ => 2,
    }
}

/// Reading of a text while it is typed.
#[derive(Debug, Clone, Copy)]
pub(super) struct AsYouType {
    /// End of the text, where its last word may go on.
    pub(super) text_end: *const u8,
    /// Whether words have typing errors.
    pub(super) tolerates: bool,
}

/// Word of a text that is being typed.
pub(super) struct TypedWord {
    /// The word as it stands.
    pub(super) word: Query,
    /// The word with what may follow it, or with errors; `None` where it is no different.
    pub(super) more: Option<Query>,
}

/// Words that are searched as more than they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Typing {
    /// Whether the last word is a beginning.
    pub(super) is_unfinished: bool,
    /// Whether the others have errors.
    pub(super) tolerates: bool,
    /// Whether a beginning is as typed, without errors.
    pub(super) is_exact: bool,
}

/// Returns the words of a text.
pub(super) fn typed_words(
    field: Field,
    analyzer: Analyzer,
    text: &str,
    typing: Typing,
) -> Vec<TypedWord> {
    let mut words = Vec::new();
    analyzer.each_query_word(text, |word| {
        let word = word_query(field, word);
        words.push(TypedWord { word, more: None });
    });
    let folded = analyzer.prefixes(text);
    // Pairs of letters, all of which are wanted, are no words.
    if folded.len() != words.len() {
        return words;
    }
    let last = words.len().saturating_sub(1);
    for (at, (typed, folded)) in words.iter_mut().zip(folded).enumerate() {
        let errors = match typing.is_exact {
            true => 0,
            false => typing_errors(&folded),
        };
        let pattern = match at == last && typing.is_unfinished {
            true => Pattern::near_start(&folded, errors),
            false if typing.tolerates && errors > 0 => {
                Pattern::near_of_one_initial(&folded, errors)
            }
            false => continue,
        };
        typed.more = Some(near_query(typed.word.clone(), field, pattern));
    }
    words
}

/// Returns the pattern of a word with more.
pub(super) fn pattern_of(query: &Query) -> Option<(Field, &Pattern)> {
    match query {
        Query::Pattern { field, pattern } => Some((*field, pattern)),
        Query::BestOf { clauses, .. } => clauses.iter().find_map(pattern_of),
        _ => None,
    }
}
