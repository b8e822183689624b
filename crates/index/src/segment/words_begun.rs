//! Terms of the words that begin so, or nearly so, in a segment: those with the fewest edits and the most documents first.
//!
//! Of a beginning of one letter there are tens of thousands of words, and fifty are wanted. So counts and terms are kept by
//! place, and no word is read but those of the terms chosen, and a few of many that begin alike.
//!
//! They are made at the first search that wants them, of the dictionaries and of the words in memory, and stay with the segment:
//! about 10 bytes a word.

use super::Segment;
use super::begun::{Begun, NOWHERE};
use super::words::{Run, Words};
use crate::{Field, IndexError, terms};
use fst::Streamer;
use std::cmp::Reverse;
use text::EDITS_MAX;

/// Words of a segment that begin with a text, or within some edits of it.
#[derive(Debug)]
pub(crate) struct BegunWords<'s> {
    words: &'s Words,
    begun: &'s Begun,
    start: &'s str,
    /// Terms that begin so themselves, in order.
    terms: Vec<Run>,
    /// Words as written, those with the fewest edits first, of these in order.
    written: Vec<Run>,
}

/// Terms of words that begin so.
#[derive(Debug)]
pub(crate) struct BegunTerms<'s> {
    /// Terms, among them all of which a word is the beginning itself, and all of which a word needs fewer edits than they.
    pub(crate) terms: Vec<&'s str>,
    /// Documents that any other such term has here at most, by the edits of the term; `None` where there is no other.
    pub(crate) others_most: [Option<u64>; EDITS_MAX as usize + 1],
}

impl Segment {
    /// Returns the words that begin within `edits`, at most [`EDITS_MAX`], of `start`; `None` where the words are not listed.
    ///
    /// # Errors
    /// A damaged dictionary.
    pub(crate) fn words_begun<'s>(
        &'s self,
        start: &'s str,
        edits: u8,
    ) -> Result<Option<BegunWords<'s>>, IndexError> {
        let Some((words, begun)) = self.begun()? else {
            return Ok(None);
        };
        let mut written = words.written.runs_beginning(start, edits);
        written.sort_by_key(|run| run.edits);
        Ok(Some(BegunWords {
            words,
            begun,
            start,
            terms: words.terms.runs_beginning(start, edits),
            written,
        }))
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

impl<'s> BegunWords<'s> {
    /// Returns the terms in `field` of the words: at least the `most` with the fewest edits, of these those with the most documents,
    /// deleted ones included. `None` for a field that has no counts.
    pub(crate) fn terms(&self, field: Field, most: usize) -> Option<BegunTerms<'s>> {
        let counts = self.begun.counts_in(field)?;
        let mut own: Vec<(u8, Reverse<u32>, usize)> = Vec::new();
        for run in &self.terms {
            let counts = counts.get(run.places.clone()).unwrap_or_default();
            let places = run.places.clone().zip(counts);
            let held = places.filter(|&(_, &count)| count > 0);
            own.extend(held.map(|(at, &count)| (run.edits, Reverse(count), at)));
        }
        let mut others_most = [None; EDITS_MAX as usize + 1];
        if own.len() > most {
            own.select_nth_unstable(most);
            for (edits, Reverse(count), _) in own.drain(most..) {
                let others = &mut others_most[usize::from(edits)];
                *others = (*others).max(Some(u64::from(count)));
            }
        }
        let mut found: Vec<usize> = own.into_iter().map(|(_, _, at)| at).collect();
        // Terms that do not begin so may have documents in segments without such words, and those of words with fewer edits are
        // nearer than they look elsewhere: their counts here bound nothing.
        for run in &self.written {
            let terms = &self.begun.term_of_written[run.places.clone()];
            let known = terms.iter().filter(|&&term| term != NOWHERE);
            let is_nearer = |term: usize| self.edits_of(term).is_none_or(|own| run.edits < own);
            found.extend(
                known
                    .map(|&term| term as usize)
                    .filter(|&term| is_nearer(term)),
            );
        }
        found.extend(self.terms_of_start());
        found.sort_unstable();
        found.dedup();
        let terms = found.into_iter().map(|at| self.words.terms.word_at(at));
        Some(BegunTerms {
            terms: terms.collect(),
            others_most,
        })
    }

    /// Calls `each(number, edits, word)` with words of each of `terms`, by its number there: among them the nearest here, of
    /// equally near ones the first in the order of the alphabet.
    pub(crate) fn visit_nearest(&self, terms: &[&str], mut each: impl FnMut(usize, u8, &str)) {
        let mut places: Vec<(u32, usize)> = Vec::with_capacity(terms.len());
        for (number, term) in terms.iter().enumerate() {
            if let Some(at) = self.words.terms.place_of(term) {
                places.push((at as u32, number));
                if let Some(edits) = self.edits_of(at) {
                    each(number, edits, term);
                }
            }
        }
        places.sort_unstable();
        for run in &self.written {
            for at in run.places.clone() {
                let term = self.begun.term_of_written[at];
                if let Ok(found) = places.binary_search_by_key(&term, |&(at, _)| at) {
                    let (_, number) = places.remove(found);
                    each(number, run.edits, self.words.written.word_at(at));
                    if places.is_empty() {
                        return;
                    }
                }
            }
        }
    }

    /// Returns the edits of a term that begins so itself, by its place.
    fn edits_of(&self, term: usize) -> Option<u8> {
        let at = (self.terms).partition_point(|run| run.places.end <= term);
        let run = self.terms.get(at)?;
        run.places.contains(&term).then_some(run.edits)
    }

    /// Returns the places of the terms of the word that is the beginning itself.
    fn terms_of_start(&self) -> impl Iterator<Item = usize> {
        // Words are in order, so one that is the beginning itself stands first.
        let written = &self.words.written;
        let written = written
            .range_of(self.start)
            .take_while(|&at| written.word_at(at) == self.start);
        let of_written = written.map(|at| self.begun.term_of_written[at]);
        let of_written = of_written.filter(|&term| term != NOWHERE);
        let own = self.words.terms.place_of(self.start);
        own.into_iter().chain(of_written.map(|term| term as usize))
    }
}
