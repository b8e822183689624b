//! Look-up of the words of a segment that a pattern with errors matches.

use super::Segment;
use super::words::Words;
use crate::written::{self, field_of_forms};
use crate::{Field, IndexError, terms};
use fst::Streamer;
use text::Pattern;

impl Segment {
    /// Returns the words of the text, made at the first call; `None` where there are too many.
    ///
    /// # Errors
    /// A damaged dictionary.
    pub(super) fn words(&self) -> Result<Option<&Words>, IndexError> {
        let files = [&**self.file()];
        let words = (self.core.words).get_or_derive(files, || self.read_words())?;
        Ok(words.as_ref())
    }

    fn read_words(&self) -> Result<Option<Words>, IndexError> {
        let mut words = Words::default();
        let first = terms::with_key(Field::Text, "", |key| key.bytes.to_vec());
        let mut stream = self.core.terms.range(&first, None);
        while let Some((key, _)) = stream.next() {
            let Some(term) = key.strip_prefix(&first[..]) else {
                break;
            };
            if !words.terms.push(term, term.len()) {
                return Ok(None);
            }
        }
        let dictionary = self.core.written.as_ref();
        let Some((dictionary, _)) = dictionary.zip(field_of_forms(Field::Text)) else {
            return Ok(Some(words));
        };
        let mut stream = dictionary.from(&first);
        while let Some(entry) = stream.next()? {
            if !entry.starts_with(&first) {
                break;
            }
            let end = written::form_end(entry)
                .ok_or_else(|| dictionary.damaged("words as written are inconsistent"))?;
            if !words.written.push(&entry[1..], end - 1) {
                return Ok(None);
            }
        }
        Ok(Some(words))
    }

    /// Calls `each(word, term, count)` for every word of the text or of titles that a pattern with errors matches: for terms, with the
    /// number of their documents, deleted ones included, and for words as written whose terms are others. Returns false, without
    /// a call, where the words are not listed.
    ///
    /// # Errors
    /// A damaged dictionary.
    pub(crate) fn visit_listed(
        &self,
        field: Field,
        pattern: &Pattern,
        mut each: impl FnMut(&str, &str, Option<u32>),
    ) -> Result<bool, IndexError> {
        let Some((words, begun)) = self.begun()? else {
            return Ok(false);
        };
        let Some(counts) = begun.counts_in(field) else {
            return Ok(false);
        };
        words.terms.visit(pattern, |at, term| {
            let count = counts.get(at).copied().unwrap_or(0);
            if count > 0 {
                each(term, term, Some(count));
            }
            Ok(())
        })?;
        let mut term = Vec::new();
        words.written.visit(pattern, |at, word| {
            let entry = words.written.entry(at);
            let term = written::read_entry(entry, &mut term)
                .and_then(|_| std::str::from_utf8(&term).ok())
                .ok_or_else(|| self.damaged_at_terms("words as written are inconsistent"))?;
            each(word, term, None);
            Ok(())
        })?;
        Ok(true)
    }
}
