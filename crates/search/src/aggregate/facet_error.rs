//! Failures of facets.

use fields::facet::WEIGHT_MAX;
use index::IndexError;
use std::error::Error;
use std::fmt;

/// Reason for which facets were not counted.
#[derive(Debug)]
pub enum FacetError {
    /// The index cannot be read.
    Index(IndexError),
    /// Facets within buckets take more memory than one request may: ask for fewer.
    TooManyBuckets,
    /// The search was cancelled.
    Cancelled,
}

impl fmt::Display for FacetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FacetError::Index(error) => error.fmt(f),
            FacetError::TooManyBuckets => write!(
                f,
                "more than {},000 buckets within buckets, the limit of one request; ask for fewer values, wider intervals or \
                 fewer facets in braces, or narrow the query",
                WEIGHT_MAX / 1_000
            ),
            FacetError::Cancelled => f.write_str("the facets were not counted in time"),
        }
    }
}

impl Error for FacetError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            FacetError::Index(error) => error.source(),
            FacetError::TooManyBuckets | FacetError::Cancelled => None,
        }
    }
}

impl From<IndexError> for FacetError {
    fn from(error: IndexError) -> FacetError {
        FacetError::Index(error)
    }
}
