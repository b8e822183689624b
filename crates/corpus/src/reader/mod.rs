//! Reader of documents from all sources, in order, with an account of the input left out.

use crate::collection;
use crate::contained::Contained;
use crate::extraction::Extractor;
use crate::folder::{Folder, file_url};
use crate::input::{Input, Meter};
use crate::json_lines::{JsonLines, LINE_BYTES_MAX};
use crate::machine::{Machine, MachineRoots};
use crate::opened::{OpenError, open_named};
use crate::passed_over::PassedOver;
#[cfg(feature = "parquet")]
use crate::records::Parquet;
use crate::records::Table;
use crate::source::file_name;
use crate::step::Step;
use crate::trec::Trec;
use crate::walk::Kinds;
use crate::web_archive::WebArchive;
use crate::wiki::WikiDump;
use document::Document;
use document::Mapper;
use document::{ID_BYTES_MAX, LineError};
use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

mod stream;

use stream::{OneContainer, Stream};

pub use crate::source::Source;
pub use crate::step::{BadDocument, Place, ReadOptions, ReaderError};

/// Upper limit on the bad documents, and on the passed-over paths, that are kept with their reasons. All are counted.
const KEPT: usize = 10;

/// Progress of a reader.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Number of good documents returned.
    pub documents: u64,
    /// Number of bad documents left out.
    pub bad: u64,
    /// Number of documents with neither title nor body, whose other fields are searched.
    pub without_text: u64,
    /// Number of paths passed over: links that leave a folder, and paths that are no files.
    pub passed_over: u64,
    /// Bytes of text read (after decompression).
    pub text_bytes: u64,
    /// Bytes of source files read (before decompression), the measure of progress.
    pub source_bytes: u64,
    /// Bytes of all source files, where known (not for standard input).
    pub source_bytes_total: Option<u64>,
}

/// Result of a step of reading.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// A good document.
    Document(Document),
    /// No document yet: something was left out, or a long stretch holds none.
    Meanwhile,
    /// The end of all sources.
    End,
}

/// A source that has been found to exist and is opened when its turn comes, so that a thousand sources do not hold a
/// thousand open files and decoders.
enum Waiting {
    File(Records, PathBuf),
    Container(PathBuf),
    Stream(Box<Stream>),
}

/// Form of a file of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Records {
    Json,
    Table,
    WebArchive,
    Trec,
    WikiDump,
    Parquet,
}

/// Reader of the documents of all sources, in order.
///
/// A bad document is counted, the first ten are kept with their reasons, and reading goes on; under `strict` it is an
/// error. Passed-over paths are counted and kept likewise, and are never an error. After an error the reader is at its
/// end.
pub struct Reader {
    waiting: VecDeque<Waiting>,
    current: Option<Stream>,
    options: ReadOptions,
    meter: Meter,
    progress: Progress,
    bad: Vec<BadDocument>,
    passed_over: Vec<PassedOver>,
    fields_found: BTreeSet<String>,
    left_out: Kinds,
}

impl Reader {
    /// Opens the sources.
    pub fn open(sources: Vec<Source>, options: ReadOptions) -> Result<Reader, ReaderError> {
        let mut reader = Reader::empty(options.clone());
        let mut total = Some(0u64);
        for source in sources {
            let files = match &source {
                Source::Collection(folder) => collection::sources(folder),
                _ => vec![source],
            };
            for source in files {
                let (waiting, bytes) = prepare(source, &options, &reader.meter)?;
                if let Waiting::Stream(stream) = &waiting
                    && let Stream::Folder(folder) = &**stream
                {
                    reader.left_out.add_all(folder.left_out());
                }
                total = total.zip(bytes).map(|(total, bytes)| total + bytes);
                reader.waiting.push_back(waiting);
            }
        }
        reader.progress.source_bytes_total = total;
        Ok(reader)
    }

