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

use crate::block::best_window::{BestWindow, WIDTH};
use crate::block::bitset::mark;
use crate::block::candidate_block::CandidateBlock;
use crate::block::probed::{Demand, Probed};
use crate::block::scored_list::ScoredList;
use crate::block::term_scorer::{List, Lists, scorer_of};
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
/// Postings that are poured in the time of looking documents up in one list, beside one for each document.
const LOOK_UP: u64 = 64;

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

/// Returns whether a clause is the best of terms, each with terms that add to it.
pub(crate) fn is_best_of_lists(node: &Node) -> bool {
    matches!(node, Node::BestOf { .. }) && words_of(node, &mut |_, _| ())
}

/// Calls `each` for every term with those that add to it; returns false where the clause has others.
fn words_of<'a>(node: &'a Node, each: &mut impl FnMut(&'a Node, &'a [Node])) -> bool {
    match node {
        Node::Term(_) => each(node, &[]),
        Node::Boolean {
            required,
            optional,
            excluded,
        } => match required.as_slice() {
            [term @ Node::Term(_)]
                if excluded.is_empty()
                    && optional.iter().all(|node| matches!(node, Node::Term(_))) =>
            {
                each(term, optional);
            }
            _ => return false,
        },
        Node::BestOf {
            tie_breaker: 0.0,
            clauses,
        } => return clauses.iter().all(|node| words_of(node, each)),
        _ => return false,
    }
    true
}

/// Size of such a clause on a segment, without what adds to its terms.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Size {
    pub(crate) lists: u64,
    pub(crate) postings: u64,
}

/// Returns the size of such a clause on a segment.
pub(crate) fn size_on(node: &Node, segment: &Segment) -> Result<Size, IndexError> {
    let mut terms = Vec::new();
    words_of(node, &mut |term, _| terms.push(term));
    let mut size = Size::default();
    for word in terms.into_iter().filter_map(Node::word) {
        if let Some(record) = word.record(segment)? {
            size.lists += 1;
            size.postings += u64::from(record.documents_count);
        }
    }
    Ok(size)
}

/// Opens the terms of such a clause, without those that add to them.
pub(crate) fn open_terms<'a>(
    plan: &'a Plan,
    node: &'a Node,
    segment: &'a Segment,
) -> Result<Lists<'a>, IndexError> {
    let mut terms = Vec::new();
    words_of(node, &mut |term, _| terms.push(term));
    List::open_each(plan, terms, segment)
}

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
        words_of(node, &mut |term, adding| words.push((term, adding)));
        let mut clauses: Vec<Clause<'a>> = Vec::with_capacity(words.len());
        for (term, adding) in words {
            let Some(record) = term.word().map(|word| word.record(segment)).transpose()? else {
                continue;
            };
            let Some(record) = record else {
                continue;
            };
            let mut lists = Lists::take();
            List::push(&mut lists, &record, scorer_of(plan, term, segment), segment)?;
            let Some(mut list) = lists.pop() else {
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

    /// Pours the documents of a range, within [`WIDTH`] of `base`, a multiple of 64; those that score less than `least` may be
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

    /// Finds the rows of `docs` (increasing, 256 at most) that any of the lists holds, and the best of their scores there.
    pub(crate) fn probe(
        &mut self,
        docs: &[u32],
        demand: Demand,
        stop: StopRef<'_>,
        probed: &mut Probed,
    ) {
        probed.found.count = 0;
        let mut from = 0;
        while let Some(&first) = docs.get(from) {
            let window = first / WIDTH;
            let count = docs[from..].partition_point(|doc| doc / WIDTH == window);
            let part = from..from + count;
            match self.is_poured(window, count, stop) {
                true => {
                    for (row, &doc) in part.clone().zip(&docs[part]) {
                        if let Some(score) = self.room.best.score(doc) {
                            probed.push(row as u8, score);
                        }
                    }
                }
                false => self.look_up(from, &docs[part], demand, stop, probed),
            }
            if stop.is_aborted() {
                return;
            }
            from += count;
        }
    }

    /// Returns whether a window is poured, for a number of documents that are about to be asked of it.
    fn is_poured(&mut self, window: u32, count: usize, stop: StopRef<'_>) -> bool {
        if self.asked != window {
            (self.asked, self.spent) = (window, 0);
        }
        if self.spent == u64::MAX {
            return true;
        }
        let lists = self.clauses.len() as u64;
        let look_up = lists * (LOOK_UP + count as u64);
        let poured = self.postings * u64::from(WIDTH) / self.documents_count.max(1);
        if self.spent < lists * LOOK_UP + poured {
            self.spent += look_up;
            return false;
        }
        self.spent = u64::MAX;
        let base = window * WIDTH;
        self.pour(
            base,
            &(base..base.saturating_add(WIDTH)),
            f32::NEG_INFINITY,
            stop,
        );
        true
    }

    fn look_up(
        &mut self,
        first_row: usize,
        docs: &[u32],
        demand: Demand,
        stop: StopRef<'_>,
        probed: &mut Probed,
    ) {
        let mut is_found = [false; BLOCK];
        let mut best = [0.0f32; BLOCK];
        let one = &mut self.room.one;
        for clause in &mut self.clauses {
            let list = &mut clause.leading.list;
            if stop.aborts(1) {
                return;
            }
            if demand == Demand::Rows {
                list.probe(docs, &mut one.found, None, |_, _, _| true);
                one.rows()
                    .iter()
                    .for_each(|&row| is_found[usize::from(row)] = true);
                continue;
            }
            one.look_up(list, docs, |_, _, _| true);
            let (mut held, mut scores) = ([false; BLOCK], [0.0f32; BLOCK]);
            for (&row, &score) in one.rows().iter().zip(&one.scores) {
                held[usize::from(row)] = true;
                scores[usize::from(row)] = score;
            }
            if one.found.count > 0 {
                for adding in &mut clause.adding {
                    one.look_up(&mut adding.list, docs, |_, _, _| true);
                    for (&row, score) in one.rows().iter().zip(&one.scores) {
                        scores[usize::from(row)] += score;
                    }
                }
            }
            for row in (0..docs.len()).filter(|&row| held[row]) {
                is_found[row] = true;
                best[row] = best[row].max(scores[row]);
            }
        }
        for row in (0..docs.len()).filter(|&row| is_found[row]) {
            probed.push((first_row + row) as u8, best[row]);
        }
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
