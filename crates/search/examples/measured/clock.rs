//! Measurement of the time of some work.

use std::error::Error;
use std::time::Instant;

/// Returns the time of some work, in microseconds.
pub(crate) fn time_us(
    work: impl FnOnce() -> Result<(), index::IndexError>,
) -> Result<f64, Box<dyn Error>> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed().as_nanos() as f64 / 1e3)
}
