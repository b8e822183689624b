//! Writes of the index: what waits is taken for a commit, and noted when the index has it.

use super::entries::SETTLED;
use super::pages::Collection;
use super::pending::{Change, Packed};
use vfs::StorageError;

/// Bytes of packed documents from which on they are written although a commit is not near. What is written before
/// its pages were settled is read, analysed and written once more: some 15 % of the CPU time of a crawl of 5,000 pages.
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

    /// Takes the changes that wait, in the order of the hashes of their URLs.
    pub(crate) fn take_writes(&mut self) -> Vec<Write> {
        self.pending.bytes = 0;
        let changes = std::mem::take(&mut self.pending.changes);
        let mut writes = Vec::with_capacity(changes.len());
        for (hash, change) in changes {
            let settled = match change {
                Change::Add(mut document, templates) => {
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

    /// Notes that the index has what was taken.
    pub(crate) fn committed(&mut self) -> Result<(), StorageError> {
        for (hash, settled) in std::mem::take(&mut self.pending.settled) {
            let payload = [hash.to_le_bytes(), settled.to_le_bytes()].concat();
            self.log.append(SETTLED, &payload)?;
        }
        self.distrusted = false;
        Ok(())
    }
}
