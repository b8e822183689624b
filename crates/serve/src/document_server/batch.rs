//! Summaries of one request, made by the caller's thread and handlers together: each takes the next text, or a piece of a
//! long one.
//!
//! ```text
//! texts by length   0 ████████████  4 ███  1 █  2 █  3 █
//! ranges              ┴─┴─┴─┴─┴─┴     ┴    ┴    ┴    ┴      a long text has several, once it is decompressed
//! ```

use super::long_text::{LongText, Piece, pieces_count};
use crate::api::messages::{SummariesOf, SummariesRequest, TextSummary};
use engine::calls::PartError;
use engine::cut_values::cut_fields;
use engine::summary_of;
use index::{Index, TextKey, Texts};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use text::summary::{Summary, SummaryOptions, SummaryQuery};

/// Upper limit on the wait for a text that another thread decompresses.
const PATIENCE: Duration = Duration::from_micros(100);

/// Result for one text: `None` if it is missing; empty in an index without texts.
type Made = Result<Option<TextSummary>, PartError>;

/// Summaries of one request, shared by the caller and the handlers.
#[derive(Debug)]
pub(super) struct Batch {
    index: Arc<Index>,
    of: SummariesOf,
    wants_fields: bool,
    /// Bytes of the blocks to decompress.
    bytes: u64,
    query: SummaryQuery,
    deadline: Instant,
    /// Whether the request was cancelled.
    is_cancelled: AtomicBool,
    /// Numbers of the texts, and how many ranges each has at most: long texts first, so that the last ranges are short.
    order: Vec<(usize, usize)>,
    /// Place in the order of the next text to read.
    next: AtomicUsize,
    /// Ranges that no thread has taken. Never rises.
    left: AtomicUsize,
    /// Ranges done.
    ranges_done: AtomicUsize,
    /// Long texts that have pieces left, and the next piece of each.
    long: Mutex<Vec<(Arc<LongText>, usize)>>,
    /// Signalled when a long text has been read.
    read: Condvar,
    done: Mutex<Done>,
}

/// Outcome of taking the next range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Worked {
    /// A range was done.
    One,
    /// The last missing summary was made: the thread that made it replies.
    Last,
    /// Another thread reads a long text, and none of its pieces can be taken yet.
    NoneYet,
    /// Every range is taken.
    NoneLeft,
}

#[derive(Debug)]
struct Done {
    count: usize,
    /// Summaries made; an entry stays `None` if making it panicked.
    summaries: Vec<Option<Made>>,
}

/// Outcome of reading a text.
enum Read {
    Made(Made),
    Long(LongText),
}

