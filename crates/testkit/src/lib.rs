//! Test kit: tiny corpora, an index of them in memory, and an oracle to compare with. For development only.
//!
//! ```text
//! documents() ──► build_index(batches, options) ──► Index ──search──► hits
//!      └────────► Oracle::new(batches) ──────────── rank ──────────► hits   must be equal
//! ```
//!
//! The oracle shares no code with the index or the search: it cuts the raw documents into words by
//! itself, tries every document, and spells the formulas out once more.

pub mod building;
pub mod documents;
pub mod facets;
pub mod floats;
mod lengths;
pub mod made_up;
pub mod oracle;
mod places;
pub mod queries;
mod size;
pub mod values;

pub use building::{BuildPlan, DeclaredPriors, DeclaredWords, build_index, build_plans, orders};
pub use documents::{batches, documents};
pub use facets::{facet_counts, facet_texts};
pub use floats::floats;
pub use made_up::MadeUp;
pub use oracle::{Oracle, OracleHit};
pub use queries::{queries, rankings, ruled_queries, typed};
pub use size::size;
pub use values::{FIELD_TYPES, values_of};
