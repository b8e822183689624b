//! One query on several handlers: its documents cut into ranges that any of them takes in turn.
//!
//! ```text
//! Ranges::new ──► [ range, range, … ] by what a hit there can score, highest first
//!                    ▲ next            each handler: work() ──► its k best, its count
//!                    └──────────────── a threshold that all of them share and raise
//! ```
//!
//! Ranges are intervals of one segment's documents. A handler opens the query once a segment (the look-ups
//! in the dictionary are the plan's), then takes range after range; it can leave after each. The threshold
//! rises early because the best ranges come first, and a range that cannot hold a hit any more costs
//! nothing. Exact for any number of handlers: a hit enters at equal scores, and then the order of URL
//! hashes decides.

use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::collect::context::{Context, MatchNeeds};
use crate::collect::match_count::MatchCount;
use crate::collect::topk::hit::ScoredHit;
use crate::collect::topk::kept::TopK;
use crate::collect::topk::shared_threshold::SharedThreshold;
use crate::context::wanted::Wanted;
use crate::exec::algorithm::Algorithm;
use crate::plan::planner::Plan;
use index::{IndexError, Segment};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Ranges begin at multiples of this, so that no two share a word of bits.
const ALIGNED: u32 = 64;

/// How finely a query is cut.
#[derive(Debug, Clone, Copy)]
pub struct Cut {
    /// Ranges at most (one a segment at least).
    pub ranges_max: usize,
    /// No range has fewer postings to be gone through, about: beginning one must cost little beside it.
    pub postings_min: u64,
}

impl Cut {
    /// Beginning a range takes as long as these do at most, thirty times over.
    const POSTINGS_MIN: u64 = 1 << 16;

    /// Into so many ranges, or as many as a query is worth.
    pub fn at_most(ranges_max: usize) -> Cut {
        Cut {
            ranges_max,
            postings_min: Cut::POSTINGS_MIN,
        }
    }
}

/// A query on some segments, to be worked on by any number of handlers.
pub struct Ranges<'a> {
    plan: &'a Plan,
    segments: Few<&'a Segment>,
    /// By bound, highest first.
    ranges: SmallVec<[Piece; 8]>,
    /// What cutting opened, by segment: for the first handlers to come.
    opened: Few<Mutex<Option<Algorithm<'a>>>>,
    next: AtomicUsize,
    threshold: SharedThreshold,
    k: usize,
    wanted: Wanted,
}

/// As many as there are segments: most partitions have one or two.
type Few<T> = SmallVec<[T; 2]>;

/// A range of documents of one segment.
#[derive(Debug, Clone)]
struct Piece {
    segment: usize,
    documents: Range<u32>,
    /// The most that a document of it can score.
    bound: f32,
}

/// What one handler found.
#[derive(Debug, Clone, Default)]
pub struct Share {
    /// The k best of the ranges that it took, best first.
    pub hits: Vec<ScoredHit>,
    /// How many documents of them match, where counting was asked for.
    pub count: u64,
    /// Ranges that it took, skipped ones included.
    pub ranges_count: usize,
}

