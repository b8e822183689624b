//! The answer of a search.
use serde::{Deserialize, Serialize};

/// The whole answer of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchAnswer {
    /// The query as typed.
    pub query: String,
    /// Documents that match, before the per-site limit.
    pub total: Total,
    /// The page of hits, best first.
    pub hits: Vec<Hit>,
    /// Where the time went.
    pub phases_us: PhaseTimes,
    /// What the parser ignored or changed, and other remarks.
    pub warnings: Vec<String>,
    /// Share of the documents that were searched, 0 to 1.
    pub coverage: f64,
    /// Whether the deadline ended the search early.
    pub timed_out: bool,
}

/// How many documents match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Total {
    /// The count.
    pub value: u64,
    /// Whether it is the exact count, or a lower bound.
    pub exact: bool,
}

/// One hit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// The document's own id, or its URL.
    pub id: String,
    /// URL.
    pub url: String,
    /// Title as stored, not escaped.
    pub title: String,
    /// Site.
    pub site: String,
    /// Score.
    pub score: f32,
    /// HTML: escaped text with `<mark>` around matched words.
    pub summary: String,
    /// Whether the site has further hits that the per-site limit left out.
    pub more_from_site: bool,
    /// How the score came about, where asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<serde_json::Value>,
}

/// Microseconds of every phase of a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseTimes {
    /// Text to query to plan.
    pub parse: u64,
    /// From arrival at the index servers to a handler taking it (the slowest partition's).
    pub queueing: u64,
    /// On the handlers (the slowest partition's).
    pub index_search: u64,
    /// Repeats of the fan-out because the per-site limit left too few hits.
    pub optimization_searches: u64,
    /// Merging partitions and limiting sites.
    pub merge: u64,
    /// Titles and URLs.
    pub details: u64,
    /// Summaries.
    pub summaries: u64,
    /// Turning the answer into JSON or HTML.
    pub render: u64,
}
