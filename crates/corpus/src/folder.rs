//! Reader of a folder, one document for each file.

use crate::contained::Contained;
use crate::extraction::Extractor;
use crate::file::{self, FileError, Markup};
use crate::input::{Input, Meter};
use crate::opened::Beneath;
use crate::passed_over::PassedOver;
use crate::step::{BadDocument, Place, ReadOptions, Step};
use crate::walk::{Found, Kinds, Walk, walk};
use crate::{FileLimits, ReaderError, logs};
use document::Document;
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the `file:` URL of an absolute path, by which a file of a folder is known.
pub(crate) fn file_url(path: &Path) -> String {
    url::Url::from_file_path(path).map_or_else(
        |()| format!("file:{}", path.display()),
        |url| url.to_string(),
    )
}

/// Returns the path of a `file:` URL; `None` for others.
pub fn path_of_file_url(url: &str) -> Option<PathBuf> {
    url::Url::parse(url).ok()?.to_file_path().ok()
}

/// Reader of the files of one folder.
pub(crate) struct Folder {
    beneath: Beneath,
    files: VecDeque<Found>,
    unreadable: VecDeque<(PathBuf, std::io::Error)>,
    passed_over: VecDeque<PassedOver>,
    left_out: Kinds,
    limits: FileLimits,
    extractor: Option<Extractor>,
    /// Documents of the file read last.
    contained: Option<Contained>,
    /// The next files, of which those with an extractor have been started.
    ahead: VecDeque<(Found, Result<Option<Contained>, FileError>)>,
    meter: Meter,
    place: Place,
}

/// Upper limit on the files that are looked at before their turn.
const AHEAD_MAX: usize = 64;

impl Folder {
    /// Lists the folder's files. A folder that cannot be read or that yields nothing at all is an error.
    pub(crate) fn open(
        root: &Path,
        options: &ReadOptions,
        meter: &Meter,
    ) -> Result<Folder, ReaderError> {
        let io = |source| ReaderError::Io {
            path: root.to_path_buf(),
            source,
        };
        let real = fs::canonicalize(root).map_err(io)?;
        fs::read_dir(&real).map_err(io)?;
        // With `follow_links`, files are opened below `/`: links may lead anywhere, and the real path has no link.
        let held = match options.follow_links {
            true => Path::new("/"),
            false => &real,
        };
        let beneath = Beneath::new(held).map_err(|error| io(error.into()))?;
        let Walk {
            files,
            unreadable,
            passed_over,
            left_out,
        } = walk(&beneath, &real, |name| {
            let extractor = options.extractor.as_ref();
            Markup::of(name).is_some()
                || logs::is_log(name)
                || extractor.is_some_and(|one| one.reads(name))
        });
        if files.is_empty() && unreadable.is_empty() && passed_over.is_empty() {
            let mut reason = "no documents in this folder; known are .txt .text .md .markdown .rst \
                              .html .htm .xhtml, source code and logs (also .gz), and names such as README"
                .to_owned();
            if let Some((kind, count)) = left_out.by_count().first() {
                reason.push_str(&format!(
                    "; it has {count} {kind} files. Files of JSON and tables are sources by their own names"
                ));
            }
            let path = root.to_path_buf();
            return Err(ReaderError::Source { path, reason });
        }
        let walk = Walk {
            files,
            unreadable,
            passed_over,
            left_out,
        };
        Ok(Folder::of_walk(beneath, walk, options, meter))
    }

    /// Makes a reader of one file, which is read as a file of its folder is. It may be a link itself.
    pub(crate) fn of_file(
        path: &Path,
        options: &ReadOptions,
        meter: &Meter,
    ) -> Result<Folder, ReaderError> {
        let io = |source| ReaderError::Io {
            path: path.to_path_buf(),
            source,
        };
        let real = fs::canonicalize(path).map_err(io)?;
        let bytes = fs::metadata(&real).map_err(io)?.len();
        let parent_of = |path: &Path| path.parent().unwrap_or(Path::new("/")).to_path_buf();
        let beneath = Beneath::new(&parent_of(&real)).map_err(|error| io(error.into()))?;
        let given = std::path::absolute(path).map_err(io)?;
        let folder = fs::canonicalize(parent_of(&given)).map_err(io)?;
        let found = Found {
            path: folder.join(given.file_name().unwrap_or_default()),
            real,
            bytes,
        };
        let walk = Walk {
            files: vec![found],
            ..Walk::default()
        };
        Ok(Folder::of_walk(beneath, walk, options, meter))
    }

