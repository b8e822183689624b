//! Index thread of a crawl: adds and deletes documents in the order of the changes, and commits on request.

use crate::error::CrawlError;
use document::{Document, url_hash};
use fields::{Declaration, Declarations, DeclaredPrior, FieldType, Prior, Schema};
use index::{BuildOptions, Index, IndexError};
use ingest::DetectingWriter;
use std::collections::HashSet;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use vfs::SharedStorage;

/// Changes that may wait for the thread.
const QUEUE_CHANGES: usize = 1024;

/// Result of a commit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Committed {
    /// Generation, 0 before the first.
    pub generation: u64,
    /// Documents added since the commit before.
    pub added: u64,
    /// Deletes since the commit before.
    pub deleted: u64,
    /// Live documents.
    pub documents: u64,
}

enum Change {
    Add(Box<Document>),
    Delete(String),
    Commit(SyncSender<Committed>),
}

/// Handle of the thread.
pub(crate) struct Indexing {
    changes: Option<SyncSender<Change>>,
    thread: Option<JoinHandle<Result<(), IndexError>>>,
}

/// The thread has ended; [`Indexing::finish`] returns its error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ended;

impl Indexing {
    /// Starts the thread. Opens the writer at the first change, and for a commit that changes declarations of fields.
    ///
    /// # Errors
    /// Declarations that do not fit the index; errors of the index and of threads.
    pub(crate) fn start(
        storage: SharedStorage,
        options: BuildOptions,
    ) -> Result<Indexing, CrawlError> {
        let start = Start::read(&storage, options)?;
        let (changes, received) = sync_channel(QUEUE_CHANGES);
        let thread = std::thread::Builder::new()
            .name("crawl-index".into())
            .spawn(move || run(&storage, start, &received))
            .map_err(CrawlError::Threads)?;
        Ok(Indexing {
            changes: Some(changes),
            thread: Some(thread),
        })
    }

    /// Adds a document at the next commit.
    pub(crate) fn add(&self, document: Document) -> Result<(), Ended> {
        self.send(Change::Add(Box::new(document)))
    }

    /// Deletes the document of a URL at the next commit, also one added before it.
    pub(crate) fn delete(&self, url: String) -> Result<(), Ended> {
        self.send(Change::Delete(url))
    }

    /// Commits all changes sent before, and waits for the commit.
    pub(crate) fn commit(&self) -> Result<Committed, Ended> {
        let (reply, committed) = sync_channel(1);
        self.send(Change::Commit(reply))?;
        committed.recv().map_err(|_| Ended)
    }

    /// Returns the error of a thread that has ended.
    pub(crate) fn take_error(&mut self) -> Option<IndexError> {
        self.changes = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(Err(error))) => Some(error),
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            Some(Ok(Ok(()))) | None => None,
        }
    }

    /// Ends the thread without a further commit, and returns its error.
    pub(crate) fn finish(mut self) -> Result<(), IndexError> {
        self.changes = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Ok(()),
        }
    }

    fn send(&self, change: Change) -> Result<(), Ended> {
        let changes = self.changes.as_ref().ok_or(Ended)?;
        changes.send(change).map_err(|_| Ended)
    }
}

/// Changes of one commit.
struct Batch<'a> {
    storage: &'a SharedStorage,
    options: &'a BuildOptions,
    writer: Option<DetectingWriter>,
    /// Hashes of the URLs added.
    added: HashSet<u64>,
    deletes: Vec<String>,
    /// Whether the options declare fields otherwise than the index has them.
    declares: bool,
}

/// Prior of the rank of a page: its greatest addition to the score, and the rank that adds half of it, the mean.
const RANK_PRIOR: Prior = Prior {
    weight: 0.5,
    pivot: 1.0,
};
/// Weight of the words of titles.
const TITLE_WEIGHT: f32 = 2.0;

/// Returns the declarations of the index of a new crawl; an index keeps what it was made with.
///
/// Words of boilerplate are found by `boilerplate:word` alone: a word of a menu, which is on all pages of a site, says
/// nothing of one. Figures and names that the crawler gives a page are no words of it. The weights of titles and ranks are measured with `bench/crawl/questions`.
fn declarations() -> Declarations {
    let text = |weight| Declaration {
        weight: Some(weight),
        ..Declaration::of(FieldType::Text)
    };
    let unsearched = |kind| Declaration {
        searchable: Some(false),
        ..Declaration::of(kind)
    };
    let rank = Declaration {
        prior: Some(DeclaredPrior::On(RANK_PRIOR)),
        ..unsearched(FieldType::Float)
    };
    [
        (fields::TITLE, text(TITLE_WEIGHT)),
        ("boilerplate", text(0.0)),
        ("rank", rank),
        ("inlinks", unsearched(FieldType::Integer)),
        ("group", unsearched(FieldType::Keyword)),
    ]
    .map(|(name, declaration)| (name.to_owned(), declaration))
    .into_iter()
    .collect()
}

/// State of the index at the start of a run.
struct Start {
    options: BuildOptions,
    last: Committed,
    /// Whether the declarations of the options change the index.
    declares: bool,
}

