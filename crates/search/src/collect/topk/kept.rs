//! Collector of the k best documents offered.

use crate::collect::collectors::HitCollector;
use crate::collect::context::Context;
use crate::collect::topk::after::After;
use crate::collect::topk::hit::ScoredHit;
use crate::collect::topk::score_histogram::Counts;
use crate::collect::topk::select::{Best, Tie};
use crate::context::scratch::{Lent, kept_by_thread};
use crate::plan::priors::{PlannedPriors, SegmentPriors};
use index::{DocId, IndexError, Segment};
use smallvec::SmallVec;
use std::cmp::Ordering;

/// Hashes of the documents of a segment.
pub(super) trait Documents: std::fmt::Debug + Sync {
    fn id(&self) -> u32;
    fn url_hash(&self, doc: DocId) -> u64;
    /// Returns the hashes of the URL and of the site.
    fn hashes(&self, doc: DocId) -> (u64, u64);
    /// Prefetches the hashes of a document.
    fn prefetch(&self, _doc: DocId) {}
}

impl Documents for Segment {
    fn id(&self) -> u32 {
        Segment::id(self)
    }
    fn url_hash(&self, doc: DocId) -> u64 {
        Segment::url_hash(self, doc)
    }
    fn hashes(&self, doc: DocId) -> (u64, u64) {
        Segment::hashes(self, doc)
    }
    fn prefetch(&self, doc: DocId) {
        self.prefetch_hashes(doc);
    }
}

/// Kept document. Its hashes are fetched for ties, and at the end.
#[derive(Debug, Clone, Copy)]
struct Kept {
    score: f32,
    /// Index among the segments entered.
    segment: u32,
    doc: DocId,
}

/// Rows of kept documents: one for the next search, and one for selection.
#[derive(Debug, Default)]
struct Rows {
    kept: Vec<Kept>,
    spare: Vec<Kept>,
}

kept_by_thread!(Rows);

/// Maximum capacity that a thread keeps from search to search, in documents.
const ROOM_MAX: usize = 8192;

/// Maximum k for which hits are kept in order; with a larger k the best are selected whenever 2 k are kept.
const ORDERED_MAX: usize = 32;
/// Minimum number of hits that are counted at a time; otherwise a quarter of k.
const COUNTED_MIN: usize = 16;

/// Collector of the k best documents offered.
///
/// For small k a sorted row is kept: its worst entry is a threshold that rises with every hit. For
/// large k documents are gathered and their scores counted, which raises the threshold; at 2 k
/// documents the better half is selected. The rest stays unsorted.
#[derive(Debug)]
pub struct TopK<'a> {
    k: usize,
    pub(super) segments: SmallVec<[&'a dyn Documents; 8]>,
    kept: Vec<Kept>,
    rows: Lent<Rows>,
    /// Threshold of the last count, for large k. Documents below it are no hits.
    threshold: f32,
    /// Number of kept documents, from the first on, whose scores were counted.
    counted: usize,
    /// Number of kept documents at which they are counted, and at 2 k selected.
    counted_next: usize,
    counts: Option<Lent<Counts>>,
    /// Whether the scores are counted together with those of other searches.
    is_joined: bool,
    /// Place after which hits are wanted.
    after: Option<&'a After>,
    /// Priors that add to scores, where the plan has any.
    priors: Option<&'a PlannedPriors>,
    /// Priors of the segment entered last.
    of_entered: Option<Box<SegmentPriors<'a>>>,
}

