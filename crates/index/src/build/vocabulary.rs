//! Vocabulary of one field of a run: from terms to their streams.
//!
//! It is looked up for every word of every document, so a look-up touches two cache lines: a slot and an entry. The
//! entry holds a term of up to 16 bytes as two integers, a [`Key`]. Longer terms, one in a thousand, are in an ordinary
//! map. Entries lie in the order of first occurrence, so frequent words, which occur early, lie together.

use super::arena::{Arena, Stream};
use std::collections::HashMap;

const EMPTY: u32 = u32::MAX;
/// Highest number of keys looked up at once.
pub(crate) const KEYS_MAX: usize = 32;
/// Highest length of a term in an entry, in bytes.
const INLINE_BYTES_MAX: usize = 16;
/// Approximate bytes of a long term in its map, besides its own.
const LONG_ENTRY_BYTES: usize = 64;

/// Term of up to 16 bytes, padded with zeros. Its last byte is not zero, so different terms have different keys, and
/// the order of keys is that of terms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Key {
    first: u64,
    last: u64,
}

/// Entry of a term: its stream, and its last position.
#[derive(Debug)]
pub(crate) struct Entry {
    key: Key,
    pub(crate) stream: Stream,
    pub(crate) last_position: u32,
}

impl Entry {
    /// Returns an entry outside of vocabularies, for a stream of its own.
    pub(crate) fn of(stream: Stream) -> Entry {
        Entry {
            key: Key { first: 0, last: 0 },
            stream,
            last_position: 0,
        }
    }
}

/// Terms of one field.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    /// Open addressing: `EMPTY`, or an entry's index in the low bits and bits of its hash above.
    slots: Vec<u32>,
    entries: Vec<Entry>,
    long: HashMap<Box<[u8]>, u32>,
    long_bytes: usize,
}

