//! Query text to plan to cursors to top-k. No files, no network, no threads of its own.
//!
//! ```text
//! text ──parse──► Query ──Plan::new(statistics)──► Plan ──search_partition──► TopK ──► hits
//! ```
//!
//! Exactness rule: for any chunks, ranges and order the same hits, scores and order.

pub mod parse;
pub mod query;

pub mod plan;
pub mod ranges;
pub mod ranking;

mod algorithm;
mod batch;
mod best;
mod competitive;
mod condition;
mod conjunction;
mod counter;
mod counts;
mod cursor;
pub mod execute;
pub mod exhaustive;
pub mod explain;
mod factors;
mod flatten;
mod list;
mod matches;
mod maxscore;
mod mixed;
mod pairs;
mod phrase;
mod probe;
pub mod profile;
mod required;
mod scratch;
mod single;
mod standing;
pub mod stop;
pub mod topk;
mod union;
mod window;

pub use counts::SharedThreshold;
pub use execute::{Searched, count_partition, search_partition, search_until, top_of_partition};
pub use explain::Explanation;
pub use parse::{Operator, Parsed, bag_of_words, parse, phrase_of};
pub use plan::Plan;
pub use profile::{Profile, profile};
pub use query::Query;
pub use ranges::{Cut, Ranges, Share};
pub use ranking::Ranking;
pub use stop::Stop;
pub use topk::{ScoredHit, TopK, merge_sorted};