impl<'a> TopK<'a> {
    /// Returns an empty collector for `k` hits, without priors.
    pub(crate) fn new(k: usize) -> TopK<'a> {
        let mut rows: Lent<Rows> = Lent::take();
        let kept = match k {
            // No memory is needed, so none is returned later.
            0 => Vec::new(),
            _ => std::mem::take(&mut rows.kept),
        };
        TopK {
            k,
            segments: SmallVec::new(),
            kept,
            rows,
            threshold: f32::NEG_INFINITY,
            counted: 0,
            counted_next: counted_next(0, k),
            counts: None,
            is_joined: false,
            after: None,
            priors: None,
            of_entered: None,
        }
    }

    /// Adds priors to the scores of the documents collected.
    pub(crate) fn with_priors(self, priors: &'a PlannedPriors) -> TopK<'a> {
        let priors = Some(priors).filter(|priors| !priors.is_empty());
        TopK { priors, ..self }
    }

    /// Leaves out the documents up to a place in the order of hits. What is known of the k best of all documents, as
    /// floors are, holds no longer: see [`Context::without_floors`].
    pub fn after(self, after: Option<&'a After>) -> TopK<'a> {
        TopK { after, ..self }
    }
}

impl<'a> HitCollector<'a> for TopK<'a> {
    fn k(&self) -> usize {
        self.k
    }

    fn added_max(&self) -> f32 {
        self.priors.map_or(0.0, PlannedPriors::most)
    }

    fn enter(&mut self, segment: &'a Segment) -> Result<(), IndexError> {
        self.segments.push(segment);
        if let Some(priors) = self.priors {
            self.of_entered = Some(Box::new(priors.open(segment)?));
        }
        Ok(())
    }

    #[inline]
    fn collect(&mut self, score: f32, doc: DocId, context: &mut Context<'a>) {
        match self.of_entered.is_some() {
            true => self.insert_with_priors(score, doc, context),
            false => self.insert(score, doc, context),
        }
    }
}

impl<'a> TopK<'a> {
    /// Returns whether a document may be among the k best of those collected.
    #[inline]
    fn may_enter(&self, score: f32) -> bool {
        let is_full = self.k <= ORDERED_MAX && self.kept.len() == self.k;
        let least = match self.kept.last() {
            Some(worst) if is_full => worst.score,
            _ => self.threshold,
        };
        score.total_cmp(&least).is_ge()
    }

    /// Inserts a document with the score of its clauses. Most documents that pass the threshold of the context have not
    /// the priors to enter.
    #[inline(never)]
    fn insert_with_priors(&mut self, score: f32, doc: DocId, context: &mut Context<'a>) {
        let of_doc = self
            .of_entered
            .as_ref()
            .map_or(0.0, |priors| priors.of(doc));
        if self.may_enter(score + of_doc) {
            self.insert(score + of_doc, doc, context);
        }
    }

    #[inline(never)]
    fn insert(&mut self, score: f32, doc: DocId, context: &mut Context<'a>) {
        assert!(!score.is_nan(), "a score is never NaN");
        let segment = self.segments.len().wrapping_sub(1) as u32;
        let new = Kept {
            score,
            segment,
            doc,
        };
        if let Some(entered) = self.segments.last() {
            entered.prefetch(doc);
        }
        if self.after.is_some() && self.is_left_out(score, doc) {
            return;
        }
        if self.k > ORDERED_MAX {
            self.kept.push(new);
            if self.kept.len() >= self.counted_next {
                self.count_or_choose(context);
            }
            return;
        }
        if self.kept.len() == self.k {
            if let Some(worst) = self.kept.last()
                && rank(&self.segments, &new, worst) != Ordering::Less
            {
                return;
            }
            self.kept.pop();
        }
        let segments = &self.segments;
        let at = self
            .kept
            .iter()
            .rposition(|better| rank(segments, better, &new) == Ordering::Less)
            .map_or(0, |before| before + 1);
        self.kept.insert(at, new);
        if self.kept.len() == self.k
            && let Some(worst) = self.kept.last()
        {
            context.raise(worst.score);
        }
    }

    /// Returns whether a document is not after the wanted place.
    #[cold]
    fn is_left_out(&self, score: f32, doc: DocId) -> bool {
        let (Some(after), Some(entered)) = (self.after, self.segments.last()) else {
            return false;
        };
        !after.precedes(score, || entered.url_hash(doc))
    }

    fn count_or_choose(&mut self, context: &mut Context<'a>) {
        self.count(context);
        if self.kept.len() >= self.k.saturating_mul(2) {
            self.choose(context);
        }
    }

