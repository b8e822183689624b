//! Time of a piece of work.

use std::error::Error;
use std::time::Instant;

/// What some work takes.
pub(crate) fn time_us(
    work: impl FnOnce() -> Result<(), index::IndexError>,
) -> Result<f64, Box<dyn Error>> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed().as_nanos() as f64 / 1e3)
}
