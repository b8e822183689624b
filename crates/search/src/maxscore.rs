//! The k best of any of several terms, without looking at what cannot be among them.
//!
//! MaxScore (Turtle & Flood 1995) in windows of documents, with block bounds (Ding & Suel 2011). In each
//! window the lists are ordered by the most that each can add there. The low ones that together stay
//! under the worst score kept are not *essential*: a document that only they hold cannot enter. Only
//! essential lists are poured into the window; the others are probed for the few candidates that could
//! still enter with their help. A window without an essential list is skipped, nothing decoded.
//!
//! Exact: documents, scores and order are those of [`crate::exhaustive`]. Sums made in another order than
//! the plan's may differ in the last bits, so they only decide who is looked at, with a margin; whoever
//! is offered has its parts summed in the order of the plan, from 0.0.

use crate::cursor::Scorer;
use crate::union::Union;
use crate::{ScoredHit, TopK};
use index::{Bounds, DocId, IndexError, Postings, Segment};

/// Documents of a window. Short, so that bounds are close.
const WINDOW: usize = 2048;
const WORDS: usize = WINDOW / 64;
/// More lists than this have no window each: a plain union is as quick.
pub(crate) const LISTS_MAX: usize = 16;
/// Sums of up to `LISTS_MAX` scores in two orders differ by less than this in proportion.
const MARGIN: f32 = 1.00001;

/// One term's postings with what bounds them.
struct List<'a> {
    postings: Postings<'a>,
    scorer: Scorer<'a>,
    bounds: Bounds<'a>,
    /// Where the bounds stand; never after the window.
    block: usize,
    /// For a list without headers: the most that any of its postings adds.
    short_bound: f32,
}

/// A union being searched on one segment.
pub(crate) struct MaxScore<'a> {
    lists: Vec<List<'a>>,
    window: Window,
    /// Lists by their bound in the window, lowest first.
    order: Vec<usize>,
    window_bounds: Vec<f32>,
    candidates: Vec<Candidate>,
}

/// What a window knows of its documents; all zero between windows.
struct Window {
    sums: Vec<f32>,
    /// What each list adds, in a row of its own.
    parts: Vec<f32>,
    matched: [u64; WORDS],
}

#[derive(Clone, Copy)]
struct Candidate {
    at: u32,
    sum: f32,
}

impl<'a> List<'a> {
    fn new(mut postings: Postings<'a>, scorer: Scorer<'a>) -> List<'a> {
        let bounds = postings.bounds();
        let mut short_bound = 0.0f32;
        if bounds.blocks_count() == 0 {
            let (docs, frequencies) = postings.rest_of_block();
            for (&doc, &frequency) in docs.iter().zip(frequencies) {
                short_bound = short_bound.max(scorer.score(DocId(doc), frequency));
            }
        }
        List {
            postings,
            scorer,
            bounds,
            block: 0,
            short_bound,
        }
    }

    /// The most that the list adds to any document of `base..end`.
    fn window_bound(&mut self, base: DocId, end: DocId) -> f32 {
        let blocks_count = self.bounds.blocks_count();
        if blocks_count == 0 {
            let gone = self.postings.doc() >= end;
            return if gone { 0.0 } else { self.short_bound };
        }
        while self.bounds.last_doc(self.block) < base {
            self.block += 1;
        }
        let mut bound = 0.0f32;
        for block in self.block..blocks_count {
            bound = bound.max(self.scorer.bound(&self.bounds.impacts(block)));
            if self.bounds.last_doc(block).0 >= end.0 - 1 {
                break;
            }
        }
        bound
    }
}