    /// Counts the documents kept since the last count, which may raise the threshold.
    #[inline(never)]
    fn count(&mut self, context: &mut Context<'a>) {
        let shared = context.shared_by_several();
        if shared.is_some() && !self.is_joined {
            self.is_joined = true;
            self.counted = 0;
        }
        let new = self.kept[self.counted..].iter().map(|kept| kept.score);
        let reached = match shared {
            Some(shared) => shared.count(new, self.k),
            None => {
                let counts = self.counts.get_or_insert_with(|| {
                    let mut counts = Lent::<Counts>::take();
                    counts.clear();
                    counts
                });
                counts.add(new, self.k)
            }
        };
        self.note_counted();
        if reached > 0.0 {
            context.raise(reached);
        }
        self.threshold = context.threshold().max(reached).max(self.threshold);
    }

    /// Drops documents below the threshold, then keeps the k best.
    #[cold]
    fn choose(&mut self, context: &mut Context<'a>) {
        self.select();
        context.raise(self.threshold);
    }

    /// Keeps the k best of all that reach the threshold.
    fn select(&mut self) {
        let threshold = self.threshold;
        self.kept.retain(|kept| kept.score >= threshold);
        if self.kept.len() > self.k {
            let mut best: Lent<Best> = Lent::take();
            let (kept, spare) = (&mut self.kept, &mut self.rows.spare);
            let tie = |number: u32| tie(&self.segments, &kept[number as usize]);
            let chosen = best.chosen(self.k, scores(kept), tie);
            spare.clear();
            spare.extend(chosen.iter().map(|&number| kept[number as usize]));
            std::mem::swap(kept, spare);
            let worst = scores(kept).fold(f32::INFINITY, f32::min);
            self.threshold = threshold.max(worst);
        }
        self.note_counted();
    }

    fn note_counted(&mut self) {
        self.counted = self.kept.len();
        self.counted_next = counted_next(self.counted, self.k);
    }

    /// Returns the hits, best first.
    pub fn into_sorted(mut self) -> Vec<ScoredHit> {
        if self.k > ORDERED_MAX && self.kept.len() > self.k {
            self.select();
        }
        let hits = self.sorted();
        let Rows { kept, spare } = &mut *self.rows;
        *kept = std::mem::take(&mut self.kept);
        for row in [kept, spare] {
            row.clear();
            row.shrink_to(ROOM_MAX);
        }
        hits
    }

    fn sorted(&self) -> Vec<ScoredHit> {
        let hit = |kept: &Kept| {
            let segment = self.segments[kept.segment as usize];
            let (url_hash, site_hash) = segment.hashes(kept.doc);
            ScoredHit {
                score: kept.score,
                url_hash,
                site_hash,
                segment: segment.id(),
                doc: kept.doc,
            }
        };
        let kept = self.kept.as_slice();
        if self.k <= ORDERED_MAX {
            return kept.iter().map(hit).collect();
        }
        let mut best: Lent<Best> = Lent::take();
        let tie = |number: u32| tie(&self.segments, &kept[number as usize]);
        let order = best.sorted(scores(kept), tie).iter();
        let hits = order.map(|&number| hit(&kept[number as usize])).collect();
        best.shrink(ROOM_MAX);
        hits
    }
}

/// Returns the number of documents to count next at, after `counted`.
fn counted_next(counted: usize, k: usize) -> usize {
    (counted + (k / 4).max(COUNTED_MIN)).min(k.saturating_mul(2))
}

fn scores(kept: &[Kept]) -> impl Iterator<Item = f32> {
    kept.iter().map(|kept| kept.score)
}

/// Returns `Less` if `a` comes before `b` in an answer.
#[inline]
fn rank(segments: &[&dyn Documents], a: &Kept, b: &Kept) -> Ordering {
    b.score
        .total_cmp(&a.score)
        .then_with(|| rank_of_equals(segments, a, b))
}

#[cold]
fn rank_of_equals(segments: &[&dyn Documents], a: &Kept, b: &Kept) -> Ordering {
    tie(segments, a).cmp(&tie(segments, b))
}

/// Returns the tie breaker between hits of equal scores: the lower comes first.
fn tie(segments: &[&dyn Documents], kept: &Kept) -> Tie {
    let segment = segments[kept.segment as usize];
    (segment.url_hash(kept.doc), segment.id(), kept.doc)
}
