//! Scan of batch and runs together, in the order of keys.
use super::found::Found;
use super::map::{Slot, Store};
use super::merge::MergeCursor;
use std::ops::Bound;

impl Store {
    /// Calls `visit` for the first entry of the runs, and after each for the first one at or after the key that it
    /// returned, up to `to`. Only for a store whose batch is empty, as after opening.
    pub(crate) fn jump(&mut self, to: &[u8], mut visit: impl FnMut(&[u8], &[u8]) -> Vec<u8>) {
        debug_assert!(self.batch.is_empty(), "changes would be passed over");
        let mut stored = MergeCursor::new(&self.reader_runs());
        stored.seek(&[], &mut self.damage);
        while let Some((key, value)) = stored.entry().filter(|(key, _)| *key < to) {
            let next = visit(key, value);
            if *next > *key {
                stored.advance(&next, &mut self.damage);
            } else {
                stored.next(&mut self.damage);
            }
        }
    }

    /// Calls `visit` for each entry with `from` ≤ key < `to` until it returns false.
    pub(crate) fn scan(
        &mut self,
        from: &[u8],
        to: &[u8],
        mut visit: impl FnMut(&[u8], Found<'_>) -> bool,
    ) {
        let mut stored = MergeCursor::new(&self.reader_runs());
        stored.seek(from, &mut self.damage);
        let bounds = (Bound::Included(from), Bound::Excluded(to));
        let mut batch = self.batch.range::<[u8], _>(bounds).peekable();
        loop {
            let run_key = stored.entry().map(|(key, _)| key).filter(|key| *key < to);
            let batch_key = batch.peek().map(|(key, _)| &***key);
            let from_batch = match (run_key, batch_key) {
                (None, None) => return,
                (Some(_), None) => false,
                (None, Some(_)) => true,
                (Some(a), Some(b)) => b <= a,
            };
            let same = run_key.is_some() && run_key == batch_key;
            let go_on = if from_batch {
                let Some((key, slot)) = batch.next() else {
                    return;
                };
                let value = stored.entry().filter(|_| same).map(|(_, value)| value);
                match slot {
                    Slot::Put(value) => visit(
                        key,
                        Found {
                            value: Some(value),
                            seen: None,
                        },
                    ),
                    Slot::Seen(sighting) => visit(
                        key,
                        Found {
                            value,
                            seen: Some(sighting),
                        },
                    ),
                }
            } else {
                let Some((key, value)) = stored.entry() else {
                    return;
                };
                visit(
                    key,
                    Found {
                        value: Some(value),
                        seen: None,
                    },
                )
            };
            if same || !from_batch {
                stored.next(&mut self.damage);
            }
            if !go_on {
                return;
            }
        }
    }
}
