//! One chunk under construction: documents in; a segment and its texts out, in bounded memory.
//!
//! Documents are inverted in memory into a *run*. When the memory given is used up, the run is written
//! as a temporary segment and the next begins; at the end the runs are merged. A chunk that fits in
//! memory is written once, and never merged.

use super::merge::{join_runs, merge_runs};
use super::run::{Run, RunRow};
use crate::manifest::{FileEntry, SegmentEntry};
use crate::postings::PostingsCodec;
use crate::sealed::read_u32;
use crate::segment::write::SegmentWriter;
use crate::segment::{DOCUMENTS_MAX, Segment};
use crate::spill::Spill;
use crate::store::{Location, StoreWriter};
use crate::{Field, IndexError, Texts};
use corpus::{Document, site_of};
use text::Analyzer;
use vfs::SharedStorage;
use xxhash_rust::xxh3::xxh3_64;

/// Runs of one level that are joined into one of the next.
const RUNS_PER_LEVEL: usize = 16;

/// What every chunk of a commit shares.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) storage: SharedStorage,
    pub(crate) index_id: u128,
    pub(crate) codec: PostingsCodec,
    pub(crate) analyzer: Analyzer,
    pub(crate) texts: Texts,
    pub(crate) run_documents_max: Option<u32>,
}

/// One chunk under construction.
pub(crate) struct ChunkBuilder {
    target: Target,
    chunk: u32,
    segment: u32,
    run: Run,
    /// Finished runs, oldest first, and how often each was joined: never rising.
    runs: Vec<Segment>,
    levels: Vec<u8>,
    /// `None` in an index without texts.
    store: Option<StoreWriter>,
    /// Where the text of every document of the finished runs lies, and its lengths in words:
    /// 16 bytes each, in document order.
    places: Spill,
    documents_count: u64,
    replaced_count: u64,
    buffer: String,
}

/// A finished chunk.
pub(crate) struct BuiltChunk {
    pub(crate) entry: SegmentEntry,
    pub(crate) words_counts: [u64; 2],
    pub(crate) documents_added: u64,
    pub(crate) documents_replaced: u64,
}

pub(crate) fn index_name(segment: u32) -> String {
    format!("segment-{segment:08}.index")
}

pub(crate) fn documents_name(segment: u32) -> String {
    format!("segment-{segment:08}.documents")
}

impl ChunkBuilder {
    pub(crate) fn new(
        target: &Target,
        chunk: u32,
        segment: u32,
    ) -> Result<ChunkBuilder, IndexError> {
        let storage = &target.storage;
        Ok(ChunkBuilder {
            target: target.clone(),
            chunk,
            segment,
            run: Run::default(),
            runs: Vec::new(),
            levels: Vec::new(),
            store: match target.texts {
                Texts::Stored => {
                    let name = documents_name(segment);
                    let store = StoreWriter::create(storage, &name, target.index_id, segment)?;
                    Some(store)
                }
                Texts::None => None,
            },
            places: Spill::new(storage, format!("tmp-{segment:08}-places")),
            documents_count: 0,
            replaced_count: 0,
            buffer: String::new(),
        })
    }