impl<'a> Ranges<'a> {
    /// Cuts the documents of the segments into ranges. With `counted` every match is counted and nothing is skipped.
    pub fn new(
        plan: &'a Plan,
        segments: impl IntoIterator<Item = &'a Arc<Segment>>,
        k: usize,
        counted: bool,
        cut: Cut,
    ) -> Result<Ranges<'a>, IndexError> {
        let segments: Few<&Segment> = segments.into_iter().map(|one| &**one).collect();
        let wanted = match (k, counted) {
            (0, _) => Wanted::Count,
            (_, true) => Wanted::HitsAndCount,
            (_, false) => Wanted::Hits,
        };
        let mut all = Ranges {
            plan,
            ranges: SmallVec::new(),
            opened: Few::new(),
            next: AtomicUsize::new(0),
            threshold: SharedThreshold::default(),
            k,
            wanted,
            segments,
        };
        if !plan.matches_nothing() {
            all.cut(cut)?;
        }
        Ok(all)
    }

    fn cut(&mut self, cut: Cut) -> Result<(), IndexError> {
        // Only for what is known before anything is read.
        let mut context = Context::new(
            self.k,
            match self.wanted {
                Wanted::Hits => MatchNeeds::Nothing,
                Wanted::HitsAndCount | Wanted::Count => MatchNeeds::Count,
            },
        );
        for &segment in &self.segments {
            let algorithm = Algorithm::open(self.plan, segment, &mut context, self.wanted)?;
            self.opened.push(Mutex::new(algorithm));
        }
        let documents = |segment: &&Segment| u64::from(segment.documents_count());
        let total: u64 = self.segments.iter().map(documents).sum();
        let opened = self.opened.iter_mut().filter_map(opened_in);
        let postings: u64 = opened.map(|algorithm| algorithm.postings()).sum();
        let worth = postings.checked_div(cut.postings_min).unwrap_or(u64::MAX);
        let length = total.div_ceil(worth.clamp(1, cut.ranges_max.max(1) as u64));
        let length = (length.min(1 << 31) as u32)
            .next_multiple_of(ALIGNED)
            .max(ALIGNED);
        for (number, opened) in self.opened.iter_mut().enumerate() {
            let Some(opened) = opened_in(opened) else {
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
                self.ranges.push(Piece {
                    segment: number,
                    bound,
                    documents,
                });
            }
        }
        if self.k > 0 {
            self.threshold.raise(context.threshold());
        }
        self.ranges.sort_by(|a, b| b.bound.total_cmp(&a.bound));
        Ok(())
    }

    /// How many ranges there are.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether no document can match.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Takes ranges until none is left, or `leaves` says so (asked after each range).
    pub fn work(&self, leaves: impl FnMut() -> bool) -> Result<Share, IndexError> {
        match self.wanted {
            Wanted::Count => {
                let mut top = Collectors::new((), MatchCount::<true>::default());
                let ranges_count = self.walk(&mut top, leaves)?;
                Ok(Share::of(Vec::new(), top.matches.0, ranges_count))
            }
            Wanted::HitsAndCount => self.work_for_hits::<true>(leaves),
            Wanted::Hits => self.work_for_hits::<false>(leaves),
        }
    }

    fn work_for_hits<const EXACT: bool>(
        &self,
        leaves: impl FnMut() -> bool,
    ) -> Result<Share, IndexError> {
        let mut top = Collectors::new(TopK::new(self.k), MatchCount::<EXACT>::default());
        let ranges_count = self.walk(&mut top, leaves)?;
        let count = match EXACT {
            true => top.matches.0,
            false => 0,
        };
        Ok(Share::of(top.hits.into_sorted(), count, ranges_count))
    }

    /// Feeds collectors with ranges; returns how many were taken.
    fn walk<'s, H: HitCollector<'s>, M: MatchCollector>(
        &'s self,
        top: &mut Collectors<'s, H, M>,
        mut leaves: impl FnMut() -> bool,
    ) -> Result<usize, IndexError> {
        top.context.share(&self.threshold);
        let mut opened: Few<Option<Algorithm<'s>>> = self.opened.iter().map(|_| None).collect();
        let mut entered = usize::MAX;
        let mut ranges_count = 0;
        loop {
            let taken = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = self.ranges.get(taken) else {
                break;
            };
            ranges_count += 1;
            top.context.exchange();
            if self.wanted != Wanted::Hits || top.would_enter(piece.bound) {
                let segment = self.segments[piece.segment];
                if entered != piece.segment {
                    entered = piece.segment;
                    top.enter(segment);
                }
                let slot = &mut opened[piece.segment];
                if slot.is_none() {
                    // What cutting opened serves one handler; the others open for themselves.
                    let kept = self.opened[piece.segment].lock().ok();
                    *slot = match kept.and_then(|mut kept| kept.take()) {
                        Some(kept) => Some(kept),
                        None => Algorithm::open(self.plan, segment, &mut top.context, self.wanted)?,
                    };
                }
                if let Some(algorithm) = slot {
                    algorithm.run(piece.documents.clone(), top)?;
                }
            }
            if leaves() {
                break;
            }
        }
        top.context.exchange();
        Ok(ranges_count)
    }
}

impl Share {
    fn of(hits: Vec<ScoredHit>, count: u64, ranges_count: usize) -> Share {
        Share {
            hits,
            count,
            ranges_count,
        }
    }
}

/// What is opened, where nobody else looks at it yet.
fn opened_in<'s, 'a>(
    opened: &'s mut Mutex<Option<Algorithm<'a>>>,
) -> Option<&'s mut Algorithm<'a>> {
    opened.get_mut().ok()?.as_mut()
}
