//! Depth limit of trees that are deserialized: bytes from outside never exhaust the stack, whatever format they are in.

use crate::query::limits::DEPTH_MAX;
use serde::de::{Deserialize, Deserializer, Error};
use std::cell::Cell;

thread_local! {
    /// Number of clauses around the one that is read.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Level of clauses within each other, which ends when dropped.
struct Level;

impl Level {
    fn enter() -> Option<Level> {
        DEPTH.with(|depth| {
            let within = depth.get() + 1;
            (within <= DEPTH_MAX).then(|| {
                depth.set(within);
                Level
            })
        })
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        DEPTH.with(|depth| depth.set(depth.get() - 1));
    }
}

/// Deserializes the clauses of a clause, at most [`DEPTH_MAX`] levels deep. For the attribute `deserialize_with` of
/// recursive fields.
///
/// # Errors
/// Clauses that are nested deeper, and those of the deserializer.
pub fn nested<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let Some(_level) = Level::enter() else {
        return Err(D::Error::custom(format_args!(
            "clauses are nested deeper than {DEPTH_MAX} levels"
        )));
    };
    T::deserialize(from)
}