    /// Creates a reader of JSON lines from any stream. `name` stands for the file in reasons.
    pub fn from_reader(name: impl Into<String>, stream: impl Read + Send + 'static) -> Reader {
        let mut reader = Reader::empty(ReadOptions::default());
        let input = Input::from_reader(stream, &reader.meter);
        let mapper = Mapper::default();
        let lines = JsonLines::new(name.into(), input, LINE_BYTES_MAX, mapper);
        reader
            .waiting
            .push_back(Waiting::Stream(Box::new(Stream::JsonLines(lines))));
        reader
    }

    /// Creates a reader of the documentation below `roots`. Missing folders are skipped.
    pub fn open_machine(roots: &MachineRoots) -> Reader {
        let mut reader = Reader::empty(ReadOptions::default());
        let machine = Machine::open(roots, &reader.meter);
        reader.progress.source_bytes_total = Some(machine.bytes());
        reader
            .waiting
            .push_back(Waiting::Stream(Box::new(Stream::Machine(machine))));
        reader
    }

    /// Sets whether the first bad document is an error.
    pub fn strict(mut self, strict: bool) -> Reader {
        self.options.strict = strict;
        self
    }

    fn empty(options: ReadOptions) -> Reader {
        Reader {
            waiting: VecDeque::new(),
            current: None,
            options,
            meter: Meter::default(),
            progress: Progress::default(),
            bad: Vec::new(),
            passed_over: Vec::new(),
            fields_found: BTreeSet::new(),
            left_out: Kinds::default(),
        }
    }

    /// Returns the next good document; `None` at the end.
    pub fn next_document(&mut self) -> Result<Option<Document>, ReaderError> {
        loop {
            match self.read_on()? {
                Next::Document(document) => return Ok(Some(document)),
                Next::Meanwhile => {}
                Next::End => return Ok(None),
            }
        }
    }

    /// Reads towards the next good document for a bounded stretch. Returns [`Next::Meanwhile`] where the stretch holds
    /// none; [`Reader::place`] returns the place reached.
    pub fn read_on(&mut self) -> Result<Next, ReaderError> {
        let result = self.advance();
        if result.is_err() {
            self.waiting.clear();
            self.current = None;
        }
        result
    }

    fn advance(&mut self) -> Result<Next, ReaderError> {
        let Some(current) = &mut self.current else {
            let Some(waiting) = self.waiting.pop_front() else {
                return Ok(Next::End);
            };
            self.current = self.start(waiting)?;
            return Ok(Next::Meanwhile);
        };
        match current.next()? {
            Step::Good {
                document,
                text_bytes,
            } => {
                self.progress.text_bytes += text_bytes;
                let id_bytes = document.id.as_ref().map_or(0, String::len);
                if id_bytes > ID_BYTES_MAX {
                    // Whatever it was read from.
                    let place = current.place();
                    let bad = BadDocument {
                        file: place.file.clone(),
                        line: place.line,
                        reason: LineError::LongId { bytes: id_bytes }.to_string(),
                    };
                    self.leave_out(bad)?;
                    return Ok(Next::Meanwhile);
                }
                self.progress.documents += 1;
                return Ok(Next::Document(document));
            }
            Step::Bad { bad, text_bytes } => {
                self.progress.text_bytes += text_bytes;
                self.leave_out(bad)?;
            }
            Step::PassedOver(passed_over) => self.pass_over(passed_over),
            Step::LeftOut(name) => self.left_out.add(OsStr::new(&name)),
            Step::NotRead { kind } => self.left_out.add_kind(kind),
            Step::Meanwhile => {}
            Step::End => {
                self.progress.without_text += current.without_text();
                self.fields_found.extend(current.fields_found());
                self.current = None;
            }
        }
        Ok(Next::Meanwhile)
    }

