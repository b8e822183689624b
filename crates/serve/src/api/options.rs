//! Options of a search, and the limits of the page's form.

pub use engine::{ANSWER_BYTES_MAX, DEPTH_MAX, K_MAX, SearchOptions};
use std::time::Duration;

/// Longest timeout that the page offers; the front-end's own limit may be lower.
pub(crate) const TIMEOUT_SHOWN_MAX: Duration = Duration::from_secs(60);
