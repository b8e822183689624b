//! Runs: the documents of a segment that one thread inverted, in memory or as sorted records in a file.
//!
//! ```text
//! file   := record*                                         by (field, term), then by run
//! record := key_bytes:vint key run:vint bytes:vint gap*     see `gaps`
//! key    := field:u8 term | ff field:u8 form 00 term        words as written have no gaps, see `written`
//! ```
//!
//! Nothing is encoded here. A run's streams are written as they are, and joining files is a merge that only copies. So
//! each posting is encoded once, when the segment is written, for any number of runs.

use super::arena::Stream;
use super::inverter::{Inverted, Inverter};
use crate::IndexError;
use crate::spill::Spill;
use codec::vint;
use document::Document;
use fields::TextFields;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use text::Analyzer;
use vfs::{Region, SharedStorage};

/// Files of one level that are joined into one of the next.
const FILES_PER_LEVEL: usize = 16;
/// Bytes of a file after which the pages read are released, because there may be many files.
const RELEASE_BYTES: usize = 512 << 10;

/// Documents of a run: their ordinals in the segment, and their words by field.
#[derive(Debug, Default)]
pub(crate) struct RunDocuments {
    /// Increasing ranges of ordinals in the segment: the first, and the length.
    pub(crate) ordinals: Vec<(u32, u32)>,
    pub(crate) lengths: Vec<[u32; 2]>,
    /// Words of further fields, by document of the run.
    pub(crate) further: Vec<FurtherWords>,
    /// Documents of the run with words outside their text, and the number of those words.
    pub(crate) outside_text: Vec<(u32, u32)>,
}

/// Number of words of a document in a further field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FurtherWords {
    /// Document of the run, in order of arrival.
    pub(crate) doc: u32,
    pub(crate) field: u8,
    pub(crate) words: u32,
}

/// Builder of the runs of a segment on one thread.
pub(crate) struct RunBuilder {
    storage: SharedStorage,
    /// Name of the current file. Each file loses its name when it is opened.
    name: String,
    analyzer: Analyzer,
    documents_max: usize,
    inverter: Inverter,
    /// Documents of each run; the current run is the last.
    documents: Vec<RunDocuments>,
    /// Files of finished runs, oldest first, with their levels, which never increase.
    files: Vec<Region>,
    levels: Vec<u8>,
}

/// Runs of a segment built by one thread.
pub(crate) struct Runs {
    pub(crate) documents: Vec<RunDocuments>,
    pub(crate) terms: Vec<RunTerms>,
}

/// Terms of one or more runs, in order.
#[derive(Debug)]
pub(crate) enum RunTerms {
    Memory { inverted: Box<Inverted>, run: usize },
    File(Region),
}

impl RunBuilder {
    pub(crate) fn new(
        storage: &SharedStorage,
        name: String,
        analyzer: Analyzer,
        documents_max: Option<u32>,
    ) -> RunBuilder {
        RunBuilder {
            storage: storage.clone(),
            name,
            analyzer,
            documents_max: documents_max.map_or(usize::MAX, |max| max as usize),
            inverter: Inverter::default(),
            documents: vec![RunDocuments::default()],
            files: Vec::new(),
            levels: Vec::new(),
        }
    }