thread_local! {
    /// Buffer for decompressed texts, kept so that a page of summaries allocates no memory for them.
    static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Batch {
    pub(super) fn new(index: Arc<Index>, request: SummariesRequest) -> Batch {
        let terms = request.terms.to_vec();
        let count = request.of.count();
        let store = index.documents();
        let keys = (0..count).map_while(|number| request.of.key(number));
        let mut bytes = 0;
        let ranges = keys.map(|key| {
            let of_text = store.block_bytes(key);
            bytes += u64::from(of_text);
            pieces_count(of_text)
        });
        let mut order: Vec<(usize, usize)> = ranges.enumerate().collect();
        order.sort_by_key(|&(_, ranges)| std::cmp::Reverse(ranges));
        Batch {
            query: SummaryQuery::new(index.analyzer(), terms, SummaryOptions::default()),
            index,
            bytes,
            of: request.of,
            wants_fields: request.fields,
            deadline: request.deadline,
            is_cancelled: AtomicBool::new(false),
            next: AtomicUsize::new(0),
            left: AtomicUsize::new(order.iter().map(|&(_, ranges)| ranges).sum()),
            ranges_done: AtomicUsize::new(0),
            order,
            long: Mutex::default(),
            read: Condvar::new(),
            done: Mutex::new(Done {
                count: 0,
                summaries: (0..count).map(|_| None).collect(),
            }),
        }
    }

    /// Returns the bytes of text to decompress, about.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the number of ranges that no thread has begun.
    pub(super) fn left_count(&self) -> usize {
        self.left.load(Ordering::Relaxed)
    }

    /// Returns the number of ranges done.
    pub(super) fn done_count(&self) -> usize {
        self.ranges_done.load(Ordering::Relaxed)
    }

    /// Returns whether there is nothing to make.
    pub(super) fn is_empty(&self) -> bool {
        self.of.count() == 0
    }

    /// Makes every thread skip the remaining summaries.
    pub(super) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Does the next range: a piece of a long text that is read, or else the next text.
    pub(super) fn work_on_one(&self) -> Worked {
        let worked = match self.take_piece() {
            Some((text, piece)) => self.search_piece(&text, piece),
            None => self.work_on_text(),
        };
        if let Worked::One | Worked::Last = worked {
            self.ranges_done.fetch_add(1, Ordering::Relaxed);
        }
        worked
    }

    /// Waits a little for a text that another thread reads.
    pub(super) fn wait_for_pieces(&self) {
        let long = self.long.lock().unwrap_or_else(PoisonError::into_inner);
        if long.is_empty() {
            drop(self.read.wait_timeout(long, PATIENCE));
        }
    }

    fn take_piece(&self) -> Option<(Arc<LongText>, usize)> {
        if self.order.first().is_none_or(|&(_, ranges)| ranges == 1) {
            return None;
        }
        let mut long = self.long.lock().unwrap_or_else(PoisonError::into_inner);
        let (text, next) = long.last_mut()?;
        let taken = (Arc::clone(text), *next);
        *next += 1;
        if *next == text.pieces_count() {
            long.pop();
        }
        self.left.fetch_sub(1, Ordering::Relaxed);
        Some(taken)
    }

    fn search_piece(&self, text: &LongText, piece: usize) -> Worked {
        let find = || match self.is_over() {
            true => Piece::Expired,
            false => Piece::Found(text.find(&self.query, piece)),
        };
        // Every piece must be counted as done, even after a panic, or nobody would answer.
        let came = catch_unwind(AssertUnwindSafe(find)).unwrap_or(Piece::Missing);
        if !text.put(piece, came) {
            return Worked::One;
        }
        let summary = || {
            let of_body = text.summary(&self.query)?;
            Some(of_body.map(|of_body| Some(self.summary(text.text(), of_body))))
        };
        let summary = catch_unwind(AssertUnwindSafe(summary)).ok().flatten();
        self.put(text.number, summary)
    }

    fn work_on_text(&self) -> Worked {
        let taken = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(&(number, ranges)) = self.order.get(taken) else {
            return match self.left_count() {
                0 => Worked::NoneLeft,
                _ => Worked::NoneYet,
            };
        };
        if ranges == 1 {
            self.left.fetch_sub(1, Ordering::Relaxed);
        }
        // As for pieces.
        let summary = match catch_unwind(AssertUnwindSafe(|| self.read(number, ranges))) {
            Ok(Read::Long(text)) => return self.begin_long(text, ranges),
            Ok(Read::Made(summary)) => Some(summary),
            Err(_) => None,
        };
        if ranges > 1 {
            self.left.fetch_sub(ranges, Ordering::Relaxed);
        }
        self.put(number, summary)
    }

    /// Lets others take the pieces of a text that counted as `ranges` ranges, and searches the first one.
    fn begin_long(&self, text: LongText, ranges: usize) -> Worked {
        let text = Arc::new(text);
        let pieces = text.pieces_count();
        self.left.fetch_sub(1 + ranges - pieces, Ordering::Relaxed);
        if pieces > 1 {
            let mut long = self.long.lock().unwrap_or_else(PoisonError::into_inner);
            long.push((Arc::clone(&text), 1));
            self.read.notify_all();
        }
        self.search_piece(&text, 0)
    }

    /// Puts a summary where it belongs.
    fn put(&self, number: usize, summary: Option<Made>) -> Worked {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.summaries[number] = summary;
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

    /// Returns whether the request was cancelled or its deadline has passed.
    fn is_over(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }

    /// Makes the summary of a text, or cuts it into `ranges` pieces.
    fn read(&self, number: usize, ranges: usize) -> Read {
        let store = self.index.documents();
        let Some(key) = self.of.key(number) else {
            return Read::Made(Ok(None));
        };
        if store.texts() == Texts::None {
            return Read::Made(Ok(Some(TextSummary::default())));
        }
        if self.is_over() {
            return Read::Made(Err(PartError::Expired));
        }
        let mut buffer = TEXT.take();
        let mut read = Read::Made(Ok(None));
        let found = store.with_text(key, &mut buffer, |url, body, fields| {
            let text = [url, body, fields];
            read = match ranges {
                1 => Read::Made(Ok(Some(self.summary(text, self.query.summary(body))))),
                _ => Read::Long(LongText::new(number, text, ranges)),
            };
        });
        TEXT.replace(buffer);
        match found {
            Ok(_) => read,
            Err(error) => Read::Made(Err(error.into())),
        }
    }

    /// Returns what is shown of a text, given the summary of its body.
    fn summary(&self, [url, _, fields]: [&str; 3], of_body: Summary) -> TextSummary {
        let text_fields = self.index.statistics().text_fields();
        let (shown_fields, cut) = match self.wants_fields {
            true => cut_fields(fields),
            false => (String::new(), Vec::new()),
        };
        TextSummary {
            url: url.to_owned(),
            html: summary_of(&self.query, of_body, fields, text_fields),
            fields: shown_fields,
            cut,
        }
    }

    /// Returns all summaries, once the last one is made.
    pub(super) fn take(&self) -> Result<Vec<Option<TextSummary>>, PartError> {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let summaries = std::mem::take(&mut done.summaries);
        summaries
            .into_iter()
            .enumerate()
            .map(|(at, summary)| match summary {
                Some(summary) => summary,
                None => Err(PartError::NotServed {
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
