//! Compounds: terms of the whole and of its parts, which share one place, and the forms in which a query finds them.
//!
//! | written | terms of a document | forms of a query |
//! |---|---|---|
//! | `e-mail` | `email` `e` `mail` | `email`, `"e mail"` |
//! | `FooBar` | `foobar` `foo` `bar` | `foobar`, `"foo bar"` |
//! | `node.js` | `node.js` `nodejs` `node` `js` | `nodejs`, `"node js"` |
//! | `5kg` | `5kg` `5` `kg` | `5kg`, `"5 kg"` |
//! | `don't`, `dog's` | `dont`; `dogs` `dog` | `dont`; `dogs` |
//! | `R&D`, `a@c.org` | with its signs, and the parts | with its signs |
//! | `C++`, `.NET` | `c++` `c`; `.net` `net` | `c++`; `.net` |
//! | `v1.2.3` | `v1.2.3` `1.2.3` | `v1.2.3`, `"v 1.2.3"` |

use super::class::{Class, class_of};
use super::fold::fold_bare_into;
use super::rules::{Edition, Rules};
use super::runs::{Element, Link};
use super::terms::{Terms, Ways};
use super::words::{Stemmed, push_word};
use super::written::{folded_letters, folded_number};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::ops::Range;

/// Upper limit on the parts of a word whose case changes within. A word of more parts is no name.
const CASE_PARTS_MAX: usize = 16;

/// Parts of a compound, each with whether it is stemmed.
type Parts<'a> = SmallVec<[(Cow<'a, str>, Stemmed); 8]>;

/// A compound of a text.
pub(super) struct Compound<'a, 'e> {
    pub(super) text: &'a str,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) elements: &'e [Element],
    pub(super) rules: Rules,
}

/// Tie between the parts of a compound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tie {
    /// One word of letters, or one number.
    Nothing,
    /// Letters and digits follow each other.
    Digits,
    /// Hyphens, underscores, dots, or apostrophes between words.
    Joiners,
    /// One apostrophe, then what English leaves of a word.
    Clitic,
    /// `&` or `@`, which is part of the term.
    Signs,
}

impl<'a, 'e> Compound<'a, 'e> {
    pub(super) fn new(
        text: &'a str,
        [start, end]: [usize; 2],
        elements: &'e [Element],
        rules: Rules,
    ) -> Compound<'a, 'e> {
        Compound {
            text,
            start,
            end,
            elements,
            rules,
        }
    }

    /// Adds the terms of a document.
    pub(super) fn push_terms(&self, terms: &mut Terms) {
        match self.rules.edition {
            Edition::First => self.push_terms_of_parts(terms),
            Edition::Second => self.push_terms_of_runs(terms),
        }
    }

    /// Adds the terms of a document in the first edition.
    fn push_terms_of_parts(&self, terms: &mut Terms) {
        self.push_named(terms);
        let tie = self.tie();
        self.push_whole(terms);
        match tie {
            Tie::Nothing => self.push_case_parts(0, terms),
            Tie::Digits => {
                for (number, element) in self.elements.iter().enumerate() {
                    if !self.is_small(number) {
                        self.push_element(element, terms);
                        self.push_case_parts(number, terms);
                    }
                }
            }
            Tie::Clitic if self.clitic() == Some("t") => {}
            Tie::Joiners | Tie::Clitic | Tie::Signs => {
                let mut pieces = self.pieces();
                if tie == Tie::Clitic {
                    pieces.truncate(1);
                }
                for (piece, stemmed) in &pieces {
                    push_word(piece, *stemmed, self.rules.languages, terms);
                }
                for number in 0..self.elements.len() {
                    self.push_case_parts(number, terms);
                }
            }
        }
    }

    /// Returns the forms of a query in the first edition: terms that follow each other, any of the lists.
    pub(super) fn forms(&self) -> Ways {
        let mut terms = Terms::default();
        if self.push_named(&mut terms) {
            return terms.single_forms();
        }
        let tie = self.tie();
        match self.without_dots() {
            Some(whole) => push_word(&whole, self.stemmed(), self.rules.languages, &mut terms),
            None => self.push_whole(&mut terms),
        }
        let mut forms = terms.single_forms();
        let parts = match tie {
            Tie::Clitic | Tie::Signs => Parts::new(),
            Tie::Digits if self.is_small(1) => Parts::new(),
            Tie::Joiners => self.pieces(),
            Tie::Digits => self.elements.iter().map(|of| self.part(of)).collect(),
            Tie::Nothing => self
                .case_parts(0)
                .map(|part| (part.into(), Stemmed::Yes))
                .collect(),
        };
        if parts.len() > 1 {
            let first_term = |(part, stemmed): &(Cow<'_, str>, Stemmed)| {
                let mut terms = Terms::default();
                push_word(part, *stemmed, self.rules.languages, &mut terms);
                terms.iter().next().map(str::to_owned)
            };
            forms.push(parts.iter().filter_map(first_term).collect());
        }
        forms
    }

