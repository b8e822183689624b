//! Words as written, each with the terms under which it is found.

use index::Field;
use std::collections::BTreeSet;
use text::{Analyzer, Pattern};

/// Words that are not their term: field, word and term.
#[derive(Debug, Default)]
pub(super) struct WrittenWords(BTreeSet<(Field, String, String)>);

impl WrittenWords {
    pub(super) fn add(&mut self, field: Field, text: &str, analyzer: Analyzer) {
        let each = |form: text::WrittenForm<'_>| {
            let word = form.written.to_ascii_lowercase();
            self.0.insert((field, word, form.term.to_owned()));
        };
        analyzer.each_token_and_form(text, &mut String::new(), |_| {}, each);
    }

    pub(super) fn join(&mut self, other: &WrittenWords) {
        self.0.extend(other.0.iter().cloned());
    }

    /// Returns whether a word of a term matches a pattern as written.
    pub(super) fn leads_to(&self, field: Field, pattern: &Pattern, term: &str) -> bool {
        self.words_of(field, term).any(|word| pattern.matches(word))
    }

    /// Returns the words of a term that are not the term.
    pub(super) fn words_of(&self, field: Field, term: &str) -> impl Iterator<Item = &str> {
        let field = match field {
            Field::Title => Field::Text,
            field => field,
        };
        let of_term = move |of: &&(Field, String, String)| of.0 == field && of.2 == term;
        self.0
            .iter()
            .filter(of_term)
            .map(|(_, word, _)| word.as_str())
    }
}