    pub(crate) fn add(&mut self, document: &Document, url_hash: u64) -> Result<(), IndexError> {
        if self.documents_count >= u64::from(DOCUMENTS_MAX) {
            return Err(IndexError::TooManyDocuments {
                chunk: self.chunk,
                max: DOCUMENTS_MAX,
            });
        }
        let location = match &mut self.store {
            Some(store) => store.push(document)?,
            None => Location::default(),
        };
        let site = site_of(&document.url);
        let doc = self.run.documents_count();
        let lengths = self.invert(document, &site, doc);
        let replaced = self.run.push(
            RunRow {
                url_hash,
                site_hash: xxh3_64(site.as_bytes()),
                lengths,
                location,
            },
            document,
        );
        self.replaced_count += u64::from(replaced);
        self.documents_count += 1;
        let enough = self.target.run_documents_max;
        if self.run.is_full() || enough.is_some_and(|max| self.run.documents_count() >= max) {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Adds the words of a document; returns its lengths by field.
    fn invert(&mut self, document: &Document, site: &str, doc: u32) -> [u32; 2] {
        let (analyzer, buffer) = (self.target.analyzer, &mut self.buffer);
        let inverter = &mut self.run.inverter;
        let mut words = |field: Field, text: &str, first: u32| -> u32 {
            let mut position = first;
            analyzer.each_token(text, buffer, |token| {
                inverter.add(field, token.term.as_bytes(), doc, Some(position));
                position += 1;
            });
            position
        };
        let title_words = words(Field::Title, &document.title, 0);
        let body_from = words(Field::Text, &document.title, 0);
        let text_words = words(Field::Text, &document.body, body_from);
        inverter.add(Field::Site, site.as_bytes(), doc, None);
        [text_words, title_words]
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        let store = self.store.as_ref().map_or(0, StoreWriter::memory_bytes);
        self.run.memory_bytes() + store
    }

    /// Writes the documents in memory as a run, to free the memory.
    pub(crate) fn flush(&mut self) -> Result<(), IndexError> {
        let run = std::mem::take(&mut self.run);
        if run.documents_count() == 0 {
            return Ok(());
        }
        let mut out = self.create_run()?;
        run.write(&mut out, |row| write_place(&mut self.places, row))?;
        self.add_run(out, 0)?;
        self.join_runs()
    }

    fn run_name(&self) -> String {
        format!("tmp-{:08}-run", self.segment)
    }

    fn create_run(&self) -> Result<SegmentWriter, IndexError> {
        let Target {
            storage,
            index_id,
            codec,
            ..
        } = &self.target;
        let name = self.run_name();
        SegmentWriter::create(storage, &name, *index_id, self.chunk, self.segment, *codec)
    }

    /// Opens a written run. Its name goes at once: an open file stays readable without one.
    fn add_run(&mut self, out: SegmentWriter, level: u8) -> Result<(), IndexError> {
        let (storage, name) = (&self.target.storage, self.run_name());
        let seal = out.finish_unsynced()?;
        let run = Segment::open(storage, &name, self.target.index_id, self.segment, seal)?;
        storage.remove(&name)?;
        self.runs.push(run);
        self.levels.push(level);
        Ok(())
    }

    /// Joins the newest runs when there are many of one level, so that however large the chunk gets
    /// there are few runs to hold open: each level has at most `RUNS_PER_LEVEL`.
    fn join_runs(&mut self) -> Result<(), IndexError> {
        while let Some(&level) = self.levels.last() {
            let first = self
                .levels
                .iter()
                .position(|&other| other == level)
                .unwrap_or(0);
            if self.levels.len() - first < RUNS_PER_LEVEL {
                return Ok(());
            }
            let mut out = self.create_run()?;
            join_runs(&self.runs[first..], self.chunk, &mut out)?;
            self.runs.truncate(first);
            self.levels.truncate(first);
            self.add_run(out, level + 1)?;
        }
        Ok(())
    }

    /// Writes the chunk's segment; `None` when it has no document.
    pub(crate) fn finish(mut self) -> Result<Option<BuiltChunk>, IndexError> {
        let Target {
            storage,
            index_id,
            codec,
            ..
        } = self.target.clone();
        let (chunk, segment) = (self.chunk, self.segment);
        if self.documents_count == 0 {
            if self.store.take().is_some() {
                storage.remove(&documents_name(segment))?;
            }
            return Ok(None);
        }
        let name = index_name(segment);
        if !self.runs.is_empty() {
            self.flush()?;
        }
        let mut out = SegmentWriter::create(&storage, &name, index_id, chunk, segment, codec)?;
        if self.runs.is_empty() {
            let run = std::mem::take(&mut self.run);
            let by_hash = run.write(&mut out, |row| write_place(&mut self.places, row))?;
            let places = self.places.into_region()?;
            for (hash, doc) in by_hash {
                if let Some(store) = &mut self.store {
                    store.push_entry(hash, read_place(&places, doc.into()).0)?;
                }
            }
        } else {
            let places = self.places.into_region()?;
            let store = &mut self.store;
            let mut words_counts = [0; 2];
            let replaced = merge_runs(&self.runs, chunk, &mut out, |hash, ordinal| {
                let (location, lengths) = read_place(&places, ordinal);
                words_counts
                    .iter_mut()
                    .zip(lengths)
                    .for_each(|(sum, words)| *sum += words);
                match store {
                    Some(store) => store.push_entry(hash, location),
                    None => Ok(()),
                }
            })?;
            out.set_words_counts(words_counts);
            self.replaced_count += replaced;
        }
        let (seal, meta) = out.finish()?;
        let store = self.store.map(StoreWriter::finish).transpose()?;
        let file = |name: String, seal| FileEntry {
            name,
            number: segment.into(),
            seal,
        };
        Ok(Some(BuiltChunk {
            entry: SegmentEntry {
                segment,
                chunk,
                documents_count: meta.documents_count,
                index: file(name, seal),
                documents: store.map(|seal| file(documents_name(segment), seal)),
                deletions: None,
            },
            words_counts: meta.words_counts,
            documents_added: self.documents_count,
            documents_replaced: self.replaced_count,
        }))
    }
}

fn write_place(places: &mut Spill, row: &RunRow) -> Result<(), IndexError> {
    let [text_words, title_words] = row.lengths;
    for field in [
        row.location.block,
        row.location.offset,
        text_words,
        title_words,
    ] {
        places.write(&field.to_le_bytes())?;
    }
    Ok(())
}

fn read_place(places: &[u8], ordinal: u64) -> (Location, [u64; 2]) {
    let field = |number: usize| read_u32(places, ordinal as usize * 16 + number * 4);
    (
        Location {
            block: field(0),
            offset: field(1),
        },
        [field(2).into(), field(3).into()],
    )
}
