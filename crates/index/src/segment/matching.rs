//! Visit of the terms of a field that match a pattern, and of the words that match as written.

use super::Segment;
use crate::terms::{self, TermRecord};
use crate::written::{self, field_of_forms};
use crate::{Field, IndexError};
use fst::Streamer;
use std::ops::ControlFlow;
use text::{Pattern, PatternMatcher, Verdict};

/// Keys passed over one by one before the dictionary is searched for the next that can match.
const PASSED_MAX: u32 = 16;
/// Keys read for each call without a match.
const KEYS_A_CALL: u32 = 64;

impl Segment {
    /// Calls `each` for every term that starts with `prefix`, in order.
    pub fn terms_with_prefix(
        &self,
        field: Field,
        prefix: &str,
        mut each: impl FnMut(&str, TermRecord),
    ) -> Result<(), IndexError> {
        self.visit_terms(field, &Pattern::Prefix(prefix.to_owned()), |found| {
            if let Some((term, record)) = found {
                each(term, record);
            }
            ControlFlow::Continue(())
        })
    }

    /// Calls `each` for every term of a field that matches `pattern`, in order, until it breaks. Calls it with `None`
    /// from time to time where few terms match. Terms are compared as they are: see
    /// [`Statistics::terms_as_written`](crate::Statistics::terms_as_written) for those of words that match as written.
    pub fn visit_terms(
        &self,
        field: Field,
        pattern: &Pattern,
        mut each: impl FnMut(Option<(&str, TermRecord)>) -> ControlFlow<()>,
    ) -> Result<(), IndexError> {
        if let Some(end) = end_of_sites(field, pattern) {
            for site in self.site_names()?.ending_in(end) {
                if let Some(record) = self.term(field, site)?
                    && each(Some((site, record))).is_break()
                {
                    break;
                }
            }
            return Ok(());
        }
        let dictionary = &self.core.terms;
        let mut scan = Scan::new(field, pattern);
        let mut stream = dictionary.range(&scan.literal, None);
        while let Some((key, ordinal)) = stream.next() {
            let step = scan.judge(key, key.get(1..).unwrap_or_default());
            if scan.is_call_due() && each(None).is_break() {
                break;
            }
            match step {
                Step::End => break,
                // The places of a further field are no word.
                Step::Match("") if !field.has_positions(b"") && field != Field::Site => {}
                Step::Match(term) => {
                    let record = self.record(ordinal)?;
                    if each(Some((term, record))).is_break() {
                        break;
                    }
                }
                Step::Miss => {}
                Step::Jump(next) => stream = dictionary.range(&next, None),
            }
        }
        Ok(())
    }

    /// Calls `each(word, term)` for every word of a field that matches `pattern` as written, and has a term that does not or
    /// is less close. A segment without words as written has none.
    pub(crate) fn visit_written(
        &self,
        field: Field,
        pattern: &Pattern,
        mut each: impl FnMut(&str, &str),
    ) -> Result<(), IndexError> {
        let dictionary = self.core.written.as_ref();
        let Some((dictionary, field)) = dictionary.zip(field_of_forms(field)) else {
            return Ok(());
        };
        let mut scan = Scan::new(field, pattern);
        let mut of_terms = PatternMatcher::new(pattern);
        let mut term = Vec::new();
        let mut stream = dictionary.from(&scan.literal);
        while let Some(entry) = stream.next()? {
            let bad = || dictionary.damaged("words as written are inconsistent");
            let key_end = written::form_end(entry).ok_or_else(bad)?;
            match scan.judge(&entry[..key_end], &entry[1..key_end]) {
                Step::End => break,
                Step::Match(form) => {
                    written::read_entry(&entry[1..], &mut term).ok_or_else(bad)?;
                    let term = std::str::from_utf8(&term).map_err(|_| bad())?;
                    // Of words that are near, the closest counts, which only a comparison of all tells.
                    let is_itself = !scan.is_near
                        && term.starts_with(pattern.literal())
                        && (scan.is_prefix || of_terms.judge(term) == Verdict::Match);
                    if !is_itself {
                        each(form, term);
                    }
                }
                Step::Miss => {}
                Step::Jump(next) => stream = dictionary.from(&next),
            }
        }
        Ok(())
    }
}

/// Comparison of a pattern with the keys of a dictionary, in order.
pub(super) struct Scan {
    /// Beginning of all keys that can match.
    pub(super) literal: Vec<u8>,
    is_prefix: bool,
    is_near: bool,
    matcher: PatternMatcher,
    /// Beginning of keys of which none matches, and the number of them passed over.
    dead: Vec<u8>,
    passed: u32,
    read: u32,
}

/// What follows from the comparison with a key.
pub(super) enum Step<'k> {
    /// No later key matches.
    End,
    /// The word matches.
    Match(&'k str),
    Miss,
    /// Keys before this one do not match.
    Jump(Vec<u8>),
}

impl Scan {
    fn new(field: Field, pattern: &Pattern) -> Scan {
        let literal = terms::with_key(field, pattern.literal(), |key| key.bytes.to_vec());
        Scan::within(literal, pattern)
    }

    /// Returns the comparison of the keys that begin with `literal`: a byte, and the literal of the pattern.
    pub(super) fn within(literal: Vec<u8>, pattern: &Pattern) -> Scan {
        Scan {
            literal,
            is_prefix: matches!(
                pattern,
                Pattern::Prefix(_) | Pattern::NearStart { edits: 0, .. }
            ),
            is_near: matches!(pattern, Pattern::Near { .. } | Pattern::NearStart { .. }),
            matcher: PatternMatcher::new(pattern),
            dead: Vec::new(),
            passed: 0,
            read: 0,
        }
    }

    /// Compares the pattern with the next key, whose word begins after its field.
    pub(super) fn judge<'k>(&mut self, key: &[u8], word: &'k [u8]) -> Step<'k> {
        if !key.starts_with(&self.literal) {
            return Step::End;
        }
        self.read += 1;
        if !self.dead.is_empty() && key.starts_with(&self.dead) {
            self.passed += 1;
            return match self.passed > PASSED_MAX {
                true => successor(&self.dead).map_or(Step::End, Step::Jump),
                false => Step::Miss,
            };
        }
        let Ok(word) = std::str::from_utf8(word) else {
            return Step::Miss;
        };
        if self.is_prefix {
            return Step::Match(word);
        }
        match self.matcher.judge(word) {
            Verdict::Match => Step::Match(word),
            Verdict::Miss => Step::Miss,
            Verdict::Dead(bytes) => {
                self.dead.clear();
                self.dead.extend_from_slice(&key[..=bytes]);
                self.passed = 0;
                Step::Miss
            }
        }
    }

    pub(super) fn is_call_due(&self) -> bool {
        self.read.is_multiple_of(KEYS_A_CALL)
    }
}

/// Returns the common ending of the sites of a pattern that only gives an ending: `*.example.org`.
fn end_of_sites(field: Field, pattern: &Pattern) -> Option<&str> {
    let Pattern::Wildcard(signs) = pattern else {
        return None;
    };
    let end = signs.strip_prefix('*')?;
    (field == Field::Site && !end.contains(['?', '*'])).then_some(end)
}

/// Returns the least key that is greater than all that begin with `prefix`.
pub(super) fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let kept = prefix.iter().rposition(|&byte| byte < u8::MAX)?;
    let mut next = prefix[..=kept].to_vec();
    next[kept] += 1;
    Some(next)
}
