//! Inverted index of a run in memory: from words to positions by term.
//!
//! The documents of a run share one space of positions, one after another; each takes the number of its text's words,
//! at least 1. So a term is a single stream of gaps (see `gaps`) over all documents, and adding an occurrence is a
//! look-up and a short write. Documents and frequencies are derived when streams are encoded, from the known start of
//! each document. A site occurs at the first position of each of its documents.
//!
//! Further fields of text continue the text of their document, leaf by leaf; those that do not belong to the text take
//! the positions after it. The words of a field alone have the same positions, and its *places* are a stream of all of
//! them, from which its lengths are derived. Those of a field with an analyzer of its own have other positions, after the
//! text. A value that stands apart has an empty place before it, if it has words.

use super::arena::{Arena, Stream};
use super::gaps;
use super::vocabulary::{Entry, KEYS_MAX, Key, SortedTerms, Vocabulary};
use super::written_words::{SortedWritten, WrittenWords};
use crate::Field;
use crate::written;
use document::Document;
use fields::TextFields;
use smallvec::SmallVec;
use std::ops::Range;
use text::{Analyzer, Token};

/// Positions after which a run ends. A document may be added to a run just below the limit.
const POSITIONS_MAX: u32 = 1 << 31;

/// Inverter of the documents of a run.
#[derive(Debug, Default)]
pub(crate) struct Inverter {
    arena: Arena,
    fields: [Vocabulary; 3],
    /// Further fields, by increasing number.
    further: Vec<FurtherField>,
    /// Words of the text as written.
    written: WrittenWords,
    next_position: u32,
    buffer: String,
}

/// Fields in the order of their terms, before further ones.
const FIELDS: [Field; 3] = [Field::Text, Field::Title, Field::Site];

/// Words of a further field.
#[derive(Debug)]
struct FurtherField {
    number: u8,
    places: Entry,
    has_words: bool,
    vocabulary: Vocabulary,
    written: WrittenWords,
}

/// Numbers of words of a document.
#[derive(Debug, Default)]
pub(crate) struct DocumentWords {
    /// Words by field, in the order of `Field::WITH_LENGTHS`.
    pub(crate) lengths: [u32; 2],
    /// Words by number of a further field, for fields with words, in any order.
    pub(crate) further: SmallVec<[(u8, u32); 4]>,
    /// Places of further fields after the text.
    pub(crate) outside_text: u32,
}

