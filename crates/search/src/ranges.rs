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

use crate::algorithm::{Algorithm, Wanted};
use crate::{Plan, ScoredHit, SharedThreshold, TopK};
use index::{IndexError, Segment};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Ranges begin at multiples of this, so that no two share a word of bits.
const ALIGNED: u32 = 64;

/// A query on some segments, to be worked on by any number of handlers.
pub struct Ranges<'a> {
    plan: &'a Plan,
    segments: Vec<&'a Segment>,
    /// By bound, highest first.
    ranges: Vec<Piece>,
    /// What cutting opened, by segment: for the first handlers to come.
    opened: Vec<Mutex<Option<Algorithm<'a>>>>,
    next: AtomicUsize,
    threshold: SharedThreshold,
    k: usize,
    wanted: Wanted,
}

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
    /// Cuts the documents of the segments into about `ranges_count` ranges (one a segment at least).
    /// With `counted` every match is counted and nothing is skipped.
    pub fn new(
        plan: &'a Plan,
        segments: impl IntoIterator<Item = &'a Arc<Segment>>,
        k: usize,
        counted: bool,
        ranges_count: usize,
    ) -> Result<Ranges<'a>, IndexError> {
        let segments: Vec<&Segment> = segments.into_iter().map(|one| &**one).collect();
        let wanted = match (k, counted) {
            (0, _) => Wanted::Count,
            (_, true) => Wanted::HitsAndCount,
            (_, false) => Wanted::Hits,
        };
        let mut all = Ranges {
            plan,
            ranges: Vec::new(),
            opened: Vec::new(),
            next: AtomicUsize::new(0),
            threshold: SharedThreshold::default(),
            k,
            wanted,
            segments,
        };
        if !plan.matches_nothing() {
            all.cut(ranges_count)?;
        }
        Ok(all)
    }

    fn cut(&mut self, ranges_count: usize) -> Result<(), IndexError> {
        let documents = |segment: &&Segment| u64::from(segment.documents_count());
        let total: u64 = self.segments.iter().map(documents).sum();
        let length = total.div_ceil(ranges_count.max(1) as u64);
        let length = (length.min(1 << 31) as u32)
            .next_multiple_of(ALIGNED)
            .max(ALIGNED);
        // Only for what is known before anything is read.
        let mut top = TopK::new(self.k);
        for (number, &segment) in self.segments.iter().enumerate() {
            let mut algorithm = Algorithm::open(self.plan, segment, &mut top, self.wanted)?;
            let Some(opened) = &mut algorithm else {
                self.opened.push(Mutex::new(None));
                continue;
            };
            let end = segment.documents_count();
            let mut start = 0;
            while start < end {
                let documents = start..end.min(start.saturating_add(length));
                start = documents.end;
                self.ranges.push(Piece {
                    segment: number,
                    bound: opened.bound(&documents),
                    documents,
                });
            }
            self.opened.push(Mutex::new(algorithm));
        }
        if self.k > 0 {
            self.threshold.raise(top.threshold());
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
    pub fn work(&self, mut leaves: impl FnMut() -> bool) -> Result<Share, IndexError> {
        let mut top = TopK::sharing(self.k, &self.threshold);
        let mut opened: Vec<Option<Algorithm<'_>>> = self.opened.iter().map(|_| None).collect();
        let mut entered = usize::MAX;
        let mut share = Share::default();
        loop {
            let taken = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = self.ranges.get(taken) else {
                break;
            };
            share.ranges_count += 1;
            top.exchange();
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
                        None => Algorithm::open(self.plan, segment, &mut top, self.wanted)?,
                    };
                }
                if let Some(algorithm) = slot {
                    share.count += algorithm.run(piece.documents.clone(), &mut top)?;
                }
            }
            if leaves() {
                break;
            }
        }
        top.exchange();
        share.hits = top.into_sorted();
        Ok(share)
    }
}
