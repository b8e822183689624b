//! The best of many lists: a document scores what the list with the highest score for it gives.
//!
//! ```text
//! best of com, come (title:come), company …           one list a word, with lists that add to it
//!     poured     each list into a window of documents that keeps the greatest score: costs the postings of the window
//!     looked up  each list for a block of documents: costs the lists
//! ```
//!
//! Patterns stand for up to 50 words, so a look-up asks a hundred lists for a block of candidates. Where many blocks of one
//! window are asked for, pouring all lists once costs less. Documents are looked up until that has cost as much as pouring
//! would, so no way costs more than twice the better one. Both give the same scores: they lie on the grid, so sums are exact.

mod of_node;
mod probe;

pub(crate) use of_node::{Size, is_best_of_lists, open_terms, size_on};
pub(crate) use probe::LOOK_UP_ONE;

use crate::block::best_window::BestWindow;
use crate::block::bitset::mark;
use crate::block::candidate_block::CandidateBlock;
use crate::block::probed::Probed;
use crate::block::scored_list::ScoredList;
use crate::block::term_scorer::List;
use crate::block::window;
use crate::context::cancel::StopRef;
use crate::context::scratch::{Lent, kept_by_thread};
use crate::plan::node::Node;
use crate::plan::planner::Plan;
use crate::plan::scorer::BLOCK;
use index::{DocId, IndexError, Segment};
use std::ops::Range;

/// Units of work for pouring a list into a window.
const POURED: u32 = 4;
/// A list and the lists that add to its scores where it has a document.
struct Clause<'a> {
    leading: ScoredList<'a>,
    adding: Vec<ScoredList<'a>>,
    /// Upper bounds: on the scores with all that is added, and on what is added.
    most: f32,
    added_most: f32,
}

/// The best of some lists on one segment.
pub(crate) struct BestLists<'a> {
    clauses: Vec<Clause<'a>>,
    most: f32,
    postings: u64,
    documents_count: u64,
    room: Lent<Room>,
    /// Number of the window that documents were last asked of.
    asked: u32,
    /// Cost of the look-ups of that window so far, in postings; `u64::MAX` once it is poured.
    spent: u64,
}

/// Working memory.
#[derive(Debug, Default)]
struct Room {
    best: BestWindow,
    added: window::Window,
    candidates: CandidateBlock,
    one: Probed,
}

kept_by_thread!(Room);

impl<'a> Clause<'a> {
    fn lists(&self) -> impl Iterator<Item = &ScoredList<'a>> {
        std::iter::once(&self.leading).chain(&self.adding)
    }

    fn lists_mut(&mut self) -> impl Iterator<Item = &mut List<'a>> {
        let lists = std::iter::once(&mut self.leading).chain(&mut self.adding);
        lists.map(|one| &mut one.list)
    }
}

