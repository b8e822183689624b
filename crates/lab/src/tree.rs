//! Kernel files that describe a machine: `/sys`, `/proc` and `/dev` below any root.
//!
//! A root other than `/` holds a recorded machine, which is examined like the local one.
use crate::capability::State;
use std::path::{Path, PathBuf};

/// A root directory with `sys`, `proc` and `dev` below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    root: PathBuf,
}

impl Tree {
    /// Returns the tree of the local machine.
    pub fn here() -> Tree {
        Tree::at("/")
    }

    /// Returns the tree of a recorded machine.
    pub fn at(root: impl Into<PathBuf>) -> Tree {
        Tree { root: root.into() }
    }

    /// Returns whether this is the local machine, whose settings can also be tried.
    pub fn is_here(&self) -> bool {
        self.root == Path::new("/")
    }

    /// Returns a path below the root.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name.trim_start_matches('/'))
    }

    /// Returns the text of a file without surrounding white space; otherwise the state that its absence
    /// implies, and the evidence.
    pub(crate) fn read(&self, name: &str) -> Result<String, (State, String)> {
        match std::fs::read_to_string(self.path(name)) {
            Ok(text) => Ok(text.trim().to_owned()),
            Err(error) => Err((State::of_error(&error), format!("{name}: {error}"))),
        }
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.read(name).ok()?.parse().ok()
    }

    /// Returns the sorted names in a directory; none if it is missing or empty.
    pub(crate) fn names(&self, directory: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.path(directory)) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    /// Returns the numbers of the processors present, from their directories.
    pub(crate) fn processors(&self) -> Vec<u32> {
        let names = self.names("sys/devices/system/cpu");
        let mut numbers: Vec<u32> = names
            .iter()
            .filter_map(|name| name.strip_prefix("cpu")?.parse().ok())
            .collect();
        numbers.sort_unstable();
        numbers
    }

    /// Returns the signs of a hypervisor; empty if there are none. No single sign is trusted.
    pub(crate) fn hypervisor_signs(&self) -> Vec<String> {
        let mut signs = Vec::new();
        let flags = self.read("proc/cpuinfo").unwrap_or_default();
        if flags.lines().any(|line| {
            line.starts_with("flags") && line.split_whitespace().any(|flag| flag == "hypervisor")
        }) {
            signs.push("/proc/cpuinfo: flag `hypervisor`".to_owned());
        }
        for name in ["sys/hypervisor/type", "sys/class/dmi/id/sys_vendor"] {
            if let Ok(text) = self.read(name) {
                let vendors = [
                    "QEMU",
                    "Amazon",
                    "Google",
                    "Microsoft",
                    "VMware",
                    "Xen",
                    "xen",
                ];
                if vendors.iter().any(|vendor| text.contains(vendor)) {
                    signs.push(format!("/{name}: {text}"));
                }
            }
        }
        signs
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Writes a recorded machine: files by path, below a temporary root.
    pub(crate) fn recorded(files: &[(&str, &str)]) -> (tempfile::TempDir, Tree) {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let tree = Tree::at(root.path());
        (root, tree)
    }
}
