//! Settings of the machine that an experiment changes, and how they come back.
//!
//! What is about to change is written to a file first, with the old value, and only then changed;
//! each value is read back. So whatever happens (an error, a signal, a power cut) `lab restore`
//! knows what to put back. The latest change is undone first.
use crate::LabError;
use crate::tree::Tree;
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// One change of a setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The file below the root of the tree.
    pub file: String,
    /// What it said before.
    pub old: String,
    /// What was written.
    pub new: String,
}

/// Changes settings and undoes that when it is dropped.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    tree: Tree,
}

impl Journal {
    /// A new journal.
    ///
    /// # Errors
    /// One is there already: settings of an earlier run were not put back.
    pub fn begin(path: &Path, tree: &Tree) -> Result<Journal, LabError> {
        if path.exists() {
            let reason =
                "settings of an earlier run were not put back; run `shorttail lab restore`";
            return Err(LabError::file(path, reason));
        }
        Ok(Journal {
            path: path.to_owned(),
            tree: tree.clone(),
        })
    }

    /// Writes a setting, unless it has that value already.
    ///
    /// # Errors
    /// The setting is not there, may not be written, or does not keep its value.
    pub fn set(&mut self, file: &str, new: &str) -> Result<(), LabError> {
        let path = self.tree.path(file);
        let old = self
            .tree
            .read(file)
            .map_err(|(_, evidence)| LabError::file(&path, evidence))?;
        if old == new {
            return Ok(());
        }
        let change = Change {
            file: file.to_owned(),
            old,
            new: new.to_owned(),
        };
        self.note(&change)?;
        write_and_check(&path, new)
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
    /// What cannot be put back stays in the journal, and the next run refuses to start.
    fn drop(&mut self) {
        let _ = restore(&self.path, &self.tree);
    }
}

/// Puts back what a journal knows, the latest change first, and removes the journal. Without a
/// journal there is nothing to do.
///
/// # Errors
/// A setting that cannot be put back, or a journal that cannot be read; the journal stays.
pub fn restore(path: &Path, tree: &Tree) -> Result<Vec<Change>, LabError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(path).map_err(|error| LabError::file(path, error))?;
    // A line that breaks off was being written when the power went: its change was not made yet.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let changes: Result<Vec<Change>, _> = whole.lines().map(serde_json::from_str).collect();
    let mut changes = changes.map_err(|error| LabError::file(path, error))?;
    changes.reverse();
    for change in &changes {
        write_and_check(&tree.path(&change.file), &change.old)?;
    }
    std::fs::remove_file(path).map_err(|error| LabError::file(path, error))?;
    Ok(changes)
}

/// The kernel may accept a value and keep another.
fn write_and_check(path: &Path, value: &str) -> Result<(), LabError> {
    let failed = |error| LabError::file(path, format!("cannot write `{value}`: {error}"));
    std::fs::write(path, value).map_err(failed)?;
    let kept = std::fs::read_to_string(path).map_err(failed)?;
    if kept.trim() != value {
        let kept = kept.trim();
        return Err(LabError::file(
            path,
            format!("took `{value}` and kept `{kept}`"),
        ));
    }
    Ok(())
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
        // The last line was cut by a power failure.
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