    fn of_walk(beneath: Beneath, walk: Walk, options: &ReadOptions, meter: &Meter) -> Folder {
        Folder {
            beneath,
            files: walk.files.into(),
            unreadable: walk.unreadable.into(),
            passed_over: walk.passed_over.into(),
            left_out: walk.left_out,
            limits: options.limits,
            extractor: options.extractor.clone(),
            contained: None,
            ahead: VecDeque::new(),
            meter: meter.clone(),
            place: Place::default(),
        }
    }

    /// Returns the total bytes of the files not yet read.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Returns the numbers of files whose names are not those of documents.
    pub(crate) fn left_out(&self) -> &Kinds {
        &self.left_out
    }

    /// Returns the place of the file read last.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Reads the next file.
    pub(crate) fn next(&mut self) -> Step {
        if let Some(contained) = &mut self.contained {
            let step = contained.next();
            if !matches!(step, Step::End) {
                return step;
            }
            self.contained = None;
        }
        if let Some((path, error)) = self.unreadable.pop_front() {
            return bad(&path, format!("cannot read the folder: {error}"));
        }
        if let Some(passed_over) = self.passed_over.pop_front() {
            return Step::PassedOver(passed_over);
        }
        self.look_ahead();
        let Some((found, started)) = self.ahead.pop_front() else {
            return Step::End;
        };
        let before = self.meter.bytes();
        self.place.file = found.path.display().to_string();
        let read = started.and_then(|started| match started {
            Some(contained) => {
                self.contained = Some(contained);
                Ok(Step::Meanwhile)
            }
            None => self.read(&found),
        });
        let step = match read {
            Ok(Step::Meanwhile) => {
                self.look_ahead();
                return Step::Meanwhile;
            }
            Ok(step) => step,
            Err(FileError::PassedOver(reason)) => Step::PassedOver(PassedOver {
                path: found.path,
                reason,
            }),
            Err(error) => bad(&found.path, error.to_string()),
        };
        // The unread rest of a bad file counts as progress too.
        let read = self.meter.bytes() - before;
        self.meter.skip(found.bytes.saturating_sub(read));
        step
    }

    /// Starts the next files that have several documents, so that several are read at a time. Their order stays.
    fn look_ahead(&mut self) {
        let is_started = |(_, started): &&(Found, Result<Option<Contained>, FileError>)| {
            matches!(started, Ok(Some(_)))
        };
        let started = self.ahead.iter().filter(is_started).count();
        let mut started = started + usize::from(self.contained.is_some());
        let started_max = self.extractor.as_ref().map_or(1, Extractor::ahead);
        while self.ahead.is_empty() || (self.ahead.len() < AHEAD_MAX && started < started_max) {
            let Some(found) = self.files.pop_front() else {
                return;
            };
            let contained = self.start(&found);
            started += usize::from(matches!(contained, Ok(Some(_))));
            self.ahead.push_back((found, contained));
        }
    }

    /// Starts a file that an extractor reads, or a log; `None` for any other.
    fn start(&self, found: &Found) -> Result<Option<Contained>, FileError> {
        let name = found.path.file_name().unwrap_or_default().to_string_lossy();
        if logs::is_log(&name) {
            let opened = self.beneath.open(&found.real)?;
            let named = (&*found.path, file_url(&found.path));
            let log = Contained::of_log(named, opened, self.limits, &self.meter)?;
            return Ok(Some(log));
        }
        let Some(extractor) = self.extractor.as_ref().filter(|one| one.reads(&name)) else {
            return Ok(None);
        };
        let opened = self.beneath.open(&found.real)?;
        let named = (&*found.path, file_url(&found.path));
        let contained = Contained::start(extractor, named, opened, self.limits, &self.meter)?;
        Ok(Some(contained))
    }

    fn read(&self, found: &Found) -> Result<Step, FileError> {
        let opened = self.beneath.open(&found.real)?;
        let input = Input::new(opened, &found.path, self.limits, &self.meter)?;
        let (document, text_bytes) = read_file(&found.path, input)?;
        Ok(Step::Good {
            document,
            text_bytes,
        })
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

/// Reads one file according to its extension. Returns the document and the bytes of its text.
pub(crate) fn read_file(path: &Path, input: Input) -> Result<(Document, u64), FileError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let meter = input.meter().clone();
    let bytes = file::read_bytes(input)?;
    let text_bytes = bytes.len() as u64;
    let markup = Markup::of(&name).unwrap_or(Markup::Plain);
    Ok((
        file::document(file_url(path), &name, markup, bytes, &meter)?,
        text_bytes,
    ))
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, Reader, ReaderError, Source};
    use document::Document;
    use std::io::Write;
    use std::path::Path;