impl Vocabulary {
    /// Returns the approximate size in memory, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * 4
            + self.entries.capacity() * size_of::<Entry>()
            + self.long.capacity() * LONG_ENTRY_BYTES
            + self.long_bytes
    }

    /// Returns the entry of a term that has no [`Key`]; a new one gets the stream that `start` returns.
    #[cold]
    #[inline(never)]
    pub(crate) fn long_entry(&mut self, term: &[u8], start: impl FnOnce() -> Stream) -> &mut Entry {
        let at = match self.long.get(term) {
            Some(&at) => at as usize,
            None => {
                // No short term has this key, and no slot refers to it.
                let at = self.push(Key { first: 0, last: 0 }, start());
                self.long.insert(term.into(), at as u32);
                self.long_bytes += term.len();
                at
            }
        };
        &mut self.entries[at]
    }

    /// Calls `each` with the entry of every key, in order, and the index of the key; `start` returns the streams of new
    /// entries.
    ///
    /// Slots and entries of most words are far away in memory. So all are prefetched before any is read: three passes
    /// without unpredictable branches instead of one with them.
    #[inline]
    pub(crate) fn each_entry(
        &mut self,
        arena: &mut Arena,
        keys: &[Key],
        mut each: impl FnMut(&mut Arena, &mut Entry, u32),
    ) {
        let mut places = [(0u64, 0u32); KEYS_MAX];
        let places = &mut places[..keys.len()];
        let slots = self.slots.len();
        for (place, key) in places.iter_mut().zip(keys) {
            let hash = key.hash();
            let slot = hash as usize & slots.wrapping_sub(1);
            *place = (hash, *self.slots.get(slot).unwrap_or(&EMPTY));
        }
        for (place, key) in places.iter_mut().zip(keys) {
            let (hash, found) = *place;
            let at = found & entry_mask(slots);
            let maybe = tagged(hash, at, slots) == found;
            let entry = self.entries.get(at as usize).filter(|_| maybe);
            place.1 = match entry.is_some_and(|entry| entry.key == *key) {
                true => at,
                false => self.find(*key, || arena.start()),
            };
        }
        for (number, (_, at)) in (0..).zip(places.iter()) {
            each(arena, &mut self.entries[*at as usize], number);
        }
    }

    fn find(&mut self, key: Key, start: impl FnOnce() -> Stream) -> u32 {
        // One entry less than would fit, so no entry is `EMPTY`.
        while (self.entries.len() + 2) * 2 > self.slots.len() {
            self.grow();
        }
        let hash = key.hash();
        let slots = self.slots.len();
        let mut slot = hash as usize & (slots - 1);
        loop {
            let found = self.slots[slot];
            if found == EMPTY {
                return self.insert(slot, hash, key, start());
            }
            let at = found & entry_mask(slots);
            if tagged(hash, at, slots) == found && self.entries[at as usize].key == key {
                return at;
            }
            slot = (slot + 1) & (slots - 1);
        }
    }

    #[cold]
    #[inline(never)]
    fn insert(&mut self, slot: usize, hash: u64, key: Key, stream: Stream) -> u32 {
        let at = self.push(key, stream) as u32;
        self.slots[slot] = tagged(hash, at, self.slots.len());
        at
    }

    fn push(&mut self, key: Key, stream: Stream) -> usize {
        self.entries.push(Entry {
            key,
            ..Entry::of(stream)
        });
        self.entries.len() - 1
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let slots = (self.slots.len() * 2).max(1 << 10);
        self.slots.clear();
        self.slots.resize(slots, EMPTY);
        for (at, entry) in self.entries.iter().enumerate() {
            if entry.key.first == 0 {
                continue;
            }
            let hash = entry.key.hash();
            let mut slot = hash as usize & (slots - 1);
            while self.slots[slot] != EMPTY {
                slot = (slot + 1) & (slots - 1);
            }
            self.slots[slot] = tagged(hash, at as u32, slots);
        }
    }

    /// Returns the terms in order, and ends look-ups.
    pub(crate) fn sorted(mut self) -> SortedTerms {
        self.slots = Vec::new();
        let mut long: Vec<_> = self.long.into_iter().collect();
        long.sort_unstable();
        for (number, &(_, at)) in long.iter().enumerate() {
            self.entries[at as usize].key.last = number as u64;
        }
        let inline = self.entries.iter().zip(0u32..);
        let inline = inline.filter(|(entry, _)| entry.key.first != 0);
        let mut terms: Vec<(u128, u32)> = inline
            .map(|(entry, at)| (entry.key.in_order(), at))
            .collect();
        terms.sort_unstable();
        let mut order = Vec::with_capacity(self.entries.len());
        let mut rest = long.iter().peekable();
        for (key, at) in terms {
            let bytes = key.to_be_bytes();
            while let Some(&(_, at)) = rest.next_if(|(long, _)| **long < *trimmed(&bytes)) {
                order.push(at);
            }
            order.push(at);
        }
        order.extend(rest.map(|&(_, at)| at));
        SortedTerms {
            entries: self.entries,
            order,
            long: long.into_iter().map(|(term, _)| term).collect(),
        }
    }
}

/// Returns the mask of the entry index in a slot: the bits that count up to half of `slots`.
#[inline]
fn entry_mask(slots: usize) -> u32 {
    ((slots / 2) as u32).wrapping_sub(1)
}

/// Returns the contents of a slot for an entry. The bits of the hash avoid reading most entries of other terms.
#[inline]
fn tagged(hash: u64, entry: u32, slots: usize) -> u32 {
    (hash >> 32) as u32 & !entry_mask(slots) | entry
}

/// Terms of a field in order, with their streams.
#[derive(Debug)]
pub(crate) struct SortedTerms {
    entries: Vec<Entry>,
    order: Vec<u32>,
    long: Vec<Box<[u8]>>,
}