    /// Adds a document of the segment, whose further fields are `text_fields`; ordinals increase.
    pub(crate) fn add(
        &mut self,
        document: &Document,
        site: &str,
        ordinal: u32,
        text_fields: &TextFields,
    ) -> Result<(), IndexError> {
        let words = self
            .inverter
            .add(document, site, self.analyzer, text_fields);
        if let Some(documents) = self.documents.last_mut() {
            let doc = documents.lengths.len() as u32;
            let further =
                words
                    .further
                    .iter()
                    .map(|&(field, words)| FurtherWords { doc, field, words });
            documents.further.extend(further);
            if words.outside_text > 0 {
                documents.outside_text.push((doc, words.outside_text));
            }
            documents.lengths.push(words.lengths);
            match documents.ordinals.last_mut() {
                Some((first, count)) if *first + *count == ordinal => *count += 1,
                _ => documents.ordinals.push((ordinal, 1)),
            }
            if documents.lengths.len() >= self.documents_max {
                return self.flush();
            }
        }
        match self.inverter.is_full() {
            true => self.flush(),
            false => Ok(()),
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.inverter.memory_bytes()
    }

    fn run(&self) -> usize {
        self.documents.len() - 1
    }

    /// Writes the current run, to free its memory.
    pub(crate) fn flush(&mut self) -> Result<(), IndexError> {
        let inverted = Box::new(std::mem::take(&mut self.inverter).sorted());
        let run = self.run();
        self.documents.push(RunDocuments::default());
        let file = self.write(&[RunTerms::Memory { inverted, run }])?;
        self.files.push(file);
        self.levels.push(0);
        self.join_files()
    }

    /// Joins the newest files where there are many of one level, so that few are open for a segment of any size.
    fn join_files(&mut self) -> Result<(), IndexError> {
        while let Some(&level) = self.levels.last() {
            let same = |&other: &u8| other == level;
            let first = self.levels.iter().position(same).unwrap_or(0);
            if self.levels.len() - first < FILES_PER_LEVEL {
                return Ok(());
            }
            let joined: Vec<_> = self.files.drain(first..).map(RunTerms::File).collect();
            let file = self.write(&joined)?;
            self.files.push(file);
            self.levels.truncate(first);
            self.levels.push(level + 1);
        }
        Ok(())
    }

    fn write(&self, terms: &[RunTerms]) -> Result<Region, IndexError> {
        let mut out = Spill::new(&self.storage, self.name.clone());
        let (mut record, mut bytes) = (Vec::new(), Vec::new());
        let mut merge = TermsMerge::new(terms.iter().map(|terms| (terms, 0)));
        while let Some((key, pieces)) = merge.next() {
            for piece in pieces {
                bytes.clear();
                let stream = piece.read(&mut bytes);
                record.clear();
                vint::write_u32(&mut record, key.len() as u32);
                record.extend_from_slice(key);
                vint::write_u64(&mut record, piece.run as u64);
                vint::write_u64(&mut record, stream.len() as u64);
                out.write(&record)?;
                out.write(stream)?;
            }
        }
        out.into_region()
    }

    pub(crate) fn finish(mut self) -> Runs {
        let run = self.run();
        let mut terms: Vec<_> = self.files.into_iter().map(RunTerms::File).collect();
        if self.documents[run].lengths.is_empty() {
            self.documents.truncate(run);
        } else {
            let inverted = Box::new(self.inverter.sorted());
            terms.push(RunTerms::Memory { inverted, run });
        }
        Runs {
            documents: self.documents,
            terms,
        }
    }
}

/// Stream of a term in one run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece<'a> {
    pub(crate) run: usize,
    place: Place<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Place<'a> {
    Stream(&'a Inverted, Stream),
    Bytes(&'a [u8]),
}

impl<'a> Piece<'a> {
    /// Returns the length of the stream in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match self.place {
            Place::Stream(inverted, ref stream) => inverted.bytes(stream),
            Place::Bytes(bytes) => bytes.len(),
        }
    }

    /// Returns the stream's bytes, in place or copied to `buffer`, which is empty.
    pub(crate) fn read<'b>(&self, buffer: &'b mut Vec<u8>) -> &'b [u8]
    where
        'a: 'b,
    {
        match self.place {
            Place::Stream(inverted, ref stream) => {
                inverted.read(stream, buffer);
                buffer
            }
            Place::Bytes(bytes) => bytes,
        }
    }
}

