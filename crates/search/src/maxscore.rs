//! The k best of any of several terms, without looking at what cannot be among them.
//!
//! MaxScore (Turtle & Flood 1995) in windows of documents, with block bounds (Ding & Suel 2011). The lists
//! are ordered by the most that each can add. The low ones that together stay under the worst score kept
//! are not *essential*: a document that only they hold cannot enter. Essential lists are scored block by
//! block, and poured into a window where there are several; what could still enter with the help of the
//! others goes to them in batches. A window without an essential list is skipped, nothing decoded, and of
//! the other lists only blocks are read that can make a difference.
//!
//! Exact: documents, scores and order are those of [`crate::exhaustive`], since sums are exact.

use crate::TopK;
use crate::batch::Batch;
use crate::cursor::BLOCK;
use crate::list::{List, first_damage};
use crate::window::{Lent, WIDTH_MAX, Window};
use index::{DocId, IndexError, Segment};
use std::ops::Range;

/// Documents of the narrowest window. Short, so that bounds are close.
const WIDTH_MIN: u32 = 2048;
/// Postings that a window should have, about.
const POSTINGS_PER_WINDOW: u64 = 512;

/// A union being searched on one segment.
pub(crate) struct MaxScore<'a> {
    /// By the most that they add, lowest first.
    lists: Vec<Clause<'a>>,
    width: u32,
    window: Lent,
    batch: Batch,
    /// Of a window: its lists by their bound there, lowest first, and sums of bounds up to each.
    order: Vec<(f32, usize)>,
}

struct Clause<'a> {
    list: List<'a>,
    /// What it adds at most, alone and with all lists before it.
    most: f32,
    most_sum: f32,
    /// The block that was scored last, and its scores.
    scored: usize,
    scores: [f32; BLOCK],
}

