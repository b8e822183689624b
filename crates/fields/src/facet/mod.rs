//! Facets: counts of the values of a field over the matches of a query.
//!
//! ```text
//! facets := facet [, facet]…
//! facet  := field [: kind] [{ facets }]           facets in braces are counted within each bucket
//! kind   := name [: argument]                     as in the list of `kinds`
//! ```
//!
//! ```text
//! Facet ─spans, codes─► FacetCounts of a part ─join─► of all parts ─answer─► FacetAnswer
//!                        kinds: what is made of the documents of one bucket
//! ```
//!
//! Counts of parts of an index are merged without loss, so a facet is exact whatever the layout. A new kind is a file in
//! `kinds`, and a line of its list.

mod answer;
#[cfg(test)]
mod answer_tests;
mod buckets;
mod bytes;
mod clause;
mod coded;
mod counts;
#[cfg(test)]
mod counts_tests;
mod kind;
mod kinds;
mod list;
mod parse;
mod spans;
#[cfg(test)]
mod tests;

pub use buckets::Buckets;
pub use clause::SITE;
pub use coded::CodedValues;
pub use counts::FacetCounts;
pub use kind::BucketKind;
pub use kinds::*;
pub use list::split_list;
pub use spans::Spans;

use std::fmt;

/// Upper limit on the facets within each other, the outermost included.
pub const DEPTH_MAX: usize = 4;
/// Upper limit on the memory of all facets within buckets, in buckets: see [`FacetCounts::weight_within`].
pub const WEIGHT_MAX: u64 = 100_000;

/// Facet of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Facet {
    /// Name of the field.
    pub field: String,
    /// Kind of the count.
    pub kind: FacetKind,
    /// Facets that are counted within each bucket.
    pub within: Vec<Facet>,
}

impl Facet {
    /// Returns the number of facets, those within included.
    pub fn count(&self) -> usize {
        1 + self.within.iter().map(Facet::count).sum::<usize>()
    }
}

impl fmt::Display for Facet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.field, self.kind.text())?;
        if let Some((first, others)) = self.within.split_first() {
            write!(f, "{{{first}")?;
            others.iter().try_for_each(|facet| write!(f, ",{facet}"))?;
            f.write_str("}")?;
        }
        Ok(())
    }
}
