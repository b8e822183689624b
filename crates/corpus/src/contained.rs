//! Documents of one file that has several, as steps of a reader: those that an extractor finds, and those of a log.

use crate::extraction::{Extracted, Extraction, Extractor, Kind};
use crate::file::{self, FileError, Markup};
use crate::input::{Input, InputError, Meter, decompressed_name};
use crate::step::{BadDocument, Step};
use crate::{FileLimits, logs};
use document::Document;
use json::{Map, Value};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Documents of one file, as steps of a reader.
pub(crate) struct Contained {
    /// URL of the file.
    url: String,
    /// Name of the file in reports.
    file: String,
    name: String,
    results: Extraction,
    /// Counter of this file alone, which may be read ahead of its turn.
    own: Meter,
    /// Counter of all sources, and the bytes of this file that it has.
    meter: Meter,
    counted: u64,
    /// Length of the file.
    bytes: u64,
}

impl Contained {
    /// Begins to read an open file, before its turn perhaps: `meter` counts its bytes as its results are taken. Archives are
    /// decompressed by the extractor, other files here.
    pub(crate) fn start(
        extractor: &Extractor,
        (path, url): (&Path, String),
        opened: File,
        limits: FileLimits,
        meter: &Meter,
    ) -> io::Result<Contained> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let bytes = opened.metadata()?.len();
        let own = Meter::default();
        let input = match Kind::of(&name) {
            Some(Kind::Archive) => Input::of_bytes(opened, "", limits, &own)?,
            _ => Input::new(opened, path, limits, &own)?,
        };
        let results = extractor.0.start(&name, Box::new(Explained(input)));
        Ok(Contained {
            url,
            file: path.display().to_string(),
            name: name.into_owned(),
            results,
            own,
            meter: meter.clone(),
            counted: 0,
            bytes,
        })
    }

    /// Begins to read an open log, whose documents are groups of its lines.
    pub(crate) fn of_log(
        (path, url): (&Path, String),
        opened: File,
        limits: FileLimits,
        meter: &Meter,
    ) -> io::Result<Contained> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let bytes = opened.metadata()?.len();
        let own = Meter::default();
        // A rotated log, `app.log.2.gz`, is compressed like any other.
        let input = Input::new(opened, path, limits, &own)?;
        Ok(Contained {
            url,
            file: path.display().to_string(),
            results: logs::documents(decompressed_name(&name), input),
            name: name.into_owned(),
            own,
            meter: meter.clone(),
            counted: 0,
            bytes,
        })
    }

    /// Returns the next result as a step.
    pub(crate) fn next(&mut self) -> Step {
        let result = self.results.next();
        let done = match result {
            // The unread rest of a file counts as progress too.
            None => self.bytes,
            Some(_) => self.own.bytes().min(self.bytes),
        };
        self.meter.skip(done - self.counted);
        self.counted = done;
        match result {
            None => Step::End,
            Some(Extracted::LeftOut { name }) => Step::LeftOut(name),
            Some(Extracted::Bad { path, reason }) => self.bad(&path, reason),
            Some(Extracted::Document {
                path,
                title,
                body,
                fields,
            }) => self.document(&path, title, body, fields),
        }
    }

    fn document(
        &self,
        path: &str,
        title: String,
        body: String,
        fields: Map<String, Value>,
    ) -> Step {
        let Some(url) = url_inside(&self.url, path) else {
            let reason = "its path has a part `.` or `..`, or is longer than a URL may be";
            return self.bad(path, reason.to_owned());
        };
        let name = path.rsplit('/').next().filter(|name| !name.is_empty());
        let body = without_nul(body);
        let title = Some(without_nul(title)).filter(|title| !title.trim().is_empty());
        let title = title.unwrap_or_else(|| {
            let line = file::first_line(&body);
            line.unwrap_or_else(|| without_nul(name.unwrap_or(&self.name).to_owned()))
        });
        Step::Good {
            text_bytes: (title.len() + body.len()) as u64,
            document: Document {
                url,
                title,
                body,
                fields,
                ..Document::default()
            },
        }
    }

    fn bad(&self, path: &str, reason: String) -> Step {
        let file = match path {
            "" => self.file.clone(),
            path => format!("{}!/{path}", self.file),
        };
        let bad = BadDocument {
            file,
            line: 0,
            reason,
        };
        Step::Bad { bad, text_bytes: 0 }
    }
}

