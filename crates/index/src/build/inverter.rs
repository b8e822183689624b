//! Inverted index of a run in memory: from words to positions by term.
//!
//! The documents of a run share one space of positions, one after another; each takes the number of its text's words,
//! at least 1. So a term is a single stream of gaps (see `gaps`) over all documents, and adding an occurrence is a
//! look-up and a short write. Documents and frequencies are derived when streams are encoded, from the known start of
//! each document. A site occurs at the first position of each of its documents.

use super::arena::{Arena, Stream};
use super::gaps;
use super::vocabulary::{Entry, KEYS_MAX, Key, SortedTerms, Vocabulary};
use crate::Field;
use corpus::Document;
use text::Analyzer;

/// Positions after which a run ends. A document may be added to a run just below the limit.
const POSITIONS_MAX: u32 = 1 << 31;

/// Inverter of the documents of a run.
#[derive(Debug, Default)]
pub(crate) struct Inverter {
    arena: Arena,
    fields: [Vocabulary; 3],
    next_position: u32,
    buffer: String,
}

/// Fields in the order of their terms.
const FIELDS: [Field; 3] = [Field::Text, Field::Title, Field::Site];

impl Inverter {
    /// Returns the approximate size in memory, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        let fields = self.fields.iter().map(Vocabulary::memory_bytes);
        self.arena.memory_bytes() + fields.sum::<usize>()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.arena.is_full() || self.next_position >= POSITIONS_MAX
    }

    /// Adds the next document; returns its words by field, in the order of `Field::WITH_LENGTHS`.
    pub(crate) fn add(&mut self, document: &Document, site: &str, analyzer: Analyzer) -> [u32; 2] {
        let start = self.next_position;
        let title_end = self.add_words(Field::Title, &document.title, start, analyzer);
        let body_start = self.add_words(Field::Text, &document.title, start, analyzer);
        let end = self.add_words(Field::Text, &document.body, body_start, analyzer);
        let Inverter { arena, fields, .. } = self;
        let sites = &mut fields[Field::Site as usize];
        match Key::of(site.as_bytes()) {
            Some(key) => add_occurrences(arena, sites, &[key], &[start; KEYS_MAX]),
            None => {
                let entry = sites.long_entry(site.as_bytes(), || arena.start());
                add_occurrence(arena, entry, start);
            }
        }
        self.next_position = start + positions_of(end - start);
        [end - start, title_end - start]
    }

    /// Adds words from `position` on; returns the position after them.
    fn add_words(
        &mut self,
        field: Field,
        text: &str,
        first_position: u32,
        analyzer: Analyzer,
    ) -> u32 {
        let Inverter {
            arena,
            fields,
            buffer,
            ..
        } = self;
        let vocabulary = &mut fields[field as usize];
        let mut keys = [Key::default(); KEYS_MAX];
        let mut count = 0;
        // Positions of the keys in the current batch. Long terms are added at once.
        let mut positions = [0; KEYS_MAX];
        let places_count = analyzer.each_token(text, buffer, |token| {
            let term = token.term.as_bytes();
            let position = first_position + token.position;
            match Key::of(term) {
                Some(key) => {
                    (keys[count], positions[count]) = (key, position);
                    count += 1;
                }
                None => {
                    let entry = vocabulary.long_entry(term, || arena.start());
                    add_occurrence(arena, entry, position);
                }
            }
            if count == KEYS_MAX {
                add_occurrences(arena, vocabulary, &keys, &positions);
                count = 0;
            }
        });
        add_occurrences(arena, vocabulary, &keys[..count], &positions);
        first_position + places_count
    }

    /// Returns the terms in order, with their streams.
    pub(crate) fn sorted(self) -> Inverted {
        Inverted {
            arena: self.arena,
            fields: self.fields.map(Vocabulary::sorted),
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
    fields: [SortedTerms; 3],
}

impl Inverted {
    /// Writes the key (field, term) at `rank` of the field numbered `field` into `key`; returns the term's stream.
    /// `None` after the last.
    pub(crate) fn get(&self, field: usize, rank: usize, key: &mut Vec<u8>) -> Option<Stream> {
        key.clear();
        key.push(*FIELDS.get(field)? as u8);
        self.fields[field].get(rank, key)
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
