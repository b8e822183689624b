//! What does the kernel tell of the machine? The texts of `/sys` and `/proc`, below any root.
//!
//! A root other than `/` holds a recorded machine: a copy of some of these files.

use crate::StorageError;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Upper limit on the bytes read of a file. The longest that is needed, `proc/cpuinfo`, repeats itself for every CPU.
const TEXT_BYTES_MAX: u64 = 64 << 10;

/// The root of `sys` and `proc`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemTree {
    root: PathBuf,
}

impl Default for SystemTree {
    /// This machine.
    fn default() -> SystemTree {
        SystemTree::at("/")
    }
}

impl SystemTree {
    /// Returns the machine whose files stand below `root`.
    pub fn at(root: impl AsRef<Path>) -> SystemTree {
        SystemTree {
            root: root.as_ref().to_owned(),
        }
    }

    /// Returns the text of a file by its path below the root (`sys/devices/system/cpu/online`): its first
    /// 64 KiB, and what is not UTF-8 replaced.
    pub fn read(&self, path: &str) -> Result<String, StorageError> {
        let path = self.root.join(path.trim_start_matches('/'));
        let mut bytes = Vec::new();
        File::open(&path)
            .and_then(|file| file.take(TEXT_BYTES_MAX).read_to_end(&mut bytes))
            .map_err(|source| StorageError::from_io("read", &path, source))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_below_the_root() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("sys/devices");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("online"), "0-3\n").unwrap();
        std::fs::write(folder.join("odd"), b"\xff0\n").unwrap();
        std::fs::write(folder.join("long"), vec![b'x'; 1 << 17]).unwrap();
        let tree = SystemTree::at(root.path());
        assert_eq!(tree.read("sys/devices/online").unwrap(), "0-3\n");
        assert_eq!(tree.read("/sys/devices/online").unwrap(), "0-3\n");
        assert_eq!(tree.read("sys/devices/odd").unwrap(), "\u{fffd}0\n");
        assert_eq!(tree.read("sys/devices/long").unwrap().len(), 1 << 16);
        let missing = tree.read("sys/devices/none").unwrap_err();
        assert!(
            matches!(missing, StorageError::NotFound { .. }),
            "{missing}"
        );
        assert!(tree.read("sys/devices").is_err(), "a folder has no text");
    }
}