fn without_nul(text: String) -> String {
    match text.contains('\0') {
        true => text.replace('\0', " "),
        false => text,
    }
}

/// Returns the URL of a document inside a file: that of the file, `!/` and the percent-encoded path. `None` where a
/// browser would resolve it to another file, or where it is too long.
fn url_inside(file: &str, path: &str) -> Option<String> {
    let mut url = file.to_owned();
    if !path.is_empty() {
        url.push('!');
        for part in path.split('/') {
            if matches!(part, "." | "..") {
                return None;
            }
            url.push('/');
            push_encoded(&mut url, part);
        }
    }
    (url.len() <= document::URL_BYTES_MAX).then_some(url)
}

/// Appends a part of a path. Everything but unreserved characters of URLs (and `!`) is percent-encoded.
fn push_encoded(url: &mut String, part: &str) {
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte) {
            url.push(char::from(byte));
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
}

/// Input whose errors are sentences for the user, and whose time counts while it is read.
struct Explained(Input);

impl Read for Explained {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.resume();
        let read = self.0.read(buffer);
        self.0.pause();
        read.map_err(|error| match self.0.explain(error) {
            InputError::Io(error) if error.kind() == io::ErrorKind::Interrupted => error,
            InputError::Io(error) => io::Error::other(FileError::Io(error).to_string()),
            InputError::Damaged(reason) => io::Error::other(reason),
            InputError::Beyond(beyond) => io::Error::other(beyond.to_string()),
        })
    }
}

/// Converts the bytes of a text, Markdown or HTML file into title, text and fields, as a file of a folder is. `None`
/// where the name is not that of a text file. The name is without an ending of compression.
pub fn text_document(name: &str, bytes: Vec<u8>) -> Option<Result<Document, String>> {
    let markup = Markup::of(name).filter(|_| is_text_name(name))?;
    let document = file::document(String::new(), name, markup, bytes, &Meter::default());
    Some(document.map_err(|error| error.to_string()))
}

/// Returns whether a file of this name, without an ending of compression, is text, Markdown, HTML or code.
pub fn is_text_name(name: &str) -> bool {
    Markup::of(name).is_some_and(|_| decompressed_name(name) == name)
}