impl Inverter {
    /// Returns the approximate size in memory, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let further = self.further.iter().map(|further| &further.vocabulary);
        let fields = self.fields.iter().chain(further);
        let further = self.further.iter().map(|further| &further.written);
        let written = further.chain([&self.written]);
        self.arena.memory_bytes()
            + fields.map(Vocabulary::memory_bytes).sum::<usize>()
            + written.map(WrittenWords::memory_bytes).sum::<usize>()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.arena.is_full() || self.next_position >= POSITIONS_MAX
    }

    /// Adds the next document, with the words of its further fields `text_fields`; returns the numbers of its words.
    pub(crate) fn add(
        &mut self,
        document: &Document,
        site: &str,
        analyzer: Analyzer,
        text_fields: &TextFields,
    ) -> DocumentWords {
        let start = self.next_position;
        let title_end = self.add_words((Field::Title, None), &document.title, start, analyzer);
        let body_start = self.add_words((Field::Text, None), &document.title, start, analyzer);
        let mut end = self.add_words((Field::Text, None), &document.body, body_start, analyzer);
        let mut words = DocumentWords::default();
        if !text_fields.is_empty() {
            text_fields.each_text(&document.fields, |field| {
                if !field.is_in_text() {
                    return;
                }
                let first = end + field.places_before();
                let own = field.own.filter(|own| own.analyzer.is_none());
                let own = own.map(|own| own.number);
                own.into_iter().for_each(|number| self.open_further(number));
                let after = self.add_words((Field::Text, own), field.text, first, analyzer);
                if after == first {
                    return;
                }
                end = after;
                own.into_iter()
                    .for_each(|number| self.add_places(number, first..after, &mut words));
            });
            let mut all_end = end;
            text_fields.each_text(&document.fields, |field| {
                if let Some(own) = field.own
                    && (!field.is_in_text() || own.analyzer.is_some())
                {
                    let analyzer = own.analyzer.unwrap_or(analyzer);
                    let first = all_end + field.places_before();
                    let after =
                        self.add_further(own.number, field.text, first, analyzer, &mut words);
                    if after > first {
                        all_end = after;
                    }
                }
            });
            words.outside_text = all_end - end;
        }
        let Inverter { arena, fields, .. } = self;
        let sites = &mut fields[2];
        match Key::of(site.as_bytes()) {
            Some(key) => add_occurrences(arena, sites, &[key], &[start; KEYS_MAX]),
            None => {
                let entry = sites.long_entry(site.as_bytes(), || arena.start());
                add_occurrence(arena, entry, start);
            }
        }
        words.lengths = [end - start, title_end - start];
        self.next_position = start + positions_of(end - start) + words.outside_text;
        words
    }

    /// Adds the words of a text to those of a further field, from `first` on; returns the position after it.
    fn add_further(
        &mut self,
        number: u8,
        text: &str,
        first: u32,
        analyzer: Analyzer,
        words: &mut DocumentWords,
    ) -> u32 {
        self.open_further(number);
        let end = self.add_words((Field::Further(number), None), text, first, analyzer);
        self.add_places(number, first..end, words);
        end
    }

    /// Makes room for the words of a further field.
    fn open_further(&mut self, number: u8) {
        let find = |further: &FurtherField| further.number.cmp(&number);
        if let Err(at) = self.further.binary_search_by(find) {
            let further = FurtherField {
                number,
                places: Entry::of(self.arena.start()),
                has_words: false,
                vocabulary: Vocabulary::default(),
                written: WrittenWords::default(),
            };
            self.further.insert(at, further);
        }
    }

    /// Adds the places of a further field in a document, where there are any.
    fn add_places(&mut self, number: u8, places: Range<u32>, words: &mut DocumentWords) {
        if places.is_empty() {
            return;
        }
        let count = places.len() as u32;
        let Inverter { arena, further, .. } = self;
        let further = further.iter_mut().find(|further| further.number == number);
        if let Some(further) = further {
            further.has_words = true;
            places.for_each(|position| add_occurrence(arena, &mut further.places, position));
        }
        match words.further.iter_mut().find(|(one, _)| *one == number) {
            Some((_, sum)) => *sum += count,
            None => words.further.push((number, count)),
        }
    }

    /// Adds words to a field, and to a further one, from `position` on; returns the position after them.
    fn add_words(
        &mut self,
        (field, also): (Field, Option<u8>),
        text: &str,
        first_position: u32,
        analyzer: Analyzer,
    ) -> u32 {
        let Inverter {
            arena,
            fields,
            further,
            written,
            buffer,
            ..
        } = self;
        let also_number = match field {
            Field::Further(number) => Some(number),
            _ => also,
        };
        let own = also_number.and_then(|number| {
            let mut all = further.iter_mut();
            all.find(|further| further.number == number)
        });
        let own = own.map(|further| (&mut further.vocabulary, Some(&mut further.written)));
        let whole = match field {
            Field::Text => Some((&mut fields[0], Some(written))),
            // The words of the title are those of the text, too.
            Field::Title => Some((&mut fields[1], None)),
            Field::Site => Some((&mut fields[2], None)),
            Field::Further(_) => None,
        };
        let mut vocabularies: SmallVec<[&mut Vocabulary; 2]> = SmallVec::new();
        let mut dictionaries: SmallVec<[&mut WrittenWords; 2]> = SmallVec::new();
        for (vocabulary, written) in whole.into_iter().chain(own) {
            vocabularies.push(vocabulary);
            dictionaries.extend(written);
        }
        let mut keys = [Key::default(); KEYS_MAX];
        let mut count = 0;
        // Positions of the keys in the current batch. Long terms are added at once.
        let mut positions = [0; KEYS_MAX];
        let each = |token: Token<'_>| {
            let term = token.term.as_bytes();
            let position = first_position + token.position;
            match Key::of(term) {
                Some(key) => {
                    (keys[count], positions[count]) = (key, position);
                    count += 1;
                }
                None => {
                    for vocabulary in vocabularies.iter_mut() {
                        let entry = vocabulary.long_entry(term, || arena.start());
                        add_occurrence(arena, entry, position);
                    }
                }
            }
            if count == KEYS_MAX {
                for vocabulary in vocabularies.iter_mut() {
                    add_occurrences(arena, vocabulary, &keys, &positions);
                }
                count = 0;
            }
        };
        let places_count = analyzer.each_token_and_form(text, buffer, each, |form| {
            for written in dictionaries.iter_mut() {
                written.add(form.written, form.term);
            }
        });
        for vocabulary in vocabularies.iter_mut() {
            add_occurrences(arena, vocabulary, &keys[..count], &positions);
        }
        first_position + places_count
    }

    /// Returns the terms in order, with their streams.
    pub(crate) fn sorted(mut self) -> Inverted {
        Inverted {
            no_stream: self.arena.start(),
            arena: self.arena,
            written: self.written.sorted(),
            fields: self.fields.map(Vocabulary::sorted),
            further: self
                .further
                .into_iter()
                .filter(|further| further.has_words)
                .map(FurtherField::sorted)
                .collect(),
        }
    }
}

