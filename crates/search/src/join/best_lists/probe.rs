//! Scores of the best of some lists for given documents: of the poured window, or looked up in each list.

use super::BestLists;
use crate::block::best_window::WIDTH;
use crate::block::probed::{Demand, Probed};
use crate::context::cancel::StopRef;
use crate::plan::scorer::BLOCK;

/// Postings that are poured in the time of looking up in one list: a block of documents, and each of them. (Few documents are in
/// one block of a list, and each block is decoded for them.)
const LOOK_UP: u64 = 64;
pub(crate) const LOOK_UP_ONE: u64 = 16;

impl BestLists<'_> {
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
        let look_up = lists * (LOOK_UP + LOOK_UP_ONE * count as u64);
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
