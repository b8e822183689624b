//! Words in, postings by term out: the inverted index of a run, in memory.
//!
//! Per (field, term) two byte streams grow in an [`Arena`]:
//!
//! ```text
//! documents := { gap<<1 | (frequency == 1) : vint  [frequency:vint] }    gap from the previous document
//! positions := { gap:vint }                                             gap inside each document, first from 0
//! ```
//!
//! A document's frequency is known only when the term's next document comes, so the last document
//! of a term stays in the table until then.

use super::arena::{Arena, Stream};
use crate::Field;
use xxhash_rust::xxh3::xxh3_64;

const EMPTY: u32 = u32::MAX;

struct Term {
    hash: u32,
    bytes_at: u32,
    bytes: u32,
    field: Field,
    last_doc: u32,
    previous_doc_plus_one: u32,
    frequency: u32,
    last_position: u32,
    documents: Stream,
    positions: Option<Stream>,
}

/// Inverts documents into postings. Documents must come by increasing id.
#[derive(Default)]
pub(crate) struct Inverter {
    arena: Arena,
    /// Open addressing: index into `terms`, or `EMPTY`.
    slots: Vec<u32>,
    terms: Vec<Term>,
    bytes: Vec<u8>,
}

/// A term's postings as they come out of the inverter, sorted by (field, term).
pub(crate) struct RunTerm<'a> {
    pub(crate) field: Field,
    pub(crate) term: &'a [u8],
    /// Encoded as in the module's grammar.
    pub(crate) documents: &'a [u8],
    pub(crate) positions: &'a [u8],
}

impl Inverter {
    /// Memory held, about.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.arena.memory_bytes()
            + self.slots.capacity() * 4
            + self.terms.capacity() * size_of::<Term>()
            + self.bytes.capacity()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.arena.is_full() || self.bytes.len() > (u32::MAX >> 1) as usize
    }

    /// Adds one occurrence. `position` is `None` for fields that have none.
    #[inline]
    pub(crate) fn add(&mut self, field: Field, term: &[u8], doc: u32, position: Option<u32>) {
        let at = self.find(field, term);
        let entry = &mut self.terms[at];
        if entry.frequency == 0 || entry.last_doc != doc {
            if entry.frequency > 0 {
                end_document(&mut self.arena, entry);
            }
            entry.last_doc = doc;
            entry.frequency = 0;
            entry.last_position = 0;
        }
        entry.frequency += 1;
        if let Some(position) = position {
            let gap = position - entry.last_position;
            entry.last_position = position;
            let stream = match &mut entry.positions {
                Some(stream) => stream,
                None => entry.positions.insert(self.arena.start()),
            };
            self.arena.push_vint(stream, gap);
        }
    }

    #[inline]
    fn find(&mut self, field: Field, term: &[u8]) -> usize {
        if self.terms.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let hash = (xxh3_64(term) as u32).wrapping_add((field as u32).wrapping_mul(0x9e37_79b9));
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let at = self.slots[slot];
            if at == EMPTY {
                return self.insert(slot, hash, field, term);
            }
            let entry = &self.terms[at as usize];
            if entry.hash == hash && entry.field == field && self.bytes_of(entry) == term {
                return at as usize;
            }
            slot = (slot + 1) & mask;
        }
    }

    fn bytes_of(&self, entry: &Term) -> &[u8] {
        &self.bytes[entry.bytes_at as usize..entry.bytes_at as usize + entry.bytes as usize]
    }

    #[cold]
    fn insert(&mut self, slot: usize, hash: u32, field: Field, term: &[u8]) -> usize {
        let at = self.terms.len();
        self.slots[slot] = at as u32;
        let bytes_at = self.bytes.len() as u32;
        self.bytes.extend_from_slice(term);
        self.terms.push(Term {
            hash,
            bytes_at,
            bytes: term.len() as u32,
            field,
            last_doc: 0,
            previous_doc_plus_one: 0,
            frequency: 0,
            last_position: 0,
            documents: self.arena.start(),
            positions: None,
        });
        at
    }

    #[cold]
    fn grow(&mut self) {
        let slots = (self.slots.len() * 2).max(1 << 10);
        self.slots.clear();
        self.slots.resize(slots, EMPTY);
        for (at, entry) in self.terms.iter().enumerate() {
            let mut slot = entry.hash as usize & (slots - 1);
            while self.slots[slot] != EMPTY {
                slot = (slot + 1) & (slots - 1);
            }
            self.slots[slot] = at as u32;
        }
    }

    /// Calls `each` for every term in order of (field, term).
    pub(crate) fn drain<E>(
        mut self,
        mut each: impl FnMut(RunTerm<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.slots = Vec::new();
        for entry in &mut self.terms {
            end_document(&mut self.arena, entry);
        }
        let mut order: Vec<u32> = (0..self.terms.len() as u32).collect();
        order.sort_unstable_by(|&a, &b| {
            let (a, b) = (&self.terms[a as usize], &self.terms[b as usize]);
            (a.field, self.bytes_of(a)).cmp(&(b.field, self.bytes_of(b)))
        });
        let (mut documents, mut positions) = (Vec::new(), Vec::new());
        for at in order {
            let entry = &self.terms[at as usize];
            self.arena.read(&entry.documents, &mut documents);
            positions.clear();
            if let Some(stream) = &entry.positions {
                self.arena.read(stream, &mut positions);
            }
            each(RunTerm {
                field: entry.field,
                term: self.bytes_of(entry),
                documents: &documents,
                positions: &positions,
            })?;
        }
        Ok(())
    }
}

fn end_document(arena: &mut Arena, entry: &mut Term) {
    let gap = entry.last_doc + 1 - entry.previous_doc_plus_one;
    let once = u32::from(entry.frequency == 1);
    arena.push_vint(&mut entry.documents, gap << 1 | once);
    if once == 0 {
        arena.push_vint(&mut entry.documents, entry.frequency);
    }
    entry.previous_doc_plus_one = entry.last_doc + 1;
}
