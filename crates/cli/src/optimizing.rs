//! Progress of the reordering of an index, for `index` and `optimize`.

use console::figures::seconds;
use console::meter::{Meter, left_s};
use index::{OptimizeProgress, optimize::Phase};
use std::sync::{Mutex, PoisonError};

/// A meter that several threads update.
pub(crate) struct ShownProgress {
    meter: Mutex<Meter>,
}

impl ShownProgress {
    pub(crate) fn new(meter: Meter) -> ShownProgress {
        ShownProgress {
            meter: Mutex::new(meter),
        }
    }

    pub(crate) fn update(&self, progress: OptimizeProgress) {
        let OptimizeProgress { phase, done, total } = progress;
        let mut meter = self.meter.lock().unwrap_or_else(PoisonError::into_inner);
        meter.update_of("optimizing", done, total, |elapsed_s| {
            let what = match phase {
                Phase::Ordering => "finding the order",
                Phase::Writing => "writing",
            };
            match left_s(done, total, elapsed_s) {
                Some(left_s) => format!("{what}, {} left", seconds(left_s)),
                None => what.to_owned(),
            }
        });
    }

    /// Removes the meter. Returns the seconds since its start.
    pub(crate) fn end(self) -> f64 {
        let meter = self.meter.into_inner();
        meter.unwrap_or_else(PoisonError::into_inner).elapsed_s()
    }
}
