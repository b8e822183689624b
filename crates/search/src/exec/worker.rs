//! A worker of a task: it takes ranges in one visit or several, and keeps the lists that it has opened in between.

use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::collect::context::Context;
use crate::collect::doc_bits::DocBits;
use crate::collect::match_count::MatchCount;
use crate::collect::topk::hit::ScoredHit;
use crate::collect::topk::kept::TopK;
use crate::context::cancel::Stop;
use crate::context::wanted::Wanted;
use crate::exec::algorithm::Algorithm;
use crate::exec::gather::MatchesShare;
use crate::exec::given::middle;
use crate::exec::run::Searched;
use crate::exec::task::{Leaving, Pieces, SearchTask, Share, Split, Visitor};
use crate::exec::walk::{Coverage, Few, Piece, Source, Walk, walk};
use index::{IndexError, Segment};
use std::fmt;
use std::ops::Range;

/// A worker of a task. After a visit it may do something else, and come back for a further one without opening the lists
/// again.
pub struct Worker<'s> {
    task: &'s SearchTask,
    stop: &'s Stop<'s>,
    /// The plan opened on segments, by their index.
    opened: Few<Option<Algorithm<'s>>>,
    /// The piece that was taken last.
    last: Option<usize>,
}

impl fmt::Debug for Worker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("last", &self.last)
            .finish_non_exhaustive()
    }
}

impl SearchTask {
    /// Runs the whole task on the calling thread, as its only worker, until `stop` is due.
    pub fn run(&self, stop: &Stop<'_>) -> Result<Searched, IndexError> {
        let share = self.work(stop, || false)?;
        Ok(self.merged([share]))
    }

    /// Takes ranges until none is left, or `leaves` says so (asked after each range). A worker that `stop` cancels
    /// takes what is left without searching it, and its share says so. Each worker has a `stop` of its own.
    pub fn work<'s>(
        &'s self,
        stop: &'s Stop<'s>,
        leaves: impl FnMut() -> bool,
    ) -> Result<Share, IndexError> {
        self.visit(stop, &mut Leaving(leaves))
    }

    /// Works like [`SearchTask::work`] and reports to a visitor.
    pub fn visit<'s>(
        &'s self,
        stop: &'s Stop<'s>,
        visitor: &mut dyn Visitor,
    ) -> Result<Share, IndexError> {
        self.worker(stop).visit(visitor)
    }

    /// Returns a worker, for several visits of one thread. Each worker has a `stop` of its own.
    pub fn worker<'s>(&'s self, stop: &'s Stop<'s>) -> Worker<'s> {
        Worker::new(self, stop)
    }
}

impl<'s> Worker<'s> {
    pub(super) fn new(task: &'s SearchTask, stop: &'s Stop<'s>) -> Worker<'s> {
        Worker {
            task,
            stop,
            opened: Few::new(),
            last: None,
        }
    }

    /// Takes ranges until none is left, or the visitor says so. Returns what they hold: ranges of earlier visits are not
    /// part of it. A worker that is cancelled takes what is left without searching it, and its share says so.
    pub fn visit(&mut self, visitor: &mut dyn Visitor) -> Result<Share, IndexError> {
        let task = self.task;
        let top = || task.plan.top(task.k).after(task.after.as_ref());
        match task.wanted {
            Wanted::Count => self.share_of::<_, true>((), visitor, |()| Vec::new()),
            Wanted::HitsAndCount => self.share_of::<_, true>(top(), visitor, TopK::into_sorted),
            Wanted::Hits => self.share_of::<_, false>(top(), visitor, TopK::into_sorted),
        }
    }

    fn share_of<H: HitCollector<'s>, const EXACT: bool>(
        &mut self,
        hits: H,
        visitor: &mut dyn Visitor,
        sorted: impl FnOnce(H) -> Vec<ScoredHit>,
    ) -> Result<Share, IndexError> {
        let mut top = Collectors::new(hits, MatchCount::<EXACT>::default()).until(self.stop);
        if self.task.after.is_some() {
            top.context = top.context.without_floors();
        }
        let (top, coverage, ranges_count) = self.collect(top, visitor)?;
        let count_is_exact = EXACT && !top.stop().count_is_cut();
        let hits = sorted(top.hits);
        Ok(Share {
            matches_count: top.matches.0.max(hits.len() as u64),
            hits,
            count_is_exact,
            documents_searched: coverage.documents_searched,
            documents_count: coverage.documents_count,
            ranges_count,
            ranges_skipped: coverage.ranges_skipped,
        })
    }

