//! Visit of the terms of a field that match a pattern, and of the words that match as written.

use super::Segment;
use super::scan::{Scan, Step};
use crate::terms::TermRecord;
use crate::written::{self, field_of_forms};
use crate::{Field, IndexError};
use fst::Streamer;
use std::ops::ControlFlow;
use text::{Pattern, PatternMatcher, Verdict};

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
        let mut scan = Scan::of_field(field, pattern);
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
        let mut scan = Scan::of_field(field, pattern);
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

/// Returns the common ending of the sites of a pattern that only gives an ending: `*.example.org`.
fn end_of_sites(field: Field, pattern: &Pattern) -> Option<&str> {
    let Pattern::Wildcard(signs) = pattern else {
        return None;
    };
    let end = signs.strip_prefix('*')?;
    (field == Field::Site && !end.contains(['?', '*'])).then_some(end)
}
