//! Things of a process by name, such as its indexes: opened by their first use, closed when they are gone or too many.
//!
//! ```text
//! name ─► open, and asked for of late ─────────────────────► the thing, without waiting
//!      └► lock of the name ─► opened, created or dropped ─► seen by requests when the lock is given back
//! ```
//!
//! A name without a thing takes no memory: its entry is forgotten when the lock is given back.

mod entry;

pub(crate) use entry::{Entry, Found, State};

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// Upper limit on the indexes that are open: each takes a few dozen of the mappings that the kernel allows a process.
pub(crate) const OPEN_MAX: usize = 2_000;

/// Things that are open, are being opened, or are being dropped.
pub(crate) struct Named<T> {
    entries: RwLock<HashMap<Arc<str>, Arc<Entry<T>>>>,
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named {
            entries: RwLock::default(),
        }
    }
}

impl<T> Named<T> {
    /// Returns a thing for a request if it is open.
    pub(crate) fn asked(&self, name: &str) -> Option<Found<T>> {
        self.entry(name)?.asked()
    }

    /// Returns a thing if it is open.
    pub(crate) fn opened(&self, name: &str) -> Option<Arc<T>> {
        self.entry(name)?.opened()
    }

    /// Does `work` with the entry of a name while no other thread opens, closes, creates or drops its thing. An entry
    /// without one is forgotten then.
    pub(crate) fn locked<R>(
        &self,
        name: &str,
        work: impl FnOnce(&Entry<T>, &mut State<T>) -> R,
    ) -> R {
        loop {
            let entry = self.entry_or_new(name);
            let mut state = entry.state();
            if state.is_gone {
                continue;
            }
            let done = work(&entry, &mut state);
            if state.open.is_none() {
                state.is_gone = true;
                self.forget(&entry);
            }
            return done;
        }
    }

    /// Closes a thing, if it is still open and no other thread opens or drops it now.
    pub(crate) fn close(&self, name: &str, open: &Arc<T>) {
        if let Some(entry) = self.entry(name) {
            self.close_where(&entry, |other| Arc::ptr_eq(other, open));
        }
    }

    /// Closes the thing of an entry where `may_close` says so, unless another thread opens or drops it now.
    pub(crate) fn close_where(
        &self,
        entry: &Arc<Entry<T>>,
        may_close: impl FnOnce(&Arc<T>) -> bool,
    ) {
        let Some(mut state) = entry.try_state() else {
            return;
        };
        if state.open.as_ref().is_some_and(may_close) {
            state.open = None;
            state.is_gone = true;
            self.forget(entry);
        }
    }

    /// Returns the entries of as many things as are open beyond `open_max`, those used least recently.
    pub(crate) fn surplus(&self, open_max: usize) -> Vec<Arc<Entry<T>>> {
        let mut entries = self.entries();
        entries.retain(|entry| entry.opened().is_some());
        let surplus = entries.len().saturating_sub(open_max);
        if surplus > 0 {
            entries.sort_by_cached_key(|entry| entry.used_ms());
        }
        entries.truncate(surplus);
        entries
    }

    /// Returns the things that are open.
    pub(crate) fn all_open(&self) -> Vec<Arc<T>> {
        let entries = self.entries().into_iter();
        entries.filter_map(|entry| entry.opened()).collect()
    }

    /// Returns all entries.
    pub(crate) fn entries(&self) -> Vec<Arc<Entry<T>>> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        entries.values().cloned().collect()
    }

    fn entry(&self, name: &str) -> Option<Arc<Entry<T>>> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        entries.get(name).cloned()
    }

    fn entry_or_new(&self, name: &str) -> Arc<Entry<T>> {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = entries.get(name) {
            return Arc::clone(known);
        }
        let name: Arc<str> = name.into();
        let entry = Arc::new(Entry::new(Arc::clone(&name)));
        entries.insert(name, Arc::clone(&entry));
        entry
    }

    /// Removes an entry, unless another one has its name by now.
    fn forget(&self, entry: &Arc<Entry<T>>) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let is_same = |known: &Arc<Entry<T>>| Arc::ptr_eq(known, entry);
        if entries.get(&entry.name).is_some_and(is_same) {
            entries.remove(&entry.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(named: &Named<u32>, name: &str, number: u32) -> Arc<u32> {
        named.locked(name, |entry, state| {
            entry.note_use();
            Arc::clone(state.open.get_or_insert_with(|| Arc::new(number)))
        })
    }

    #[test]
    fn names_without_a_thing_are_forgotten() {
        let named = Named::default();
        named.locked("none", |_, _| ());
        assert!(named.entries().is_empty());
        let one = open(&named, "one", 1);
        assert_eq!(*open(&named, "one", 2), 1);
        assert_eq!(named.opened("one").as_deref(), Some(&1));
        assert!(named.asked("one").is_some_and(|found| found.is_fresh));
        named.close("one", &Arc::new(1));
        assert_eq!(named.all_open().len(), 1, "another thing is not closed");
        named.close("one", &one);
        assert!(named.entries().is_empty() && named.opened("one").is_none());
        assert_eq!(*open(&named, "one", 3), 3);
    }

    #[test]
    fn those_used_least_recently_are_surplus() {
        let named = Named::default();
        for (number, name) in ["a", "b", "c"].into_iter().enumerate() {
            open(&named, name, number as u32);
            std::thread::sleep(std::time::Duration::from_millis(3));
        }
        named.asked("a");
        let names = |open_max| -> Vec<_> {
            let surplus = named.surplus(open_max).into_iter();
            surplus.map(|entry| entry.name.to_string()).collect()
        };
        assert_eq!(names(3), Vec::<String>::new());
        assert_eq!(names(2), ["b"]);
        assert_eq!(names(1), ["b", "c"]);
    }
}
