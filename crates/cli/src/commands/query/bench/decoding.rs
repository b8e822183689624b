//! Share of decoding in a search: the blocks that a search decodes, decoded again alone.
//!
//! A clock around every block would cost as much as decoding it. So one search records the blocks that it decodes,
//! and these are timed separately. Alone they are a little faster than between other work, which would share caches
//! and branch predictors with them. So the share is a lower bound, for every codec alike.

use super::quantiles::min_and_median;
use index::{IndexError, Replay, Segment, watch_lists};
use search::{Plan, profile};
use std::sync::Arc;
use std::time::Instant;

/// The blocks that the search of one query decodes, and their times so far.
pub(super) struct Decoding<'a> {
    replay: Replay<'a>,
    times_us: Vec<f64>,
    postings_count: u64,
}

/// Number of decoded blocks and postings, and their times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Decoded {
    /// Number of blocks whose documents are decoded, and of the postings in them.
    pub(super) blocks_count: usize,
    pub(super) postings_count: u64,
    pub(super) min_us: f64,
    pub(super) median_us: f64,
}

impl<'a> Decoding<'a> {
    /// Records the blocks that `search`, called once, decodes for `plan`. Returns what it found, too.
    pub(super) fn of<R>(
        plan: &Plan,
        segments: &'a [Arc<Segment>],
        search: impl FnOnce() -> Result<R, IndexError>,
    ) -> Result<(R, Decoding<'a>), IndexError> {
        let (profiled, mut lists) = watch_lists(|| profile(plan, segments, search));
        let (found, profile) = profiled?;
        let mut replay = Replay::default();
        for term in &profile.terms {
            for segment in segments {
                if let Some(record) = segment.term(term.field, &term.term)? {
                    replay.add(segment, &record, &mut lists)?;
                }
            }
        }
        let decoding = Decoding {
            replay,
            times_us: Vec::new(),
            postings_count: 0,
        };
        Ok((found, decoding))
    }

    /// Decodes the blocks again and adds the time.
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
