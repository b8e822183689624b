//! Repetition of reads that met a changing file.

use crate::error::EngineError;
use index::IndexError;

/// Upper limit on the attempts of a search that meets changing files.
const TRIES_MAX: u32 = 3;

/// Repeats work that met a changing file, up to [`TRIES_MAX`] attempts.
pub(crate) fn retried<T>(
    mut work: impl FnMut() -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    let mut tries = 1;
    loop {
        match work() {
            Err(EngineError::Index(IndexError::Changed { .. })) if tries < TRIES_MAX => tries += 1,
            done => return done,
        }
    }
}
