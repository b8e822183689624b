//! Messages between programs: the answer of a search, as the API and `search --json` give it.

pub mod answer;

pub use answer::{Hit, PhaseTimes, SearchAnswer, Total};
