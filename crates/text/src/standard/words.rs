//! Terms of words: folded, stemmed in the language of their script.
//!
//! A word with accents has two terms: its stem without accents, and the stem of the word without accents. Stemmers know
//! accents, people leave them out; so `canción` is found by `canciones` and by `cancion`.

use super::fold::{bare_into, fold_into};
use super::terms::Terms;
use crate::language::Languages;
use crate::language::Script;
use crate::stem::{Stemming, stem};

/// Whether a word is stemmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stemmed {
    Yes,
    /// The word has digits or signs.
    No,
}

/// Adds the terms of a word as written. The first is that of a word with its accents.
pub(super) fn push_word(word: &str, stemmed: Stemmed, languages: Languages, terms: &mut Terms) {
    let mut buffer = String::new();
    let mut folded = String::with_capacity(word.len());
    fold_into(word, &mut folded);
    let stemming = match stemmed {
        Stemmed::Yes => stemming_of(&folded, languages),
        Stemmed::No => None,
    };
    let Some(stemming) = stemming else {
        terms.push(|out| bare_into(&folded, out));
        return;
    };
    if folded.is_ascii() {
        // Some stemmers put accents where none were.
        terms.push_stem(&folded, |out| {
            bare_into(stem(stemming, &folded, &mut buffer), out)
        });
        return;
    }
    let mut bare = String::with_capacity(folded.len());
    bare_into(&folded, &mut bare);
    let mut bare_stem_of = |word: &str, out: &mut String| {
        let from = out.len();
        bare_into(stem(stemming, word, &mut buffer), out);
        if out.len() == from {
            // Nothing but marks is left of the stem.
            bare_into(word, out);
        }
    };
    terms.push_stem(&bare, |out| bare_stem_of(&folded, out));
    if !bare.is_empty() {
        terms.push_stem(&bare, |out| bare_stem_of(&bare, out));
    }
}

/// Returns the stemmer of a word's script: that of its first letter.
pub(super) fn stemming_of(folded: &str, languages: Languages) -> Option<Stemming> {
    let script = Script::of(folded.chars().next()?)?;
    languages.of(script).map(Stemming::Language)
}