impl<'a> BestLists<'a> {
    /// Opens a clause that [`is_best_of_lists`]; `None` where the segment has none of its terms.
    pub(crate) fn open(
        plan: &'a Plan,
        node: &'a Node,
        segment: &'a Segment,
    ) -> Result<Option<BestLists<'a>>, IndexError> {
        let mut words = Vec::new();
        of_node::words_of(node, &mut |term, adding| words.push((term, adding)));
        let mut clauses: Vec<Clause<'a>> = Vec::with_capacity(words.len());
        for (term, adding) in words {
            let Some(mut list) = List::open(plan, term, segment)? else {
                continue;
            };
            let mut adding = List::open_each(plan, adding, segment)?;
            let added_most = adding.iter_mut().map(List::most_unread).sum::<f32>();
            clauses.push(Clause {
                most: list.most_unread() + added_most,
                leading: ScoredList::new(list),
                adding: adding.drain(..).map(ScoredList::new).collect(),
                added_most,
            });
        }
        // The best first: each raises what a posting of the others must score to matter.
        clauses.sort_by(|one, other| other.most.total_cmp(&one.most));
        let Some(most) = clauses.first().map(|first| first.most) else {
            return Ok(None);
        };
        let lists = clauses.iter().flat_map(Clause::lists);
        let postings = lists.map(|one| u64::from(one.list.cost())).sum();
        Ok(Some(BestLists {
            postings,
            clauses,
            most,
            documents_count: segment.documents_count().into(),
            room: Lent::take(),
            asked: u32::MAX,
            spent: 0,
        }))
    }

    /// Upper bound on the scores.
    pub(crate) fn most(&self) -> f32 {
        self.most
    }

    /// Returns the number of postings of all lists.
    pub(crate) fn cost(&self) -> u64 {
        self.postings
    }

    /// Returns the number of lists, without those that add to others.
    pub(crate) fn len(&self) -> usize {
        self.clauses.len()
    }

    /// Upper bound on the scores of a range.
    pub(crate) fn bound_in(&mut self, base: DocId, end: DocId) -> f32 {
        let each = self.clauses.iter_mut();
        let bounds = each.map(|one| one.lists_mut().map(|one| one.bound_in(base, end)).sum());
        bounds.fold(0.0, f32::max)
    }

    /// Returns a score that at least `k` live documents of one of the lists reach; 0 if none is known.
    pub(crate) fn floor(&self, k: usize, segment: &Segment) -> f32 {
        let floors = self
            .clauses
            .iter()
            .map(|one| one.leading.list.floor(k, segment));
        floors.fold(0.0, f32::max)
    }

    /// Takes the first damage found so far.
    pub(crate) fn take_error(&mut self) -> Option<IndexError> {
        let mut lists = self.clauses.iter_mut().flat_map(Clause::lists_mut);
        lists.find_map(|list| list.blocks.take_error())
    }

    /// Sets the bits of the documents of all lists from `base` on.
    pub(crate) fn mark(&mut self, base: u32, marks: &mut [u64]) {
        for one in &mut self.clauses {
            mark(&mut one.leading.list, base, marks);
        }
    }

    /// Returns the first document from `base` on that may score `least` or more; `None` where there is none.
    pub(crate) fn first_from(&mut self, base: u32, least: f32) -> Option<u32> {
        let mut first: Option<u32> = None;
        for one in self.clauses.iter_mut().take_while(|one| one.most >= least) {
            let list = &mut one.leading.list;
            let blocks_count = list.blocks.blocks_count();
            let mut block = list.find(DocId(base));
            while block < blocks_count && list.bound(block) + one.added_most < least {
                block += 1;
            }
            if block < blocks_count {
                let start = list.start(block).max(base);
                first = Some(first.map_or(start, |first| first.min(start)));
            }
            if first == Some(base) {
                break;
            }
        }
        first
    }

    /// Pours the documents of a range, within the width of a window from `base` on, a multiple of 64; those that score less than `least` may be
    /// left out. Returns the window. Void where `stop` aborted.
    pub(crate) fn pour(
        &mut self,
        base: u32,
        range: &Range<u32>,
        least: f32,
        stop: StopRef<'_>,
    ) -> &BestWindow {
        let Room {
            best,
            added,
            candidates,
            one: probed,
        } = &mut *self.room;
        best.begin(base);
        for one in self.clauses.iter_mut().take_while(|one| one.most >= least) {
            if stop.aborts(POURED) {
                break;
            }
            let Clause {
                leading, adding, ..
            } = one;
            let mut block = leading.list.find(DocId(range.start));
            while !leading.list.is_past(block, range.end) {
                if leading.list.bound(block) + one.added_most >= least {
                    let (docs, scores) = leading.part(block, range);
                    best.pour(docs, scores);
                }
                block += 1;
            }
            let list = &mut leading.list;
            pour_added(adding, range, added, candidates, |docs, sums| {
                let matters = |rows: Range<usize>, list: &mut List<'a>, block: usize| {
                    let bound = list.bound(block);
                    sums[rows].iter().any(|sum| sum + bound >= least)
                };
                probed.look_up(list, docs, matters);
                for at in 0..probed.found.count {
                    let row = usize::from(probed.found.wanted[at]);
                    best.pour(&docs[row..=row], &[probed.scores[at] + sums[row]]);
                }
            });
        }
        best
    }
}

/// Calls `each` for the documents of a range that some lists hold and the sums of their scores, a block at a time.
fn pour_added(
    lists: &mut [ScoredList<'_>],
    range: &Range<u32>,
    window: &mut window::Window,
    candidates: &mut CandidateBlock,
    mut each: impl FnMut(&[u32], &[f32]),
) {
    let mut base = range.start & !63;
    while base < range.end && !lists.is_empty() {
        let end = range.end.min(base.saturating_add(window::WIDTH_MAX));
        let part = base.max(range.start)..end;
        let mut is_any = false;
        for one in lists.iter_mut() {
            let mut block = one.list.find(DocId(part.start));
            while !one.list.is_past(block, end) {
                let (docs, scores) = one.part(block, &part);
                window.pour_marked(base, docs, scores);
                is_any |= !docs.is_empty();
                block += 1;
            }
        }
        if is_any {
            window.drain_marked(end - base, f32::NEG_INFINITY, |at, sum| {
                candidates.push(base + at, sum);
                if candidates.count == BLOCK {
                    each(candidates.docs(), &candidates.sums);
                    candidates.clear();
                }
            });
            each(candidates.docs(), &candidates.sums[..candidates.count]);
            candidates.clear();
        }
        base = end;
    }
}