    /// Opens a source; `None` where it is of a kind that is not read.
    fn start(&mut self, waiting: Waiting) -> Result<Option<Stream>, ReaderError> {
        let (records, path) = match waiting {
            Waiting::Stream(stream) => return Ok(Some(*stream)),
            Waiting::File(records, path) => (records, path),
            Waiting::Container(path) => return self.start_container(path),
        };
        let limits = self.options.limits;
        let opened = match records {
            Records::Parquet => return self.start_parquet(path),
            Records::WebArchive => Input::open_members(&path, limits, &self.meter),
            _ => Input::open(&path, limits, &self.meter),
        };
        let input = match opened {
            Ok(input) => input,
            Err(OpenError::PassedOver(reason)) => {
                self.pass_over(PassedOver { path, reason });
                return Ok(None);
            }
            Err(OpenError::Io(source)) => return Err(ReaderError::Io { path, source }),
        };
        let name = path.display().to_string();
        let mapper = Mapper::new(self.options.names.clone());
        Ok(Some(match records {
            Records::WebArchive => {
                Stream::WebArchive(Box::new(WebArchive::new(name, input, limits)))
            }
            Records::Trec => Stream::Trec(Box::new(Trec::new(name, input))),
            Records::WikiDump => Stream::WikiDump(Box::new(WikiDump::new(name, input))),
            Records::Table => Stream::Table(Box::new(Table::new(name, input, mapper))),
            Records::Json | Records::Parquet => {
                Stream::JsonLines(JsonLines::new(name, input, LINE_BYTES_MAX, mapper))
            }
        }))
    }

    /// Opens a Parquet file, which is read from its end.
    #[cfg(feature = "parquet")]
    fn start_parquet(&mut self, path: PathBuf) -> Result<Option<Stream>, ReaderError> {
        let opened = match open_named(&path) {
            Ok(opened) => opened,
            Err(OpenError::PassedOver(reason)) => {
                self.pass_over(PassedOver { path, reason });
                return Ok(None);
            }
            Err(OpenError::Io(source)) => return Err(ReaderError::Io { path, source }),
        };
        let mapper = Mapper::new(self.options.names.clone());
        let name = path.display().to_string();
        let limits = self.options.limits;
        let parquet = Parquet::new(name, opened, limits, &self.meter, mapper);
        Ok(Some(Stream::Parquet(Box::new(parquet))))
    }

    #[cfg(not(feature = "parquet"))]
    fn start_parquet(&mut self, path: PathBuf) -> Result<Option<Stream>, ReaderError> {
        self.leave_out(BadDocument {
            file: path.display().to_string(),
            line: 0,
            reason: "this program was built without a reader of Parquet (feature `parquet`)"
                .to_owned(),
        })?;
        Ok(None)
    }

    fn start_container(&mut self, path: PathBuf) -> Result<Option<Stream>, ReaderError> {
        let name = path.display().to_string();
        let is_read = |one: &&Extractor| one.reads(&file_name(&path));
        let Some(extractor) = self.options.extractor.as_ref().filter(is_read) else {
            self.leave_out(BadDocument {
                file: name,
                line: 0,
                reason: "this program was built without a reader of this kind of file".to_owned(),
            })?;
            return Ok(None);
        };
        let io = |source| ReaderError::Io {
            path: path.clone(),
            source,
        };
        let opened = match open_named(&path) {
            Ok(opened) => opened,
            Err(OpenError::PassedOver(reason)) => {
                self.pass_over(PassedOver { path, reason });
                return Ok(None);
            }
            Err(OpenError::Io(source)) => return Err(io(source)),
        };
        let url = file_url(&std::path::absolute(&path).map_err(io)?);
        let limits = self.options.limits;
        let contained = Contained::start(extractor, (&path, url), opened, limits, &self.meter);
        Ok(Some(Stream::Container(OneContainer {
            contained: contained.map_err(io)?,
            place: Place {
                file: name,
                ..Place::default()
            },
        })))
    }

    fn pass_over(&mut self, passed_over: PassedOver) {
        self.progress.passed_over += 1;
        if self.passed_over.len() < KEPT {
            self.passed_over.push(passed_over);
        }
    }

    fn leave_out(&mut self, bad: BadDocument) -> Result<(), ReaderError> {
        self.progress.bad += 1;
        if self.bad.len() < KEPT {
            self.bad.push(bad.clone());
        }
        if self.options.strict {
            Err(ReaderError::Strict(bad))
        } else {
            Ok(())
        }
    }

