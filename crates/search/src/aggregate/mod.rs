//! Facets and sorting: what is made of all matches of a query by the values of fields.
//!
//! ```text
//! plan ──collect──► DocBits, by segment ──┬─ facets ──► FacetCounts, merged over segments and partitions
//!                                         └─ sorted ──► the k best by the values of fields
//! ```
//!
//! Both read columns by code: numbers in the order of values. Codes of different segments do not compare, so what leaves
//! a segment has values instead.

mod code_counts;
mod collapse;
mod facet_error;
mod facets;
mod flat;
mod keys;
mod levels;
mod sites;
mod sorted;
mod within;

pub use collapse::{TEXT, check_collapse, count_groups, groups_of};
pub use facet_error::FacetError;
pub use facets::{OtherParts, count_facet, count_facets};
pub use sorted::{SortKey, SortedHit, best_by_values, merge_by_values};
