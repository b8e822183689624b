//! Terms of the words that begin so, in a segment, those with the most documents first.
//!
//! Of a beginning of one letter there are tens of thousands of words, and fifty are wanted. So counts and terms are kept by
//! place, and no word is read but those of the terms chosen.
//!
//! They are made at the first search that wants them, of the dictionaries and of the words in memory, and stay with the segment:
//! about 10 bytes a word.

use super::Segment;
use super::begun::{Begun, NOWHERE};
use super::words::Words;
use crate::{Field, IndexError, terms};
use fst::Streamer;
use std::cmp::Reverse;

/// Terms of words that begin so.
#[derive(Debug)]
pub(crate) struct BegunTerms<'s> {
    /// Terms, among them all of which a word is the beginning itself, and all that do not begin so themselves.
    pub(crate) terms: Vec<&'s str>,
    /// Documents that any other such term has here at most; `None` where there is no other.
    pub(crate) others_most: Option<u64>,
}

impl Segment {
    /// Returns the terms in `field`, text or title, of the words that begin with `start`: at least the `most` with the most
    /// documents, deleted ones included. `None` where the words are not listed.
    ///
    /// # Errors
    /// A damaged dictionary.
    pub(crate) fn terms_begun(
        &self,
        field: Field,
        start: &str,
        most: usize,
    ) -> Result<Option<BegunTerms<'_>>, IndexError> {
        let Some((words, begun)) = self.begun()? else {
            return Ok(None);
        };
        let Some(counts) = begun.counts_in(field) else {
            return Ok(None);
        };
        let range = words.terms.range_of(start);
        let written = words.written.range_of(start);
        let count_of = |at: u32| counts.get(at as usize).copied().unwrap_or(0);
        let mut own: Vec<u32> = (range.start as u32..range.end as u32)
            .filter(|&at| count_of(at) > 0)
            .collect();
        let mut others_most = None;
        if own.len() > most {
            own.select_nth_unstable_by_key(most, |&at| Reverse(count_of(at)));
            let others = own[most..].iter().map(|&at| count_of(at));
            others_most = others.max().map(u64::from);
            own.truncate(most);
        }
        // Terms that do not begin so may have documents in segments without such words: their counts here bound nothing.
        let of_written = begun.term_of_written[written.clone()].iter().copied();
        let mut found: Vec<u32> = of_written
            .filter(|&at| at != NOWHERE && !range.contains(&(at as usize)))
            .collect();
        found.sort_unstable();
        found.dedup();
        found.extend(own);
        // Words are in order, so one that is the beginning itself stands first.
        let is_start = |at: usize| words.terms.word_at(at) == start;
        let own = Some(range.start)
            .filter(|&at| is_start(at))
            .map(|at| at as u32);
        let of_written = written.take_while(|&at| words.written.word_at(at) == start);
        let of_written = of_written.map(|at| begun.term_of_written[at]);
        let equal: Vec<u32> = own.into_iter().chain(of_written).collect();
        for at in equal {
            if at != NOWHERE && !found.contains(&at) {
                found.push(at);
            }
        }
        let terms = found.into_iter().map(|at| words.terms.word_at(at as usize));
        Ok(Some(BegunTerms {
            terms: terms.collect(),
            others_most,
        }))
    }

    /// Calls `each(number, word)` with the first word in the order of the alphabet that begins with `start` of each of `terms` that
    /// has one, by its number there.
    ///
    /// # Errors
    /// A damaged dictionary.
    pub(crate) fn first_words_begun(
        &self,
        start: &str,
        terms: &[&str],
        mut each: impl FnMut(usize, &str),
    ) -> Result<(), IndexError> {
        let Some((words, begun)) = self.begun()? else {
            return Ok(());
        };
        let mut places: Vec<(u32, usize)> = Vec::with_capacity(terms.len());
        for (number, term) in terms.iter().enumerate() {
            if let Some(at) = words.terms.place_of(term) {
                places.push((at as u32, number));
                if term.starts_with(start) {
                    each(number, term);
                }
            }
        }
        places.sort_unstable();
        for at in words.written.range_of(start) {
            let term = begun.term_of_written[at];
            if let Ok(found) = places.binary_search_by_key(&term, |&(at, _)| at) {
                let (_, number) = places.remove(found);
                each(number, words.written.word_at(at));
                if places.is_empty() {
                    break;
                }
            }
        }
        Ok(())
    }

    pub(super) fn begun(&self) -> Result<Option<(&Words, &Begun)>, IndexError> {
        let Some(words) = self.words()? else {
            return Ok(None);
        };
        let files = [&**self.file()];
        let begun = (self.core.begun).get_or_derive(files, || self.read_begun(words))?;
        Ok(begun.as_ref().map(|begun| (words, begun)))
    }

    /// Reads the counts; `None` where the title has a term that the text lacks.
    fn read_begun(&self, words: &Words) -> Result<Option<Begun>, IndexError> {
        let mut begun = Begun::default();
        for (field, counts) in [Field::Text, Field::Title]
            .into_iter()
            .zip(&mut begun.counts)
        {
            counts.resize(words.terms.len(), 0);
            let first = terms::with_key(field, "", |key| key.bytes.to_vec());
            let mut stream = self.core.terms.range(&first, None);
            let mut at = 0;
            while let Some((key, _)) = stream.next() {
                let Some(term) = key.strip_prefix(&first[..]) else {
                    break;
                };
                // Both are in order.
                while at < words.terms.len() && words.terms.word_at(at).as_bytes() < term {
                    at += 1;
                }
                if at == words.terms.len() || words.terms.word_at(at).as_bytes() != term {
                    return Ok(None);
                }
                let record = stream.record();
                let record = record.ok_or_else(|| self.damaged_at_terms("terms unreadable"))?;
                counts[at] = record.documents_count;
            }
        }
        begun.term_of_written.reserve_exact(words.written.len());
        let mut term = Vec::new();
        for at in 0..words.written.len() {
            let entry = words.written.entry(at);
            let term = crate::written::read_entry(entry, &mut term)
                .and_then(|_| std::str::from_utf8(&term).ok())
                .ok_or_else(|| self.damaged_at_terms("words as written are inconsistent"))?;
            let place = words.terms.place_of(term);
            begun
                .term_of_written
                .push(place.map_or(NOWHERE, |at| at as u32));
        }
        Ok(Some(begun))
    }
}
