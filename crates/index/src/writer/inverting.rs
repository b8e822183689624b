//! Inversion of the documents of a commit, whose fields of text are only known when all of them are there.
//!
//! The first documents are held, and the searched fields guessed from them, as the types of a commit's fields are inferred
//! from all of its documents. A document with a field that none before it had is held, too, with those after it, until
//! there are enough to guess: those before it have no words of the field, so they stay as they are. Where a guess proves
//! wrong, which takes a field whose first values mislead, the segments are built a second time, from the texts that were
//! stored with the first. So the words that are searched never depend on the order of documents, and most commits invert
//! them once.

use super::options::BuildOptions;
use super::workers::Workers;
use crate::build::segment::{BuiltSegment, Target};
use crate::manifest::Manifest;
use crate::opener::open_store;
use crate::{IndexError, Texts};
use document::Document;
use fields::{Observed, Schema, each_leaf};
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

/// Workers, and the fields whose words they know.
struct Started {
    workers: Workers,
    guess: Schema,
    /// Names observed when the guess was made.
    names_count: usize,
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
        if self.held.is_empty()
            && let Some(started) = &mut self.started
            && started.knows(context, observed)
        {
            return started.workers.add(document);
        }
        self.held_bytes += document.title.len() + document.body.len();
        each_leaf(&document.fields, &mut |_, value| {
            self.held_bytes += value.as_str().map_or(0, str::len);
        });
        self.held.push(document);
        if self.held.len() >= self.held_max || self.held_bytes >= HELD_BYTES_MAX {
            self.hand_over(context, observed)?;
        }
        Ok(())
    }

    /// Leaves out the documents of a URL that came so far.
    pub(super) fn withdraw(&mut self, url: &str) {
        if let Some(started) = &mut self.started {
            started.workers.withdraw(url);
        }
        self.held.retain(|document| document.url != url);
    }

    /// Gives the workers the documents held, with the fields that are known or guessed.
    fn hand_over(&mut self, context: Context<'_>, observed: &Observed) -> Result<(), IndexError> {
        let started = match self.started.take() {
            Some(started) => started.with_guess(context, observed),
            None => Started::new(context, observed),
        };
        let started = self.started.insert(started);
        self.held_bytes = 0;
        (self.held.drain(..)).try_for_each(|document| started.workers.add(document))
    }

    /// Returns the segments of all documents; adds the fields observed to the manifest.
    pub(super) fn finish(
        mut self,
        (storage, manifest, options): (&SharedStorage, &mut Manifest, &BuildOptions),
        observed: &Observed,
    ) -> Result<Vec<BuiltSegment>, IndexError> {
        if self.started.is_none() || !self.held.is_empty() {
            self.hand_over((storage, manifest, options), observed)?;
        }
        let Some(Started { workers, guess, .. }) = self.started else {
            return Ok(Vec::new());
        };
        let built = workers.finish()?;
        manifest.fields = extended(&manifest.fields, manifest.texts, observed);
        match manifest.fields.take_numbers_of(&guess) {
            true => Ok(built),
            false => built_again(storage, manifest, options, built),
        }
    }
}

impl Started {
    fn new((storage, manifest, options): Context<'_>, observed: &Observed) -> Started {
        let guess = extended(&manifest.fields, manifest.texts, observed);
        Started {
            workers: Workers::start(
                target_of(storage, manifest, options),
                Arc::new(guess.text_fields()),
                manifest.layout(),
                manifest.next_segment,
                options,
            ),
            guess,
            names_count: observed.names_count(),
        }
    }

    /// Returns whether all fields observed are known, or none is searched.
    fn knows(&self, (_, manifest, _): Context<'_>, observed: &Observed) -> bool {
        manifest.texts == Texts::None || observed.names_count() == self.names_count
    }

    /// Adds a guess of the fields that were observed since the last one.
    fn with_guess(mut self, (_, manifest, _): Context<'_>, observed: &Observed) -> Started {
        self.guess = extended(&self.guess, manifest.texts, observed);
        self.names_count = observed.names_count();
        let text_fields = Arc::new(self.guess.text_fields());
        self.workers.set_text_fields(text_fields);
        self
    }
}

/// Returns the fields of an index with those of documents that are added to it. Without texts, only declared fields
/// count: columns could not be derived, nor segments built again.
fn extended(fields: &Schema, texts: Texts, observed: &Observed) -> Schema {
    let mut schema = fields.clone();
    if texts == Texts::Stored {
        observed.extend_with_words(&mut schema);
    }
    schema
}

fn target_of(storage: &SharedStorage, manifest: &Manifest, options: &BuildOptions) -> Target {
    Target {
        storage: storage.clone(),
        index_id: manifest.index_id(),
        codec: manifest.codec,
        analyzer: manifest.analyzer,
        texts: manifest.texts,
        run_documents_max: options.run_documents_max,
    }
}

/// Builds segments a second time, from their stored texts, with all fields of the manifest. The first ones belong to no
/// generation, and the commit removes them.
fn built_again(
    storage: &SharedStorage,
    manifest: &mut Manifest,
    options: &BuildOptions,
    first: Vec<BuiltSegment>,
) -> Result<Vec<BuiltSegment>, IndexError> {
    manifest.next_segment += manifest.layout().partitions;
    let mut workers = Workers::start(
        target_of(storage, manifest, options),
        Arc::new(manifest.fields.text_fields()),
        manifest.layout(),
        manifest.next_segment,
        options,
    );
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
