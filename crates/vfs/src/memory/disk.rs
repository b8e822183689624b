//! Content of a simulated disk, and its durable part.
use std::collections::BTreeMap;
use std::sync::Arc;

/// A file, whatever its name: an inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileId(u64);

/// One change. The same changes in the same order give the same disk.
#[derive(Debug, Clone)]
pub(super) enum Operation {
    /// The file gets [`Disk::next_id`].
    Create {
        name: String,
    },
    Append {
        id: FileId,
        bytes: Vec<u8>,
    },
    Sync {
        id: FileId,
    },
    Rename {
        from: String,
        to: String,
    },
    Remove {
        name: String,
    },
    SyncDirectory,
    /// Puts a file in place, durably.
    Replace {
        name: String,
        bytes: Vec<u8>,
    },
}

/// The state of a disk: what a program sees, and what would survive.
#[derive(Debug, Clone, Default)]
pub(super) struct Disk {
    pub(super) files: BTreeMap<FileId, File>,
    pub(super) names: BTreeMap<String, FileId>,
    pub(super) durable_names: BTreeMap<String, FileId>,
    /// Since the last sync of the directory, in order.
    pub(super) unsynced: Vec<NameChange>,
    next_id: u64,
}

#[derive(Debug, Clone, Default)]
pub(super) struct File {
    /// Shared with the regions opened; written to by copying where there are any.
    pub(super) bytes: Arc<Vec<u8>>,
    /// Length of the durable prefix; a prefix, since files only grow.
    pub(super) durable_bytes: usize,
}

#[derive(Debug, Clone)]
pub(super) enum NameChange {
    Link {
        name: String,
        id: FileId,
    },
    Rename {
        from: String,
        to: String,
        id: FileId,
    },
    Unlink {
        name: String,
        id: FileId,
    },
}

impl NameChange {
    /// Applies the change where it still makes sense: an earlier one may have been lost.
    pub(super) fn apply(&self, names: &mut BTreeMap<String, FileId>) {
        let mut unlink = |name: &String, id: &FileId| {
            if names.get(name) == Some(id) {
                names.remove(name);
            }
        };
        match self {
            NameChange::Unlink { name, id } => unlink(name, id),
            NameChange::Rename { from, to, id } => {
                unlink(from, id);
                names.insert(to.clone(), *id);
            }
            NameChange::Link { name, id } => {
                names.insert(name.clone(), *id);
            }
        }
    }
}

impl Disk {
    /// Returns the id that the next file created gets.
    pub(super) fn next_id(&self) -> FileId {
        FileId(self.next_id)
    }

    pub(super) fn find(&self, name: &str) -> Option<FileId> {
        self.names.get(name).copied()
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.names.keys().cloned().collect()
    }

    pub(super) fn content(&self, id: FileId) -> Option<Arc<Vec<u8>>> {
        self.files.get(&id).map(|file| file.bytes.clone())
    }

    pub(super) fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Create { name } => {
                let id = self.add(File::default());
                self.change(NameChange::Link {
                    name: name.clone(),
                    id,
                });
            }
            // A file removed meanwhile may be gone: nobody can read what is written to it.
            Operation::Append { id, bytes } => {
                if let Some(file) = self.files.get_mut(id) {
                    Arc::make_mut(&mut file.bytes).extend_from_slice(bytes);
                }
            }
            Operation::Sync { id } => {
                if let Some(file) = self.files.get_mut(id) {
                    file.durable_bytes = file.bytes.len();
                }
            }
            Operation::Rename { from, to } => {
                if let Some(id) = self.find(from) {
                    let (from, to) = (from.clone(), to.clone());
                    self.change(NameChange::Rename { from, to, id });
                }
            }
            Operation::Remove { name } => {
                if let Some(id) = self.find(name) {
                    let name = name.clone();
                    self.change(NameChange::Unlink { name, id });
                }
            }
            Operation::SyncDirectory => {
                self.unsynced.clear();
                self.durable_names = self.names.clone();
                let named: Vec<FileId> = self.names.values().copied().collect();
                self.files.retain(|id, _| named.contains(id));
            }
            Operation::Replace { name, bytes } => {
                let id = self.add(File {
                    durable_bytes: bytes.len(),
                    bytes: Arc::new(bytes.clone()),
                });
                self.names.insert(name.clone(), id);
                self.durable_names.insert(name.clone(), id);
            }
        }
    }

    fn add(&mut self, file: File) -> FileId {
        let id = self.next_id();
        self.next_id += 1;
        self.files.insert(id, file);
        id
    }

    fn change(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.unsynced.push(change);
    }
}
