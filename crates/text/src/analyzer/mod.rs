//! Analyzers: splitting a text into words and turning each word into its index terms.
//!
//! | name | word | terms |
//! |---|---|---|
//! | `plain` | maximal run of `char::is_alphanumeric` characters | each character lower-cased by itself (no final sigma) |
//! | `english` | the same | the same, then stemmed (Snowball) |
//! | `standard2`, `standard2-en`, `standard2-de-ru`, … | that of [`crate::standard`] | folded, stemmed in these languages |
//! | `standard`, `standard-en`, `standard-de-ru`, … | that of its first edition | the same |
//!
//! A term is cut to [`TERM_BYTES_MAX`].

use crate::language::{Language, Languages, Script};
use crate::pattern::{Pattern, Regex, RegexError, folded_regex};
use crate::standard::query::{phrase_ways, prefixes, query_words};
use crate::standard::rules::Rules;
use crate::standard::{self, QueryWord, Ways};
use crate::stem::{Stemming, stem, stem_in_place};
use smallvec::SmallVec;
use std::borrow::Cow;
use words::each_word;

mod folded;
#[cfg(feature = "detect")]
mod foreign;
mod words;

use crate::token::cut_to_term;
pub use crate::token::{TERM_BYTES_MAX, Token, UnknownAnalyzer, WrittenForm};
pub use folded::folded_words;
pub(crate) use words::{is_lowered_ascii, starts_word, word_end};

/// Rule that turns words into terms. A named property of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Analyzer {
    /// Lower-cased words.
    #[default]
    Plain,
    /// Lower-cased words, stemmed (Snowball English).
    English,
    /// Words of any script in all ways of writing them, stemmed in these languages.
    Standard(Languages),
    /// The first edition of these rules, which indexes of earlier versions have.
    FirstStandard(Languages),
}

impl Analyzer {
    /// Returns the language by which words of a script are stemmed; `None` where they are not.
    pub(crate) fn language(self, script: Script) -> Option<Language> {
        match self {
            Analyzer::Plain => None,
            Analyzer::English => (script == Script::Latin).then_some(Language::English),
            Analyzer::Standard(languages) | Analyzer::FirstStandard(languages) => {
                languages.of(script)
            }
        }
    }

