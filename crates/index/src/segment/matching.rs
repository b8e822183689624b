//! Visit of the terms of a field that match a pattern.

use super::Segment;
use crate::terms::{self, TermRecord};
use crate::{Field, IndexError};
use fst::Streamer;
use std::ops::ControlFlow;
use text::{Pattern, PatternMatcher, Verdict};

/// Terms passed over one by one before the dictionary is searched for the next that can match.
const PASSED_MAX: u32 = 16;
/// Terms read for each call without a match.
const TERMS_A_CALL: u32 = 64;

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
    /// from time to time where few terms match.
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
        let literal = terms::with_key(field, pattern.literal(), |key| key.bytes.to_vec());
        let is_prefix = matches!(pattern, Pattern::Prefix(_));
        let mut matcher = PatternMatcher::new(pattern);
        let mut stream = dictionary.range(&literal, None);
        // Beginning of keys of which none matches, and the number of them passed over.
        let (mut dead, mut passed): (Vec<u8>, u32) = (Vec::new(), 0);
        let mut read: u32 = 0;
        while let Some((key, ordinal)) = stream.next() {
            if !key.starts_with(&literal) {
                break;
            }
            read += 1;
            if read.is_multiple_of(TERMS_A_CALL) && each(None).is_break() {
                break;
            }
            if !dead.is_empty() && key.starts_with(&dead) {
                passed += 1;
                if passed > PASSED_MAX {
                    match successor(&dead) {
                        Some(next) => stream = dictionary.range(&next, None),
                        None => break,
                    }
                }
                continue;
            }
            let Ok(term) = std::str::from_utf8(&key[1..]) else {
                continue;
            };
            // The places of a further field are no word.
            if term.is_empty() && !field.has_positions(b"") && field != Field::Site {
                continue;
            }
            let verdict = match is_prefix {
                true => Verdict::Match,
                false => matcher.judge(term),
            };
            match verdict {
                Verdict::Match => {
                    let record = self.record(ordinal)?;
                    if each(Some((term, record))).is_break() {
                        break;
                    }
                }
                Verdict::Miss => {}
                Verdict::Dead(bytes) => {
                    dead.clear();
                    dead.extend_from_slice(&key[..=bytes]);
                    passed = 0;
                }
            }
        }
        Ok(())
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
fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let kept = prefix.iter().rposition(|&byte| byte < u8::MAX)?;
    let mut next = prefix[..=kept].to_vec();
    next[kept] += 1;
    Some(next)
}