/// Merge of the terms of some runs, in order, each with its pieces by run.
pub(crate) struct TermsMerge<'a> {
    walks: Vec<Walk<'a>>,
    /// Key, run and walk of the next record of each walk.
    heap: BinaryHeap<Reverse<(Vec<u8>, usize, usize)>>,
    key: Vec<u8>,
    pieces: Vec<Piece<'a>>,
}

/// Walk over the terms of one `RunTerms`.
struct Walk<'a> {
    terms: &'a RunTerms,
    /// Number of its first run among all runs.
    run_base: usize,
    /// In memory: list of keys and rank. In a file: bytes read and bytes released.
    at: (usize, usize),
    place: Option<Place<'a>>,
}

impl<'a> TermsMerge<'a> {
    /// Creates a merge of terms, each with the number of its first run.
    pub(crate) fn new(terms: impl Iterator<Item = (&'a RunTerms, usize)>) -> TermsMerge<'a> {
        let mut merge = TermsMerge {
            walks: Vec::new(),
            heap: BinaryHeap::new(),
            key: Vec::new(),
            pieces: Vec::new(),
        };
        for (number, (terms, run_base)) in terms.enumerate() {
            merge.walks.push(Walk {
                terms,
                run_base,
                at: (0, 0),
                place: None,
            });
            merge.advance(number, Vec::new());
        }
        merge
    }

    fn advance(&mut self, number: usize, mut key: Vec<u8>) {
        if let Some(run) = self.walks[number].next(&mut key) {
            self.heap.push(Reverse((key, run, number)));
        }
    }

    /// Returns the next term: its key, and its pieces by increasing run.
    pub(crate) fn next(&mut self) -> Option<(&[u8], &[Piece<'a>])> {
        self.pieces.clear();
        let Reverse((mut key, mut run, mut number)) = self.heap.pop()?;
        self.key.clear();
        self.key.extend_from_slice(&key);
        loop {
            let place = self.walks[number].place.take();
            self.pieces.extend(place.map(|place| Piece { run, place }));
            self.advance(number, key);
            match self.heap.peek() {
                Some(Reverse((next, ..))) if *next == self.key => {}
                _ => return Some((&self.key, &self.pieces)),
            }
            let Reverse(next) = self.heap.pop()?;
            (key, run, number) = next;
        }
    }
}

impl<'a> Walk<'a> {
    /// Moves to the next record; writes its key into `key` and returns its run.
    fn next(&mut self, key: &mut Vec<u8>) -> Option<usize> {
        match self.terms {
            RunTerms::Memory { inverted, run } => {
                let (list, rank) = &mut self.at;
                while *list < inverted.lists_count() {
                    if let Some(stream) = inverted.get(*list, *rank, key) {
                        *rank += 1;
                        self.place = Some(Place::Stream(inverted, stream));
                        return Some(self.run_base + run);
                    }
                    (*list, *rank) = (*list + 1, 0);
                }
                None
            }
            RunTerms::File(region) => {
                let (at, released) = &mut self.at;
                if *at - *released > 2 * RELEASE_BYTES {
                    // The record returned last is not read yet, so the release stops before it.
                    region.release(*released..*released + RELEASE_BYTES);
                    *released += RELEASE_BYTES;
                }
                let (run, place) = read_record(region, at, key)?;
                self.place = Some(Place::Bytes(place));
                Some(self.run_base + run)
            }
        }
    }
}

fn read_record<'a>(file: &'a [u8], at: &mut usize, key: &mut Vec<u8>) -> Option<(usize, &'a [u8])> {
    let key_bytes = vint::read_u32(file, at).ok()? as usize;
    key.clear();
    key.extend_from_slice(file.get(*at..*at + key_bytes)?);
    *at += key_bytes;
    let run = vint::read_u64(file, at).ok()? as usize;
    let bytes = vint::read_u64(file, at).ok()? as usize;
    let stream = file.get(*at..*at + bytes)?;
    *at += bytes;
    Some((run, stream))
}
