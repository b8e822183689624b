//! Recursive graph bisection: an order of documents in which those that share words are neighbours.
//!
//! After Dhulipala, Kabiljo, Karrer, Ottaviano, Pupyrev, Shalita, "Compressing Graphs and Indexes with Recursive
//! Graph Bisection" (KDD 2016), with the savings of Mackenzie, Petri, Moffat, "Faster Index Reordering with
//! Bipartite Graph Partitioning" (SIGIR 2021).
//!
//! ```text
//! bisect(documents): cut in two halves; up to 20 times:
//!     of every document, what would the gaps of its terms gain if it stood in the other half?
//!     exchange the two that gain most, the next two, … while a pair gains anything
//! then bisect each half, down to 32 documents, which stay in the order given
//! ```
//!
//! A term with d documents of a half's n costs d·log2(n / (d + 1)) bits, the cost of d evenly spaced gaps. The gain of
//! moving one document depends, for each term, only on the two counts. So it is computed once per term and iteration,
//! and a document's gain is a sum of table look-ups. A term of a single document of a part can gain nothing in that
//! part or below it, and is dropped.
//!
//! Cost: postings × iterations × log2(documents / 32). The result does not depend on the number of threads: a
//! document's gain is summed by one thread, and halves have nothing in common.

use std::sync::LazyLock;

/// Documents up to which a part is not divided.
const PART_DOCUMENTS_MIN: usize = 32;
const ITERATIONS_MAX: usize = 20;
/// Increase per iteration of the gain that an exchange must have, in bits, because later exchanges undo each other
/// (Mackenzie and others use the number of the iteration). It saves a tenth of the time and of a percent of the bits.
const COOLING_BITS: f32 = 0.5;
/// Documents of a part from which its gains are summed on several threads.
const SHARED_DOCUMENTS_MIN: usize = 16 << 10;
const DELTAS: usize = 1 << 14;

/// Table of `delta_of` for small counts.
static DELTA: LazyLock<Vec<f32>> =
    LazyLock::new(|| (0..DELTAS).map(|count| delta_of(count as f32)).collect());

/// Document with the terms that it shares with others.
#[derive(Debug)]
pub(crate) struct Node<'t> {
    /// Place in the given order.
    pub(crate) place: u32,
    pub(crate) terms: &'t mut [u32],
}

/// Threads of a bisection, and its progress callback.
pub(crate) struct Limits<'p> {
    pub(crate) threads: usize,
    /// Callback that receives, now and then, the number of documents that passed one more level.
    pub(crate) progress: &'p (dyn Fn(u64) + Sync),
}

/// Returns the number of levels until every part is small.
pub(crate) fn levels(documents_count: u32) -> u32 {
    let parts = documents_count.div_ceil(PART_DOCUMENTS_MIN as u32);
    parts.max(1).next_power_of_two().trailing_zeros()
}

