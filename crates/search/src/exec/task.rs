//! A search as a task of its own: ranges of documents that any number of workers take in turn.
//!
//! ```text
//! SearchTask::new ──► [ segment, segment, … ]            in order, for one worker
//!      └── cut ─────► [ range, range, … ]                with what a hit there can score; the first worker cuts
//!                        │                               (cut_by_first), or the caller (cut)
//!                        ▲ claims         each worker: work() ──► Share: its k best, its count, its coverage
//!                        └─────────────── a threshold that all of them share and raise
//! merged(shares) ──► Searched
//! ```
//!
//! A task owns its plan and its segments, so that a worker may be any thread, and may outlive whoever made the task.
//! Ranges are intervals of one segment's documents. A worker opens the query once a segment (the look-ups in the
//! dictionary are the plan's), then takes range after range; it can leave after each. A range that cannot hold a hit any
//! more costs nothing. Exact for any number of workers: a hit enters at equal scores, and then the order of URL hashes
//! decides.

use crate::algorithms::maxscore::WIDTH_MIN;
use crate::collect::context::{Context, MatchNeeds};
use crate::collect::topk::after::After;
use crate::collect::topk::hit::{ScoredHit, merge_sorted};
use crate::collect::topk::shared_threshold::SharedThreshold;
use crate::context::wanted::Wanted;
use crate::exec::algorithm::Algorithm;
use crate::exec::claims::Claims;
use crate::exec::given::Given;
use crate::exec::run::Searched;
use crate::exec::walk::{ALIGNED, Few, Piece, Walk};
use crate::plan::planner::Plan;
use index::{IndexError, Segment};
use std::sync::{Arc, OnceLock};

/// Granularity of the ranges of a query.
#[derive(Debug, Clone, Copy)]
pub struct Cut {
    /// Ranges at most (one a segment at least).
    pub ranges_max: usize,
    /// Lower limit on the postings of a range, approximate, so that the cost of beginning a range stays small. With 0,
    /// ranges may be as short as 64 documents, otherwise as a window of a union.
    pub postings_min: u64,
}

impl Cut {
    /// Beginning a range takes as long as these do at most, thirty times over.
    const POSTINGS_MIN: u64 = 1 << 16;
    /// Every list starts anew in each range, in two algorithms where matches are counted. (Of 51 lists, a range takes 14 µs
    /// to begin; with as many postings as these, it is a twenty-fifth of the time.)
    const POSTINGS_A_LIST: u64 = 1 << 13;

    /// Returns a cut into `ranges_max` ranges, or fewer where a query is not worth them.
    pub fn at_most(ranges_max: usize) -> Cut {
        Cut {
            ranges_max,
            postings_min: Cut::POSTINGS_MIN,
        }
    }

    /// Makes ranges long enough for a query of some lists; those of any length stay so.
    pub fn for_lists(self, lists: u32) -> Cut {
        let least = u64::from(lists) * Cut::POSTINGS_A_LIST;
        Cut {
            postings_min: match self.postings_min {
                0 => 0,
                postings_min => postings_min.max(least),
            },
            ..self
        }
    }
}

/// What becomes of the rest of a piece that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// The worker keeps it.
    Keep,
    /// The worker keeps the lower half and gives the upper one away.
    Half,
    /// The worker gives all of it away, as it leaves.
    All,
}

/// Observer of a worker: it sees the ends of ranges, and decides whether the worker goes on.
pub trait Visitor {
    /// Sees that the first worker has cut the task into `ranges_count` ranges: others can begin.
    fn opened(&mut self, ranges_count: usize);

    /// Sees that a range was searched, and that `live` ranges are left that may still hold a hit. Returns whether the
    /// worker takes another one.
    fn on_range(&mut self, live: usize) -> bool;

    /// Hears that the [`Stop`] of the worker is asked for a part of a range, of which `searched` documents are done and
    /// `left` are not. Returns what becomes of these.
    fn split(&mut self, searched: u64, left: u64) -> Split {
        let _ = (searched, left);
        Split::Keep
    }

    /// Sees that other workers can take `live` ranges, after a split.
    fn gave(&mut self, live: usize) {
        let _ = live;
    }
}

/// Visitor of a worker that leaves when a closure says so.
pub(super) struct Leaving<F>(pub(super) F);

impl<F: FnMut() -> bool> Visitor for Leaving<F> {
    fn opened(&mut self, _ranges_count: usize) {}

    fn on_range(&mut self, _live: usize) -> bool {
        !(self.0)()
    }
}

/// A query on some segments, to be worked on by any number of workers.
#[derive(Debug)]
pub struct SearchTask {
    pub(super) plan: Arc<Plan>,
    pub(super) segments: Few<Arc<Segment>>,
    pub(super) k: usize,
    pub(super) wanted: Wanted,
    /// Place after which hits are wanted.
    pub(super) after: Option<After>,
    /// Granularity for the first worker, where `pieces` is left to it.
    pub(super) first_cut: Cut,
    pub(super) pieces: OnceLock<Pieces>,
    pub(super) threshold: SharedThreshold,
}

