//! Ways in which a phrase may stand in a document, in the second edition.
//!
//! ```text
//! typed    use  temp  dir        blanks divide the words
//! ways     use·temp·dir          each in a place of its own
//!          use·tempdir           `use temp_dir`, or `use` before `sys_temp_dir`
//!          usetemp·dir
//!          usetempdir
//! ```
//!
//! The parts of a phrase are divided into groups, each written together in one place of the document. Short phrases are
//! looked for in all groupings; long ones as typed, with all parts apart, and with each one run of parts together.

use super::parts::{Part, push_glued, push_together};
use super::terms::{Terms, Way, Ways};
use super::typed::Typed;
use crate::language::Languages;
use smallvec::{SmallVec, smallvec};
use std::cell::RefCell;
use std::collections::HashMap;

/// Upper limit on the boundaries between parts of which all groupings are looked for.
const BOUNDARIES_MAX: usize = 5;

/// Upper limit on the ways of grouping a phrase.
const GROUPINGS_MAX: usize = 1 << BOUNDARIES_MAX;

/// Upper limit on the ways with one word in another form.
const FORMS_MAX: usize = 8;

/// Upper limit on the forms of one word.
const WORD_FORMS_MAX: usize = 10;

/// Upper limit on the parts of a phrase that is looked for in more than one way.
const PARTS_MAX: usize = 128;

/// Whether each part of a phrase is written together with the one before it.
type Grouping = SmallVec<[bool; 16]>;

/// Part of a phrase.
enum Slot<'w, 't> {
    /// Written together with others, or not.
    Part(&'w Part<'t>),
    /// Always stands apart: pairs of letters, emoji, names with signs.
    Terms(Way),
}

/// Phrase in parts.
struct Phrase<'w, 't> {
    slots: Vec<Slot<'w, 't>>,
    /// Grouping as typed.
    typed: Grouping,
    /// Numbers of the slots that may be written together with the one before.
    boundaries: Vec<usize>,
    languages: Languages,
    /// Terms of groups made before, by first slot and number of slots; most groups occur in many ways of writing the
    /// phrase.
    known: RefCell<HashMap<(usize, usize), Option<String>>>,
}