/// Returns a reader of decompressed bytes, and the name without the ending that says how they are compressed. Nothing
/// limits the bytes: the caller does.
pub fn decompressed(
    name: &str,
    bytes: impl Read + Send + 'static,
) -> io::Result<(&str, Box<dyn Read + Send>)> {
    let bare = decompressed_name(name);
    let ending = name[bare.len()..].trim_start_matches('.');
    let input = Input::without_limits(bytes, ending)?;
    Ok((bare, Box::new(Explained(input))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extraction::Extract;
    use crate::{ReadOptions, Reader, Source};

    /// Extractor that gives each line of a file as a result: a path, `?` and a reason, or `-` and a name.
    #[derive(Debug)]
    struct Lines;

    impl Extract for Lines {
        fn reads(&self, kind: Kind) -> bool {
            kind == Kind::Archive
        }

        fn ahead(&self) -> usize {
            3
        }

        fn start(&self, _: &str, mut bytes: Box<dyn Read + Send>) -> Extraction {
            let mut text = String::new();
            if let Err(error) = bytes.read_to_string(&mut text) {
                let (path, reason) = (String::new(), error.to_string());
                return Box::new(std::iter::once(Extracted::Bad { path, reason }));
            }
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            Box::new(lines.into_iter().map(|line| {
                if let Some(name) = line.strip_prefix('-') {
                    return Extracted::LeftOut {
                        name: name.to_owned(),
                    };
                }
                if let Some((path, reason)) = line.split_once('?') {
                    let (path, reason) = (path.to_owned(), reason.to_owned());
                    return Extracted::Bad { path, reason };
                }
                Extracted::Document {
                    path: line,
                    title: String::new(),
                    body: "a\0b".to_owned(),
                    fields: Map::from_iter([("page".to_owned(), 1.into())]),
                }
            }))
        }
    }

    fn options() -> ReadOptions {
        ReadOptions {
            extractor: Some(Extractor::new(Lines)),
            ..ReadOptions::default()
        }
    }

    #[test]
    fn members_are_documents_of_their_file() {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("a b.zip");
        let lines = "x/ü 1.txt\n../etc/passwd\nbroken?truncated\n-p.png\nlast";
        std::fs::write(&archive, lines).unwrap();
        std::fs::write(folder.path().join("c.pdf"), "left out").unwrap();
        std::fs::write(folder.path().join("d.txt"), "text").unwrap();
        for source in [
            Source::Folder(folder.path().to_path_buf()),
            Source::parse(archive.to_str().unwrap()).unwrap(),
        ] {
            let whole = matches!(source, Source::Folder(_));
            let mut reader = Reader::open(vec![source], options()).unwrap();
            let mut urls = Vec::new();
            while let Some(document) = reader.next_document().unwrap() {
                if document.url.contains('!') {
                    assert_eq!((&*document.title, &*document.body), ("a b", "a b"));
                    assert_eq!(document.fields["page"], 1);
                }
                urls.push(document.url);
            }
            assert!(
                urls[0].ends_with("/a%20b.zip!/x/%C3%BC%201.txt"),
                "{urls:?}"
            );
            assert!(urls[1].ends_with("/a%20b.zip!/last"), "{urls:?}");
            assert_eq!(urls.len(), if whole { 3 } else { 2 });
            let bad: Vec<String> = reader
                .bad_documents()
                .iter()
                .map(|b| b.to_string())
                .collect();
            assert!(
                bad[0].contains("a b.zip!/../etc/passwd: its path"),
                "{bad:?}"
            );
            assert!(bad[1].ends_with("a b.zip!/broken: truncated"), "{bad:?}");
            let kinds = reader.left_out();
            assert!(kinds.contains(&(".png".to_owned(), 1)), "{kinds:?}");
            assert_eq!(kinds.contains(&(".pdf".to_owned(), 1)), whole);
            let progress = reader.progress();
            assert_eq!(Some(progress.source_bytes), progress.source_bytes_total);
        }
    }

    #[test]
    fn files_that_are_read_ahead_keep_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let mut expected = Vec::new();
        for number in 100..160 {
            // Every fifth file has no results.
            let (name, content) = match number % 5 {
                0 => (format!("{number}.txt"), "text"),
                1 => (format!("{number}.zip"), ""),
                _ => (format!("{number}.zip"), "a\nb"),
            };
            std::fs::write(folder.path().join(&name), content).unwrap();
            match content {
                "text" => expected.push(name),
                "" => {}
                _ => expected.extend([format!("{name}!/a"), format!("{name}!/b")]),
            }
        }
        let source = Source::Folder(folder.path().to_path_buf());
        let mut reader = Reader::open(vec![source], options()).unwrap();
        let mut found = Vec::new();
        let mut before = 0;
        while let Some(document) = reader.next_document().unwrap() {
            found.push(document.url);
            assert!(reader.source_bytes() >= before);
            before = reader.source_bytes();
        }
        let root = crate::folder::file_url(&folder.path().canonicalize().unwrap());
        let expected: Vec<String> = expected
            .iter()
            .map(|name| format!("{root}/{name}"))
            .collect();
        assert_eq!(found, expected);
        let progress = reader.progress();
        assert_eq!(Some(progress.source_bytes), progress.source_bytes_total);
    }

    #[test]
    fn a_container_without_an_extractor_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pdf");
        std::fs::write(&path, "x").unwrap();
        for options in [options(), ReadOptions::default()] {
            let source = Source::parse(path.to_str().unwrap()).unwrap();
            let mut reader = Reader::open(vec![source], options).unwrap();
            assert_eq!(reader.next_document().unwrap(), None);
            let bad = reader.bad_documents()[0].to_string();
            assert!(
                bad.contains("a.pdf: this program was built without"),
                "{bad}"
            );
        }
    }
}