    /// Adds the term of a name with signs before or after it. Returns whether it is one.
    pub(super) fn push_named(&self, terms: &mut Terms) -> bool {
        let first = self.elements.first().map_or(self.end, |first| first.start);
        let last = self.elements.last().map_or(self.end, |last| last.end);
        let is_named = first > self.start || last < self.end;
        is_named && self.push_written(self.start..self.end, terms)
    }

    /// Adds a stretch of the text as it is written, folded.
    pub(super) fn push_written(&self, range: Range<usize>, terms: &mut Terms) -> bool {
        terms.push(|out| fold_bare_into(&self.text[range], out))
    }

    /// Adds the whole with its dots, which patterns of terms may ask for.
    pub(super) fn push_dotted(&self, terms: &mut Terms) {
        if let Some(dotted) = self.with_dots() {
            push_word(&dotted, Stemmed::No, self.rules.languages, terms);
        }
    }

    /// Returns whether `&` or `@` is among the parts.
    pub(super) fn has_signs(&self) -> bool {
        let is_sign = |link| matches!(link, Link::Ampersand | Link::At);
        self.elements.iter().any(|element| is_sign(element.link))
    }

    /// Returns whether letters and digits follow each other without anything else between them.
    pub(super) fn is_of_changes(&self) -> bool {
        self.tie() == Tie::Digits
    }

    fn with_dots(&self) -> Option<String> {
        let has_dots = self
            .elements
            .iter()
            .any(|element| element.link == Link::Dot);
        (has_dots && !self.has_signs()).then(|| {
            let mut dotted = String::with_capacity(self.end - self.start);
            for element in self.elements {
                if element.link == Link::Dot {
                    dotted.push('.');
                }
                dotted.push_str(&self.part(element).0);
            }
            dotted
        })
    }

    fn tie(&self) -> Tie {
        let mut tie = Tie::Nothing;
        for element in self.elements.iter().skip(1) {
            tie = match element.link {
                Link::Ampersand | Link::At => return Tie::Signs,
                Link::Adjacent if tie == Tie::Nothing => Tie::Digits,
                Link::Adjacent => tie,
                Link::Hyphen | Link::Dot | Link::Apostrophe => Tie::Joiners,
            };
        }
        match self.clitic().is_some() {
            true => Tie::Clitic,
            false => tie,
        }
    }

