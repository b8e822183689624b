//! Parts of compounds, and the terms of runs of neighbouring parts, in the second edition.
//!
//! ```text
//! written              parts               runs
//! sys_get_temp_dir     sys get temp dir    sysget gettemp tempdir sysgettemp gettempdir
//! XMLHttpRequest       XML Http Request    xmlhttp httprequest
//! 2026-11-22T10        2026 11 22 T 10     2026-11 11-22 22t … 2026-11-22 …
//! ½                    1 2                 1-2
//! ```
//!
//! A run is written as a query for it alone would be: hyphens, dots and apostrophes left out, `&` and `@` kept. Between two
//! digits a hyphen stays, because `1-2` is not 12. A run has one term wherever it stands, in a longer compound or alone, so
//! each run of neighbouring parts of a compound is found as that compound would be.
//!
//! Letters and digits that follow each other more than a few times are no name but a hash; they are not parted. Of a
//! compound of very many parts, capitals within words do not part.

use super::compound::Compound;
use super::runs::{Element, Link};
use super::terms::Terms;
use super::words::{Stemmed, push_word};
use super::written::{folded_letters, fraction};
use crate::language::Languages;
use smallvec::SmallVec;
use std::borrow::Cow;

/// Upper limit on the parts whose runs have terms.
const PARTS_MAX: usize = 16;

/// Upper limit on the changes between letters and digits in a compound that is parted there.
const CHANGES_MAX: usize = 4;

/// Border between a part and the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Between {
    /// A blank, or nothing before the first part.
    Blank,
    /// A capital begins the part.
    Capital,
    /// Letters follow digits, or digits letters.
    Change,
    /// A hyphen, an underscore, an apostrophe.
    Joiner,
    Dot,
    /// `&` or `@`.
    Sign(char),
    /// The bar of a fraction.
    Bar,
}

/// Part of a compound, or a word.
#[derive(Debug, Clone)]
pub(super) struct Part<'a> {
    /// Letters as written, or a number in ASCII without what groups its digits.
    pub(super) text: Cow<'a, str>,
    pub(super) stemmed: Stemmed,
    pub(super) between: Between,
    /// Byte range in the text.
    start: usize,
    end: usize,
}

pub(super) type Parts<'a> = SmallVec<[Part<'a>; 4]>;