    /// Returns the progress so far.
    pub fn progress(&self) -> Progress {
        Progress {
            source_bytes: self.meter.bytes(),
            ..self.progress
        }
    }

    /// Returns the bytes of source files read so far, the measure of progress.
    pub fn source_bytes(&self) -> u64 {
        self.meter.bytes()
    }

    /// Returns the current place; `None` between sources.
    pub fn place(&self) -> Option<&Place> {
        self.current.as_ref().map(Stream::place)
    }

    /// Returns the numbers of files in folders whose names are not those of documents, by kind, the most frequent first.
    pub fn left_out(&self) -> Vec<(String, u64)> {
        self.left_out.by_count()
    }

    /// Returns the encodings that nothing named and that texts were decoded by, each with the number of texts.
    pub fn encodings_guessed(&self) -> Vec<(&'static str, u64)> {
        self.meter.guesses()
    }

    /// Returns which fields of records became which part of documents, as `title = headline`, where the names differ.
    pub fn fields_found(&self) -> impl Iterator<Item = &str> {
        self.fields_found.iter().map(String::as_str)
    }

    /// Returns the first ten bad documents.
    pub fn bad_documents(&self) -> &[BadDocument] {
        &self.bad
    }

    /// Returns the first ten paths that were passed over.
    pub fn passed_over(&self) -> &[PassedOver] {
        &self.passed_over
    }
}

/// Checks that a source exists, and determines its length in bytes where known.
fn prepare(
    source: Source,
    options: &ReadOptions,
    meter: &Meter,
) -> Result<(Waiting, Option<u64>), ReaderError> {
    match source {
        Source::JsonLines(path) => of_file(Records::Json, path),
        Source::Table(path) => of_file(Records::Table, path),
        Source::WebArchive(path) => of_file(Records::WebArchive, path),
        Source::Trec(path) => of_file(Records::Trec, path),
        Source::WikiDump(path) => of_file(Records::WikiDump, path),
        Source::Parquet(path) => of_file(Records::Parquet, path),
        Source::Container(path) => {
            let bytes = file_bytes(&path)?;
            Ok((Waiting::Container(path), Some(bytes)))
        }
        // Its files are sources of their own; one that is empty now has none.
        Source::Collection(path) => Err(ReaderError::Source {
            path,
            reason: "a collection is read by its files".to_owned(),
        }),
        Source::StandardInput => {
            let input = Input::from_reader(std::io::stdin(), meter);
            let mapper = Mapper::new(options.names.clone());
            let lines = JsonLines::new("-".to_owned(), input, LINE_BYTES_MAX, mapper);
            Ok((Waiting::Stream(Box::new(Stream::JsonLines(lines))), None))
        }
        Source::Folder(path) | Source::TextFile(path) => {
            let folder = match path.is_dir() {
                true => Folder::open(&path, options, meter)?,
                false => Folder::of_file(&path, options, meter)?,
            };
            let bytes = folder.bytes();
            Ok((
                Waiting::Stream(Box::new(Stream::Folder(folder))),
                Some(bytes),
            ))
        }
        Source::Machine => {
            let machine = Machine::open(&MachineRoots::usual(), meter);
            let bytes = machine.bytes();
            Ok((
                Waiting::Stream(Box::new(Stream::Machine(machine))),
                Some(bytes),
            ))
        }
    }
}

fn of_file(records: Records, path: PathBuf) -> Result<(Waiting, Option<u64>), ReaderError> {
    let bytes = file_bytes(&path)?;
    Ok((Waiting::File(records, path), Some(bytes)))
}

/// Returns the length of a file; 0 for a path that is no file, which is not read.
fn file_bytes(path: &Path) -> Result<u64, ReaderError> {
    let metadata = std::fs::metadata(path).map_err(|source| ReaderError::Io {
        path: path.to_path_buf(),
        source,
    })?;
    Ok(if metadata.is_file() {
        metadata.len()
    } else {
        0
    })
}

#[cfg(test)]
mod tests;
