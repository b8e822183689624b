//! The walk of one worker over ranges of documents: each is opened, run, and its coverage noted.

use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::collect::context::Context;
use crate::context::wanted::Wanted;
use crate::exec::algorithm::Algorithm;
use crate::plan::planner::Plan;
use index::{IndexError, LookUpStep, Segment};
use smallvec::SmallVec;
use std::ops::Range;

/// Entries by segment: most partitions have one or two.
pub(super) type Few<T> = SmallVec<[T; 4]>;

/// Pieces begin at multiples of this, so that no two share a word of bits: all but those that a worker gave away as it left.
pub(super) const ALIGNED: u32 = 64;

/// A range of documents of one segment.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    /// Index among the segments of the search.
    pub(super) segment: usize,
    pub(super) documents: Range<u32>,
    /// Upper bound on the score of its documents.
    pub(super) bound: f32,
}

/// The order of the pieces of a walk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Walk {
    /// Whole segments, one after another: each is opened once, and the postings of the next one are prefetched.
    InOrder,
    /// Ranges in any order: a segment stays open for its further ranges.
    Ranges,
}

/// The documents that a search covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Documents that hits were chosen from, deleted ones included.
    pub documents_searched: u64,
    /// Documents of the ranges taken, deleted ones included.
    pub documents_count: u64,
    /// Ranges left out, because nothing in them could enter.
    pub ranges_skipped: usize,
}

impl Coverage {
    /// Returns the coverage of a search of all documents.
    pub(super) fn whole(documents_count: u64) -> Coverage {
        Coverage {
            documents_searched: documents_count,
            documents_count,
            ranges_skipped: 0,
        }
    }
}

/// Where a walk has its pieces from.
pub(super) trait Source<'a> {
    /// Returns the next piece, until there is none; hears whether the one before was searched, or skipped.
    fn next(&mut self, is_searched: bool) -> Option<Piece>;

    /// Hears that another handler asks for a part of a piece of which `rest` is left, after `searched` documents. Returns
    /// the documents that the walk goes on with: the rest, or its beginning.
    fn split(&mut self, searched: u64, rest: Piece, context: &mut Context<'a>) -> Range<u32>;

    /// Returns whether a segment may come again.
    fn comes_back(&self) -> bool;
}

/// Whole segments for one worker.
impl<'a, I: Iterator<Item = Piece>> Source<'a> for I {
    fn next(&mut self, _is_searched: bool) -> Option<Piece> {
        Iterator::next(self)
    }

    fn split(&mut self, _searched: u64, rest: Piece, _context: &mut Context<'a>) -> Range<u32> {
        rest.documents
    }

    fn comes_back(&self) -> bool {
        false
    }
}

/// Feeds collectors with the pieces of a source, until it gives none. `opened` has the plan opened on some segments, by
/// their index, and keeps those that may come again.
pub(super) fn walk<'a, H: HitCollector<'a>, M: MatchCollector>(
    plan: &'a Plan,
    segments: &[&'a Segment],
    order: Walk,
    opened: &mut Few<Option<Algorithm<'a>>>,
    source: &mut impl Source<'a>,
    top: &mut Collectors<'a, H, M>,
) -> Result<Coverage, IndexError> {
    let is_in_order = order == Walk::InOrder;
    if is_in_order && segments.len() > 1 {
        prefetch_dictionaries(plan, segments);
    }
    let wanted = top.wanted();
    let mut coverage = Coverage::default();
    let mut entered = usize::MAX;
    let mut is_searched = false;
    while let Some(piece) = source.next(is_searched) {
        is_searched = false;
        let documents_count = u64::from(piece.documents.end - piece.documents.start);
        coverage.documents_count += documents_count;
        if top.stop().is_due_now() {
            top.stop().cut_count();
            continue;
        }
        top.context.exchange();
        if wanted == Wanted::Hits && !top.would_enter(piece.bound) {
            coverage.documents_searched += documents_count;
            coverage.ranges_skipped += 1;
            continue;
        }
        let segment = segments[piece.segment];
        if is_in_order && let Some(next) = segments.get(piece.segment + 1) {
            prefetch_lists(plan, next);
        }
        if entered != piece.segment {
            entered = piece.segment;
            top.enter(segment)?;
        }
        let mut algorithm = match opened.get_mut(piece.segment).and_then(Option::take) {
            Some(algorithm) => Some(algorithm),
            None => Algorithm::open(plan, segment, &mut top.context, wanted)?,
        };
        let mut documents = piece.documents.clone();
        if let Some(algorithm) = &mut algorithm {
            loop {
                algorithm.run(documents.clone(), top)?;
                let Some(at) = top.stop().take_split() else {
                    break;
                };
                let at = at.clamp(documents.start, documents.end);
                if top.stop().is_cancelled() {
                    top.stop().stop_hits_at(at);
                    break;
                }
                coverage.documents_searched += u64::from(at - documents.start);
                let rest = Piece {
                    documents: at..documents.end,
                    ..piece
                };
                let end = documents.end;
                let searched = u64::from(at - piece.documents.start);
                documents = source.split(searched, rest, &mut top.context);
                coverage.documents_count -= u64::from(end - documents.end);
                if documents.is_empty() {
                    break;
                }
            }
        }
        if !is_in_order || source.comes_back() {
            opened.resize_with(segments.len(), || None);
            opened[piece.segment] = algorithm;
        }
        is_searched = true;
        coverage.documents_searched += searched(&documents, wanted, top);
    }
    top.context.exchange();
    Ok(coverage)
}

/// Returns how many documents of a range were searched for hits, and notes where counting was cut with them.
fn searched<'a, H: HitCollector<'a>, M: MatchCollector>(
    documents: &Range<u32>,
    wanted: Wanted,
    top: &Collectors<'a, H, M>,
) -> u64 {
    let stop = top.stop();
    let mut stopped_at = stop.take_stopped_at();
    if stopped_at.is_none() && stop.is_aborted() && wanted.has_hits() {
        // A clause was left unevaluated before the first document.
        stopped_at = Some(documents.start);
    }
    if stopped_at.is_some() || stop.is_aborted() {
        stop.cut_count();
    }
    let end = stopped_at.map_or(documents.end, |at| at.clamp(documents.start, documents.end));
    u64::from(end - documents.start)
}

/// Prefetches the entries of the words in the dictionaries of all segments at once.
fn prefetch_dictionaries(plan: &Plan, segments: &[&Segment]) {
    for step in LookUpStep::ALL {
        plan.each_word(|word| {
            for segment in segments {
                word.prefetch(segment, step);
            }
        });
    }
}

/// Prefetches the lists of a segment, while the one before is searched.
fn prefetch_lists(plan: &Plan, segment: &Segment) {
    plan.each_word(|word| {
        // Opening the list reports its damage.
        if let Ok(Some(record)) = word.record(segment) {
            segment.prefetch_list(&record);
        }
    });
}
