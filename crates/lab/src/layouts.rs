//! Layouts of the index for each number of partitions: the index itself, or a copy.
//!
//! A server opens every list in each of its segments. A single partition of an index laid out for eight
//! would pay for an unused division, and an index laid out for one cannot be divided. To make arms
//! differ only in their partitions, each searches the index that `shorttail index --partitions` would
//! have built for it.
use crate::LabError;
use crate::ask::ask;
use load::Live;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An index and its copies, which are removed on drop.
#[derive(Debug)]
pub(crate) struct Layouts {
    binary: PathBuf,
    index: PathBuf,
    /// Number of partitions that the index itself is laid out for.
    partitions: usize,
    /// Folder for copies.
    scratch: PathBuf,
    made: RefCell<BTreeSet<usize>>,
}

impl Layouts {
    pub(crate) fn new(
        binary: &Path,
        (index, partitions): (&Path, usize),
        scratch: PathBuf,
    ) -> Layouts {
        Layouts {
            binary: binary.to_owned(),
            index: index.to_owned(),
            partitions,
            scratch,
            made: RefCell::default(),
        }
    }

    /// Returns whether a copy must first be laid out for `partitions`.
    pub(crate) fn lacks(&self, partitions: usize) -> bool {
        partitions != self.partitions && !self.made.borrow().contains(&partitions)
    }

    /// Returns the directory of the index for `partitions` partitions; fails if it has fewer chunks.
    pub(crate) fn of(&self, partitions: usize, live: &Live) -> Result<PathBuf, LabError> {
        if partitions == self.partitions {
            return Ok(self.index.clone());
        }
        let copy = self.scratch.join(partitions.to_string());
        if self.lacks(partitions) {
            let laid_out = self.lay_out(&copy, partitions, live);
            if laid_out.is_err() {
                let _ = std::fs::remove_dir_all(&copy);
            }
            laid_out?;
            self.made.borrow_mut().insert(partitions);
        }
        Ok(copy)
    }

    fn lay_out(&self, copy: &Path, partitions: usize, live: &Live) -> Result<(), LabError> {
        link(&self.index, copy).map_err(|error| LabError::file(copy, error))?;
        let partitions = partitions.to_string();
        let name = format!(
            "shorttail optimize {} --partitions {partitions}",
            self.index.display()
        );
        let mut command = Command::new(&self.binary);
        command.arg("optimize").arg(copy);
        command.args(["--partitions", &partitions]);
        ask(&mut command, &name, live).map(|_| ())
    }
}

impl Drop for Layouts {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.scratch);
    }
}

/// Links the files of an index into a copy. Files never change, so hard links suffice where they are
/// supported.
fn link(index: &Path, copy: &Path) -> io::Result<()> {
    // A killed earlier run may have left a copy.
    let _ = std::fs::remove_dir_all(copy);
    std::fs::create_dir_all(copy)?;
    for entry in std::fs::read_dir(index)? {
        let entry = entry?;
        let is_lock = entry.path().extension().is_some_and(|end| end == "lock");
        if !entry.file_type()?.is_file() || is_lock {
            continue;
        }
        let to = copy.join(entry.file_name());
        std::fs::hard_link(entry.path(), &to)
            .or_else(|_| std::fs::copy(entry.path(), &to).map(|_| ()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_but_locks_have_a_second_name() {
        let folder = tempfile::tempdir().unwrap();
        let (index, copy) = (folder.path().join("index"), folder.path().join("a/copy"));
        std::fs::create_dir_all(index.join("folder")).unwrap();
        for name in ["MANIFEST-1", "segment-00000001.index", "writer.lock"] {
            std::fs::write(index.join(name), name).unwrap();
        }
        std::fs::create_dir_all(&copy).unwrap();
        std::fs::write(copy.join("MANIFEST-9"), "left behind").unwrap();
        link(&index, &copy).unwrap();
        let entries = std::fs::read_dir(&copy).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["MANIFEST-1", "segment-00000001.index"]);
    }

    #[test]
    fn the_index_itself_is_taken_where_it_fits() {
        let layouts = Layouts::new(
            Path::new("no program"),
            (Path::new("index"), 2),
            "scratch".into(),
        );
        let live = Live::default();
        assert_eq!(layouts.of(2, &live).unwrap(), Path::new("index"));
        assert!(layouts.lacks(1) && layouts.of(1, &live).is_err());
    }
}
