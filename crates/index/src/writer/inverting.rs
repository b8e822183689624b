//! Inversion of the documents of a commit, whose fields of text are only known when all of them are there.
//!
//! The first documents are held, and the fields of text guessed from them, as the types of a commit's fields are inferred
//! from all of its documents. Where the guess proves wrong, which takes a field of text that the first documents lack, or
//! one whose first values mislead, the segments are built a second time, from the texts that were stored with the first.
//! So the words that are searched never depend on the order of documents, and most commits invert them once.

use super::options::BuildOptions;
use super::workers::Workers;
use crate::build::segment::{BuiltSegment, Target};
use crate::manifest::Manifest;
use crate::opener::open_store;
use crate::{IndexError, Texts};
use document::Document;
use fields::{Observed, Schema, TextFields, each_leaf};
use std::sync::Arc;
use vfs::SharedStorage;

/// Documents held, and bytes of their texts.
const HELD_DOCUMENTS_MAX: usize = 4_096;
const HELD_BYTES_MAX: usize = 1 << 20;

/// Index that is written, and the options of its writer.
type Context<'a> = (&'a SharedStorage, &'a Manifest, &'a BuildOptions);

/// Documents on their way to segments.
pub(super) struct Inverting {
    held: Vec<Document>,
    held_bytes: usize,
    held_max: usize,
    /// Once there are enough documents to guess.
    started: Option<Started>,
}

/// Workers, and the fields of text that they know.
struct Started {
    workers: Workers,
    text_fields: Arc<TextFields>,
}

impl Inverting {
    pub(super) fn new(options: &BuildOptions) -> Inverting {
        Inverting {
            held: Vec::new(),
            held_bytes: 0,
            held_max: options.held_documents_max.unwrap_or(HELD_DOCUMENTS_MAX),
            started: None,
        }
    }

    /// Adds a document; `observed` has the fields of all documents up to it.
    pub(super) fn add(
        &mut self,
        document: Document,
        context: Context<'_>,
        observed: &Observed,
    ) -> Result<(), IndexError> {
        if let Some(started) = &mut self.started {
            return started.workers.add(document);
        }
        self.held_bytes += document.title.len() + document.body.len();
        each_leaf(&document.fields, &mut |_, value| {
            self.held_bytes += value.as_str().map_or(0, str::len);
        });
        self.held.push(document);
        if self.held.len() >= self.held_max || self.held_bytes >= HELD_BYTES_MAX {
            let started = self.start(context, observed)?;
            self.started = Some(started);
        }
        Ok(())
    }

    /// Leaves out the documents of a URL that came so far.
    pub(super) fn withdraw(&mut self, url: &str) {
        match &mut self.started {
            Some(started) => started.workers.withdraw(url),
            None => self.held.retain(|document| document.url != url),
        }
    }

    /// Starts workers with the fields of text that are known or guessed, and gives them the documents held.
    fn start(
        &mut self,
        (storage, manifest, options): Context<'_>,
        observed: &Observed,
    ) -> Result<Started, IndexError> {
        let text_fields = Arc::new(extended(manifest, observed).text_fields());
        let target = target_of(storage, manifest, options, &text_fields);
        let mut workers = Workers::start(target, manifest.layout(), manifest.next_segment, options);
        for document in std::mem::take(&mut self.held) {
            workers.add(document)?;
        }
        Ok(Started {
            workers,
            text_fields,
        })
    }

    /// Returns the segments of all documents; adds the fields observed to the manifest.
    pub(super) fn finish(
        mut self,
        (storage, manifest, options): (&SharedStorage, &mut Manifest, &BuildOptions),
        observed: &Observed,
    ) -> Result<Vec<BuiltSegment>, IndexError> {
        let started = match self.started.take() {
            Some(started) => started,
            None => self.start((storage, manifest, options), observed)?,
        };
        let guessed = started.text_fields;
        let built = started.workers.finish()?;
        manifest.fields = extended(manifest, observed);
        let text_fields = manifest.fields.text_fields();
        if text_fields == *guessed {
            return Ok(built);
        }
        built_again(storage, manifest, options, (built, text_fields))
    }
}

/// Returns the fields of an index with those of documents that are added to it. Without texts, only declared fields
/// count: columns could not be derived, nor segments built again.
fn extended(manifest: &Manifest, observed: &Observed) -> Schema {
    let mut schema = manifest.fields.clone();
    if manifest.texts == Texts::Stored {
        observed.extend_with_words(&mut schema);
    }
    schema
}

fn target_of(
    storage: &SharedStorage,
    manifest: &Manifest,
    options: &BuildOptions,
    text_fields: &Arc<TextFields>,
) -> Target {
    Target {
        storage: storage.clone(),
        index_id: manifest.index_id(),
        codec: manifest.codec,
        analyzer: manifest.analyzer,
        text_fields: Arc::clone(text_fields),
        texts: manifest.texts,
        run_documents_max: options.run_documents_max,
    }
}

/// Builds segments a second time, from their stored texts, with all fields of text. The first ones belong to no
/// generation, and the commit removes them.
fn built_again(
    storage: &SharedStorage,
    manifest: &mut Manifest,
    options: &BuildOptions,
    (first, text_fields): (Vec<BuiltSegment>, TextFields),
) -> Result<Vec<BuiltSegment>, IndexError> {
    manifest.next_segment += manifest.layout().partitions;
    let target = target_of(storage, manifest, options, &Arc::new(text_fields));
    let mut workers = Workers::start(target, manifest.layout(), manifest.next_segment, options);
    for segment in &first {
        let Some(texts) = open_store(storage, manifest, &segment.entry)? else {
            continue;
        };
        texts.each_document(|stored| {
            let id = Some(stored.id).filter(|id| *id != stored.url);
            workers.add(Document {
                url: stored.url,
                id,
                title: stored.title,
                body: stored.body,
                fields: stored.fields,
            })
        })?;
    }
    let mut built = workers.finish()?;
    // Both are in the order of partitions, and have the same; only the first saw the documents that were replaced.
    for (again, first) in built.iter_mut().zip(first) {
        again.documents_added = first.documents_added;
        again.documents_replaced = first.documents_replaced;
    }
    Ok(built)
}
