//! A regular file below a folder, opened without following links.
//!
//! Each component is opened in the folder before it, so no file outside is reached, whatever is put into the way meanwhile.

use rustix::fs::{CWD, FileType, Mode, OFlags};
use std::fs::File;
use std::io;
use std::path::{Component, Path};

/// Opens the file at `path` below `folder`.
pub(super) fn open(folder: &Path, path: &Path) -> io::Result<File> {
    let unfollowed = OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::RDONLY;
    let of_folders = unfollowed | OFlags::DIRECTORY;
    // A FIFO must not wait for its writer.
    let of_file = unfollowed | OFlags::NONBLOCK | OFlags::NOCTTY;
    let refused = || io::Error::from(io::ErrorKind::NotFound);
    let mut at = rustix::fs::openat(CWD, folder, of_folders, Mode::empty())?;
    let mut components = path.components().peekable();
    while let Some(component) = components.next() {
        let Component::Normal(name) = component else {
            return Err(refused());
        };
        let flags = match components.peek() {
            Some(_) => of_folders,
            None => of_file,
        };
        at = rustix::fs::openat(&at, name, flags, Mode::empty())?;
    }
    let stat = rustix::fs::fstat(&at)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(File::from(at)),
        _ => Err(refused()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_regular_files_below_the_folder_are_opened() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret"), "x").unwrap();
        let inside = outside.path().join("in");
        std::fs::create_dir_all(inside.join("a")).unwrap();
        std::fs::write(inside.join("a/file"), "x").unwrap();
        symlink("../secret", inside.join("link")).unwrap();
        symlink("..", inside.join("up")).unwrap();
        symlink("a/file", inside.join("near")).unwrap();
        let is_opened = |path: &str| open(&inside, Path::new(path)).is_ok();
        assert!(is_opened("a/file") && is_opened("a/./file"));
        for path in [
            "../secret",
            "link",
            "up/secret",
            "near",
            "a",
            "",
            ".",
            "/etc/passwd",
            "a/../../secret",
            "a/file/x",
            "b",
        ] {
            assert!(!is_opened(path), "{path}");
        }
    }
}