    /// Returns the English clitic (`t`, `s`, `re`, …) after the only apostrophe of a word; `None` where there is none.
    pub(super) fn clitic(&self) -> Option<&'static str> {
        let [_, last] = self.elements else {
            return None;
        };
        let typed = &self.text[last.start..last.end];
        let mut known = ["t", "s", "re", "ve", "ll", "d", "m"].into_iter();
        match last.link == Link::Apostrophe && !last.is_number {
            true => known.find(|clitic| typed.eq_ignore_ascii_case(clitic)),
            false => None,
        }
    }

    /// Returns whether all elements are letters without signs that stay.
    fn stemmed(&self) -> Stemmed {
        match self.elements.iter().any(|element| element.is_number) {
            true => Stemmed::No,
            false => Stemmed::Yes,
        }
    }

    /// Adds the whole: hyphens, underscores and apostrophes left out; and once more without its dots.
    fn push_whole(&self, terms: &mut Terms) {
        if let [only] = self.elements {
            return self.push_element(only, terms);
        }
        let mut whole = String::with_capacity(self.end - self.start);
        let mut has_signs = false;
        for element in self.elements {
            let sign = match element.link {
                Link::Dot => ".",
                Link::Ampersand => "&",
                Link::At => "@",
                Link::Adjacent | Link::Hyphen | Link::Apostrophe => "",
            };
            has_signs |= !sign.is_empty();
            whole.push_str(sign);
            whole.push_str(&self.part(element).0);
        }
        let stemmed = match has_signs {
            true => Stemmed::No,
            false => self.stemmed(),
        };
        push_word(&whole, stemmed, self.rules.languages, terms);
        if let Some(whole) = self.without_dots() {
            push_word(&whole, self.stemmed(), self.rules.languages, terms);
        }
    }

    /// Returns the compound without its dots; `None` where it has no dots, or other signs between its parts.
    fn without_dots(&self) -> Option<String> {
        let has = |link| self.elements.iter().any(|element| element.link == link);
        let has_signs = has(Link::Ampersand) || has(Link::At);
        let parts = self.elements.iter().map(|element| self.part(element).0);
        (has(Link::Dot) && !has_signs).then(|| parts.collect())
    }

    /// Returns an element as a word: a number without what groups its digits.
    pub(super) fn part(&self, element: &Element) -> (Cow<'a, str>, Stemmed) {
        let written = &self.text[element.start..element.end];
        let stemmed = if element.is_number {
            Stemmed::No
        } else {
            Stemmed::Yes
        };
        let part = match (self.rules.edition, element.is_number) {
            (Edition::First, true) => number(written),
            (Edition::First, false) => written.into(),
            (Edition::Second, true) => match folded_number(written) {
                Cow::Borrowed(written) => number(written),
                Cow::Owned(folded) => number(&folded).into_owned().into(),
            },
            (Edition::Second, false) => folded_letters(written),
        };
        (part, stemmed)
    }

    pub(super) fn push_element(&self, element: &Element, terms: &mut Terms) {
        let (part, stemmed) = self.part(element);
        push_word(&part, stemmed, self.rules.languages, terms);
    }

    /// Returns the pieces between joiners.
    fn pieces(&self) -> Parts<'a> {
        let mut pieces = Parts::new();
        for element in self.elements {
            let (part, stemmed) = self.part(element);
            match pieces.last_mut() {
                Some((last, is_stemmed)) if element.link == Link::Adjacent => {
                    last.to_mut().push_str(&part);
                    *is_stemmed = Stemmed::No;
                }
                _ => pieces.push((part, stemmed)),
            }
        }
        pieces
    }

    /// Returns whether an element between letters and digits is too small to mean something: one letter, or digits
    /// after one.
    pub(super) fn is_small(&self, number: usize) -> bool {
        let written = |element: &Element| &self.text[element.start..element.end];
        let is_letter = |element: &Element| !element.is_number && is_single(written(element));
        let Some(element) = self.elements.get(number) else {
            return false;
        };
        let has_dots = written(element).contains('.');
        let before = number.checked_sub(1).map(|before| &self.elements[before]);
        is_letter(element) || element.is_number && !has_dots && before.is_some_and(is_letter)
    }

    /// Adds the parts of two letters and more of an element whose case changes within.
    pub(super) fn push_case_parts(&self, number: usize, terms: &mut Terms) {
        if self.case_parts(number).nth(1).is_some() {
            for part in self.case_parts(number) {
                if !is_single(part) {
                    push_word(part, Stemmed::Yes, self.rules.languages, terms);
                }
            }
        }
    }

    /// Returns the parts of letters whose case changes within: before a capital after a small letter, and before the
    /// last of several capitals where two small letters follow it (`XMLHttp`, but not `PDFs`).
    pub(super) fn case_parts(&self, number: usize) -> impl Iterator<Item = &'a str> + use<'a> {
        let written = match self.elements.get(number) {
            Some(element) if !element.is_number => &self.text[element.start..element.end],
            _ => "",
        };
        let mut parts: SmallVec<[&'a str; CASE_PARTS_MAX]> = SmallVec::new();
        let mut rest = written;
        while let Some(end) = case_part_end(rest) {
            if parts.len() == CASE_PARTS_MAX {
                parts.clear();
                break;
            }
            let (part, after) = rest.split_at(end);
            parts.push(part);
            rest = after;
        }
        parts.into_iter()
    }
}

/// Returns whether a text is one letter with its marks.
pub(super) fn is_single(written: &str) -> bool {
    let mut letters = written
        .chars()
        .filter(|&character| class_of(Edition::First, character) != Class::Extend);
    letters.nth(1).is_none()
}

/// Returns the end of the first part; `None` for no text.
fn case_part_end(letters: &str) -> Option<usize> {
    let mut before = None;
    let shown = letters
        .char_indices()
        .filter(|(_, c)| class_of(Edition::First, *c) != Class::Extend);
    let mut shown = shown.peekable();
    shown.peek()?;
    let is_small = |at: Option<&(usize, char)>| at.is_some_and(|(_, c)| c.is_lowercase());
    while let Some((at, character)) = shown.next() {
        let is_capital = class_of(Edition::First, character) == Class::Upper;
        let begins = match before {
            Some(Class::Lower) => is_capital,
            Some(Class::Upper) if is_capital => {
                let mut after = shown.clone();
                is_small(after.next().as_ref()) && is_small(after.next().as_ref())
            }
            _ => false,
        };
        if begins {
            return Some(at);
        }
        before = Some(class_of(Edition::First, character));
    }
    Some(letters.len())
}

/// Returns a number without what groups its digits, with a dot before its decimals.
fn number(written: &str) -> Cow<'_, str> {
    let is_separator = |character| matches!(character, ',' | '\'' | '\u{2019}' | '\u{202F}');
    let groups = || written.split('.').skip(1);
    let is_dotted = groups().nth(1).is_some() && groups().all(|group| group.chars().count() == 3);
    if !written.contains(is_separator) && !is_dotted {
        return written.into();
    }
    // A comma after a dot is that of decimals.
    match written.rsplit_once(',') {
        Some((whole, decimals)) if whole.contains('.') && !decimals.contains('.') => {
            let whole: String = whole
                .chars()
                .filter(|&c| c != '.' && !is_separator(c))
                .collect();
            format!("{whole}.{decimals}").into()
        }
        _ => written
            .chars()
            .filter(|&c| !(is_separator(c) || is_dotted && c == '.'))
            .collect(),
    }
}
