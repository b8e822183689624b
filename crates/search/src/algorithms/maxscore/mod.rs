//! Top-k search of any of several terms: MaxScore (Turtle & Flood 1995) in windows of documents, with block bounds
//! (Ding & Suel 2011).
//!
//! ```text
//! lists by maximum score:   rest (together below the threshold) │ essential lists
//!                           lists that never lead belong to the rest: what they hold alone is no match
//! for each window that an essential list begins:
//!     helping, pouring = rest │ essential lists by their bound in this window, split in the same way
//!     pour beside several those of the helping lists, too, that have fewer postings here than the last window had candidates
//!     sums = pour(pouring)                              one list: its blocks as they are
//!     candidates = sums that can reach the threshold with the helping lists
//!     for each helping list, the highest bound first:
//!         add it to all candidates; drop those that cannot reach the threshold any more
//!     for each block of the candidates:
//!         drop what the condition does not allow (required words, excluded clauses); collect
//!         (of clauses that score less than the sum, such as the best of some: after they have scored what is left)
//! ```
//!
//! A document that only the rest holds cannot enter, so a window without an essential list is skipped, nothing
//! decoded, and of the other lists only blocks are read that can make a difference. The condition is asked only of
//! documents that would enter.
//!
//! Exact: hits, scores and order are those of its slow twin, [`crate::exhaustive`], since sums are exact.

mod batch;
mod clause;
mod helping;

use crate::block::candidate_block::CandidateBlock;
use crate::block::term_scorer::{List, Lists, first_damage};
use crate::block::window::{WIDTH_MAX, Window};
use crate::collect::collectors::{Collectors, HitCollector, MatchCollector};
use crate::collect::context::Context;
use crate::collect::executor::Executor;
use crate::context::cancel;
use crate::context::counters::Name;
use crate::context::scratch::{Aligned, Lent, Row, kept_by_thread};
use crate::context::wanted::Wanted;
use crate::plan::node::Node;
use crate::plan::planner::Plan;
use crate::plan::scorer::BLOCK;
use crate::verify::filter::Condition;
use crate::verify::probe::{Probe, damage_of};
use batch::Batch;
use clause::Clause;
use codec::sums::ROW;
use helping::{Helping, LISTS_FEW};
use index::{DocId, IndexError, Segment};
use std::ops::Range;

/// Width of the narrowest window, in documents: its sums fit a first-level cache, and bounds are tight.
pub(crate) const WIDTH_MIN: u32 = if cfg!(test) { 64 } else { 8192 };
/// Target number of postings of a window.
const POSTINGS_PER_WINDOW: u64 = 2048;

/// Rows per expected posting above which marks tell which rows are empty.
const SPARSE: u64 = 4;

/// Units of work for pouring a list into a window.
const POURED: u32 = 4;

/// A union being searched on one segment.
pub(crate) struct MaxScore<'a> {
    /// The lists by their upper bound, lowest first; those that never lead stand before all others.
    lists: Row<Clause<'a>>,
    /// Number of lists that never lead.
    following: usize,
    /// Filter of the documents that could enter.
    condition: Option<Condition<'a>>,
    /// Clause that scores what could enter, where the sum of the lists is only an upper bound.
    scored_by: Option<Box<Probe<'a>>>,
    width: u32,
    /// Number of documents of the segment.
    documents_count: u64,
    /// Number of candidates of the last window.
    candidates_count: usize,
    scratch: Lent<Room>,
}

/// Working memory of a search.
#[derive(Default)]
struct Room {
    window: Window,
    candidates: CandidateBlock,
    batch: Batch,
    /// Bounds and numbers of the lists of a window, lowest bound first.
    order: Vec<(f32, usize)>,
    /// The scores of the block that was scored last, by list.
    scores: Vec<Aligned<[f32; BLOCK]>>,
}

kept_by_thread!(Room);

