//! Words that a thread has met in the texts of a query, and the term of the query that each has.
//!
//! A query of many words has a term that begins like nearly every word of a text, so nearly every word would be looked up
//! and stemmed. The words of a text follow Zipf's law: a small table knows most of them. It is direct-mapped, and caches a
//! pure function of the word and the query, so it changes speed alone.

const SLOTS_COUNT: usize = 1 << 10;
/// Upper limit on the bytes of a word in the table.
const WORD_BYTES_MAX: usize = 16;
/// A term that no query has.
const NO_TERM: u32 = u32::MAX;

/// Table of words and their terms, for one query at a time.
#[derive(Debug, Default)]
pub(super) struct KnownWords {
    query: u64,
    slots: Vec<Slot>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    /// The letters, in lower case; none is zero.
    word: u128,
    term: u32,
}

/// A word that fits the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    word: u128,
    slot: usize,
}

impl KnownWords {
    /// Prepares the table for a query, by its number.
    pub(super) fn of_query(&mut self, query: u64) -> &mut KnownWords {
        if self.query != query || self.slots.is_empty() {
            self.query = query;
            self.slots.clear();
            self.slots.resize(SLOTS_COUNT, Slot::default());
        }
        self
    }

    /// Returns the key of a word of ASCII letters, whatever their case; `None` for a long one.
    #[inline]
    pub(super) fn key(word: &[u8]) -> Option<Key> {
        if word.len() > WORD_BYTES_MAX {
            return None;
        }
        let mut letters = [0; WORD_BYTES_MAX];
        for (letter, byte) in letters.iter_mut().zip(word) {
            *letter = byte | 0x20;
        }
        let word = u128::from_le_bytes(letters);
        let hash = ((word as u64) ^ ((word >> 64) as u64).rotate_left(29))
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let slot = (hash >> 54) as usize % SLOTS_COUNT;
        Some(Key { word, slot })
    }

    /// Returns the term of a known word, `Some(None)` if it has none.
    #[inline]
    pub(super) fn term(&self, key: Key) -> Option<Option<u32>> {
        let slot = self.slots[key.slot];
        (slot.word == key.word).then(|| (slot.term != NO_TERM).then_some(slot.term))
    }

    pub(super) fn put(&mut self, key: Key, term: Option<u32>) {
        self.slots[key.slot] = Slot {
            word: key.word,
            term: term.unwrap_or(NO_TERM),
        };
    }
}