    fn write(root: &Path, path: &str, bytes: &[u8]) {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn read(root: &Path) -> (Vec<Document>, Reader) {
        let mut reader = Reader::open(
            vec![Source::Folder(root.to_path_buf())],
            ReadOptions::default(),
        )
        .unwrap();
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
        assert_eq!(reader.left_out(), [(".png".to_owned(), 1)]);
        assert!(
            reader.bad_documents()[0]
                .to_string()
                .ends_with("g.txt: binary, not text")
        );
    }

    #[test]
    fn a_file_that_is_named_is_read_as_one_of_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        write(root, "a.md", b"# First\nx");
        write(root, "b.txt", b"second");
        write(root, "notes", "größer, without an ending".as_bytes());
        write(root, "app.log", b"2024-01-01 one\n2024-01-01 two\n");
        write(root, "main.rs", b"fn main() {}");
        write(root, "c.html", b"<title>Third</title>y");
        let (of_folder, _) = read(root);
        let read_one = |name: &str| {
            let source = Source::parse(root.join(name).to_str().unwrap()).unwrap();
            assert!(matches!(source, Source::TextFile(_)), "{name}");
            let mut reader = Reader::open(vec![source], ReadOptions::default()).unwrap();
            let document = reader.next_document().unwrap().unwrap();
            assert_eq!(reader.next_document().unwrap(), None);
            document
        };
        for document in &of_folder {
            let path = url::Url::parse(&document.url)
                .unwrap()
                .to_file_path()
                .unwrap();
            let path = path.display().to_string();
            let name = path.split("!/").next().unwrap();
            assert_eq!(&read_one(name), document);
        }
        assert_eq!(of_folder.len(), 5);
        let notes = read_one("notes");
        assert_eq!(notes.title, "größer, without an ending");
        write(root, "binary", b"\x7fELF\0");
        write(root, "empty", b"");
        for name in ["binary", "empty"] {
            let refused = Source::parse(root.join(name).to_str().unwrap());
            assert!(matches!(refused, Err(ReaderError::Source { .. })), "{name}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/etc/hostname", root.join("link.txt")).unwrap();
            let linked = read_one("link.txt");
            assert!(linked.url.ends_with("/link.txt"), "{}", linked.url);
        }
    }

    #[test]
    fn code_is_named_by_its_file_and_front_matter_is_no_text() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        write(
            root,
            "a.py",
            b"#!/usr/bin/env python3\n# Copyright\nprint('hello')",
        );
        write(
            root,
            "b.md",
            b"---\ntitle: \"A post\"\ndate: 2024-05-01\ntags:\n  - x\n---\n# Heading\nwords",
        );
        write(root, "c.md", b"+++\ntitle = 'Another'\n+++\nwords");
        write(root, "d.md", b"---\nA rule above\n\nwords");
        let (documents, _) = read(root);
        let shown: Vec<_> = documents
            .iter()
            .map(|one| (&*one.title, one.body.lines().next()))
            .collect();
        assert_eq!(
            shown,
            [
                ("a.py", Some("#!/usr/bin/env python3")),
                ("A post", Some("Heading")),
                ("Another", Some("words")),
                ("A rule above", Some("A rule above")),
            ]
        );
        assert_eq!(documents[1].fields["date"], "2024-05-01");
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

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_folder_is_counted_and_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("in");
        write(&root, "a.txt", b"kept");
        write(folder.path(), "secret.txt", b"secret");
        std::os::unix::fs::symlink("../secret.txt", root.join("notes.txt")).unwrap();
        let (documents, reader) = read(&root);
        assert_eq!(documents.len(), 1);
        let progress = reader.progress();
        assert_eq!((progress.bad, progress.passed_over), (0, 1));
        let named = reader.passed_over()[0].to_string();
        assert!(named.contains("notes.txt: passed over: a link"), "{named}");
        assert!(named.contains("secret.txt; --follow-links"), "{named}");
        let options = ReadOptions {
            follow_links: true,
            ..ReadOptions::default()
        };
        let mut reader = Reader::open(vec![Source::Folder(root)], options).unwrap();
        let mut bodies = Vec::new();
        while let Some(document) = reader.next_document().unwrap() {
            bodies.push(document.body);
        }
        assert_eq!(bodies, ["kept", "secret"]);
    }

    #[test]
    fn a_folder_without_documents_says_what_it_looked_for() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "a.pdf", b"x");
        let error = Reader::open(
            vec![Source::Folder(folder.path().to_path_buf())],
            ReadOptions::default(),
        );
        let Err(ReaderError::Source { reason, .. }) = error else {
            panic!()
        };
        assert!(reason.contains(".md"), "{reason}");
    }
}
