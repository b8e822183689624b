//! Analyzer `standard`: words of any script, in all ways of writing them.
//!
//! ```text
//! runs      what stands together, by UAX #29 and a table of ties
//! fold      one form for all ways of writing the same letters
//! words     stems, by the language of the script
//! compound  whole and parts in one place
//! parts     runs of neighbouring parts, too (second edition)
//! pairs     Han, kana, Hangul, Thai, Lao, Khmer, Burmese by pairs of letters
//! query     the same for queries: forms of which any matches
//! ways      the ways of writing a phrase (second edition)
//! rules     the editions, each an analyzer of its own
//! ```
//!
//! An index has one language for each script at most, chosen when it is created (`detect`), so a word has the same
//! terms wherever it stands and a query needs no guess of its language.

mod cache;
mod class;
mod compound;
#[cfg(feature = "detect")]
mod detect;
mod fold;
mod pairs;
mod parts;
pub(crate) mod query;
pub(crate) mod rules;
mod runs;
mod sieve;
mod terms;
mod typed;
mod ways;
mod words;
mod written;

#[cfg(test)]
mod forms;
#[cfg(test)]
mod oracles;
#[cfg(test)]
mod tests;

#[cfg(feature = "detect")]
pub use detect::Detector;
#[cfg(feature = "detect")]
pub(crate) use detect::reliable_language;
pub use terms::{Way, Ways};
pub use typed::QueryWord;

use crate::language::{Language, Script};
use crate::stem::{Stemming, stem, stem_in_place};
use crate::token::{TERM_BYTES_MAX, Token, WrittenForm, cut_to_term};
use compound::Compound;
use fold::bare_into;
use rules::Rules;
use runs::{Run, each_run};
pub(crate) use sieve::separates;
use sieve::{Sieve, Sifted};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ops::Range;
use terms::cut;