    /// Gathers the matches of ranges until none is left, or the visitor says so, as [`Worker::visit`] does hits.
    pub fn gather(&mut self, visitor: &mut dyn Visitor) -> Result<MatchesShare, IndexError> {
        let all = Collectors::new((), DocBits::default()).until(self.stop);
        let (all, coverage, _) = self.collect(all, visitor)?;
        Ok(MatchesShare::of(all, coverage))
    }

    /// Feeds collectors with the ranges of a visit. Returns them with the coverage and the number of ranges.
    fn collect<H: HitCollector<'s>, M: MatchCollector>(
        &mut self,
        mut top: Collectors<'s, H, M>,
        visitor: &mut dyn Visitor,
    ) -> Result<(Collectors<'s, H, M>, Coverage, usize), IndexError> {
        let task = self.task;
        let pieces = match task.pieces.get() {
            Some(pieces) => pieces,
            None => {
                let (mut pieces, algorithms) = task.cut_in(task.first_cut, &mut top.context)?;
                if top.stop().is_aborted() || top.stop().is_due_now() {
                    // A segment that could not be opened in time is not one without matches.
                    pieces = Pieces::whole(&task.plan, &task.segments);
                } else {
                    self.opened = algorithms;
                }
                let pieces = task.pieces.get_or_init(|| pieces);
                visitor.opened(pieces.list.len());
                pieces
            }
        };
        let mut ranges = Ranges {
            task,
            pieces,
            last: &mut self.last,
            visitor,
            taken_count: 0,
            is_shared: false,
        };
        if pieces.order == Walk::Ranges || pieces.given.is_open() {
            ranges.share(&mut top.context);
        }
        let segments: Few<&Segment> = task.segments.iter().map(|segment| &**segment).collect();
        pieces.claims.join();
        let opened = &mut self.opened;
        let coverage = walk(
            &task.plan,
            &segments,
            pieces.order,
            opened,
            &mut ranges,
            &mut top,
        );
        pieces.claims.leave();
        let taken_count = ranges.taken_count;
        Ok((top, coverage?, taken_count))
    }
}

/// The ranges of a visit, as the worker takes them: those of the task, then those that were given away.
struct Ranges<'w, 's> {
    task: &'s SearchTask,
    pieces: &'s Pieces,
    /// The piece that was taken last.
    last: &'w mut Option<usize>,
    visitor: &'w mut dyn Visitor,
    taken_count: usize,
    /// Whether the worker shares its threshold.
    is_shared: bool,
}

impl<'s> Ranges<'_, 's> {
    fn share(&mut self, context: &mut Context<'s>) {
        if !self.is_shared {
            self.is_shared = true;
            context.share(&self.task.threshold);
        }
        context.exchange();
    }
}

impl<'s> Source<'s> for Ranges<'_, 's> {
    fn next(&mut self, is_searched: bool) -> Option<Piece> {
        let Ranges { task, pieces, .. } = *self;
        if is_searched && !self.visitor.on_range(task.live(pieces)) {
            return None;
        }
        let claimed = pieces.claims.take(*self.last);
        let piece = match claimed {
            Some(at) => Some(pieces.list[at].clone()),
            None => pieces.given.take(),
        };
        *self.last = claimed.or(*self.last);
        self.taken_count += usize::from(piece.is_some());
        piece
    }

    fn split(&mut self, searched: u64, rest: Piece, context: &mut Context<'s>) -> Range<u32> {
        let Ranges { task, pieces, .. } = *self;
        let documents = rest.documents.clone();
        let split = self.visitor.split(searched, documents.len() as u64);
        let end = match split {
            Split::Keep => return documents,
            Split::All => documents.start,
            // Others can take segments that nobody has begun.
            Split::Half if pieces.claims.left_count() > 0 => documents.end,
            Split::Half => match middle(&documents) {
                // Too short to be halved.
                end if end == documents.end => return documents,
                end => end,
            },
        };
        self.share(context);
        pieces.given.open();
        if end < documents.end {
            pieces.given.give(Piece {
                documents: end..documents.end,
                ..rest
            });
        }
        self.visitor.gave(task.live(pieces));
        documents.start..end
    }

    fn comes_back(&self) -> bool {
        self.pieces.given.is_open()
    }
}
