//! Summaries of one request, made by the caller's thread and handlers together: each takes the next text.

use crate::api::messages::{SummariesOf, SummariesRequest, TextSummary};
use crate::api::server_error::ServerError;
use engine::summary_of;
use index::{Index, TextKey, Texts};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use text::summary::{SummaryOptions, SummaryQuery};

/// Result for one summary: `None` if the text is missing; empty in an index without texts.
type Summary = Result<Option<TextSummary>, ServerError>;

/// Summaries of one request, shared by the caller and the handlers.
#[derive(Debug)]
pub(super) struct Batch {
    index: Arc<Index>,
    of: SummariesOf,
    wants_fields: bool,
    query: SummaryQuery,
    deadline: Instant,
    /// Whether the request was cancelled.
    is_cancelled: AtomicBool,
    /// Index of the next summary to make.
    next: AtomicUsize,
    done: Mutex<Done>,
}

/// What came of taking the next text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Worked {
    /// A summary was made.
    One,
    /// The summary that was missing last was made: whoever made it answers.
    Last,
    /// Every text is taken.
    NoneLeft,
}

#[derive(Debug)]
struct Done {
    count: usize,
    /// Summaries made; an entry stays `None` if making it panicked.
    summaries: Vec<Option<Summary>>,
}

thread_local! {
    /// Buffer for decompressed texts, kept so that a page of summaries allocates no memory for them.
    static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Batch {
    pub(super) fn new(index: Arc<Index>, request: SummariesRequest) -> Batch {
        let terms = request.terms.to_vec();
        let count = request.of.count();
        Batch {
            query: SummaryQuery::new(index.analyzer(), terms, SummaryOptions::default()),
            index,
            of: request.of,
            wants_fields: request.fields,
            deadline: request.deadline,
            is_cancelled: AtomicBool::new(false),
            next: AtomicUsize::new(0),
            done: Mutex::new(Done {
                count: 0,
                summaries: (0..count).map(|_| None).collect(),
            }),
        }
    }

    /// Returns the number of summaries that no thread has begun.
    pub(super) fn left_count(&self) -> usize {
        let taken = self.next.load(Ordering::Relaxed);
        self.of.count().saturating_sub(taken)
    }

    /// Returns the number of summaries made.
    pub(super) fn made_count(&self) -> usize {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.count
    }

    /// Returns whether there is nothing to make.
    pub(super) fn is_empty(&self) -> bool {
        self.of.count() == 0
    }

    /// Makes every thread skip the remaining summaries.
    pub(super) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Makes the next summary.
    pub(super) fn work_on_one(&self) -> Worked {
        let taken = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(key) = self.of.key(taken) else {
            return Worked::NoneLeft;
        };
        // Every summary must be counted as done, even after a panic, or nobody would answer.
        let summary = catch_unwind(AssertUnwindSafe(|| self.summary(key))).ok();
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.summaries[taken] = summary;
        done.count += 1;
        match done.count == self.of.count() {
            true => Worked::Last,
            false => Worked::One,
        }
    }

    /// Returns the keys of the texts.
    pub(super) fn keys(&self) -> impl Iterator<Item = TextKey<'_>> {
        (0..self.of.count()).filter_map(|at| self.of.key(at))
    }

    fn summary(&self, key: TextKey<'_>) -> Summary {
        let store = self.index.documents();
        if store.texts() == Texts::None {
            return Ok(Some(TextSummary::default()));
        }
        if self.is_cancelled.load(Ordering::Relaxed) || Instant::now() >= self.deadline {
            return Err(ServerError::Expired);
        }
        let mut buffer = TEXT.take();
        let mut summary = None;
        let found = store.with_text(key, &mut buffer, |url, body, fields| {
            summary = Some(TextSummary {
                url: url.to_owned(),
                html: summary_of(
                    &self.query,
                    body,
                    fields,
                    self.index.statistics().text_fields(),
                ),
                fields: match self.wants_fields {
                    true => fields.to_owned(),
                    false => String::new(),
                },
            });
        });
        TEXT.replace(buffer);
        found?;
        Ok(summary)
    }

    /// Returns all summaries, once the last one is made.
    pub(super) fn take(&self) -> Result<Vec<Option<TextSummary>>, ServerError> {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let summaries = std::mem::take(&mut done.summaries);
        summaries
            .into_iter()
            .enumerate()
            .map(|(at, summary)| match summary {
                Some(summary) => summary,
                None => Err(ServerError::NotServed {
                    reason: format!(
                        "it failed at the text of {}; please report this",
                        match self.of.key(at) {
                            Some(TextKey::Url(url)) => url.to_owned(),
                            Some(TextKey::UrlHash(hash)) => format!("the URL with hash {hash:#x}"),
                            None => "a document".to_owned(),
                        }
                    ),
                }),
            })
            .collect()
    }
}
