//! Repetition of reads that met a changing file, or a storage without an answer.

use crate::error::EngineError;

/// Upper limit on the attempts of a search that meets such failures.
const TRIES_MAX: u32 = 3;

/// Repeats work whose failure may have passed, up to [`TRIES_MAX`] attempts.
pub(crate) fn retried<T>(
    mut work: impl FnMut() -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    let mut tries = 1;
    loop {
        match work() {
            Err(EngineError::Index(error)) if error.is_transient() && tries < TRIES_MAX => {
                tries += 1
            }
            done => return done,
        }
    }
}
