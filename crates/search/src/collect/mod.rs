//! Collectors: what is kept of the documents that a search finds.
//!
//! ```text
//!               ┌─ scored candidates, whose score reaches the threshold ─► HitCollector    TopK
//! algorithm ────┤
//!               └─ every match, without scores ─────────────────────────► MatchCollector   MatchCount, DocBits, (A, B)
//! ```
//!
//! One [`Collectors`] holds a collector of each kind and the [`Context`] of the search. Either kind may be `()`,
//! which asks for nothing. Algorithms are generic over both, so that loops over postings call them directly.

pub(crate) mod asserting;
pub(crate) mod collectors;
pub(crate) mod context;
pub(crate) mod doc_bits;
pub(crate) mod executor;
pub(crate) mod match_count;
pub mod topk;

pub use collectors::{Collectors, HitCollector, MatchCollector};
pub use context::{Context, MatchNeeds};
pub use doc_bits::DocBits;
pub use match_count::MatchCount;