/// Returns the positions that a document with `text_words` words takes.
pub(crate) fn positions_of(text_words: u32) -> u32 {
    text_words.max(1)
}

fn add_occurrences(
    arena: &mut Arena,
    vocabulary: &mut Vocabulary,
    keys: &[Key],
    positions: &[u32; KEYS_MAX],
) {
    vocabulary.each_entry(arena, keys, |arena, entry, number| {
        add_occurrence(arena, entry, positions[number as usize]);
    });
}

#[inline]
fn add_occurrence(arena: &mut Arena, entry: &mut Entry, position: u32) {
    let gap = position - entry.last_position;
    entry.last_position = position;
    gaps::push(arena, &mut entry.stream, gap);
}

/// Run in memory, with terms in the order of (field, term).
#[derive(Debug)]
pub(crate) struct Inverted {
    arena: Arena,
    /// Stream without bytes, for keys that have no postings.
    no_stream: Stream,
    written: SortedWritten,
    fields: [SortedTerms; 3],
    further: Vec<SortedFurther>,
}

/// Further field with its terms in order; the first is its list of places.
#[derive(Debug)]
struct SortedFurther {
    number: u8,
    places: Stream,
    terms: SortedTerms,
    written: SortedWritten,
}

impl FurtherField {
    fn sorted(self) -> SortedFurther {
        SortedFurther {
            number: self.number,
            places: self.places.stream,
            terms: self.vocabulary.sorted(),
            written: self.written.sorted(),
        }
    }
}

impl Inverted {
    /// Returns the number of lists of keys: terms by field, then words as written by field.
    pub(crate) fn lists_count(&self) -> usize {
        FIELDS.len() + self.further.len() + 1 + self.further.len()
    }

    /// Writes the key at `rank` of the `list`-th list, from 0 on, into `key`; returns its stream, empty for a word as
    /// written. `None` after the last. Keys increase over all lists.
    pub(crate) fn get(&self, list: usize, rank: usize, key: &mut Vec<u8>) -> Option<Stream> {
        key.clear();
        let terms_lists = FIELDS.len() + self.further.len();
        let Some(list) = list.checked_sub(terms_lists) else {
            return self.get_term(list, rank, key);
        };
        let (number, written) = match list.checked_sub(1) {
            None => (Field::Text.number(), &self.written),
            Some(at) => {
                let further = self.further.get(at)?;
                (further.number, &further.written)
            }
        };
        key.extend([written::KEY, number]);
        key.extend_from_slice(written.get(rank)?);
        Some(self.no_stream)
    }

    fn get_term(&self, field: usize, rank: usize, key: &mut Vec<u8>) -> Option<Stream> {
        if let Some(known) = FIELDS.get(field) {
            key.push(known.number());
            return self.fields[field].get(rank, key);
        }
        let further = self.further.get(field - FIELDS.len())?;
        key.push(further.number);
        match rank.checked_sub(1) {
            None => Some(further.places),
            Some(rank) => further.terms.get(rank, key),
        }
    }

    /// Returns the length of a stream in bytes.
    pub(crate) fn bytes(&self, stream: &Stream) -> usize {
        self.arena.bytes(stream)
    }

    /// Appends a stream's bytes.
    pub(crate) fn read(&self, stream: &Stream, out: &mut Vec<u8>) {
        self.arena.read(stream, out);
    }
}
