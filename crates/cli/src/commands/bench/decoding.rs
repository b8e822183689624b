//! Which share of a search is decoding? What a search decodes is decoded once more, alone, beside it.
//!
//! A clock around every block would cost as much as decoding it, so the search is watched once, and the blocks
//! that it decoded are timed apart. Alone they are a little faster than between other work: caches and the
//! prediction of branches are all theirs. The share is a lower bound, and the same for every codec.

use crate::quantiles::min_and_median;
use index::{IndexError, Replay, Segment, watch_lists};
use search::{Plan, profile};
use std::sync::Arc;
use std::time::Instant;

/// The blocks that one query's search decodes, and how long that took so far.
pub(super) struct Decoding<'a> {
    replay: Replay<'a>,
    times_us: Vec<f64>,
    postings_count: u64,
}

/// What decoding took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Decoded {
    /// Blocks whose documents are decoded, and the postings in them.
    pub(super) blocks_count: usize,
    pub(super) postings_count: u64,
    pub(super) min_us: f64,
    pub(super) median_us: f64,
}

impl<'a> Decoding<'a> {
    /// Watches a search of `plan`, which is run once.
    pub(super) fn of<R>(
        plan: &Plan,
        segments: &'a [Arc<Segment>],
        search: impl FnOnce() -> Result<R, IndexError>,
    ) -> Result<Decoding<'a>, IndexError> {
        let (profiled, mut lists) = watch_lists(|| profile(plan, segments, search));
        let (_, profile) = profiled?;
        let mut replay = Replay::default();
        for term in &profile.terms {
            for segment in segments {
                if let Some(record) = segment.term(term.field, &term.term)? {
                    replay.add(segment, &record, &mut lists)?;
                }
            }
        }
        Ok(Decoding {
            replay,
            times_us: Vec::new(),
            postings_count: 0,
        })
    }

    /// Decodes them again, under the clock.
    pub(super) fn time(&mut self) {
        let started = Instant::now();
        self.postings_count = self.replay.run();
        self.times_us
            .push(started.elapsed().as_nanos() as f64 / 1e3);
    }

    pub(super) fn finish(mut self) -> Decoded {
        let (min_us, median_us) = min_and_median(&mut self.times_us);
        Decoded {
            blocks_count: self.replay.blocks_count(),
            postings_count: self.postings_count,
            min_us,
            median_us,
        }
    }
}