/// Reorders `nodes`, given in an initial order. Their terms are below `terms_count`, each once per document.
pub(crate) fn bisect(nodes: &mut [Node<'_>], terms_count: usize, limits: &Limits<'_>) {
    let mut part = Part::new(terms_count);
    split(nodes, &mut part, limits.threads.max(1), limits);
}

fn split(nodes: &mut [Node<'_>], part: &mut Part, threads: usize, limits: &Limits<'_>) {
    if nodes.len() <= PART_DOCUMENTS_MIN {
        return;
    }
    let half = nodes.len() / 2;
    part.count(nodes, half);
    for iteration in 0..ITERATIONS_MAX {
        let gain_min = COOLING_BITS * iteration as f32;
        if !part.exchange(nodes, half, gain_min, threads) {
            break;
        }
    }
    part.forget_all();
    (limits.progress)(nodes.len() as u64);
    let (left, right) = nodes.split_at_mut(half);
    // Restore the given order, a better start than the state after the exchanges.
    left.sort_unstable_by_key(|node| node.place);
    right.sort_unstable_by_key(|node| node.place);
    if threads == 1 {
        split(left, part, 1, limits);
        split(right, part, 1, limits);
        return;
    }
    let terms_count = part.counts[0].len();
    std::thread::scope(|scope| {
        scope.spawn(|| split(left, &mut Part::new(terms_count), threads / 2, limits));
        split(right, part, threads - threads / 2, limits);
    });
}

/// Terms of the part that is being divided; reused by each thread.
struct Part {
    /// Documents of each half that hold a term.
    counts: [Vec<u32>; 2],
    /// Gain of moving a document of each half to the other, by term.
    gains: [Vec<f32>; 2],
    /// Terms of the part.
    terms: Vec<u32>,
    /// Gains of the documents of each half, with their places in it.
    moves: [Vec<(f32, u32)>; 2],
}

impl Part {
    fn new(terms_count: usize) -> Part {
        Part {
            counts: [vec![0; terms_count], vec![0; terms_count]],
            gains: [vec![0.0; terms_count], vec![0.0; terms_count]],
            terms: Vec::new(),
            moves: [Vec::new(), Vec::new()],
        }
    }

    /// Counts the terms of both halves, and drops terms of a single document from the documents.
    fn count(&mut self, nodes: &mut [Node<'_>], half: usize) {
        let Part { counts, terms, .. } = self;
        for (number, node) in nodes.iter().enumerate() {
            let side = usize::from(number >= half);
            for &term in &*node.terms {
                if counts[0][term as usize] + counts[1][term as usize] == 0 {
                    terms.push(term);
                }
                counts[side][term as usize] += 1;
            }
        }
        let shared = |term: u32| counts[0][term as usize] + counts[1][term as usize] > 1;
        for node in nodes {
            keep(&mut node.terms, shared);
        }
        terms.retain(|&term| {
            let [left, right] = counts.each_mut().map(|half| &mut half[term as usize]);
            let shared = *left + *right > 1;
            if !shared {
                (*left, *right) = (0, 0);
            }
            shared
        });
    }

    fn forget_all(&mut self) {
        for &term in &self.terms {
            self.counts[0][term as usize] = 0;
            self.counts[1][term as usize] = 0;
        }
        self.terms.clear();
    }

    /// Exchanges the pairs of documents that gain more than `gain_min`; returns whether there were any.
    fn exchange(
        &mut self,
        nodes: &mut [Node<'_>],
        half: usize,
        gain_min: f32,
        threads: usize,
    ) -> bool {
        self.find_gains(half, nodes.len() - half);
        let (left, right) = nodes.split_at_mut(half);
        let [moves_left, moves_right] = &mut self.moves;
        sum_gains(left, &self.gains[0], moves_left, threads);
        sum_gains(right, &self.gains[1], moves_right, threads);
        sort_useful(moves_left, moves_right, gain_min);
        let mut any = false;
        for (&(gain, from), &(gain_back, to)) in moves_left.iter().zip(&*moves_right) {
            if gain + gain_back <= gain_min {
                break;
            }
            any = true;
            let (one, other) = (&mut left[from as usize], &mut right[to as usize]);
            std::mem::swap(one, other);
            let [counts_left, counts_right] = &mut self.counts;
            for &term in &*one.terms {
                counts_left[term as usize] += 1;
                counts_right[term as usize] -= 1;
            }
            for &term in &*other.terms {
                counts_left[term as usize] -= 1;
                counts_right[term as usize] += 1;
            }
        }
        any
    }

    fn find_gains(&mut self, left_documents: usize, right_documents: usize) {
        // The halves differ by one document at most, with the same effect on each of their terms.
        let uneven = (left_documents as f32).log2() - (right_documents as f32).log2();
        for &term in &self.terms {
            let term = term as usize;
            let (left, right) = (self.counts[0][term], self.counts[1][term]);
            // A half without documents of the term reads no gain of it.
            self.gains[0][term] = uneven + delta(right) - delta(left.wrapping_sub(1));
            self.gains[1][term] = delta(left) - delta(right.wrapping_sub(1)) - uneven;
        }
    }
}

/// Keeps the terms for which `shared` returns true, in their order.
fn keep(terms: &mut &mut [u32], shared: impl Fn(u32) -> bool) {
    let all = std::mem::take(terms);
    let mut kept = 0;
    for at in 0..all.len() {
        let term = all[at];
        if shared(term) {
            all[kept] = term;
            kept += 1;
        }
    }
    *terms = &mut all[..kept];
}

/// Sums the gain of each document over its terms.
fn sum_gains(nodes: &[Node<'_>], gains: &[f32], moves: &mut Vec<(f32, u32)>, threads: usize) {
    moves.clear();
    moves.resize(nodes.len(), (0.0, 0));
    let sum = |first: usize, nodes: &[Node<'_>], moves: &mut [(f32, u32)]| {
        for (at, (node, sum)) in nodes.iter().zip(moves).enumerate() {
            *sum = (sum_of(node.terms, gains), (first + at) as u32);
        }
    };
    if threads == 1 || nodes.len() < SHARED_DOCUMENTS_MIN {
        return sum(0, nodes, moves);
    }
    let piece = nodes.len().div_ceil(threads);
    std::thread::scope(|scope| {
        for (number, (nodes, moves)) in nodes.chunks(piece).zip(moves.chunks_mut(piece)).enumerate()
        {
            scope.spawn(move || sum(number * piece, nodes, moves));
        }
    });
}

/// Four sums side by side, because each addition would wait for the one before.
fn sum_of(terms: &[u32], gains: &[f32]) -> f32 {
    let gain = |term: u32| gains[term as usize];
    let mut sums = [0.0f32; 4];
    let fours = terms.chunks_exact(4);
    for &term in fours.remainder() {
        sums[0] += gain(term);
    }
    for four in fours {
        for (sum, &term) in sums.iter_mut().zip(four) {
            *sum += gain(term);
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// Keeps the documents that may gain with any of the other half, sorted by decreasing gain.
fn sort_useful(left: &mut Vec<(f32, u32)>, right: &mut Vec<(f32, u32)>, gain_min: f32) {
    let most = |moves: &[(f32, u32)]| moves.iter().map(|m| m.0).fold(f32::NEG_INFINITY, f32::max);
    let (most_left, most_right) = (most(left), most(right));
    for (moves, most_other) in [(left, most_right), (right, most_left)] {
        moves.retain(|&(gain, _)| gain + most_other > gain_min);
        moves.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    }
}

/// Returns the change of a half's cost, without the constant log2(n), when a document joins `count` others that hold
/// the term: (d + 1)·log2(d + 2) - d·log2(d + 1).
#[inline]
fn delta(count: u32) -> f32 {
    match DELTA.get(count as usize) {
        Some(delta) => *delta,
        None => delta_of(count as f32),
    }
}

/// Evaluates the formula in a form that keeps the digits of large counts.
fn delta_of(count: f32) -> f32 {
    (count + 2.0).log2() + count * (1.0 / (count + 1.0)).ln_1p() / std::f32::consts::LN_2
}

#[cfg(test)]
mod tests;