impl<'a> MaxScore<'a> {
    /// Prepares a search of lists for documents of which `condition` holds. Raises the threshold of `context` by the
    /// bounds of the k-th score in the lists, if there is no condition.
    pub(crate) fn new(
        found: Lists<'a>,
        condition: Option<Condition<'a>>,
        segment: &Segment,
        context: &mut Context<'a>,
    ) -> MaxScore<'a> {
        MaxScore::leading(found, Lists::take(), condition, segment, context)
    }

    /// Prepares a search as [`MaxScore::new`] does, with `others` as lists that only add to the scores of the documents
    /// that the lists of `found` hold.
    pub(crate) fn leading(
        mut found: Lists<'a>,
        mut others: Lists<'a>,
        condition: Option<Condition<'a>>,
        segment: &Segment,
        context: &mut Context<'a>,
    ) -> MaxScore<'a> {
        let postings: u64 = found.iter().map(|list| u64::from(list.cost())).sum();
        if condition.is_none() {
            for list in found.iter() {
                let floor = list.floor(context.k(), segment);
                context.raise_first(floor);
            }
        }
        let mut lists: Row<Clause<'a>> = Row::take();
        let following = others.len();
        lists.extend(
            others
                .drain(..)
                .chain(found.drain(..))
                .map(|mut list| Clause {
                    most: list.most(),
                    most_sum: 0.0,
                    list,
                    scored: usize::MAX,
                }),
        );
        for part in [0..following, following..lists.len()] {
            lists[part].sort_by(|a, b| a.most.total_cmp(&b.most));
        }
        let mut sum = 0.0;
        for clause in lists.iter_mut() {
            sum += clause.most;
            clause.most_sum = sum;
        }
        let documents = u64::from(segment.documents_count());
        let width = documents * POSTINGS_PER_WINDOW / postings.max(1);
        let mut scratch: Lent<Room> = Lent::take();
        if scratch.scores.len() < lists.len() {
            scratch.scores.resize(lists.len(), Aligned([0.0; BLOCK]));
        }
        MaxScore {
            lists,
            following,
            condition,
            scored_by: None,
            scratch,
            documents_count: documents,
            candidates_count: 0,
            width: (width.clamp(1, WIDTH_MAX.into()) as u32)
                .next_power_of_two()
                .clamp(WIDTH_MIN, WIDTH_MAX),
        }
    }

    /// Makes a clause the source of the scores. It matches the documents that the leading lists hold, and no score of it exceeds
    /// the sum of the lists', nor is below that of one leading list.
    pub(crate) fn scored_by(mut self, clause: Probe<'a>) -> MaxScore<'a> {
        self.scored_by = Some(Box::new(clause));
        self
    }

    /// Prepares a search of required and optional lists in which those with the highest bounds lead. The required
    /// clauses, which the segment has, are probed last.
    pub(crate) fn requiring(
        plan: &'a Plan,
        [required, optional]: [&'a [Node]; 2],
        excluded: Option<Condition<'a>>,
        segment: &'a Segment,
        context: &mut Context<'a>,
    ) -> Result<MaxScore<'a>, IndexError> {
        let mut lists = List::open_each(plan, required, segment)?;
        if let [list] = lists.as_slice()
            && excluded.is_none()
        {
            let floor = list.floor(context.k(), segment);
            context.raise_first(floor);
        }
        lists.append(&mut *List::open_each(plan, optional, segment)?);
        let condition = Condition::requiring(plan, required, excluded, segment, context.stop())?;
        Ok(MaxScore::new(lists, Some(condition), segment, context))
    }

    /// Collects the hits of the union among the documents of `range`.
    pub(crate) fn search<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        segment: &Segment,
        top: &mut Collectors<'a, H, M>,
    ) -> Result<(), IndexError> {
        let work = cancel::WINDOW + cancel::clauses_work(self.lists.len());
        let mut base = range.start;
        while base < range.end && !top.stop().ends_hits(base, work) {
            top.context.exchange();
            let rest = self.not_essential(&top.context);
            if rest == self.lists.len() {
                break;
            }
            let Some(start) = self.first_block(rest, base, &top.context) else {
                break;
            };
            // Aligned, so that windows begin with a word of marks.
            base = base.max(start & !63);
            let end = range.end.min(base.saturating_add(self.width));
            if base < end {
                self.search_window(rest, base, end, segment, top);
                if top.stop().is_aborted() {
                    top.stop().stop_hits_at(base);
                    break;
                }
            }
            base = end.max(base);
        }
        let mut damage = self.condition.as_mut().map_or(Ok(()), Condition::damage);
        if let Some(clause) = self.scored_by.as_deref_mut() {
            damage = damage.and(damage_of(std::slice::from_mut(clause)));
        }
        for clause in self.lists.iter_mut() {
            damage = damage.and(first_damage(std::slice::from_mut(&mut clause.list)));
        }
        damage
    }

    /// Returns the number of postings of all lists.
    pub(crate) fn postings(&self) -> u64 {
        let lists = self.lists.iter();
        lists.map(|clause| u64::from(clause.list.cost())).sum()
    }

    /// Upper bound on the scores of a range.
    pub(crate) fn bound_in(&mut self, base: DocId, end: DocId) -> f32 {
        let lists = self.lists.iter_mut();
        lists.map(|clause| clause.list.bound_in(base, end)).sum()
    }

    /// Returns the number of lists, those of the lowest bounds, that are essential nowhere.
    fn not_essential(&self, context: &Context<'_>) -> usize {
        let enters = |clause: &Clause<'_>| context.would_enter(clause.most_sum);
        let leading = &self.lists[self.following..];
        let rest = leading.iter().position(enters).unwrap_or(leading.len());
        self.following + rest
    }

    /// Returns the first document from `base` on at which a block of an essential list can let a document enter, where
    /// the next window may begin; `None` if there is none.
    fn first_block(&mut self, rest: usize, base: u32, context: &Context<'_>) -> Option<u32> {
        let others = self.lists[self.lists.len() - 1].most_sum;
        let mut first: Option<u32> = None;
        for clause in &mut self.lists[rest..] {
            let others = others - clause.most;
            let blocks_count = clause.list.blocks.blocks_count();
            let mut block = clause.list.find(DocId(base));
            // A block whose bound stays below the threshold, the bounds of all other lists added, starts no window.
            while block < blocks_count && !context.would_enter(clause.list.bound(block) + others) {
                block += 1;
            }
            if block == blocks_count {
                continue;
            }
            let start = clause.list.start(block).max(base);
            first = Some(first.map_or(start, |first| first.min(start)));
            if start == base {
                break;
            }
        }
        first
    }

    fn search_window<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        rest: usize,
        base: u32,
        end: u32,
        segment: &Segment,
        top: &mut Collectors<'a, H, M>,
    ) {
        let Room {
            window,
            candidates,
            batch,
            order,
            scores,
        } = &mut *self.scratch;
        let lists = &mut self.lists;
        order.clear();
        // Those that are essential nowhere come first, whatever their bounds here.
        let nowhere = lists[..rest].iter().enumerate();
        order.extend(nowhere.map(|(number, clause)| (clause.most, number)));
        for (number, clause) in lists.iter_mut().enumerate().skip(rest) {
            let bound = clause.list.bound_in(DocId(base), DocId(end));
            order.push((bound, number));
        }
        order[rest..].sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut others = match rest {
            0 => 0.0,
            _ => lists[rest - 1].most_sum,
        };
        let mut essential = rest;
        while let Some((bound, _)) = order.get(essential)
            && !top.would_enter(others + bound)
        {
            others += bound;
            essential += 1;
        }
        if essential == order.len() {
            return;
        }
        // Pouring a posting takes about what probing for a candidate does, and leaves fewer candidates. One list is not poured.
        let is_one = essential + 1 == order.len();
        while !is_one && essential > self.following {
            let (bound, number) = order[essential - 1];
            let postings = u64::from(lists[number].list.cost()) * u64::from(end - base);
            if postings > self.candidates_count as u64 * self.documents_count {
                break;
            }
            essential -= 1;
            others -= bound;
        }
        let (order, pouring) = order.split_at(essential);
        self.candidates_count = 0;
        let mut helping = Helping {
            lists,
            condition: self.condition.as_mut(),
            scored_by: self.scored_by.as_deref_mut(),
            order,
            others,
            batch,
            candidates_count: &mut self.candidates_count,
            segment,
        };
        if let [(_, number)] = *pouring {
            helping.search_one(number, base..end, &mut scores[number].0, candidates, top);
            return helping.finish(candidates, top);
        }
        let least = top.threshold() - helping.others;
        let poured = pouring
            .iter()
            .map(|&(_, number)| helping.lists[number].list.cost());
        let postings: u64 = poured.map(u64::from).sum();
        let marked = least <= 0.0 || postings * ROW as u64 * SPARSE < self.documents_count;
        let is_long = pouring.len() > LISTS_FEW;
        for &(_, number) in pouring {
            if is_long && top.stop().aborts(POURED) {
                return window.clear();
            }
            let clause = &mut helping.lists[number];
            let mut block = clause.list.find(DocId(base));
            while let Some((docs, scores)) =
                clause.scored_part(block, base..end, &mut scores[number].0)
            {
                match marked {
                    true => window.pour_marked(base, docs, scores),
                    false => window.pour(base, docs, scores),
                }
                block += 1;
            }
        }
        let width = end - base;
        if marked {
            window.drain_marked(width, least, |at, sum| {
                candidates.push(base + at, sum);
                if candidates.count == BLOCK {
                    helping.take(candidates, top);
                }
            });
            helping.take(candidates, top);
            return helping.finish(candidates, top);
        }
        let rows = width.div_ceil(ROW as u32) as usize;
        let mut row = 0;
        while row < rows {
            // The threshold only rises, so documents dropped here could not enter later either.
            let least = top.threshold() - helping.others;
            row = window.drain(row, width, base, least, candidates);
            helping.take(candidates, top);
        }
        helping.finish(candidates, top);
    }
}

impl<'a> Executor<'a> for MaxScore<'a> {
    fn run<H: HitCollector<'a>, M: MatchCollector>(
        &mut self,
        range: Range<u32>,
        segment: &'a Segment,
        _: Wanted,
        top: &mut Collectors<'a, H, M>,
    ) -> Result<(), IndexError> {
        self.search(range, segment, top)
    }

    fn bound(&mut self, range: &Range<u32>) -> f32 {
        self.bound_in(DocId(range.start), DocId(range.end))
    }

    fn cost(&self) -> u64 {
        self.postings()
    }

    fn name(&self) -> Name {
        Name::MaxScore
    }
}

#[cfg(test)]
mod tests;
