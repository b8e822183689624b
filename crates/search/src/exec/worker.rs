//! A worker of a task: it takes ranges in one visit or several, and keeps the lists that it has opened in between.

use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::collect::doc_bits::DocBits;
use crate::collect::match_count::MatchCount;
use crate::collect::topk::hit::ScoredHit;
use crate::collect::topk::kept::TopK;
use crate::context::cancel::Stop;
use crate::context::wanted::Wanted;
use crate::exec::algorithm::Algorithm;
use crate::exec::gather::MatchesShare;
use crate::exec::run::Searched;
use crate::exec::task::{Leaving, Pieces, SearchTask, Share, Visitor};
use crate::exec::walk::{Coverage, Few, Walk, walk};
use index::{IndexError, Segment};
use std::fmt;

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
        let (all, coverage, ranges_count) = self.collect(all, visitor)?;
        Ok(MatchesShare::of(all, coverage, ranges_count))
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
        if pieces.order == Walk::Ranges {
            top.context.share(&task.threshold);
            top.context.exchange();
        }
        let segments: Few<&Segment> = task.segments.iter().map(|segment| &**segment).collect();
        let (mut ranges_count, last) = (0, &mut self.last);
        let next = |is_searched: bool| {
            if is_searched && !visitor.on_range(task.live(pieces)) {
                return None;
            }
            *last = pieces.claims.take(*last);
            ranges_count += usize::from(last.is_some());
            last.map(|at| pieces.list[at].clone())
        };
        pieces.claims.join();
        let opened = &mut self.opened;
        let coverage = walk(&task.plan, &segments, pieces.order, opened, next, &mut top);
        pieces.claims.leave();
        Ok((top, coverage?, ranges_count))
    }
}