/// Returns the forms of a word of parts: as a whole first, then apart, then otherwise.
pub(super) fn forms_of_parts(parts: &[Part<'_>], languages: Languages) -> Ways {
    let mut whole = Terms::default();
    push_together(parts, languages, &mut whole);
    push_glued(parts, languages, &mut whole);
    let mut forms = whole.single_forms();
    if parts.len() < 2 {
        return forms;
    }
    let boundaries = parts.len() - 1;
    let apart = |cuts: &dyn Fn(usize) -> bool| {
        let mut way = Way::new();
        let mut from = 0;
        for at in 1..=parts.len() {
            if at == parts.len() || cuts(at) {
                way.extend(first_term(&parts[from..at], languages));
                from = at;
            }
        }
        way
    };
    forms.push(apart(&|_| true));
    match boundaries < BOUNDARIES_MAX {
        true => {
            // All groupings but the whole and all apart, those of few groups first.
            let mut masks: Vec<usize> = (1..(1 << boundaries) - 1).collect();
            masks.sort_by_key(|mask| mask.count_ones());
            forms.extend(
                masks
                    .iter()
                    .map(|mask| apart(&|at| mask >> (at - 1) & 1 == 1)),
            );
        }
        false => forms.extend((1..parts.len()).map(|cut| apart(&|at| at == cut))),
    }
    forms.retain(|form| !form.is_empty());
    forms.truncate(WORD_FORMS_MAX);
    forms
}

/// Returns the ways of two words or more: as typed, first.
pub(super) fn ways_of_words(words: &[Typed<'_>], languages: Languages) -> Ways {
    let phrase = Phrase::new(words, languages);
    let mut ways: Ways = smallvec![phrase.way(&phrase.typed)];
    if phrase.slots.len() > PARTS_MAX {
        return ways;
    }
    phrase.each_grouping(|grouping| ways.push(phrase.way(grouping)));
    ways.truncate(GROUPINGS_MAX);
    let most = ways.len() + FORMS_MAX;
    for (number, typed) in words.iter().enumerate() {
        let single = typed
            .word
            .forms
            .iter()
            .skip(1)
            .filter(|form| form.len() == 1);
        for form in single {
            if ways.len() < most {
                ways.push(with_form(words, number, form));
            }
        }
    }
    ways
}

/// Returns the terms of words as typed, with another form of the word at `at`.
fn with_form(words: &[Typed<'_>], at: usize, form: &[String]) -> Way {
    let mut way = Way::new();
    for (number, Typed { word, .. }) in words.iter().enumerate() {
        match number == at {
            true => way.extend(form.iter().cloned()),
            false => way.extend(word.forms[0].iter().cloned()),
        }
        if number + 1 < words.len() {
            way.extend(word.end.clone());
        }
    }
    way
}

impl<'w, 't> Phrase<'w, 't> {
    fn new(words: &'w [Typed<'t>], languages: Languages) -> Phrase<'w, 't> {
        let mut phrase = Phrase {
            slots: Vec::new(),
            typed: Grouping::new(),
            boundaries: Vec::new(),
            languages,
            known: RefCell::default(),
        };
        for (number, typed) in words.iter().enumerate() {
            if typed.parts.is_empty() {
                let mut terms = typed.word.forms[0].clone();
                let is_last = number + 1 == words.len();
                terms.extend(typed.word.end.clone().filter(|_| !is_last));
                phrase.push(Slot::Terms(terms), false);
            }
            for (at, part) in typed.parts.iter().enumerate() {
                phrase.push(Slot::Part(part), at > 0);
            }
        }
        phrase
    }

    fn push(&mut self, slot: Slot<'w, 't>, is_together: bool) {
        if let (Some(Slot::Part(_)), Slot::Part(_)) = (self.slots.last(), &slot) {
            self.boundaries.push(self.slots.len());
        }
        self.slots.push(slot);
        self.typed.push(is_together);
    }

    /// Returns the terms of a grouping.
    fn way(&self, grouping: &[bool]) -> Way {
        let mut way = Way::new();
        let mut group = 0;
        for (number, slot) in self.slots.iter().enumerate() {
            match slot {
                Slot::Terms(terms) => way.extend(terms.iter().cloned()),
                Slot::Part(_) => {
                    group += 1;
                    if !grouping
                        .get(number + 1)
                        .is_some_and(|is_together| *is_together)
                    {
                        way.extend(self.term_of(number + 1 - group, group));
                        group = 0;
                    }
                }
            }
        }
        way
    }

    /// Returns the first term of the parts of some slots, written together.
    fn term_of(&self, from: usize, count: usize) -> Option<String> {
        let mut known = self.known.borrow_mut();
        let term = known.entry((from, count)).or_insert_with(|| {
            let parts = self.slots[from..from + count]
                .iter()
                .filter_map(|slot| match slot {
                    Slot::Part(part) => Some((*part).clone()),
                    Slot::Terms(_) => None,
                });
            let parts: SmallVec<[Part<'t>; 8]> = parts.collect();
            first_term(&parts, self.languages)
        });
        term.clone()
    }

    /// Calls `each` for the groupings other than the typed one that are looked for.
    fn each_grouping(&self, mut each: impl FnMut(&[bool])) {
        if self.boundaries.len() <= BOUNDARIES_MAX {
            for mask in 1..1usize << self.boundaries.len() {
                let mut grouping = self.typed.clone();
                for (bit, &at) in self.boundaries.iter().enumerate() {
                    grouping[at] ^= mask >> bit & 1 == 1;
                }
                each(&grouping);
            }
            return;
        }
        if self.typed.contains(&true) {
            each(&smallvec![false; self.typed.len()] as &Grouping);
        }
        let may_join = |at: usize| self.boundaries.binary_search(&at).is_ok();
        let mut left = GROUPINGS_MAX;
        for count in 1..self.slots.len() {
            for from in 1..=self.slots.len() - count {
                let run = from..from + count;
                let changes = !run.clone().all(|at| self.typed[at]);
                if left > 0 && changes && run.clone().all(may_join) {
                    let mut grouping = self.typed.clone();
                    grouping[run].fill(true);
                    each(&grouping);
                    left -= 1;
                }
            }
        }
    }
}

/// Returns the first term of parts written together; none where nothing is left of them.
fn first_term(parts: &[Part<'_>], languages: Languages) -> Option<String> {
    let mut terms = Terms::default();
    push_together(parts, languages, &mut terms);
    terms.iter().next().map(str::to_owned)
}
