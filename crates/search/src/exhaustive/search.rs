//! Exhaustive evaluation, which scores every matching document: the slow twin of every fast path.
//!
//! No document is skipped because of its score: the count is exact, and the k best are the k best of
//! all matches. Deleted documents never count.
use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::collect::context::{Context, MatchNeeds};
use crate::collect::executor::{Executor, SLOW};
use crate::context::cancel;
use crate::context::cancel::Stop;
use crate::context::cancel::StopRef;
use crate::context::counters;
use crate::context::counters::Name;
use crate::context::wanted::Wanted;
use crate::exhaustive::cursor::any::Cursor;
use crate::exhaustive::cursor::term::FilterCursor;
use crate::exhaustive::cursor::walk::{DocCursor, ScoredCursor};
use crate::plan::planner::Plan;
use index::{DocId, Field, IndexError, Segment};
use std::ops::Range;

/// Scores every matching document of `segment`, collects each in `hits`, returns the exact count.
pub fn search_segment<'a, H: HitCollector<'a>>(
    plan: &Plan,
    segment: &'a Segment,
    hits: &mut H,
) -> Result<u64, IndexError> {
    hits.enter(segment)?;
    match Cursor::open(plan, &plan.root, segment, StopRef::default())? {
        Cursor::Empty => Ok(0),
        // A term has a loop of its own without the choice of a cursor, since every fifth query is one
        // word.
        Cursor::Term(cursor) => collect(cursor, segment, hits),
        cursor => collect(cursor, segment, hits),
    }
}

/// Counts matching documents without scoring.
pub fn count_segment(plan: &Plan, segment: &Segment) -> Result<u64, IndexError> {
    let mut count = 0;
    each_match(plan, segment, |_| count += 1)?;
    Ok(count)
}

/// Calls `each` for every matching document, in the order of documents, without scoring.
pub fn each_match(
    plan: &Plan,
    segment: &Segment,
    mut each: impl FnMut(DocId),
) -> Result<(), IndexError> {
    let mut cursor = Cursor::open(plan, &plan.root, segment, StopRef::default())?;
    for_each_match(&mut cursor, segment, |_, doc| each(doc))
}

/// Counts matching documents of one site (by name), stopping at `limit`. A lower bound where `stop` is cancelled.
pub fn count_site<'a>(
    plan: &'a Plan,
    segment: &'a Segment,
    site: &str,
    limit: u64,
    stop: &'a Stop<'a>,
) -> Result<u64, IndexError> {
    let stop = StopRef::new(stop);
    let Some(record) = segment.term(Field::Site, site)? else {
        return Ok(0);
    };
    let mut of_site = FilterCursor::new(segment.postings(&record)?);
    let mut matching = Cursor::open(plan, &plan.root, segment, stop)?;
    let mut count = 0;
    let mut doc = of_site.doc();
    while doc != DocId::END && count < limit && !stop.aborts(cancel::DOCUMENT) {
        let reached = matching.seek(doc);
        if stop.is_aborted() {
            break;
        }
        if reached == doc {
            count += u64::from(!segment.is_deleted(doc));
            doc = of_site.next();
        } else {
            doc = of_site.seek(reached);
        }
    }
    match of_site.take_error().or_else(|| matching.take_error()) {
        Some(error) => Err(error),
        None => Ok(count),
    }
}

/// Plan under exhaustive evaluation on one segment.
pub(crate) struct Exhaustive<'a> {
    plan: &'a Plan,
    cursor: Cursor<'a>,
    /// End of the range walked last.
    walked: u32,
}

impl<'a> Exhaustive<'a> {
    /// Opens a plan; `None` if no document of the segment can match.
    pub(crate) fn open(
        plan: &'a Plan,
        segment: &'a Segment,
        stop: StopRef<'a>,
    ) -> Result<Option<Exhaustive<'a>>, IndexError> {
        let cursor = Cursor::open(plan, &plan.root, segment, stop)?;
        Ok((!cursor.is_empty()).then_some(Exhaustive {
            plan,
            cursor,
            walked: 0,
        }))
    }
}

impl<'a> Executor<'a> for Exhaustive<'a> {
    fn run<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        segment: &'a Segment,
        wanted: Wanted,
        top: &mut Collectors<'a, H, M>,
    ) -> Result<(), IndexError> {
        if range.start < self.walked {
            // Cursors move forward only.
            self.cursor = Cursor::open(self.plan, &self.plan.root, segment, top.stop())?;
        }
        self.walked = range.end;
        let searched = search_range(&mut self.cursor, range, segment, top, wanted);
        if let Some(split_at) = top.stop().is_split_at() {
            self.walked = split_at;
        }
        searched
    }

    fn bound(&mut self, _: &Range<u32>) -> f32 {
        f32::INFINITY
    }

    fn cost(&self) -> u64 {
        u64::from(self.cursor.cost()) * SLOW
    }

    fn name(&self) -> Name {
        Name::Exhaustive
    }
}

/// Walks a cursor over a range of documents that it has not passed, and collects the wanted hits and
/// matches.
pub(crate) fn search_range<'a, H: HitCollector<'a>, M: MatchCollector>(
    cursor: &mut Cursor<'_>,
    range: Range<u32>,
    segment: &Segment,
    top: &mut Collectors<'a, H, M>,
    wanted: Wanted,
) -> Result<(), IndexError> {
    let stop = top.stop();
    let mut count = 0;
    let mut searched = range.start;
    let mut doc = cursor.seek(DocId(range.start));
    while doc.0 < range.end && !stop.ends_hits(doc.0, cancel::DOCUMENT) {
        if !segment.is_deleted(doc) {
            let score = match wanted.has_hits() {
                true => cursor.score(),
                false => 0.0,
            };
            if stop.is_aborted() {
                break;
            }
            count += 1;
            top.found(wanted, &[doc.0], segment);
            if wanted.has_hits() {
                top.offer(score, doc);
            }
        }
        searched = doc.0 + 1;
        doc = cursor.next();
    }
    if stop.is_aborted() {
        stop.stop_hits_at(searched);
    }
    if wanted.has_hits() {
        counters::offered(count);
    }
    cursor.take_error().map_or(Ok(()), Err)
}

fn collect<'a, C: ScoredCursor, H: HitCollector<'a>>(
    mut cursor: C,
    segment: &'a Segment,
    hits: &mut H,
) -> Result<u64, IndexError> {
    let mut context = Context::new(hits.k(), MatchNeeds::Count).adding(hits.added_max());
    let mut count = 0;
    for_each_match(&mut cursor, segment, |cursor, doc| {
        count += 1;
        let score = cursor.score();
        if context.would_enter(score) {
            hits.collect(score, doc, &mut context);
        }
    })?;
    Ok(count)
}

/// Walks `cursor` over live documents, then checks for damage met on the way.
#[inline]
fn for_each_match<C: DocCursor>(
    cursor: &mut C,
    segment: &Segment,
    mut each: impl FnMut(&mut C, DocId),
) -> Result<(), IndexError> {
    let has_deletions = segment.has_deletions();
    let mut doc = cursor.doc();
    while doc != DocId::END {
        if !has_deletions || !segment.is_deleted(doc) {
            each(cursor, doc);
        }
        doc = cursor.next();
    }
    cursor.take_error().map_or(Ok(()), Err)
}
