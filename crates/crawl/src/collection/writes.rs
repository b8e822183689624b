//! Writes of the index: what waits is taken for a commit, and noted when the index has it.

use super::entries::SETTLED;
use super::pages::Collection;
use super::pending::{Addition, Change, Packed};
use vfs::StorageError;

/// Bytes of packed documents that may wait for a commit.
const PENDING_BYTES_MAX: usize = 96 << 20;

/// Change of the index.
pub(crate) enum Write {
    Add(Box<Packed>),
    Delete(String),
}

impl Collection {
    /// Whether documents wait that take much memory.
    pub(crate) fn is_full(&self) -> bool {
        self.pending.bytes >= PENDING_BYTES_MAX
    }

    /// Drops documents that wait and that the index does not have. Their pages are read again before the next commit,
    /// which costs less than to index a document before its page was settled, and once more after it.
    pub(crate) fn drop_new_documents(&mut self) {
        let (pages, awaiting) = (&self.pages, &mut self.awaiting);
        let is_missing = |hash| pages.get(&hash).is_some_and(|page| page.settled == 0);
        self.pending
            .drop_documents(is_missing, |hash| awaiting.push(hash));
    }

    /// Takes the changes that wait, in the order of the hashes of their URLs.
    pub(crate) fn take_writes(&mut self) -> Vec<Write> {
        self.pending.bytes = 0;
        let changes = std::mem::take(&mut self.pending.changes);
        let mut writes = Vec::with_capacity(changes.len());
        for (hash, change) in changes {
            let settled = match change {
                Change::Add(Addition {
                    mut document,
                    templates,
                    ..
                }) => {
                    let derived = self.derived.get(&hash);
                    if let Some(derived) = derived {
                        derived.put(document.fields_mut());
                    }
                    writes.push(Write::Add(document));
                    derived.cloned().unwrap_or_default().hash(templates)
                }
                Change::Delete(url) => {
                    writes.push(Write::Delete(url));
                    0
                }
            };
            if let Some(page) = self.pages.get_mut(&hash) {
                page.settled = settled;
                self.pending.settled.push((hash, settled));
            }
        }
        writes
    }

    /// Notes that the changes taken are in the index.
    pub(crate) fn committed(&mut self) -> Result<(), StorageError> {
        for (hash, settled) in std::mem::take(&mut self.pending.settled) {
            let payload = [hash.to_le_bytes(), settled.to_le_bytes()].concat();
            self.log.append(SETTLED, &payload)?;
        }
        self.distrusted = false;
        Ok(())
    }
}