impl<'a> MaxScore<'a> {
    pub(crate) fn new(union: Union<'a>) -> MaxScore<'a> {
        let open = |(postings, scorer)| List::new(postings, scorer);
        let lists: Vec<List<'a>> = union.lists.into_iter().map(open).collect();
        MaxScore {
            window: Window {
                sums: vec![0.0; WINDOW],
                parts: vec![0.0; WINDOW * lists.len()],
                matched: [0; WORDS],
            },
            order: (0..lists.len()).collect(),
            window_bounds: vec![0.0; lists.len()],
            candidates: Vec::new(),
            lists,
        }
    }

    /// Keeps the best of the union in `top`.
    pub(crate) fn search(mut self, segment: &Segment, top: &mut TopK) -> Result<(), IndexError> {
        let mut base = 0;
        while base < segment.documents_count() {
            let end = base + WINDOW as u32;
            let essential = self.split(DocId(base), DocId(end), top);
            if essential < self.lists.len() {
                self.pour(essential, base, end);
                self.collect(essential, base, end, segment, top);
            }
            base = self.next_base(essential, end);
        }
        match self
            .lists
            .iter_mut()
            .find_map(|list| list.postings.take_error())
        {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Orders the lists by their bounds in the window; where the essential ones begin in that order.
    fn split(&mut self, base: DocId, end: DocId, top: &TopK) -> usize {
        for (list, bound) in self.lists.iter_mut().zip(&mut self.window_bounds) {
            *bound = list.window_bound(base, end);
        }
        let bounds = &self.window_bounds;
        self.order
            .sort_unstable_by(|&a, &b| bounds[a].total_cmp(&bounds[b]));
        let mut sum = 0.0;
        self.order
            .iter()
            .position(|&list| {
                sum += bounds[list];
                top.would_enter(sum * MARGIN)
            })
            .unwrap_or(self.lists.len())
    }

    /// Pours the essential lists into the window.
    fn pour(&mut self, essential: usize, base: u32, end: u32) {
        let Window {
            sums,
            parts,
            matched,
        } = &mut self.window;
        for &number in &self.order[essential..] {
            let List {
                postings, scorer, ..
            } = &mut self.lists[number];
            let parts = &mut parts[number * WINDOW..][..WINDOW];
            postings.seek(DocId(base));
            postings.take_until(DocId(end), |docs, frequencies| {
                for (&doc, &frequency) in docs.iter().zip(frequencies) {
                    // A damaged list may name documents out of order; they must not leave the window.
                    let at = doc.wrapping_sub(base) as usize % WINDOW;
                    let score = scorer.score(DocId(doc), frequency);
                    sums[at] += score;
                    parts[at] = score;
                    matched[at / 64] |= 1 << (at % 64);
                }
            });
        }
    }

    /// Offers the documents of the window that can enter, and empties it.
    fn collect(
        &mut self,
        essential: usize,
        base: u32,
        end: u32,
        segment: &Segment,
        top: &mut TopK,
    ) {
        let rest: f32 = self.order[..essential]
            .iter()
            .map(|&list| self.window_bounds[list])
            .sum();
        self.find_candidates(rest, top);
        let mut rest = rest;
        for at in (0..essential).rev() {
            let number = self.order[at];
            rest -= self.window_bounds[number];
            self.probe(number, rest.max(0.0), base, end, top);
        }
        if !segment.has_deletions() {
            self.keep_best(top.k());
        }
        for &Candidate { at, .. } in &self.candidates {
            let doc = DocId(base + at);
            if segment.is_deleted(doc) {
                continue;
            }
            // In the order of the plan, from 0.0: the bits of exhaustive evaluation.
            let parts = self.window.parts[at as usize..].iter().step_by(WINDOW);
            let score = parts.fold(0.0, |sum, part| sum + part);
            top.offer(score, || ScoredHit::at(segment, doc, score));
        }
        self.empty();
    }

    /// Documents of the window that enter if the other lists add `rest`.
    fn find_candidates(&mut self, rest: f32, top: &TopK) {
        self.candidates.clear();
        for (word_at, &word) in self.window.matched.iter().enumerate() {
            let mut word = word;
            while word != 0 {
                let at = word_at * 64 + word.trailing_zeros() as usize;
                word &= word - 1;
                let sum = self.window.sums[at];
                if top.would_enter((sum + rest) * MARGIN) {
                    self.candidates.push(Candidate { at: at as u32, sum });
                }
            }
        }
    }

    /// Adds what a list that is not essential has for the candidates; drops those that cannot enter
    /// whatever the lists after it add.
    fn probe(&mut self, number: usize, rest: f32, base: u32, end: u32, top: &TopK) {
        let List {
            postings, scorer, ..
        } = &mut self.lists[number];
        let parts = &mut self.window.parts[number * WINDOW..][..WINDOW];
        let most = self.window_bounds[number] + rest;
        self.candidates.retain_mut(|candidate| {
            if !top.would_enter((candidate.sum + most) * MARGIN) {
                return false;
            }
            let doc = DocId(base + candidate.at);
            if postings.seek(doc) == doc && doc.0 < end {
                let score = scorer.score(doc, postings.frequency());
                parts[candidate.at as usize] = score;
                candidate.sum += score;
            }
            top.would_enter((candidate.sum + rest) * MARGIN)
        });
    }

    /// Of more than k candidates only the k best of the window, and their like, can be among the k best.
    /// (Not so where some of them may be deleted.)
    fn keep_best(&mut self, k: usize) {
        if k == 0 || self.candidates.len() <= k {
            return;
        }
        let (_, worst, _) = self
            .candidates
            .select_nth_unstable_by(k - 1, |a, b| b.sum.total_cmp(&a.sum));
        let least = worst.sum / MARGIN / MARGIN;
        self.candidates.retain(|candidate| candidate.sum >= least);
    }

    /// Every document that anything was written for is marked: only around marks is there what to clear.
    fn empty(&mut self) {
        let lists_count = self.lists.len();
        let Window {
            sums,
            parts,
            matched,
        } = &mut self.window;
        for (word_at, word) in matched
            .iter_mut()
            .enumerate()
            .filter(|(_, word)| **word != 0)
        {
            *word = 0;
            let at = word_at * 64;
            sums[at..at + 64].fill(0.0);
            for list in 0..lists_count {
                parts[list * WINDOW + at..][..64].fill(0.0);
            }
        }
    }

    /// The next window that may hold a document of an essential list.
    fn next_base(&self, essential: usize, end: u32) -> u32 {
        if essential >= self.lists.len() {
            return end;
        }
        let of = |&number: &usize| self.lists[number].postings.doc().0;
        // What is not essential here may be so in the next window.
        let any_lags = essential > 0;
        match self.order.iter().map(of).min() {
            Some(first) if !any_lags && first >= end => first & !(WINDOW as u32 - 1),
            _ => end,
        }
    }
}