/// Calls `each` for every term of `text`, in order of their places. Returns the number of places.
#[inline]
pub(crate) fn each_token(
    rules: Rules,
    text: &str,
    buffer: &mut String,
    each: impl FnMut(Token<'_>),
) -> u32 {
    each_token_of(rules, text, buffer, |_| true, each, |_| {})
}

/// Calls `each` as [`each_token`] does, and `each_written` for every word whose term is not as it is written.
#[inline]
pub(crate) fn each_token_and_form(
    rules: Rules,
    text: &str,
    buffer: &mut String,
    each: impl FnMut(Token<'_>),
    each_written: impl FnMut(WrittenForm<'_>),
) -> u32 {
    each_token_of(rules, text, buffer, |_| true, each, each_written)
}

/// Word or token that [`each_token_starting`] finds.
pub(crate) enum Found<'a> {
    /// A word that begins with a wanted byte and is not analysed: its only term is that of [`term_of_word`].
    Word(Range<usize>),
    Token(Token<'a>),
    /// A word of a run that is analysed, as written.
    Written(WrittenForm<'a>),
}

/// Calls `each` for all terms of `text` that may begin with one of the bytes `starts`, and possibly for others. A word
/// that is analysed is left out unless `is_like` holds for it, and a compound of ASCII letters unless `begins` holds for the
/// letters from one of the places on where a part of it begins. Places are not counted.
pub(crate) fn each_token_starting(
    rules: Rules,
    text: &str,
    buffer: &mut String,
    starts: &[bool; 256],
    is_like: impl Fn(&[u8]) -> bool,
    begins: impl Fn(&[u8]) -> bool,
    mut each: impl FnMut(Found<'_>),
) {
    let keeps_first = |language: Language| language.keeps_first_letter();
    if !rules.languages.of(Script::Latin).is_none_or(keeps_first) {
        return each_found(rules, text, buffer, |_| true, &mut each);
    }
    let has_wide = starts[0x80..].contains(&true);
    let starts_with = |byte: u8| byte >= 0x80 || starts[usize::from(byte.to_ascii_lowercase())];
    let is_wanted = |bytes: &[u8], run: &Run<'_>| match *run {
        Run::Word { start, end } => starts_with(bytes[start]) && is_like(&bytes[start..end]),
        // Parts begin at elements and capitals.
        Run::Compound {
            start,
            end,
            elements,
        } => {
            let written = &bytes[start..end];
            if let Some(may_begin) = letters_may_begin(written, starts_with, &begins) {
                return may_begin;
            }
            let mut elements = elements.iter().map(|element| bytes[element.start]);
            starts_with(written[0])
                || elements.any(starts_with)
                || (written.iter())
                    .any(|&byte| byte >= 0x80 || byte.is_ascii_uppercase() && starts_with(byte))
        }
        Run::Letters { .. } | Run::Emoji { .. } => has_wide,
    };
    if has_wide {
        let is_wanted = |run: &Run<'_>| is_wanted(text.as_bytes(), run);
        return each_found(rules, text, buffer, is_wanted, &mut each);
    }
    Sieve::new(starts).each(text, |sifted| match sifted {
        Sifted::Word(range) => each(Found::Word(range)),
        Sifted::Stretch(range) => {
            let (from, stretch) = (range.start, &text[range]);
            let is_wanted = |run: &Run<'_>| is_wanted(stretch.as_bytes(), run);
            each_found(rules, stretch, buffer, is_wanted, &mut |found| {
                each(match found {
                    Found::Word(range) => Found::Word(from + range.start..from + range.end),
                    Found::Token(token) => Found::Token(Token {
                        start: from + token.start,
                        end: from + token.end,
                        ..token
                    }),
                    Found::Written(form) => Found::Written(WrittenForm {
                        start: from + form.start,
                        end: from + form.end,
                        ..form
                    }),
                });
            });
        }
    });
}

/// Upper limit on the bytes of a compound whose letters are compared before it is analysed.
const COMPARED_BYTES_MAX: usize = 64;

/// Returns whether `begins` holds for the letters of a compound from one of the places on where a part begins with a wanted
/// byte: after a joiner, or at a capital. `None` of a compound that has more than ASCII letters, hyphens and apostrophes, or
/// is long.
fn letters_may_begin(
    written: &[u8],
    starts_with: impl Fn(u8) -> bool,
    begins: impl Fn(&[u8]) -> bool,
) -> Option<bool> {
    let mut letters: SmallVec<[u8; COMPARED_BYTES_MAX]> = SmallVec::new();
    let mut places: SmallVec<[[usize; 2]; 8]> = SmallVec::new();
    if written.len() > COMPARED_BYTES_MAX {
        return None;
    }
    let mut is_after_joiner = true;
    for (at, &byte) in written.iter().enumerate() {
        match byte {
            b'-' | b'_' | b'\'' => is_after_joiner = true,
            _ if byte.is_ascii_alphabetic() => {
                if (is_after_joiner || byte.is_ascii_uppercase()) && starts_with(byte) {
                    places.push([at, letters.len()]);
                }
                is_after_joiner = false;
                letters.push(byte);
            }
            _ => return None,
        }
    }
    let mut places = places.iter();
    Some(places.any(|&[at, of_letters]| begins(&letters[of_letters..]) || begins(&written[at..])))
}

/// Calls `each` for the terms of the runs that `is_wanted` lets pass, and for their words as written.
fn each_found(
    rules: Rules,
    text: &str,
    buffer: &mut String,
    is_wanted: impl Fn(&Run<'_>) -> bool,
    each: &mut impl FnMut(Found<'_>),
) {
    let each = RefCell::new(each);
    each_token_of(
        rules,
        text,
        buffer,
        is_wanted,
        |token| (each.borrow_mut())(Found::Token(token)),
        |form| (each.borrow_mut())(Found::Written(form)),
    );
}

/// Returns the term of a word that [`each_token_starting`] has found.
pub(crate) fn term_of_word<'a>(rules: Rules, word: &'a str, buffer: &'a mut String) -> &'a str {
    let latin = rules.languages.of(Script::Latin).map(Stemming::Language);
    simple_term(word, latin, buffer)
}

/// Calls `each` for the terms of the runs that `is_wanted` lets pass, and `each_written` for their words whose terms are
/// not as written.
#[inline]
fn each_token_of(
    rules: Rules,
    text: &str,
    buffer: &mut String,
    is_wanted: impl Fn(&Run<'_>) -> bool,
    mut each: impl FnMut(Token<'_>),
    mut each_written: impl FnMut(WrittenForm<'_>),
) -> u32 {
    let latin = rules.languages.of(Script::Latin).map(Stemming::Language);
    let mut position = 0;
    each_run(rules.edition, text, |run| match run {
        run if !is_wanted(&run) => {}
        Run::Word { start, end } => {
            let term = simple_term(&text[start..end], latin, buffer);
            each(Token {
                term,
                position,
                start,
                end,
            });
            // Most words are their term, in place.
            let written = &text[start..end];
            let is_in_place = std::ptr::eq(term.as_ptr(), written.as_ptr());
            if is_in_place && term.len() == written.len() {
                position += 1;
                return;
            }
            let written = cut_to_term(written);
            if !term.eq_ignore_ascii_case(written) {
                each_written(WrittenForm {
                    written,
                    term,
                    start,
                    end,
                });
            }
            position += 1;
        }
        Run::Compound {
            start,
            end,
            elements,
        } => {
            let compound = Compound::new(text, [start, end], elements, rules);
            // Some letters fold to nothing.
            let mut places_count = 0;
            cache::each_term(
                &text[start..end],
                rules,
                |terms| compound.push_terms(terms),
                |term| {
                    places_count = 1;
                    each(Token {
                        term,
                        position,
                        start,
                        end,
                    });
                },
                |written, term| {
                    each_written(WrittenForm {
                        written,
                        term,
                        start,
                        end,
                    });
                },
            );
            position += places_count;
        }
        Run::Letters { start, end } => {
            pairs::each_pair(text, [start, end], buffer, |term, [start, end]| {
                each(Token {
                    term,
                    position,
                    start,
                    end,
                });
                position += 1;
            });
        }
        Run::Emoji { start, end } => {
            emoji_into(&text[start..end], buffer);
            let term = buffer.as_str();
            each(Token {
                term,
                position,
                start,
                end,
            });
            position += 1;
        }
    });
    position
}

/// Returns the term of ASCII letters or digits.
#[inline]
fn simple_term<'a>(word: &'a str, latin: Option<Stemming>, buffer: &'a mut String) -> &'a str {
    let word = &word[..word.len().min(TERM_BYTES_MAX)];
    let first = word.as_bytes()[0];
    match latin.filter(|_| !first.is_ascii_digit()) {
        None if !first.is_ascii_uppercase() => word,
        None => {
            buffer.clear();
            buffer.push_str(word);
            buffer.make_ascii_lowercase();
            buffer
        }
        Some(stemming) if first.is_ascii_uppercase() || may_add_accents(stemming) => {
            buffer.clear();
            buffer.push_str(word);
            buffer.make_ascii_lowercase();
            stem_in_place(stemming, buffer);
            if !buffer.is_ascii() {
                *buffer = bare(buffer);
            }
            buffer
        }
        Some(stemming) => stem(stemming, word, buffer),
    }
}

/// Returns whether the stem of an ASCII word may have accents, as Turkish `icin` has.
fn may_add_accents(stemming: Stemming) -> bool {
    matches!(stemming, Stemming::Language(language) if !language.keeps_first_letter())
}

fn bare(stem: &str) -> String {
    let mut bare = String::with_capacity(stem.len());
    bare_into(stem, &mut bare);
    bare
}

/// Writes an emoji without skin tone and presentation.
fn emoji_into(written: &str, buffer: &mut String) {
    buffer.clear();
    let kept = |&character: &char| {
        character == '\u{200D}' || !class::is_ignorable(character) && !class::is_tone(character)
    };
    buffer.extend(written.chars().filter(kept));
    let end = buffer.trim_end_matches('\u{200D}').len();
    cut(buffer, end.min(TERM_BYTES_MAX));
    if buffer.is_empty() {
        // A skin tone alone.
        buffer.push_str(written);
    }
}
