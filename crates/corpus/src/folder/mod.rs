//! Reader of a folder: a document for each file, several for archives, logs and files of records.

use crate::contained::Contained;
use crate::extraction::Extractor;
use crate::file::{self, FileError, Markup};
use crate::input::{Input, Meter};
use crate::man;
use crate::opened::Beneath;
use crate::passed_over::PassedOver;
use crate::records::{RecordsFile, RecordsName, is_of_records};
use crate::step::{BadDocument, Place, ReadOptions, Step};
use crate::walk::{Found, Kinds, Walk, walk};
use crate::{FileLimits, ReaderError, logs};
use document::{Document, FieldNames, Mapper};
use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::io::Read;
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
    records: Option<RecordsOfFile>,
    names: FieldNames,
    /// Records with neither title nor body.
    without_text: u64,
    /// Which fields of records became which part of documents.
    fields_found: BTreeSet<String>,
    /// The next files, of which those with an extractor have been started.
    ahead: VecDeque<(Found, Result<Option<Contained>, FileError>)>,
    meter: Meter,
    place: Place,
}

/// A file of records, with the bytes that count as progress at its end.
struct RecordsOfFile {
    file: RecordsFile,
    /// Bytes of all files when it was begun, with those of this one.
    bytes_end: u64,
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
        let found = walk(&beneath, &real, |name| {
            let extractor = options.extractor.as_ref();
            Markup::of(name).is_some()
                || logs::is_log(name)
                || RecordsName::of(name).is_some()
                || man::Page::of(name).is_some()
                || extractor.is_some_and(|one| one.reads(name))
        });
        if found.files.is_empty() && found.unreadable.is_empty() && found.passed_over.is_empty() {
            let mut reason = "no documents in this folder; known are .txt .text .md .markdown .rst \
                              .html .htm .xhtml .csv .tsv .json .jsonl, manual pages, source code and logs (also .gz), and names \
                              such as README"
                .to_owned();
            if let Some((kind, count)) = found.left_out.by_count().first() {
                reason.push_str(&format!("; it has {count} {kind} files"));
            }
            let path = root.to_path_buf();
            return Err(ReaderError::Source { path, reason });
        }
        Ok(Folder::of_walk(beneath, found, options, meter))
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
            records: None,
            names: options.names.clone(),
            without_text: 0,
            fields_found: BTreeSet::new(),
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

    /// Returns the place of the file or the record read last.
    pub(crate) fn place(&self) -> &Place {
        match &self.records {
            Some(records) => records.file.place(),
            None => &self.place,
        }
    }

    /// Returns the number of records with neither title nor body in the files that were read whole.
    pub(crate) fn without_text(&self) -> u64 {
        self.without_text
    }

    /// Returns which fields of records became which part of documents.
    pub(crate) fn fields_found(&self) -> impl Iterator<Item = &str> {
        self.fields_found.iter().map(String::as_str)
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
        if let Some(records) = &mut self.records {
            let step = records.file.next();
            if !matches!(step, Step::End) {
                return step;
            }
            self.end_records();
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
        let bytes_end = before + found.bytes;
        self.place.file = found.path.display().to_string();
        let read = started.and_then(|started| match started {
            Some(contained) => {
                self.contained = Some(contained);
                Ok(Step::Meanwhile)
            }
            None => self.read(&found, bytes_end),
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

    /// Notes what the mapper of a file of records found, and counts the unread rest of the file as progress.
    fn end_records(&mut self) {
        let Some(RecordsOfFile { file, bytes_end }) = self.records.take() else {
            return;
        };
        self.without_text += file.mapper().without_text();
        let found = file.mapper().found().map(str::to_owned);
        self.fields_found.extend(found);
        self.meter
            .skip(bytes_end.saturating_sub(self.meter.bytes()));
    }

    /// Reads a file that is a document, or begins to read one of records.
    fn read(&mut self, found: &Found, bytes_end: u64) -> Result<Step, FileError> {
        let name = found.path.file_name().unwrap_or_default().to_string_lossy();
        let form = RecordsName::of(&name);
        if let Some(form) = form
            && (form != RecordsName::Json || is_of_records(&self.beginning(found)?))
        {
            let opened = self.beneath.open(&found.real)?;
            let input = Input::new(opened, &found.path, self.limits, &self.meter)?;
            let named = (&*found.path, file_url(&found.path));
            let mapper = Mapper::new(self.names.clone());
            let file = RecordsFile::new(form, named, input, mapper);
            self.records = Some(RecordsOfFile { file, bytes_end });
            return Ok(Step::Meanwhile);
        }
        if man::Page::of(&name).is_some() && !man::is_page(&self.beginning(found)?) {
            return Ok(Step::LeftOut(name.into_owned()));
        }
        let opened = self.beneath.open(&found.real)?;
        let input = Input::new(opened, &found.path, self.limits, &self.meter)?;
        let (document, text_bytes) = read_file(&found.path, input)?;
        Ok(Step::Good {
            document,
            text_bytes,
        })
    }

    /// Returns the beginning of a file, decompressed.
    fn beginning(&self, found: &Found) -> Result<Vec<u8>, FileError> {
        let opened = self.beneath.open(&found.real)?;
        let mut input = Input::new(opened, &found.path, self.limits, &Meter::default())?;
        let mut beginning = Vec::new();
        input.resume();
        // What was read before damage is a beginning, too; the damage comes again.
        let _ = input.take(BEGINNING_BYTES).read_to_end(&mut beginning);
        Ok(beginning)
    }
}

/// Length of a file's beginning that tells what it is, in bytes.
const BEGINNING_BYTES: u64 = 8 << 10;

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
    if let Some(page) = man::Page::of(&name).filter(|_| man::is_page(&bytes)) {
        return Ok((page.document(file_url(path), bytes, &meter)?, text_bytes));
    }
    let markup = match RecordsName::of(&name) {
        Some(_) => Markup::Code,
        None => Markup::of(&name).unwrap_or(Markup::Plain),
    };
    Ok((
        file::document(file_url(path), &name, markup, bytes, &meter)?,
        text_bytes,
    ))
}

#[cfg(test)]
mod tests;