/// The ranges of a task.
#[derive(Debug)]
pub(super) struct Pieces {
    /// Pieces in order of segments and documents.
    pub(super) list: Vec<Piece>,
    /// Which of them workers have taken.
    pub(super) claims: Claims,
    /// Parts that workers gave away.
    pub(super) given: Given,
    pub(super) order: Walk,
}

/// Result of one worker, over the ranges that it took.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Share {
    /// The k best hits, best first.
    pub hits: Vec<ScoredHit>,
    /// Documents that match: all, where `count_is_exact`, otherwise a lower bound.
    pub matches_count: u64,
    /// Whether every match of the ranges was counted.
    pub count_is_exact: bool,
    /// Documents that `hits` were chosen from, deleted ones included: all of the ranges, unless the worker was
    /// cancelled.
    pub documents_searched: u64,
    /// Documents of the ranges, deleted ones included.
    pub documents_count: u64,
    /// Ranges taken, skipped ones included.
    pub ranges_count: usize,
    /// Ranges skipped, because nothing in them could enter any more.
    pub ranges_skipped: usize,
}

impl SearchTask {
    /// Returns a search of whole segments for the `k` best hits. With `counted`, and where `k` is 0, every match is
    /// counted.
    pub fn new(
        plan: Arc<Plan>,
        segments: impl IntoIterator<Item = Arc<Segment>>,
        k: usize,
        counted: bool,
    ) -> SearchTask {
        let segments: Few<Arc<Segment>> = segments.into_iter().collect();
        let whole = Pieces::whole(&plan, &segments);
        SearchTask {
            plan,
            segments,
            k,
            wanted: match (k, counted) {
                (0, _) => Wanted::Count,
                (_, true) => Wanted::HitsAndCount,
                (_, false) => Wanted::Hits,
            },
            after: None,
            first_cut: Cut::at_most(1),
            pieces: OnceLock::from(whole),
            threshold: SharedThreshold::default(),
        }
    }

    /// Leaves out the hits up to a place in the order of scores. They are counted all the same.
    pub fn after(self, after: Option<After>) -> SearchTask {
        SearchTask { after, ..self }
    }

    /// Cuts the segments into ranges, for several workers, before any of them begins.
    pub fn cut(mut self, cut: Cut) -> Result<SearchTask, IndexError> {
        // Only for what is known before anything is read.
        let needs = match self.wanted {
            Wanted::Hits => MatchNeeds::Nothing,
            Wanted::HitsAndCount | Wanted::Count => MatchNeeds::Count,
        };
        let mut context = Context::new(self.k, needs).adding(self.plan.priors.most());
        if self.after.is_some() {
            context = context.without_floors();
        }
        let (pieces, _) = self.cut_in(cut, &mut context)?;
        if self.k > 0 {
            self.threshold.raise(context.threshold());
        }
        self.pieces = OnceLock::from(pieces);
        Ok(self)
    }

    /// Leaves the cutting to the first worker, which keeps the lists that it opens for it. Others may begin once it has
    /// cut.
    pub fn cut_by_first(mut self, cut: Cut) -> SearchTask {
        if !self.plan.matches_nothing() {
            self.first_cut = cut;
            self.pieces = OnceLock::new();
        }
        self
    }

