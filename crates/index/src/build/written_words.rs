//! Words as written of the documents of a run, each once.

use super::vocabulary::Key;
use crate::written::write_entry;
use xxhash_rust::xxh3::xxh3_64;

const EMPTY: u32 = u32::MAX;
/// Words met last, as a power of two. Words follow Zipf's law, so few words are most of a text, and are known to be here by
/// one comparison.
const RECENT_BITS: u32 = 13;

/// Set of the entries of one field, without the field.
#[derive(Debug, Default)]
pub(crate) struct WrittenWords {
    /// Open addressing: bits of the hash and the number of an entry, or `EMPTY` as number.
    slots: Vec<(u32, u32)>,
    /// End of each entry in `bytes`.
    ends: Vec<u32>,
    bytes: Vec<u8>,
    /// Words as written and terms that were added last, by the hash of the word.
    recent: Vec<(Key, Key)>,
    entry: Vec<u8>,
    form: Vec<u8>,
}

impl WrittenWords {
    /// Returns the approximate size in memory, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<(u32, u32)>()
            + self.ends.capacity() * size_of::<u32>()
            + self.bytes.capacity()
            + self.recent.capacity() * size_of::<(Key, Key)>()
    }

    /// Adds a word as written, in any case of ASCII letters, and its term.
    #[inline]
    pub(crate) fn add(&mut self, written: &str, term: &str) {
        let keys = Key::of(written.as_bytes()).zip(Key::of(term.as_bytes()));
        if let Some((written, term)) = keys {
            if self.recent.is_empty() {
                self.recent = vec![(Key::default(), Key::default()); 1 << RECENT_BITS];
            }
            let recent = &mut self.recent[written.hash() as usize % (1 << RECENT_BITS)];
            if *recent == (written, term) {
                return;
            }
            *recent = (written, term);
        }
        self.add_entry(written, term);
    }

    #[inline(never)]
    fn add_entry(&mut self, written: &str, term: &str) {
        self.form.clear();
        self.form.extend_from_slice(written.as_bytes());
        self.form.make_ascii_lowercase();
        if !write_entry(&self.form, term.as_bytes(), &mut self.entry) {
            return;
        }
        if (self.ends.len() + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let hash = xxh3_64(&self.entry);
        let tag = (hash >> 32) as u32;
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let (found, number) = self.slots[slot];
            if number == EMPTY {
                break;
            }
            if found == tag && self.get(number) == self.entry {
                return;
            }
            slot = (slot + 1) & mask;
        }
        self.insert(slot, tag);
    }

    #[cold]
    #[inline(never)]
    fn insert(&mut self, slot: usize, tag: u32) {
        // A run ends long before its words take so much memory.
        let Ok(end) = u32::try_from(self.bytes.len() + self.entry.len()) else {
            return;
        };
        self.slots[slot] = (tag, self.ends.len() as u32);
        self.bytes.extend_from_slice(&self.entry);
        self.ends.push(end);
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let slots = (self.slots.len() * 2).max(1 << 10);
        self.slots = vec![(0, EMPTY); slots];
        for number in 0..self.ends.len() as u32 {
            let hash = xxh3_64(self.get(number));
            let mut slot = hash as usize & (slots - 1);
            while self.slots[slot].1 != EMPTY {
                slot = (slot + 1) & (slots - 1);
            }
            self.slots[slot] = ((hash >> 32) as u32, number);
        }
    }

    #[inline]
    fn get(&self, number: u32) -> &[u8] {
        entry(&self.bytes, &self.ends, number)
    }

    /// Returns the entries in order.
    pub(crate) fn sorted(self) -> SortedWritten {
        let (bytes, ends) = (self.bytes, self.ends);
        let mut order: Vec<u32> = (0..ends.len() as u32).collect();
        order.sort_unstable_by_key(|&number| entry(&bytes, &ends, number));
        SortedWritten { bytes, ends, order }
    }
}

fn entry<'b>(bytes: &'b [u8], ends: &[u32], number: u32) -> &'b [u8] {
    let number = number as usize;
    let start = number.checked_sub(1).map_or(0, |before| ends[before]);
    &bytes[start as usize..ends[number] as usize]
}

/// Entries of a field in order.
#[derive(Debug)]
pub(crate) struct SortedWritten {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    order: Vec<u32>,
}

impl SortedWritten {
    /// Returns the entry at `rank`; `None` after the last.
    pub(crate) fn get(&self, rank: usize) -> Option<&[u8]> {
        let number = *self.order.get(rank)?;
        Some(entry(&self.bytes, &self.ends, number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::written::read_entry;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn word() -> impl Strategy<Value = String> {
        prop_oneof![6 => "[ab]{1,4}(s|ing|ies)?", 2 => "[abé東]{1,6}", 1 => "[ab]{200,300}"]
    }

    proptest! {
        #[test]
        fn entries_come_back_sorted(words in prop::collection::vec((word(), word()), 0..200)) {
            let mut gathered = WrittenWords::default();
            for (form, term) in words.iter().chain(&words) {
                gathered.add(&form.to_ascii_uppercase(), term);
            }
            let sorted = gathered.sorted();
            let (mut found, mut term) = (Vec::new(), Vec::new());
            while let Some(entry) = sorted.get(found.len()) {
                let form = read_entry(entry, &mut term).unwrap().to_owned();
                found.push((form, String::from_utf8(term.clone()).unwrap()));
            }
            let expected: BTreeSet<_> = words.into_iter().collect();
            prop_assert!(found.is_sorted_by(|a, b| a.0 <= b.0));
            prop_assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
        }
    }
}