impl<'a> MaxScore<'a> {
    /// Prepares a search of the lists; tells `top` what is known before.
    pub(crate) fn new(lists: Vec<List<'a>>, segment: &Segment, top: &mut TopK<'a>) -> MaxScore<'a> {
        let postings: u64 = lists.iter().map(|list| u64::from(list.cost())).sum();
        if !segment.has_deletions() {
            for list in &lists {
                top.raise(list.floor(top.k()));
            }
        }
        let mut lists: Vec<Clause<'a>> = lists
            .into_iter()
            .map(|mut list| Clause {
                most: list.most(),
                most_sum: 0.0,
                list,
                scored: usize::MAX,
                scores: [0.0; BLOCK],
            })
            .collect();
        lists.sort_by(|a, b| a.most.total_cmp(&b.most));
        let mut sum = 0.0;
        for clause in &mut lists {
            sum += clause.most;
            clause.most_sum = sum;
        }
        let documents = u64::from(segment.documents_count());
        let width = documents * POSTINGS_PER_WINDOW / postings.max(1);
        MaxScore {
            order: Vec::with_capacity(lists.len()),
            lists,
            width: (width.clamp(1, WIDTH_MAX.into()) as u32)
                .next_power_of_two()
                .clamp(WIDTH_MIN, WIDTH_MAX),
            window: Window::take(),
            batch: Batch::default(),
        }
    }

    /// Keeps the best of the union in `top`, among the documents of `range`.
    pub(crate) fn search(
        &mut self,
        range: Range<u32>,
        segment: &Segment,
        top: &mut TopK<'a>,
    ) -> Result<(), IndexError> {
        let mut base = range.start;
        while base < range.end {
            top.exchange();
            let rest = self.not_essential(top);
            if rest == self.lists.len() {
                break;
            }
            let Some(start) = self.first_block(rest, base, top) else {
                break;
            };
            // Aligned, so that windows begin with a word of marks.
            base = base.max(start & !63);
            let end = range.end.min(base.saturating_add(self.width));
            if base < end {
                self.search_window(rest, base, end, segment, top);
            }
            base = end.max(base);
        }
        let mut damage = Ok(());
        for clause in &mut self.lists {
            damage = damage.and(first_damage(std::slice::from_mut(&mut clause.list)));
        }
        damage
    }

    /// How many lists, the lowest, are not essential anywhere.
    fn not_essential(&self, top: &TopK<'_>) -> usize {
        let enters = |clause: &Clause<'_>| top.would_enter(clause.most_sum);
        self.lists
            .iter()
            .position(enters)
            .unwrap_or(self.lists.len())
    }

    /// A document from `base` on, before which no block of an essential list can make a document enter:
    /// where the next window may begin. `None` where nothing more can.
    fn first_block(&mut self, rest: usize, base: u32, top: &TopK<'_>) -> Option<u32> {
        let others = self.lists[self.lists.len() - 1].most_sum;
        let mut first: Option<u32> = None;
        for clause in &mut self.lists[rest..] {
            let others = others - clause.most;
            let blocks_count = clause.list.blocks.blocks_count();
            let mut block = clause.list.find(DocId(base));
            // A block whose bound, with all that others add, stays below cannot start a window.
            while block < blocks_count && !top.would_enter(clause.list.bound(block) + others) {
                block += 1;
            }
            if block == blocks_count {
                continue;
            }
            let start = match block {
                0 => 0,
                _ => clause.list.blocks.last_doc(block - 1).0 + 1,
            };
            let start = start.max(base);
            first = Some(first.map_or(start, |first| first.min(start)));
            if start == base {
                break;
            }
        }
        first
    }

    fn search_window(
        &mut self,
        rest: usize,
        base: u32,
        end: u32,
        segment: &Segment,
        top: &mut TopK<'a>,
    ) {
        let below = match rest {
            0 => 0.0,
            _ => self.lists[rest - 1].most_sum,
        };
        self.order.clear();
        for (number, clause) in self.lists.iter_mut().enumerate().skip(rest) {
            let bound = clause.list.bound_in(DocId(base), DocId(end));
            self.order.push((bound, number));
        }
        self.order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut sum = below;
        let essential = self.order.iter().position(|(bound, _)| {
            sum += bound;
            top.would_enter(sum)
        });
        let Some(essential) = essential else {
            return;
        };
        let others: f32 = below
            + self.order[..essential]
                .iter()
                .map(|(bound, _)| bound)
                .sum::<f32>();
        if essential + 1 == self.order.len() {
            self.search_one(rest, essential, others, base, end, segment, top);
            return;
        }
        for at in essential..self.order.len() {
            let clause = &mut self.lists[self.order[at].1];
            let mut block = clause.list.find(DocId(base));
            while let Some((docs, scores)) = clause.scored_part(block, base, end) {
                self.window.pour(base, docs, scores);
                block += 1;
            }
        }
        let mut window = std::mem::replace(&mut self.window, Window::none());
        let least = top.threshold() - others;
        window.drain(end - base, least, |at, sum| {
            self.batch.push(base + at, sum);
            if self.batch.count == BLOCK {
                self.finish_batch(rest, essential, others, segment, top);
            }
        });
        self.window = window;
        self.finish_batch(rest, essential, others, segment, top);
    }

    /// A window with one essential list: its blocks are batches as they are.
    #[allow(clippy::too_many_arguments)]
    fn search_one(
        &mut self,
        rest: usize,
        essential: usize,
        others: f32,
        base: u32,
        end: u32,
        segment: &Segment,
        top: &mut TopK<'a>,
    ) {
        let number = self.order[essential].1;
        let mut block = self.lists[number].list.find(DocId(base));
        loop {
            let clause = &mut self.lists[number];
            if block >= clause.list.blocks.blocks_count() {
                return;
            }
            if top.would_enter(clause.list.bound(block) + others) {
                let Some((docs, scores)) = clause.scored_part(block, base, end) else {
                    return;
                };
                self.batch.take(docs, scores, top.threshold() - others);
                self.finish_batch(rest, essential, others, segment, top);
            } else if clause.list.blocks.last_doc(block).0 >= end - 1 {
                return;
            }
            block += 1;
        }
    }

    /// Asks the lists that are not essential, and offers what then can enter.
    fn finish_batch(
        &mut self,
        rest: usize,
        essential: usize,
        mut others: f32,
        segment: &Segment,
        top: &mut TopK<'a>,
    ) {
        let batch = &mut self.batch;
        for at in (0..rest + essential).rev() {
            if batch.count == 0 {
                return;
            }
            let (bound, number) = match at.checked_sub(rest) {
                Some(at) => self.order[at],
                None => (self.lists[at].most, at),
            };
            // Exact: all of them lie on the grid.
            others -= bound;
            let least = top.threshold();
            batch.add(&mut self.lists[number].list, others, least);
            batch.retain(least - others);
        }
        batch.offer(segment, top);
    }
}

impl Clause<'_> {
    /// The documents of a block from `base` on and before `end`, and their scores; `None` past them.
    fn scored_part(&mut self, block: usize, base: u32, end: u32) -> Option<(&[u32], &[f32])> {
        let blocks = &self.list.blocks;
        if block >= blocks.blocks_count() || (block > 0 && blocks.last_doc(block - 1).0 >= end - 1)
        {
            return None;
        }
        if self.scored != block {
            self.scored = block;
            self.list.blocks.load(block);
            self.list.score_block(&mut self.scores);
        }
        self.list.blocks.load(block);
        let docs = self.list.blocks.docs();
        let from = match docs.first() {
            Some(&first) if first < base => docs.partition_point(|&doc| doc < base),
            _ => 0,
        };
        let to = match docs.last() {
            Some(&last) if last >= end => docs.partition_point(|&doc| doc < end),
            _ => docs.len(),
        };
        let to = to.max(from);
        Some((&docs[from..to], &self.scores[from..to]))
    }
}
