//! The answer of a search.
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// The whole answer of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchAnswer {
    /// The query as typed.
    pub query: String,
    /// Documents that match, before the per-site limit.
    pub total: Total,
    /// The page of hits, best first.
    pub hits: Vec<Hit>,
    /// Whether further hits follow this page (the total cannot say: it counts before the limit).
    #[serde(default)]
    pub more_hits: bool,
    /// Where the time went.
    pub phases_us: PhaseTimes,
    /// What the parser ignored or changed, and other remarks.
    pub warnings: Vec<String>,
    /// Share of the documents that were searched, 0 to 1.
    pub coverage: f64,
    /// Whether the deadline ended the search early.
    pub timed_out: bool,
    /// What is missing from the answer and why; empty where nothing is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<Degraded>,
    /// Where the time went, step by step, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Vec<Span>>,
}

/// A part of the index that an answer lacks, wholly or partly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Degraded {
    /// What it was to give: `search`, `count`, `details`, `summaries`.
    pub lacks: String,
    /// The chunks, as `0-63`.
    pub chunks: String,
    /// `deadline`, `damaged`, `unreachable`.
    pub reason: String,
    /// What happened, for a person.
    pub message: String,
    /// Documents of the part that were searched, and all that it has; 0 and 0 where they are not known.
    pub documents_searched: u64,
    /// All documents of the part.
    pub documents_count: u64,
}

/// One step of a query on its way, by the front-end's clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// What was done: a phase, or a call to a part.
    pub name: String,
    /// Which part did it, as `chunks 0-63`; empty for the front-end itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub part: String,
    /// When it began, after the arrival of the query at the front-end.
    pub start_us: u64,
    /// How long it took.
    pub duration_us: u64,
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
    /// All of it, from arrival at the front-end: the phases, and the hand-overs between them.
    #[serde(default)]
    pub total: u64,
}

/// Stands for the time of rendering while the rendering that is being timed goes on.
const RENDER_UNKNOWN: u64 = u64::MAX;

impl SearchAnswer {
    /// The answer as JSON, timing that very work: `phases_us.render` (here and in the JSON) says
    /// how long it took, and `phases_us.total` includes it.
    pub fn to_json(&mut self) -> Result<String, serde_json::Error> {
        let started = Instant::now();
        let total_before = self.phases_us.total;
        self.phases_us.render = RENDER_UNKNOWN;
        self.phases_us.total = RENDER_UNKNOWN;
        let json = serde_json::to_string(self);
        let render = started.elapsed().as_micros() as u64;
        self.phases_us.render = render;
        self.phases_us.total = total_before + render;
        let mut json = json?;
        // Inside JSON strings quotes are escaped, so what is searched for is only ever the key.
        for (key, value) in [("render", render), ("total", self.phases_us.total)] {
            let placeholder = format!("\"{key}\":{RENDER_UNKNOWN}");
            if let Some(at) = json.rfind(&placeholder) {
                json.replace_range(at..at + placeholder.len(), &format!("\"{key}\":{value}"));
            }
        }
        Ok(json)
    }
}

impl PhaseTimes {
    /// The phases by name, in the order in which they happen, without the total.
    pub fn named(&self) -> [(&'static str, u64); 8] {
        [
            ("parse", self.parse),
            ("queueing", self.queueing),
            ("index_search", self.index_search),
            ("optimization_searches", self.optimization_searches),
            ("merge", self.merge),
            ("details", self.details),
            ("summaries", self.summaries),
            ("render", self.render),
        ]
    }

    /// The value of a `Server-Timing` header: every phase and the total, in milliseconds.
    pub fn server_timing(&self) -> String {
        use std::fmt::Write;
        let mut header = String::with_capacity(256);
        for (name, us) in self.named().into_iter().chain([("total", self.total)]) {
            let separator = if header.is_empty() { "" } else { ", " };
            // Writing to a String cannot fail.
            let _ = write!(
                header,
                "{separator}{name};dur={}.{:03}",
                us / 1000,
                us % 1000
            );
        }
        header
    }
}
