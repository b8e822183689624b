//! How do documents come out of sources, one after another?

use crate::Document;
use crate::folder::Folder;
use crate::input::{Input, Meter};
use crate::json_lines::{JsonLines, LINE_BYTES_MAX};
use crate::machine::{Machine, MachineRoots};
use std::collections::VecDeque;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bad documents that are kept with their reasons; the others are counted.
const BAD_DOCUMENTS_KEPT: usize = 10;

/// Endings of files of JSON lines, before `.zst` or `.gz`.
const JSON_LINES_ENDINGS: [&str; 3] = ["jsonl", "ndjson", "json"];

/// Where documents come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// JSON lines, possibly compressed (`.zst`, `.gz`).
    JsonLines(PathBuf),
    /// A folder of text, Markdown and HTML files (recursively).
    Folder(PathBuf),
    /// JSON lines on standard input.
    StandardInput,
    /// The documentation that is on this machine already.
    Machine,
}

impl Source {
    /// What a command-line argument names: `-`, a folder, or a file ending in `.jsonl[.zst|.gz]`
    /// (`.ndjson` and `.json` are other names for the same).
    pub fn parse(argument: &str) -> Result<Source, ReaderError> {
        if argument == "-" {
            return Ok(Source::StandardInput);
        }
        let path = PathBuf::from(argument);
        let metadata = match std::fs::metadata(&path) {
            Ok(metadata) => metadata,
            Err(source) => return Err(ReaderError::Io { path, source }),
        };
        if metadata.is_dir() {
            Ok(Source::Folder(path))
        } else if has_json_lines_ending(&path) {
            Ok(Source::JsonLines(path))
        } else {
            let reason = "not a known kind of source; give a file ending in .jsonl, .jsonl.zst or \
                          .jsonl.gz (also .ndjson, .json), a folder, or - for standard input";
            Err(ReaderError::Source {
                path,
                reason: reason.to_owned(),
            })
        }
    }
}

fn has_json_lines_ending(path: &Path) -> bool {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().to_ascii_lowercase());
    let name = name.unwrap_or_default();
    let name = name
        .strip_suffix(".zst")
        .or_else(|| name.strip_suffix(".gz"))
        .unwrap_or(&name);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    JSON_LINES_ENDINGS.contains(&ending)
}

/// A source that cannot be read at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReaderError {
    /// Not a source.
    #[error("{path}: {reason}", path = path.display())]
    Source {
        /// The argument.
        path: PathBuf,
        /// What is wrong and what to do.
        reason: String,
    },
    /// Reading failed.
    #[error("{path}: cannot read: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A bad document under `--strict`.
    #[error("{0}")]
    Strict(BadDocument),
}

/// A document that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadDocument {
    /// The file.
    pub file: String,
    /// The line, from 1; 0 where the file is the document.
    pub line: u64,
    /// What is wrong.
    pub reason: String,
}

impl std::fmt::Display for BadDocument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.line == 0 {
            write!(f, "{}: {}", self.file, self.reason)
        } else {
            write!(f, "{}:{}: {}", self.file, self.line, self.reason)
        }
    }
}

/// How far a reader has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Good documents given out.
    pub documents: u64,
    /// Bad documents left out.
    pub bad: u64,
    /// Bytes of text read (after decompression).
    pub text_bytes: u64,
    /// Bytes of source files read (before decompression), the measure of progress.
    pub source_bytes: u64,
    /// Bytes of all source files, where known (not for standard input).
    pub source_bytes_total: Option<u64>,
}

/// One step of a stream of documents.
pub(crate) enum Step {
    /// A document.
    Good { document: Document, text_bytes: u64 },
    /// Something that should have been one.
    Bad { bad: BadDocument, text_bytes: u64 },
    /// The stream is at its end.
    End,
}

/// The documents of one source.
enum Stream {
    JsonLines(JsonLines),
    Folder(Folder),
    Machine(Machine),
}

impl Stream {
    fn next(&mut self) -> Result<Step, ReaderError> {
        match self {
            Stream::JsonLines(lines) => lines.next(),
            Stream::Folder(folder) => Ok(folder.next()),
            Stream::Machine(machine) => Ok(machine.next()),
        }
    }
}

/// A source whose existence has been checked and that is opened when its turn comes, so that a
/// thousand sources do not hold a thousand files and decoders.
enum Waiting {
    File(PathBuf),
    Stream(Stream),
}

/// Reads documents one after another out of all sources, in order.
///
/// A bad document is counted, the first ten are kept with their reasons, and reading goes on;
/// under `strict` it is an error. After an error the reader is at its end.
pub struct Reader {
    waiting: VecDeque<Waiting>,
    current: Option<Stream>,
    strict: bool,
    meter: Meter,
    progress: Progress,
    bad: Vec<BadDocument>,
}