impl<'a> Part<'a> {
    /// Makes a part of a word that is not parted.
    pub(super) fn word(text: &'a str, stemmed: Stemmed) -> Part<'a> {
        Part {
            text: text.into(),
            stemmed,
            between: Between::Blank,
            start: 0,
            end: 0,
        }
    }

    fn is_tight(&self) -> bool {
        matches!(self.between, Between::Capital | Between::Change)
    }
}

/// Writes parts together as one word; returns whether it is stemmed.
pub(super) fn write_together(parts: &[Part<'_>], out: &mut String) -> Stemmed {
    let has_signs = (parts.iter().skip(1)).any(|part| matches!(part.between, Between::Sign(_)));
    let mut stemmed = if has_signs { Stemmed::No } else { Stemmed::Yes };
    for (number, part) in parts.iter().enumerate() {
        match part.between {
            _ if number == 0 => {}
            Between::Sign(sign) => out.push(sign),
            Between::Dot if has_signs => out.push('.'),
            _ if parts_digits(out, &part.text) => out.push('-'),
            _ => {}
        }
        out.push_str(&part.text);
        if part.stemmed == Stemmed::No {
            stemmed = Stemmed::No;
        }
    }
    stemmed
}

/// Returns whether two digits would meet that are of different numbers.
fn parts_digits(before: &str, after: &str) -> bool {
    let is_digit = |character: char| character.is_ascii_digit();
    before.ends_with(is_digit) && after.starts_with(is_digit)
}

/// Adds the terms of parts written together.
pub(super) fn push_together(parts: &[Part<'_>], languages: Languages, terms: &mut Terms) {
    if let [only] = parts {
        return push_word(&only.text, only.stemmed, languages, terms);
    }
    let mut written = String::with_capacity(parts.iter().map(|part| part.text.len() + 1).sum());
    let stemmed = write_together(parts, &mut written);
    push_word(&written, stemmed, languages, terms);
}

/// Adds the term of a compound of numbers written without its hyphens, as dates are: `20261122`.
pub(super) fn push_glued(parts: &[Part<'_>], languages: Languages, terms: &mut Terms) {
    let is_fraction = parts.iter().any(|part| part.between == Between::Bar);
    let meets = |pair: &[Part<'_>]| parts_digits(&pair[0].text, &pair[1].text);
    let has_signs = || {
        parts
            .iter()
            .any(|part| matches!(part.between, Between::Sign(_)))
    };
    if !is_fraction && parts.windows(2).any(meets) && !has_signs() {
        let glued: String = parts.iter().map(|part| &*part.text).collect();
        push_word(&glued, Stemmed::No, languages, terms);
    }
}

/// Places at which a compound is parted, beside those of joiners.
#[derive(Debug, Clone, Copy)]
struct Cuts {
    at_capitals: bool,
    at_changes: bool,
    at_bars: bool,
}

impl<'a> Compound<'a, '_> {
    /// Adds the terms of a document in the second edition.
    pub(super) fn push_terms_of_runs(&self, terms: &mut Terms) {
        let languages = self.rules.languages;
        self.push_named(terms);
        self.push_dotted(terms);
        let mut cuts = Cuts {
            at_capitals: true,
            at_changes: self.changes_count() <= CHANGES_MAX,
            at_bars: true,
        };
        let mut parts = self.parts(cuts);
        if parts.len() > PARTS_MAX {
            cuts.at_capitals = false;
            parts = self.parts(cuts);
        }
        if parts.len() > PARTS_MAX {
            (cuts.at_changes, cuts.at_bars) = (false, false);
            parts = self.parts(cuts);
        }
        push_together(&parts, languages, terms);
        push_glued(&parts, languages, terms);
        let clitic = self.clitic();
        if clitic == Some("t") {
            return;
        }
        let singles = parts.len() - usize::from(clitic.is_some());
        for number in (0..singles).filter(|_| parts.len() > 1) {
            if says_something(&parts, number) {
                push_together(&parts[number..=number], languages, terms);
            }
        }
        for number in 0..self.elements.len() {
            if !cuts.at_capitals {
                self.push_case_parts(number, terms);
            }
            if !cuts.at_changes && self.is_of_changes() && !self.is_small(number) {
                self.push_element(&self.elements[number], terms);
            }
        }
        for count in 2..parts.len() {
            for run in parts.windows(count) {
                push_together(run, languages, terms);
            }
        }
        self.push_named_runs(&parts, terms);
    }

    /// Adds the runs at the ends of a name with signs before or after it, with these signs: `C++` of `foo-C++`.
    fn push_named_runs(&self, parts: &[Part<'_>], terms: &mut Terms) {
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
            return;
        };
        if last.end < self.end {
            for part in &parts[1..] {
                self.push_written(part.start..self.end, terms);
            }
        }
        if first.start > self.start {
            for part in &parts[..parts.len() - 1] {
                self.push_written(self.start..part.end, terms);
            }
        }
    }

    /// Returns the parts of a query's compound; one of it as a whole where its parts say nothing.
    pub(super) fn parts_of_query(&self) -> Parts<'a> {
        let changes_tell = self.is_of_changes() && !self.is_small(1);
        let mut cuts = Cuts {
            at_capitals: true,
            at_changes: changes_tell,
            at_bars: true,
        };
        let mut parts = self.parts(cuts);
        if parts.len() > PARTS_MAX {
            cuts.at_capitals = false;
            parts = self.parts(cuts);
        }
        let is_whole =
            self.has_signs() || self.clitic().is_some() || self.is_of_changes() && !changes_tell;
        if is_whole && parts.len() > 1 {
            let mut text = String::new();
            let stemmed = write_together(&parts, &mut text);
            let whole = Part {
                text: text.into(),
                stemmed,
                between: Between::Blank,
                start: self.start,
                end: self.end,
            };
            return std::iter::once(whole).collect();
        }
        parts
    }

    fn changes_count(&self) -> usize {
        let after_first = self.elements.iter().skip(1);
        after_first
            .filter(|element| element.link == Link::Adjacent)
            .count()
    }

    fn parts(&self, cuts: Cuts) -> Parts<'a> {
        let mut parts = Parts::new();
        for (number, element) in self.elements.iter().enumerate() {
            let between = match element.link {
                _ if number == 0 => Between::Blank,
                Link::Adjacent if self.ends_with_bar(number - 1) => Between::Bar,
                Link::Adjacent => Between::Change,
                Link::Hyphen | Link::Apostrophe => Between::Joiner,
                Link::Dot => Between::Dot,
                Link::Ampersand => Between::Sign('&'),
                Link::At => Between::Sign('@'),
            };
            let from = parts.len();
            self.push_parts(number, element, cuts, &mut parts);
            parts[from].between = between;
            if between == Between::Change && !cuts.at_changes && from > 0 {
                let first = parts.remove(from);
                let last = &mut parts[from - 1];
                if parts_digits(&last.text, &first.text) {
                    last.text.to_mut().push('-');
                }
                last.text.to_mut().push_str(&first.text);
                (last.stemmed, last.end) = (Stemmed::No, first.end);
            }
        }
        parts
    }

    /// Returns whether an element is `⅟`, below whose bar the next one is.
    fn ends_with_bar(&self, number: usize) -> bool {
        let element = &self.elements[number];
        self.text[element.start..].starts_with('\u{215F}')
    }

    /// Adds the parts of an element, one or more.
    fn push_parts(&self, number: usize, element: &Element, cuts: Cuts, parts: &mut Parts<'a>) {
        let written = &self.text[element.start..element.end];
        let (start, end) = (element.start, element.end);
        let mut push = |text: Cow<'a, str>, stemmed, between, [start, end]: [usize; 2]| {
            parts.push(Part {
                text,
                stemmed,
                between,
                start,
                end,
            });
        };
        if let Some((above, below)) = fraction(written).filter(|_| cuts.at_bars) {
            push(above.into(), Stemmed::No, Between::Blank, [start, end]);
            if !below.is_empty() {
                push(below.into(), Stemmed::No, Between::Bar, [start, end]);
            }
            return;
        }
        if cuts.at_capitals && self.case_parts(number).nth(1).is_some() {
            let mut at = start;
            for part in self.case_parts(number) {
                push(
                    folded_letters(part),
                    Stemmed::Yes,
                    Between::Capital,
                    [at, at + part.len()],
                );
                at += part.len();
            }
            return;
        }
        let (text, stemmed) = self.part(element);
        push(text, stemmed, Between::Blank, [start, end]);
    }
}

/// Returns whether a part is a term of its own: not one letter, nor digits after one, within a word.
fn says_something(parts: &[Part<'_>], number: usize) -> bool {
    let part = &parts[number];
    let is_letter =
        |part: &Part<'_>| part.stemmed == Stemmed::Yes && super::compound::is_single(&part.text);
    let is_within = part.is_tight() || parts.get(number + 1).is_some_and(Part::is_tight);
    let is_digits = part.stemmed == Stemmed::No && !part.text.contains('.');
    let before = number.checked_sub(1).map(|before| &parts[before]);
    let follows_letter = part.between == Between::Change && before.is_some_and(is_letter);
    !(is_within && is_letter(part) || is_digits && follows_letter)
}
