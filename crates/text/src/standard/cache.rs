//! Cache of the terms of recent compounds and words with accents.
//!
//! Folding and stemming such a word takes about a microsecond. The words of a text follow Zipf's law, so a small cache
//! answers most of them. The table is direct-mapped and of fixed size, some megabytes a thread at most, for any corpus. It
//! caches a pure function of the run's text and the rules, so it changes speed alone.

use super::rules::Rules;
use super::terms::Terms;
use std::cell::RefCell;

const SLOTS_COUNT: usize = 1 << 14;
/// Upper limit on the bytes of a cached run.
const RUN_BYTES_MAX: usize = 48;

struct Entry {
    run: Box<str>,
    rules: Rules,
    terms: Terms,
}

thread_local! {
    static ENTRIES: RefCell<Vec<Option<Box<Entry>>>> = const { RefCell::new(Vec::new()) };
}

/// Calls `each` for the terms of a run, which `write` makes where they are not known, then `each_written` for its words as
/// written that have another term, with that term.
pub(super) fn each_term(
    run: &str,
    rules: Rules,
    write: impl FnOnce(&mut Terms),
    mut each: impl FnMut(&str),
    mut each_written: impl FnMut(&str, &str),
) {
    if run.len() > RUN_BYTES_MAX {
        let mut terms = Terms::default();
        write(&mut terms);
        terms.iter().for_each(each);
        return terms
            .written()
            .for_each(|(written, term)| each_written(written, term));
    }
    let slot = slot_of(run);
    // The entry is taken out, because `each` may analyse other texts.
    let known = ENTRIES.with_borrow_mut(|entries| entries.get_mut(slot).and_then(Option::take));
    let is_same = |entry: &Entry| *entry.run == *run && entry.rules == rules;
    let entry = match known.filter(|entry| is_same(entry)) {
        Some(entry) => entry,
        None => {
            let mut terms = Terms::default();
            write(&mut terms);
            Box::new(Entry {
                run: run.into(),
                rules,
                terms,
            })
        }
    };
    entry.terms.iter().for_each(&mut each);
    (entry.terms.written()).for_each(|(written, term)| each_written(written, term));
    ENTRIES.with_borrow_mut(|entries| {
        if entries.is_empty() {
            entries.resize_with(SLOTS_COUNT, || None);
        }
        entries[slot] = Some(entry);
    });
}

fn slot_of(run: &str) -> usize {
    let mut hash = run.len() as u64;
    for part in run.as_bytes().chunks(8) {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        hash =
            (hash.rotate_left(23) ^ u64::from_le_bytes(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    (hash >> 40) as usize % SLOTS_COUNT
}