impl Reader {
    /// Opens the sources. `strict` makes the first bad document an error.
    pub fn open(sources: Vec<Source>, strict: bool) -> Result<Reader, ReaderError> {
        let mut reader = Reader::empty(strict);
        let mut total = Some(0u64);
        for source in sources {
            let (waiting, bytes) = prepare(source, &reader.meter)?;
            total = total.zip(bytes).map(|(total, bytes)| total + bytes);
            reader.waiting.push_back(waiting);
        }
        reader.progress.source_bytes_total = total;
        Ok(reader)
    }

    /// Reads JSON lines from any stream; `name` stands for the file in reasons.
    pub fn from_reader(name: impl Into<String>, stream: impl Read + Send + 'static) -> Reader {
        let mut reader = Reader::empty(false);
        let input = Input::from_reader(stream, &reader.meter);
        let lines = JsonLines::new(name.into(), input, LINE_BYTES_MAX);
        reader
            .waiting
            .push_back(Waiting::Stream(Stream::JsonLines(lines)));
        reader
    }

    /// Reads the documentation below these roots; what is missing is passed over.
    pub fn open_machine(roots: &MachineRoots) -> Reader {
        let mut reader = Reader::empty(false);
        let machine = Machine::open(roots, &reader.meter);
        reader.progress.source_bytes_total = Some(machine.bytes());
        reader
            .waiting
            .push_back(Waiting::Stream(Stream::Machine(machine)));
        reader
    }

    /// Makes the first bad document an error, or not.
    pub fn strict(mut self, strict: bool) -> Reader {
        self.strict = strict;
        self
    }

    fn empty(strict: bool) -> Reader {
        let waiting = VecDeque::new();
        let (meter, progress, bad) = (Meter::default(), Progress::default(), Vec::new());
        Reader {
            waiting,
            current: None,
            strict,
            meter,
            progress,
            bad,
        }
    }

    /// The next good document; `None` at the end.
    pub fn next_document(&mut self) -> Result<Option<Document>, ReaderError> {
        let result = self.advance();
        if result.is_err() {
            self.waiting.clear();
            self.current = None;
        }
        result
    }

    fn advance(&mut self) -> Result<Option<Document>, ReaderError> {
        loop {
            let Some(current) = &mut self.current else {
                let Some(waiting) = self.waiting.pop_front() else {
                    return Ok(None);
                };
                self.current = Some(self.start(waiting)?);
                continue;
            };
            match current.next()? {
                Step::Good {
                    document,
                    text_bytes,
                } => {
                    self.progress.documents += 1;
                    self.progress.text_bytes += text_bytes;
                    return Ok(Some(document));
                }
                Step::Bad { bad, text_bytes } => {
                    self.progress.text_bytes += text_bytes;
                    self.leave_out(bad)?;
                }
                Step::End => self.current = None,
            }
        }
    }

    fn start(&self, waiting: Waiting) -> Result<Stream, ReaderError> {
        match waiting {
            Waiting::Stream(stream) => Ok(stream),
            Waiting::File(path) => {
                let name = path.display().to_string();
                let input = Input::open(&path, &self.meter)
                    .map_err(|source| ReaderError::Io { path, source })?;
                Ok(Stream::JsonLines(JsonLines::new(
                    name,
                    input,
                    LINE_BYTES_MAX,
                )))
            }
        }
    }

    fn leave_out(&mut self, bad: BadDocument) -> Result<(), ReaderError> {
        self.progress.bad += 1;
        if self.bad.len() < BAD_DOCUMENTS_KEPT {
            self.bad.push(bad.clone());
        }
        if self.strict {
            Err(ReaderError::Strict(bad))
        } else {
            Ok(())
        }
    }

    /// How far it has come.
    pub fn progress(&self) -> Progress {
        Progress {
            source_bytes: self.meter.bytes(),
            ..self.progress
        }
    }

    /// The first ten bad documents.
    pub fn bad_documents(&self) -> &[BadDocument] {
        &self.bad
    }
}

/// Checks that a source is there, and how many bytes it has.
fn prepare(source: Source, meter: &Meter) -> Result<(Waiting, Option<u64>), ReaderError> {
    match source {
        Source::JsonLines(path) => match std::fs::metadata(&path) {
            Ok(metadata) => {
                // A pipe has no length.
                let bytes = metadata.is_file().then_some(metadata.len());
                Ok((Waiting::File(path), bytes))
            }
            Err(source) => Err(ReaderError::Io { path, source }),
        },
        Source::StandardInput => {
            let input = Input::from_reader(std::io::stdin(), meter);
            let lines = JsonLines::new("-".to_owned(), input, LINE_BYTES_MAX);
            Ok((Waiting::Stream(Stream::JsonLines(lines)), None))
        }
        Source::Folder(path) => {
            let folder = Folder::open(&path, meter)?;
            let bytes = folder.bytes();
            Ok((Waiting::Stream(Stream::Folder(folder)), Some(bytes)))
        }
        Source::Machine => {
            let machine = Machine::open(&MachineRoots::usual(), meter);
            let bytes = machine.bytes();
            Ok((Waiting::Stream(Stream::Machine(machine)), Some(bytes)))
        }
    }
}

#[cfg(test)]
mod tests;