    /// Opens the plan on all segments and cuts them into ranges, with their bounds.
    pub(super) fn cut_in<'s>(
        &'s self,
        cut: Cut,
        context: &mut Context<'s>,
    ) -> Result<(Pieces, Few<Option<Algorithm<'s>>>), IndexError> {
        let mut opened: Few<Option<Algorithm<'s>>> = Few::new();
        if self.plan.matches_nothing() {
            return Ok((Pieces::whole(&self.plan, &self.segments), opened));
        }
        for segment in &self.segments {
            let algorithm = Algorithm::open(&self.plan, segment, context, self.wanted)?;
            opened.push(algorithm);
        }
        let total: u64 = documents_count(&self.segments);
        let postings: u64 = opened.iter().flatten().map(Algorithm::postings).sum();
        let worth = postings.checked_div(cut.postings_min).unwrap_or(u64::MAX);
        let length = total.div_ceil(worth.clamp(1, cut.ranges_max.max(1) as u64));
        let length = (length.min(1 << 31) as u32).max(1);
        let length = length.next_multiple_of(match cut.postings_min {
            0 => ALIGNED,
            // A union searches whole windows.
            _ => WIDTH_MIN,
        });
        let mut list = Vec::new();
        for (number, opened) in opened.iter_mut().enumerate() {
            let Some(opened) = opened else {
                continue;
            };
            let end = self.segments[number].documents_count();
            let mut start = 0;
            while start < end {
                let documents = start..end.min(start.saturating_add(length));
                start = documents.end;
                // One that is all there is, is searched whatever it can hold.
                let bound = match u64::from(length) >= total {
                    true => f32::INFINITY,
                    false => opened.bound(&documents),
                };
                list.push(Piece {
                    segment: number,
                    bound,
                    documents,
                });
            }
        }
        Ok((Pieces::of(list, Walk::Ranges), opened))
    }

    /// Returns the ranges; of a task that its first worker cuts, none before that.
    fn pieces(&self) -> &[Piece] {
        self.pieces.get().map_or(&[], |pieces| &pieces.list)
    }

    /// Returns the number of ranges, those that workers gave away included.
    pub fn len(&self) -> usize {
        let given = |pieces: &Pieces| pieces.given.all_count();
        self.pieces().len() + self.pieces.get().map_or(0, given)
    }

    /// Returns whether no document can match.
    pub fn is_empty(&self) -> bool {
        self.pieces
            .get()
            .is_some_and(|pieces| pieces.list.is_empty())
    }

    /// Returns whether every range was taken.
    pub fn is_exhausted(&self) -> bool {
        (self.pieces.get())
            .is_some_and(|pieces| pieces.claims.is_exhausted() && pieces.given.is_empty())
    }

    /// Takes the ranges that are left, without searching them: after an error, and after cancellation.
    pub fn abandon(&self) {
        // After an error in cutting, nobody shall cut again.
        let pieces = (self.pieces).get_or_init(|| Pieces::whole(&self.plan, &self.segments));
        pieces.claims.close();
        pieces.given.close();
    }

    /// Returns the number of ranges not taken yet that may still hold a hit.
    pub(super) fn live(&self, pieces: &Pieces) -> usize {
        let claimed = match (pieces.order, self.wanted) {
            (Walk::Ranges, Wanted::Hits) => {
                let threshold = self.threshold.get();
                pieces.left_above(threshold)
            }
            _ => pieces.claims.left_count(),
        };
        claimed + pieces.given.left_count()
    }

    /// Puts the shares of all workers together. Ranges that none of them took are not searched and not counted.
    pub fn merged(&self, shares: impl IntoIterator<Item = Share>) -> Searched {
        let (mut lists, mut matches_count) = (Vec::new(), 0);
        // Ranges leave out segments in which nothing can match: these are searched by that.
        let documents_count = self.documents_count();
        let mut documents_searched = self.documents_without_matches();
        let mut taken = documents_searched;
        let mut is_exact = self.wanted != Wanted::Hits;
        for share in shares {
            taken += share.documents_count;
            matches_count += share.matches_count;
            documents_searched += share.documents_searched;
            is_exact &= share.count_is_exact;
            lists.push(share.hits);
        }
        let hits = match lists.len() {
            1 => lists.pop().unwrap_or_default(),
            _ => merge_sorted(&lists, self.k),
        };
        self.with_pinned(Searched {
            matches_count: matches_count.max(hits.len() as u64),
            hits,
            count_is_exact: is_exact && taken == documents_count,
            documents_searched,
            documents_count,
        })
    }

    /// Returns the number of documents outside of all ranges: of segments in which nothing can match.
    pub(super) fn documents_without_matches(&self) -> u64 {
        documents_count(&self.segments) - self.documents_of_pieces()
    }

    /// Returns the number of documents of all segments, deleted ones included.
    pub(super) fn documents_count(&self) -> u64 {
        documents_count(&self.segments)
    }

    fn documents_of_pieces(&self) -> u64 {
        let lengths = self
            .pieces()
            .iter()
            .map(|piece| piece.documents.len() as u64);
        lengths.sum()
    }
}

impl Pieces {
    fn of(list: Vec<Piece>, order: Walk) -> Pieces {
        Pieces {
            claims: Claims::new(list.len()),
            given: Given::default(),
            list,
            order,
        }
    }

    /// Returns the number of pieces that are not taken and that can hold a score of `threshold`.
    fn left_above(&self, threshold: f32) -> usize {
        let left = (self.list.iter().enumerate())
            .filter(|(at, piece)| piece.bound >= threshold && !self.claims.is_taken(*at));
        left.count()
    }

    /// Returns the segments as they are.
    pub(super) fn whole(plan: &Plan, segments: &[Arc<Segment>]) -> Pieces {
        let list = match plan.matches_nothing() {
            true => Vec::new(),
            false => (0..)
                .zip(segments)
                .map(|(number, segment)| Piece {
                    segment: number,
                    documents: 0..segment.documents_count(),
                    bound: f32::INFINITY,
                })
                .collect(),
        };
        Pieces::of(list, Walk::InOrder)
    }
}

fn documents_count(segments: &[Arc<Segment>]) -> u64 {
    let counts = segments.iter().map(|one| u64::from(one.documents_count()));
    counts.sum()
}
