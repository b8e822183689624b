//! Scan of batch and runs together, in the order of keys.
use super::found::Found;
use super::map::{Slot, Store};
use super::merge::MergeCursor;
use std::ops::Bound;

impl Store {
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
