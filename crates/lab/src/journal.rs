//! Journal of changed machine settings, and their restoration.
//!
//! A change is first written to a file with the old value, and only then applied; each value is read
//! back. After an error, a signal or a power failure, `lab restore` thus knows which values to restore.
//! The latest change is undone first.
use crate::knobs::{self, Knob};
use crate::tree::Tree;
use crate::{LabError, setting};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A change of one setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Setting: a file below the root of the tree; `FILE@1a4` is a register in it, `FILE@L3` a line.
    pub file: String,
    /// Value before the change.
    pub old: String,
    /// Value that was written.
    pub new: String,
}

/// Changes settings, and restores them when dropped.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    tree: Tree,
    /// Files whose values the kernel honours only while they are open.
    held: Vec<File>,
}

impl Journal {
    /// Starts a new journal.
    ///
    /// # Errors
    /// A journal already exists: settings of an earlier run were not restored.
    pub fn begin(path: &Path, tree: &Tree) -> Result<Journal, LabError> {
        if path.exists() {
            let reason =
                "settings of an earlier run were not put back; run `shorttail lab restore`";
            return Err(LabError::file(path, reason));
        }
        Ok(Journal {
            path: path.to_owned(),
            tree: tree.clone(),
            held: Vec::new(),
        })
    }

    /// Sets a knob on all processors that have it.
    ///
    /// # Errors
    /// An invalid value, a machine without the knob, or an error of [`set`](Journal::set).
    pub fn turn(&mut self, knob: Knob, value: &str) -> Result<(), LabError> {
        for change in knob.changes(&self.tree, value)? {
            match change {
                knobs::Change::Write { name, value } => self.set(&name, &value)?,
                knobs::Change::Hold { file, number } => self.hold(&file, number)?,
            }
        }
        Ok(())
    }

    /// Writes a setting, unless it already has the value.
    ///
    /// # Errors
    /// The setting does not exist, cannot be written, or does not keep its value.
    pub fn set(&mut self, file: &str, new: &str) -> Result<(), LabError> {
        let old = setting::read(&self.tree, file)
            .map_err(|(_, evidence)| LabError::file(&self.tree.path(file), evidence))?;
        if old == new {
            return Ok(());
        }
        let change = Change {
            file: file.to_owned(),
            old,
            new: new.to_owned(),
        };
        self.note(&change)?;
        setting::write(&self.tree, file, new)
    }

    /// Writes a number and keeps the file open. It needs no journal entry, because the kernel drops the
    /// value when this program ends.
    fn hold(&mut self, file: &str, number: u32) -> Result<(), LabError> {
        let path = self.tree.path(file);
        let failed = |error: std::io::Error| LabError::file(&path, error);
        let open = OpenOptions::new().read(true).write(true).open(&path);
        let open = open.map_err(failed)?;
        open.write_all_at(&number.to_le_bytes(), 0)
            .map_err(failed)?;
        let mut kept = [0; 4];
        open.read_exact_at(&mut kept, 0).map_err(failed)?;
        // Other programs may request a smaller value, and the kernel applies the smallest.
        let kept = u32::from_le_bytes(kept);
        if kept > number {
            let reason = format!("took `{number}` and kept `{kept}`");
            return Err(LabError::file(&path, reason));
        }
        self.held.push(open);
        Ok(())
    }

    fn note(&self, change: &Change) -> Result<(), LabError> {
        let failed = |error: std::io::Error| LabError::file(&self.path, error);
        if let Some(directory) = self.path.parent() {
            std::fs::create_dir_all(directory).map_err(failed)?;
        }
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)
            .map_err(failed)?;
        let line =
            serde_json::to_string(change).map_err(|error| LabError::file(&self.path, error))?;
        writeln!(file, "{line}")
            .and_then(|()| file.sync_all())
            .map_err(failed)
    }
}

impl Drop for Journal {
    /// Restores the settings. Those that cannot be restored stay in the journal, and the next run
    /// refuses to start.
    fn drop(&mut self) {
        let _ = restore(&self.path, &self.tree);
    }
}

/// Restores the settings of a journal, the latest change first, and removes the journal. Does nothing
/// without a journal.
///
/// # Errors
/// A setting that cannot be restored, or a journal that cannot be read; the journal stays.
pub fn restore(path: &Path, tree: &Tree) -> Result<Vec<Change>, LabError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(path).map_err(|error| LabError::file(path, error))?;
    // An incomplete last line was cut off by a power failure before its change was applied.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let changes: Result<Vec<Change>, _> = whole.lines().map(serde_json::from_str).collect();
    let mut changes = changes.map_err(|error| LabError::file(path, error))?;
    changes.reverse();
    for change in &changes {
        setting::write(tree, &change.file, &change.old)?;
    }
    std::fs::remove_file(path).map_err(|error| LabError::file(path, error))?;
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Machine {
        root: tempfile::TempDir,
        journal: PathBuf,
        tree: Tree,
    }

    fn machine() -> Machine {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("sys")).unwrap();
        std::fs::write(root.path().join("sys/smt"), "on\n").unwrap();
        std::fs::write(root.path().join("sys/turbo"), "1").unwrap();
        Machine {
            journal: root.path().join("state/knobs.journal"),
            tree: Tree::at(root.path()),
            root,
        }
    }

    impl Machine {
        fn value(&self, name: &str) -> String {
            self.tree.read(name).unwrap()
        }
    }

    #[test]
    fn what_was_changed_comes_back_when_the_journal_is_dropped() {
        let machine = machine();
        let mut journal = Journal::begin(&machine.journal, &machine.tree).unwrap();
        journal.set("sys/smt", "off").unwrap();
        journal.set("sys/turbo", "0").unwrap();
        journal.set("sys/turbo", "2").unwrap();
        assert_eq!(
            (machine.value("sys/smt"), machine.value("sys/turbo")),
            ("off".into(), "2".into())
        );
        assert!(journal.set("sys/absent", "1").is_err());
        drop(journal);
        assert_eq!(
            (machine.value("sys/smt"), machine.value("sys/turbo")),
            ("on".into(), "1".into())
        );
        assert!(!machine.journal.exists());
    }

    #[test]
    fn a_run_that_was_killed_is_restored_later() {
        let machine = machine();
        let mut journal = Journal::begin(&machine.journal, &machine.tree).unwrap();
        journal.set("sys/smt", "off").unwrap();
        std::mem::forget(journal);
        let again = Journal::begin(&machine.journal, &machine.tree)
            .unwrap_err()
            .to_string();
        assert!(again.contains("lab restore"), "{again}");
        // A power failure cut the last line off.
        let mut text = std::fs::read_to_string(&machine.journal).unwrap();
        text.push_str("{\"file\":\"sys/tu");
        std::fs::write(&machine.journal, text).unwrap();
        let undone = restore(&machine.journal, &machine.tree).unwrap();
        assert_eq!(undone.len(), 1);
        assert_eq!(machine.value("sys/smt"), "on");
        assert_eq!(restore(&machine.journal, &machine.tree).unwrap(), []);
    }

    #[test]
    fn a_journal_stays_while_something_could_not_be_put_back() {
        let machine = machine();
        let mut journal = Journal::begin(&machine.journal, &machine.tree).unwrap();
        journal.set("sys/smt", "off").unwrap();
        std::fs::remove_file(machine.root.path().join("sys/smt")).unwrap();
        std::fs::create_dir(machine.root.path().join("sys/smt")).unwrap();
        drop(journal);
        assert!(machine.journal.exists());
        assert!(restore(&machine.journal, &machine.tree).is_err());
    }
}
