//! Correction of misspelled words: another query that finds something, for one that finds nothing or little.
//!
//! ```text
//! typed words ─► documents of each, words near it ─► combinations, best first ─► counts of the best few ─► corrected query
//! ```
//!
//! Candidates are words of the index as they are written, rated by one [`law`]. A correction has documents that hold all of its
//! words together wherever there are any. Nothing here searches: a caller runs the queries, in one process or on a cluster.

mod law;
mod near;

pub(crate) use law::score;
pub(crate) use near::{FAR_MORE, RARE_DOCUMENTS};

use crate::calls::TypedWord;
use std::ops::Range;
use std::sync::Arc;
use text::Analyzer;

/// Upper limit on the words of a query that is corrected.
const WORDS_MAX: usize = 16;
/// Upper limit on the words that are changed at once.
const CHANGED_MAX: usize = 3;
/// Length, in characters, of a word that is corrected.
const CHARACTERS: Range<usize> = 3..64;
/// Upper limit on the words tried in one place of a query.
const TRIED_MAX: usize = 4;
/// Upper limit on the corrected queries whose matches are counted.
const COUNTED_MAX: usize = 4;

/// Query of words without syntax.
#[derive(Debug)]
pub(crate) struct Spelling<'t> {
    text: &'t str,
    /// Places of the words that can be corrected.
    words: Vec<Range<usize>>,
}

/// Corrected query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) text: String,
    /// Sum of the costs of its words, in hundredths.
    pub(crate) cost: u32,
    /// Whether it has another word in place of one that no document has.
    pub(crate) is_unknown: bool,
    /// Whether it has another word in place of each that no document has.
    pub(crate) is_known: bool,
}

impl<'t> Spelling<'t> {
    /// Returns the words of a query; `None` where it has syntax, too many words, or none that can be corrected.
    pub(crate) fn of(text: &'t str, analyzer: Analyzer) -> Option<Spelling<'t>> {
        let has_syntax = |word: &str| {
            word.contains(['"', '(', ')', '*', '?', '~', '^', ':', '+', '/', '[', '{'])
                || word.starts_with('-')
                || matches!(word, "AND" | "OR" | "NOT")
        };
        let mut words = Vec::new();
        for (count, word) in text.split_whitespace().enumerate() {
            if has_syntax(word) || count == WORDS_MAX {
                return None;
            }
            if can_be_corrected(word, analyzer) {
                let start = word.as_ptr() as usize - text.as_ptr() as usize;
                words.push(start..start + word.len());
            }
        }
        (!words.is_empty()).then_some(Spelling { text, words })
    }

    /// Returns the words that can be corrected.
    pub(crate) fn words(&self) -> Arc<[String]> {
        let words = self.words.iter();
        words
            .map(|place| self.text[place.clone()].to_owned())
            .collect()
    }

    /// Returns the best corrected queries of at most [`COUNTED_MAX`], best first as far as the documents of each word tell;
    /// `typed` has what is known of each word, in order.
    pub(crate) fn candidates(&self, typed: &[TypedWord]) -> Vec<Candidate> {
        if typed.len() != self.words.len() {
            return Vec::new();
        }
        let places = |of: &dyn Fn(&TypedWord) -> bool| -> Vec<usize> {
            let places = (0..typed.len()).filter(|&at| !typed[at].near.is_empty());
            places.filter(|&at| of(&typed[at])).collect()
        };
        let wrong = places(&is_wrong);
        let is_known = typed
            .iter()
            .all(|word| word.documents > 0 || !word.near.is_empty());
        let is_unknown = wrong.iter().any(|&at| typed[at].documents == 0);
        let mut choices: Vec<Choice> = match wrong.len() {
            // Every word is known, so one of them is in the place of another.
            0 => places(&|_| true)
                .iter()
                .flat_map(|&at| combined(typed, &[at]))
                .collect(),
            1..=CHANGED_MAX => combined(typed, &wrong),
            _ => return Vec::new(),
        };
        let key = |choice: &Choice| score(choice.documents, choice.cost);
        choices.sort_by(|a, b| {
            let order = key(b).total_cmp(&key(a));
            order.then_with(|| a.words.cmp(&b.words))
        });
        choices.truncate(COUNTED_MAX);
        let candidates = choices.into_iter().map(|choice| Candidate {
            text: self.with(typed, &choice.words),
            cost: choice.cost,
            is_unknown,
            is_known,
        });
        candidates.collect()
    }

    /// Returns the text with other words in their places.
    fn with(&self, typed: &[TypedWord], chosen: &[(usize, usize)]) -> String {
        let mut text = String::new();
        let mut from = 0;
        for &(word, near) in chosen {
            let place = &self.words[word];
            text.push_str(&self.text[from..place.start]);
            text.push_str(&typed[word].near[near].written);
            from = place.end;
        }
        text.push_str(&self.text[from..]);
        text
    }
}

/// Words near typed ones, each in its place.
#[derive(Debug, Clone)]
struct Choice {
    /// Place and number of each, by place.
    words: Vec<(usize, usize)>,
    /// Fewest documents of a word: no more have all.
    documents: u64,
    cost: u32,
}

/// Returns whether a word is unknown, or rare beside all that may be meant.
fn is_wrong(word: &TypedWord) -> bool {
    let least = word.documents.saturating_mul(FAR_MORE);
    word.near.iter().all(|near| near.documents >= least)
}

/// Returns the combinations of words near those at `changed`.
fn combined(typed: &[TypedWord], changed: &[usize]) -> Vec<Choice> {
    let mut choices = vec![Choice {
        words: Vec::new(),
        documents: u64::MAX,
        cost: 0,
    }];
    for &at in changed {
        let before = std::mem::take(&mut choices);
        for choice in before {
            for (number, near) in typed[at].near.iter().take(TRIED_MAX).enumerate() {
                let mut longer = choice.clone();
                longer.words.push((at, number));
                longer.documents = longer.documents.min(near.documents);
                longer.cost = longer.cost.saturating_add(near.cost);
                choices.push(longer);
            }
        }
    }
    choices
}

/// Returns whether a word has letters alone, enough of them, and is one word.
fn can_be_corrected(word: &str, analyzer: Analyzer) -> bool {
    let characters = word.chars().count();
    if !CHARACTERS.contains(&characters) || !word.chars().all(char::is_alphabetic) {
        return false;
    }
    let mut words_count = 0;
    analyzer.each_query_word(word, |_| words_count += 1);
    words_count == 1 && analyzer.prefixes(word).len() == 1
}

#[cfg(test)]
mod tests;
