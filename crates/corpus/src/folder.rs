//! Which files of a folder are documents, and how are they read one after another?

use crate::file::{self, Markup};
use crate::input::Meter;
use crate::reader::{BadDocument, Step};
use crate::{Document, ReaderError};
use std::collections::{HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

/// A file and its length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
}

/// What a walk found, in the order of the paths.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    pub(crate) files: Vec<Found>,
    /// Folders that could not be read, and why.
    pub(crate) unreadable: Vec<(PathBuf, std::io::Error)>,
}

/// Finds the files below `root` that `wanted` names. Hidden files and folders are passed over.
/// A link to a folder is followed if `follow`, but no folder is entered twice, so a loop ends.
pub(crate) fn walk(root: &Path, follow: bool, wanted: impl Fn(&str) -> bool) -> Walk {
    let mut walk = Walk::default();
    let mut entered = HashSet::new();
    let mut waiting = vec![root.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        if follow && !fs::canonicalize(&folder).is_ok_and(|real| entered.insert(real)) {
            continue;
        }
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) => {
                walk.unreadable.push((folder, error));
                continue;
            }
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') {
                continue;
            }
            let Ok(mut kind) = entry.file_type() else {
                continue;
            };
            if kind.is_symlink() {
                let Ok(target) = fs::metadata(entry.path()) else {
                    continue;
                };
                kind = target.file_type();
                if kind.is_dir() && !follow {
                    continue;
                }
            }
            if kind.is_dir() {
                waiting.push(entry.path());
            } else if kind.is_file() && wanted(&name) {
                let path = entry.path();
                let bytes = fs::metadata(&path).map_or(0, |metadata| metadata.len());
                walk.files.push(Found { path, bytes });
            }
        }
        // The last is entered first; sorted, so that of two ways to one folder always the same wins.
        waiting.sort_unstable_by(|a, b| b.cmp(a));
    }
    walk.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    walk
}

/// The address of a file. The path must be absolute.
pub(crate) fn file_url(path: &Path) -> String {
    url::Url::from_file_path(path).map_or_else(
        |()| format!("file:{}", path.display()),
        |url| url.to_string(),
    )
}

/// The documents of a folder.
pub(crate) struct Folder {
    files: VecDeque<Found>,
    unreadable: VecDeque<(PathBuf, std::io::Error)>,
    meter: Meter,
}

impl Folder {
    /// Lists the folder's files. A folder that cannot be read, or has no text, is an error.
    pub(crate) fn open(root: &Path, meter: &Meter) -> Result<Folder, ReaderError> {
        let io = |source| ReaderError::Io {
            path: root.to_path_buf(),
            source,
        };
        let real = fs::canonicalize(root).map_err(io)?;
        fs::read_dir(&real).map_err(io)?;
        let Walk { files, unreadable } = walk(&real, true, |name| Markup::of(name).is_some());
        if files.is_empty() && unreadable.is_empty() {
            let reason = "no documents in this folder; known are .txt .text .md .markdown .rst \
                          .html .htm .xhtml (also .gz), and names such as README";
            let (path, reason) = (root.to_path_buf(), reason.to_owned());
            return Err(ReaderError::Source { path, reason });
        }
        Ok(Folder {
            files: files.into(),
            unreadable: unreadable.into(),
            meter: meter.clone(),
        })
    }

    /// Bytes of all files.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// The next file.
    pub(crate) fn next(&mut self) -> Step {
        if let Some((path, error)) = self.unreadable.pop_front() {
            return bad(&path, format!("cannot read the folder: {error}"));
        }
        let Some(found) = self.files.pop_front() else {
            return Step::End;
        };
        let before = self.meter.bytes();
        let step = match read_file(&found.path, &self.meter) {
            Ok((document, text_bytes)) => Step::Good {
                document,
                text_bytes,
            },
            Err(error) => bad(&found.path, error.to_string()),
        };
        // What was not read of a bad file has been dealt with all the same.
        let read = self.meter.bytes() - before;
        self.meter.skip(found.bytes.saturating_sub(read));
        step
    }
}

fn bad(path: &Path, reason: String) -> Step {
    let bad = BadDocument {
        file: path.display().to_string(),
        line: 0,
        reason,
    };
    Step::Bad { bad, text_bytes: 0 }
}

/// Reads one file by its name's ending; with the document come the bytes of its text.
pub(crate) fn read_file(path: &Path, meter: &Meter) -> Result<(Document, u64), file::FileError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let bytes = file::read_bytes(path, meter)?;
    let text_bytes = bytes.len() as u64;
    let markup = Markup::of(&name).unwrap_or(Markup::Plain);
    Ok((
        file::document(file_url(path), &name, markup, bytes)?,
        text_bytes,
    ))
}

#[cfg(test)]
mod tests {
    use crate::{Document, Reader, ReaderError, Source};
    use std::io::Write;
    use std::path::Path;

    fn write(root: &Path, path: &str, bytes: &[u8]) {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn read(root: &Path) -> (Vec<Document>, Reader) {
        let mut reader = Reader::open(vec![Source::Folder(root.to_path_buf())], false).unwrap();
        let mut documents = Vec::new();
        while let Some(document) = reader.next_document().unwrap() {
            documents.push(document);
        }
        (documents, reader)
    }

    #[test]
    fn a_folder_is_read_in_the_order_of_paths() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        write(root, "b.txt", b"second");
        write(root, "a/z é.md", b"# First\nx");
        write(root, "c.html", b"<title>Third</title>y");
        write(root, ".hidden/d.txt", b"no");
        write(root, ".e.txt", b"no");
        write(root, "f.png", b"no");
        write(root, "g.txt", b"bin\0ary");
        write(root, "h.txt.gz", b"not gzip");
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(b"Fourth").unwrap();
        write(root, "README.gz", &encoder.finish().unwrap());
        let (documents, reader) = read(root);
        let titles: Vec<_> = documents.iter().map(|d| d.title.as_str()).collect();
        assert_eq!(titles, ["Fourth", "First", "second", "Third"]);
        let url = &documents[1].url;
        assert!(
            url.starts_with("file:///") && url.ends_with("/a/z%20%C3%A9.md"),
            "{url}"
        );
        let progress = reader.progress();
        assert_eq!((progress.documents, progress.bad), (4, 2));
        assert_eq!(Some(progress.source_bytes), progress.source_bytes_total);
        assert!(
            reader.bad_documents()[0]
                .to_string()
                .ends_with("g.txt: binary, not text")
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_that_loop_end() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        write(root, "a/b.txt", b"x");
        std::os::unix::fs::symlink(root, root.join("a/loop")).unwrap();
        std::os::unix::fs::symlink(root.join("a"), root.join("again")).unwrap();
        std::os::unix::fs::symlink("nowhere", root.join("gone.txt")).unwrap();
        assert_eq!(read(root).0.len(), 1);
    }

    #[test]
    fn a_folder_without_documents_says_what_it_looked_for() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "a.pdf", b"x");
        let error = Reader::open(vec![Source::Folder(folder.path().to_path_buf())], false);
        let Err(ReaderError::Source { reason, .. }) = error else {
            panic!()
        };
        assert!(reason.contains(".md"), "{reason}");
    }
}