    /// Calls `each` for every term of `text`, in order of places. Returns the number of places. `buffer` is scratch
    /// memory, kept between calls.
    #[inline]
    pub fn each_token(self, text: &str, buffer: &mut String, each: impl FnMut(Token<'_>)) -> u32 {
        self.each_token_and_form(text, buffer, each, |_| {})
    }

    /// Calls `each` as [`Analyzer::each_token`] does, and `each_written` for every word whose term is not as it is written.
    /// So the terms of the words unstemmed are the forms of `each_written`, and terms.
    #[inline]
    pub fn each_token_and_form(
        self,
        text: &str,
        buffer: &mut String,
        mut each: impl FnMut(Token<'_>),
        mut each_written: impl FnMut(WrittenForm<'_>),
    ) -> u32 {
        let mut position = 0;
        match self {
            Analyzer::Plain => each_word(text, |word| {
                let term = word.lowered(text, buffer);
                each(word.token(term, position));
                position += 1;
            }),
            Analyzer::English => each_word(text, |word| {
                let whole = &text[word.start..word.end];
                if word.is_lowered() {
                    let term = stem(Stemming::English, whole, buffer);
                    each(word.token(term, position));
                    if term != whole {
                        each_written(word.form(whole, term));
                    }
                } else {
                    word.lower_into(text, buffer);
                    let written = match whole.is_ascii() {
                        true => Cow::Borrowed(cut_to_term(whole)),
                        false => Cow::Owned(buffer.clone()),
                    };
                    stem_in_place(Stemming::English, buffer);
                    each(word.token(buffer, position));
                    if !buffer.eq_ignore_ascii_case(&written) {
                        each_written(word.form(&written, buffer));
                    }
                }
                position += 1;
            }),
            Analyzer::Standard(languages) => {
                let rules = Rules::second(languages);
                return standard::each_token_and_form(rules, text, buffer, each, each_written);
            }
            Analyzer::FirstStandard(languages) => {
                let rules = Rules::first(languages);
                return standard::each_token_and_form(rules, text, buffer, each, each_written);
            }
        }
        position
    }

    /// Returns the terms of `text`, in order.
    pub fn terms(self, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        self.each_token(text, &mut String::new(), |token| {
            terms.push(token.term.to_owned());
        });
        terms
    }

    /// Calls `each` for every word of a query's text, with the forms that documents may hold it in.
    pub fn each_query_word(self, text: &str, mut each: impl FnMut(QueryWord)) {
        match self.standard_rules() {
            Some(rules) => query_words(rules, text).into_iter().for_each(each),
            None => {
                self.each_token(text, &mut String::new(), |token| {
                    each(QueryWord::of_term(token.term.to_owned()));
                });
            }
        }
    }

    /// Returns the ways in which a phrase may stand in a document, each a list of terms in consecutive places; as typed,
    /// first. Without a word, none.
    pub fn phrase_ways(self, text: &str) -> Ways {
        match self.standard_rules() {
            Some(rules) => phrase_ways(rules, text),
            None => Some(self.terms(text))
                .filter(|terms| !terms.is_empty())
                .map(SmallVec::from_vec)
                .into_iter()
                .collect(),
        }
    }

    /// Returns the words of `text` as prefixes of words as written: folded as these are, and not stemmed.
    pub fn prefixes(self, text: &str) -> Vec<String> {
        match self.standard_rules() {
            Some(rules) => prefixes(rules.edition, text),
            None => Analyzer::Plain.terms(text),
        }
    }

    /// Returns the pattern of terms that a word with `?` and `*` in it is, folded and not stemmed. `None` for one without
    /// letters of its own.
    pub fn wildcard(self, signs: &str) -> Option<Pattern> {
        let mut folded = String::new();
        for stretch in signs.split_inclusive(['?', '*']) {
            let letters = stretch.trim_end_matches(['?', '*']);
            folded.push_str(&self.prefixes(letters).concat());
            folded.push_str(&stretch[letters.len()..]);
        }
        Pattern::of_wildcard(&folded)
    }

    /// Returns the regular expression `typed` with its letters folded one by one, as letters of terms are.
    ///
    /// # Errors
    /// Those of [`Regex::new`].
    pub fn regex(self, typed: &str) -> Result<Regex, RegexError> {
        Regex::new(&folded_regex(typed, |letter| {
            let mut folded = self.prefixes(&letter.to_string()).into_iter();
            let only = folded.next().filter(|_| folded.next().is_none());
            let mut characters = only.as_deref().unwrap_or_default().chars();
            match (characters.next(), characters.next()) {
                (Some(one), None) => one,
                _ => letter,
            }
        }))
    }

    /// Returns whether several terms may share a place. Otherwise a text has as many terms as places.
    pub fn shares_places(self) -> bool {
        self.standard_rules().is_some()
    }

    /// Returns the rules of an edition of `standard`.
    pub(crate) fn standard_rules(self) -> Option<Rules> {
        match self {
            Analyzer::Plain | Analyzer::English => None,
            Analyzer::Standard(languages) => Some(Rules::second(languages)),
            Analyzer::FirstStandard(languages) => Some(Rules::first(languages)),
        }
    }

    /// Returns the name used in manifests and options.
    pub fn name(self) -> String {
        self.to_string()
    }
}

impl std::fmt::Display for Analyzer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Analyzer::Plain => formatter.write_str("plain"),
            Analyzer::English => formatter.write_str("english"),
            Analyzer::Standard(languages) => write!(formatter, "standard2{languages}"),
            Analyzer::FirstStandard(languages) => write!(formatter, "standard{languages}"),
        }
    }
}

impl std::str::FromStr for Analyzer {
    type Err = UnknownAnalyzer;

    fn from_str(name: &str) -> Result<Analyzer, UnknownAnalyzer> {
        let unknown = || UnknownAnalyzer(name.to_owned());
        let languages = |codes| Languages::parse(codes).ok_or_else(unknown);
        match name {
            "plain" => Ok(Analyzer::Plain),
            "english" => Ok(Analyzer::English),
            _ => match (
                name.strip_prefix("standard2"),
                name.strip_prefix("standard"),
            ) {
                (Some(codes), _) => languages(codes).map(Analyzer::Standard),
                (None, Some(codes)) => languages(codes).map(Analyzer::FirstStandard),
                (None, None) => Err(unknown()),
            },
        }
    }
}

impl From<Analyzer> for String {
    fn from(analyzer: Analyzer) -> String {
        analyzer.to_string()
    }
}

impl TryFrom<String> for Analyzer {
    type Error = UnknownAnalyzer;

    fn try_from(name: String) -> Result<Analyzer, UnknownAnalyzer> {
        name.parse()
    }
}

#[cfg(test)]
mod tests;