impl Start {
    fn read(storage: &SharedStorage, options: BuildOptions) -> Result<Start, IndexError> {
        let Some(generation) = Index::newest_generation(storage)? else {
            return Ok(Start {
                options: BuildOptions {
                    fields: declarations().overridden_by(&options.fields),
                    ..options
                },
                last: Committed::default(),
                declares: false,
            });
        };
        let index = Index::open(storage.clone())?;
        let mut fields = Schema::clone(index.fields());
        let applied = options.fields.apply(&mut fields);
        applied.map_err(|reason| IndexError::Mismatch {
            path: storage.location(),
            reason,
        })?;
        Ok(Start {
            options,
            last: Committed {
                generation,
                documents: index.statistics().documents_count(),
                ..Committed::default()
            },
            declares: fields != **index.fields(),
        })
    }
}

fn run(
    storage: &SharedStorage,
    start: Start,
    received: &Receiver<Change>,
) -> Result<(), IndexError> {
    let (options, mut last) = (&start.options, start.last);
    let new_batch = || Batch {
        storage,
        options,
        writer: None,
        added: HashSet::new(),
        deletes: Vec::new(),
        declares: false,
    };
    let mut batch = Batch {
        declares: start.declares,
        ..new_batch()
    };
    // Of commits that nobody asked for.
    let (mut added, mut deleted) = (0, 0);
    while let Ok(change) = received.recv() {
        match change {
            Change::Add(document) => batch.add(*document)?,
            Change::Delete(url) => {
                // A delete within a commit does not reach the documents that the commit adds.
                if batch.added.contains(&url_hash(&url)) {
                    last = std::mem::replace(&mut batch, new_batch()).commit(last)?;
                    (added, deleted) = (added + last.added, deleted + last.deleted);
                }
                batch.deletes.push(url);
            }
            Change::Commit(reply) => {
                last = std::mem::replace(&mut batch, new_batch()).commit(last)?;
                last.added += std::mem::take(&mut added);
                last.deleted += std::mem::take(&mut deleted);
                // The caller may have gone.
                let _ = reply.send(last);
            }
        }
    }
    Ok(())
}

impl Batch<'_> {
    fn add(&mut self, document: Document) -> Result<(), IndexError> {
        self.added.insert(url_hash(&document.url));
        self.open()?.add(document)
    }

    /// Returns the writer, which it opens first if necessary.
    fn open(&mut self) -> Result<&mut DetectingWriter, IndexError> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => DetectingWriter::new(self.storage.clone(), self.options.clone())?,
        };
        Ok(self.writer.insert(writer))
    }

    fn commit(mut self, last: Committed) -> Result<Committed, IndexError> {
        let (added, deleted) = (self.added.len() as u64, self.deletes.len() as u64);
        // Without an index there is nothing to delete.
        if added == 0 && !self.declares && (deleted == 0 || last.generation == 0) {
            return Ok(Committed {
                added: 0,
                deleted: 0,
                ..last
            });
        }
        self.open()?;
        let Some(writer) = self.writer.take() else {
            return Ok(last);
        };
        let (mut writer, _) = writer.finish()?;
        for url in &self.deletes {
            writer.delete(url);
        }
        let summary = writer.commit()?;
        Ok(Committed {
            generation: summary.generation,
            added,
            deleted,
            documents: summary.documents_count,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use vfs::MemoryStorage;

    fn committed(storage: &SharedStorage, options: BuildOptions) -> Index {
        let indexing = Indexing::start(storage.clone(), options).unwrap();
        let boilerplate = "Home Index Search Contact us".to_owned();
        let document = Document {
            url: "http://a.example/".to_owned(),
            title: "A page".to_owned(),
            body: "with a text".to_owned(),
            fields: [("boilerplate".to_owned(), boilerplate.into())]
                .into_iter()
                .collect(),
            ..Document::default()
        };
        indexing.add(document).unwrap();
        indexing.commit().unwrap();
        indexing.finish().unwrap();
        Index::open(storage.clone()).unwrap()
    }

    #[test]
    fn a_new_index_has_the_fields_of_a_crawl() {
        let storage: SharedStorage = Arc::new(MemoryStorage::new());
        for _ in 0..2 {
            let index = committed(&storage, BuildOptions::default());
            assert!(!index.fields().searched("boilerplate").unwrap().is_in_text());
            assert_eq!(index.fields().prior("rank"), Some(RANK_PRIOR));
            assert_eq!(
                index.fields().searched("title").unwrap().weight,
                TITLE_WEIGHT
            );
        }
        // Other declarations count with the next commit, although no document changes.
        let off = Declaration {
            prior: Some(DeclaredPrior::Off),
            ..Declaration::of(FieldType::Float)
        };
        let declared = |name: &str, declaration| BuildOptions {
            fields: [(name.to_owned(), declaration)].into_iter().collect(),
            ..BuildOptions::default()
        };
        let indexing = Indexing::start(storage.clone(), declared("rank", off)).unwrap();
        let generation = indexing.commit().unwrap().generation;
        assert_eq!(indexing.commit().unwrap().generation, generation);
        indexing.finish().unwrap();
        assert_eq!(
            Index::open(storage.clone()).unwrap().fields().prior("rank"),
            None
        );
        let misfit = Indexing::start(storage, declared("rank", Declaration::of(FieldType::Date)));
        assert!(
            misfit
                .err()
                .unwrap()
                .to_string()
                .contains("has the type f64")
        );

        let storage: SharedStorage = Arc::new(MemoryStorage::new());
        let declared = [("boilerplate", FieldType::Text)];
        let options = BuildOptions {
            fields: declared.into_iter().collect(),
            ..BuildOptions::default()
        };
        let index = committed(&storage, options);
        assert!(index.fields().searched("boilerplate").unwrap().is_in_text());
    }
}