impl SortedTerms {
    /// Appends the term at `rank` to `out` and returns its stream; `None` after the last.
    pub(crate) fn get(&self, rank: usize, out: &mut Vec<u8>) -> Option<Stream> {
        let entry = &self.entries[*self.order.get(rank)? as usize];
        match entry.key.first {
            0 => out.extend_from_slice(&self.long[entry.key.last as usize]),
            _ => out.extend_from_slice(trimmed(&entry.key.in_order().to_be_bytes())),
        }
        Some(entry.stream)
    }
}

/// Returns a term without its padding zeros.
fn trimmed(bytes: &[u8; INLINE_BYTES_MAX]) -> &[u8] {
    let zeros = u128::from_be_bytes(*bytes).trailing_zeros() as usize / 8;
    &bytes[..INLINE_BYTES_MAX.saturating_sub(zeros)]
}

impl Key {
    /// Returns the key of a term; `None` for terms that are too long, are empty, or begin or end with a zero.
    #[inline]
    pub(crate) fn of(term: &[u8]) -> Option<Key> {
        let bytes = term.len();
        let key = match bytes {
            8..=INLINE_BYTES_MAX => {
                let last = u64::from_le_bytes(*term.last_chunk()?);
                Key {
                    first: u64::from_le_bytes(*term.first_chunk()?),
                    last: last.checked_shr(8 * (16 - bytes as u32)).unwrap_or(0),
                }
            }
            4..=7 => {
                let last = u32::from_le_bytes(*term.last_chunk()?);
                let first = u32::from_le_bytes(*term.first_chunk()?);
                Key {
                    // Where the two overlap, they agree.
                    first: u64::from(first) | u64::from(last) << (8 * (bytes - 4)),
                    last: 0,
                }
            }
            1..=3 => {
                let middle = bytes / 2;
                let first = u64::from(term[0])
                    | u64::from(term[middle]) << (8 * middle)
                    | u64::from(term[bytes - 1]) << (8 * (bytes - 1));
                Key { first, last: 0 }
            }
            _ => return None,
        };
        (term[0] != 0 && term[bytes - 1] != 0).then_some(key)
    }

    #[inline]
    pub(super) fn hash(self) -> u64 {
        let product = u128::from(self.first ^ 0x9e37_79b9_7f4a_7c15)
            * u128::from(self.last ^ 0xd6e8_feb8_6659_fd93);
        product as u64 ^ (product >> 64) as u64
    }

    fn in_order(self) -> u128 {
        u128::from(self.first.swap_bytes()) << 64 | u128::from(self.last.swap_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Agrees with the slow twin, a sorted map.
        #[test]
        fn terms_are_told_apart_and_sorted(
            terms in prop::collection::vec(prop::collection::vec(
                prop::sample::select(vec![0u8, 1, b'a', b'b', 0xff]), 0..20), 0..400),
        ) {
            let (mut arena, mut vocabulary) = (Arena::default(), Vocabulary::default());
            let mut expected: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
            for (number, term) in (0u32..).zip(&terms) {
                let bytes = (number as u16).to_le_bytes();
                expected.entry(term.clone()).or_default().extend_from_slice(&bytes);
            }
            let mut from = 0;
            for terms in terms.chunks(KEYS_MAX) {
                let mut keys = Vec::new();
                let mut numbers = Vec::new();
                for (number, term) in (from..).zip(terms) {
                    if let Some(key) = Key::of(term) {
                        keys.push(key);
                        numbers.push(number);
                    } else {
                        let entry = vocabulary.long_entry(term, || arena.start());
                        arena.push(&mut entry.stream, number, 2);
                    }
                }
                vocabulary.each_entry(&mut arena, &keys, |arena, entry, at| {
                    arena.push(&mut entry.stream, numbers[at as usize], 2);
                });
                from += KEYS_MAX as u32;
            }
            let sorted = vocabulary.sorted();
            let mut found = Vec::new();
            let mut term = Vec::new();
            while let Some(stream) = sorted.get(found.len(), &mut term) {
                let mut bytes = Vec::new();
                arena.read(&stream, &mut bytes);
                found.push((std::mem::take(&mut term), bytes));
            }
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
