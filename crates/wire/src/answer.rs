//! The answer of a search.
use crate::schedule::Schedule;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// The answer of a search, as JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchAnswer {
    /// The query as typed.
    pub query: String,
    /// Number of matching documents.
    pub total: Total,
    /// The page of hits, best first.
    pub hits: Vec<Hit>,
    /// Numbers of the hits of the page, best first, in place of `hits`, where nothing else of them was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<HitNumbers>,
    /// Rank, from 0, of the first hit that lacks some of the words, or scores far below the best of those that do (`words=auto`);
    /// the total counts the documents with all of them. Absent where documents with all words are enough for this page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub some_words_from: Option<usize>,
    /// Facets over all matching documents, in the order of the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facets: Vec<FacetAnswer>,
    /// The query whose hits, total and facets these are, in place of the one typed, which finds no document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected: Option<String>,
    /// A query that finds more, where this one finds few or no documents with all words and a correction was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub did_you_mean: Option<DidYouMean>,
    /// Whether further hits follow this page.
    #[serde(default)]
    pub more_hits: bool,
    /// Whether a match that ranks before the end of the page is hidden by a better one, where hits are collapsed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hides_some: bool,
    /// Cursor of the last hit, where cursors were asked for (`after=*`): given as `after`, it begins the next page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Whether the page may repeat hits of the pages before it or lose some: the index has changed since, and the place
    /// was a score or a number of hits.
    #[serde(default, skip_serializing_if = "is_false")]
    pub moved: bool,
    /// Time of each phase, in microseconds.
    pub phases_us: PhaseTimes,
    /// Parts of the query that the parser ignored or changed, and other remarks.
    pub warnings: Vec<String>,
    /// Rules of the index that the query was read by, where its scores are explained.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// Share of the documents that were searched, 0 to 1.
    pub coverage: f64,
    /// Whether the deadline ended the search early.
    pub timed_out: bool,
    /// Missing parts with reasons; empty where the answer is complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<Degraded>,
    /// Steps of the query with their times, where requested (`trace=1`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Vec<Span>>,
    /// Schedule of each search of a partition on its handlers, where requested (`trace=1`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedule: Vec<Schedule>,
}

/// Returns whether a flag that is left out where it is not set is not set.
fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Names of the texts of a hit that may be cut.
const OWN_NAMES: [&str; 3] = ["id", "url", "title"];

impl SearchAnswer {
    /// Returns how many hits of a page that begins after `start` hits stand first, as they have all of the words.
    pub fn hits_with_all_words(&self, start: usize) -> usize {
        let rank = self.some_words_from.unwrap_or(usize::MAX);
        rank.saturating_sub(start).min(self.hits.len())
    }

    /// Returns the heading under which hit `at` stands on a page that begins after `start` hits; `None` for those that a
    /// reader expects.
    pub fn heading(&self, at: usize, start: usize) -> Option<&'static str> {
        let is_further = at >= self.hits_with_all_words(start);
        let none_has_all = self.total.value == 0;
        match (is_further, self.hits.get(at)?.held_back) {
            (false, false) => None,
            (false, true) => Some("More of these sites"),
            (true, false) if none_has_all => Some("With some of the words"),
            (true, true) if none_has_all => Some("More of these sites, with some of the words"),
            // They follow nothing.
            (true, false) if self.some_words_from == Some(0) => None,
            (true, false) => Some("Further matches"),
            (true, true) => Some("Further matches of these sites"),
        }
    }
}

impl SearchAnswer {
    /// Leaves only the fields with these names in the hits; `*` is all.
    pub fn keep_fields(&mut self, names: &[String]) {
        let is_kept = |name: &str| names.iter().any(|kept| kept == "*" || kept == name);
        for hit in &mut self.hits {
            hit.cut
                .retain(|name| is_kept(name) || OWN_NAMES.contains(&name.as_str()));
            hit.fields.retain(|name, _| is_kept(name));
        }
    }
}

/// Facet: counts of the values of a field over all matching documents, exact whatever the layout of the index.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FacetAnswer {
    /// Name of the field.
    pub field: String,
    /// The facet in full: `lang:terms:10`, `date:month`.
    pub facet: String,
    /// Values or intervals. Terms: the most frequent first; histograms: in the order of values, without empty ones;
    /// ranges: as asked for. Empty for statistics and percentiles.
    #[serde(default)]
    pub buckets: Vec<FacetBucket>,
    /// Sum of the counts of values that are not shown; for facets of terms.
    #[serde(default)]
    pub others: u64,
    /// Number of distinct values; for facets of terms, and of that number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distinct: Option<u64>,
    /// Number of matching documents that have a value.
    pub documents: u64,
    /// Number of matching documents that have none.
    pub missing: u64,
    /// Figures of a facet of statistics; absent where no document has a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stats: Option<FacetStats>,
    /// Percentiles, in the order of the request; empty where no document has a value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<FacetPercentile>,
    /// Method by which percentiles and the number of distinct values were found: `exact`, or the sketch with its error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
}

/// Percentile of the values of a field.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FacetPercentile {
    /// The share, in percent.
    pub percent: f64,
    /// The value.
    pub value: serde_json::Value,
}

/// Value or interval of a facet.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FacetBucket {
    /// The value, the start of the interval, or the range as asked for.
    pub value: serde_json::Value,
    /// Number of matching documents with such a value.
    pub count: u64,
    /// Clause that, added to the query, leaves these documents; empty where none can be written.
    pub filter: String,
    /// Facets over the documents of the bucket, in the order of the request; absent where none were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facets: Vec<FacetAnswer>,
}

/// Statistics of the values of a field.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FacetStats {
    /// Number of values.
    pub count: u64,
    /// Least value.
    pub min: serde_json::Value,
    /// Greatest value.
    pub max: serde_json::Value,
    /// Sum, rounded once; absent for dates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sum: Option<json::Value>,
    /// Mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<serde_json::Value>,
}

/// A corrected query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DidYouMean {
    /// The query.
    pub query: String,
    /// Number of documents that hold all of its words; where there are none, documents hold some of them.
    pub total: Total,
}

/// A part of the index that is missing from an answer, wholly or partly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Degraded {
    /// The missing contribution: `search`, `count`, `details`, `summaries`.
    pub lacks: String,
    /// The chunks of the part, as `0-63`.
    pub chunks: String,
    /// `deadline`, `damaged`, `unreachable`.
    pub reason: String,
    /// Description of the fault, for a person.
    pub message: String,
    /// Number of documents of the part that were searched. Both counts are 0 where they are not known.
    pub documents_searched: u64,
    /// Number of documents of the part.
    pub documents_count: u64,
}

/// One step of a query, timed by the front-end's clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Name of the step: a phase, or a call to a part.
    pub name: String,
    /// Part that did the step, as `chunks 0-63`; empty for the front-end itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub part: String,
    /// Start, in microseconds after the arrival of the query at the front-end.
    pub start_us: u64,
    /// Duration, in microseconds.
    pub duration_us: u64,
    /// Runs of the tests of values in a search, by segment; empty without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<String>,
}

/// Number of matching documents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Total {
    /// The count.
    pub value: u64,
    /// Whether the count is exact; otherwise it is a lower bound.
    pub exact: bool,
}

/// A document in an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// The document's id, or its URL where it has none.
    pub id: String,
    /// URL.
    pub url: String,
    /// Title as stored, not escaped.
    pub title: String,
    /// HTML: the title, escaped, with `<mark>` around matched words; empty where none matches.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title_html: String,
    /// Site.
    pub site: String,
    /// Score.
    pub score: f32,
    /// HTML: escaped text with `<mark>` around matched words.
    pub summary: String,
    /// Further fields of the document as stored, where requested.
    #[serde(default, skip_serializing_if = "json::Map::is_empty")]
    pub fields: json::Map,
    /// Names of what was cut, since it is too long for an answer: `id`, `url`, `title`, and further fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<String>,
    /// Whether the site has more hits than the per-site limit.
    pub more_from_site: bool,
    /// Whether the per-site limit put the hit behind hits of lower rank.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held_back: bool,
    /// Whether a rule of the index has put the hit before all others, whatever its score.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Number of matches that the hit hides, where hits are collapsed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden: u64,
    /// Values by which the hit was sorted, in the order of the fields; null where it has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sort: Vec<serde_json::Value>,
    /// Telling words of the query that the document lacks, as typed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
    /// Explanation of the score, where requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<serde_json::Value>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Score and place of a hit, which are known without reading its document.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HitNumbers {
    /// Score.
    pub score: f32,
    /// Segment of the document. Places are those of one generation of the index.
    pub segment: u32,
    /// Number of the document in the segment.
    pub document: u32,
    /// Hash of the document's URL, the same in every generation.
    pub url_hash: u64,
    /// Hash of the name of its site.
    pub site_hash: u64,
}

/// Times of the phases of a search, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseTimes {
    /// Parsing the query and planning it.
    pub parse: u64,
    /// Waiting for a handler, from arrival at the index server (of the slowest partition).
    pub queueing: u64,
    /// Searching on the handlers (of the slowest partition).
    pub index_search: u64,
    /// Repeats of the fan-out, to fill a page under the per-site limit.
    pub optimization_searches: u64,
    /// Merging partitions and applying the per-site limit.
    pub merge: u64,
    /// Looking for a correction: words near those typed, and counts of corrected queries.
    #[serde(default)]
    pub spelling: u64,
    /// Reading titles and URLs.
    pub details: u64,
    /// Making summaries.
    pub summaries: u64,
    /// Rendering the answer as JSON or HTML.
    pub render: u64,
    /// Total from arrival at the front-end: the phases, and the hand-overs between them.
    #[serde(default)]
    pub total: u64,
    /// CPU time of all handlers that searched, where it was measured: with `trace=1`, and of long searches. No phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_cpu: Option<u64>,
    /// Time of these handlers in run queues: they could run, and had no CPU. No phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_queue: Option<u64>,
}

/// Placeholder for the rendering time while the rendering is being timed.
const RENDER_UNKNOWN: u64 = u64::MAX;

impl SearchAnswer {
    /// Returns the answer as JSON and times its own rendering: sets `phases_us.render`, here and in the JSON, and adds
    /// it to `phases_us.total`.
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
        // Quotes inside JSON strings are escaped, so only the key can match.
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
    /// Returns the phases with their names, in chronological order, without the total.
    pub fn named(&self) -> [(&'static str, u64); 9] {
        [
            ("parse", self.parse),
            ("queueing", self.queueing),
            ("index_search", self.index_search),
            ("optimization_searches", self.optimization_searches),
            ("merge", self.merge),
            ("spelling", self.spelling),
            ("details", self.details),
            ("summaries", self.summaries),
            ("render", self.render),
        ]
    }

    /// Returns the times of two searches, one after the other.
    pub fn plus(&self, other: &PhaseTimes) -> PhaseTimes {
        let either = |one: Option<u64>, then: Option<u64>| match (one, then) {
            (Some(one), Some(then)) => Some(one + then),
            _ => one.or(then),
        };
        PhaseTimes {
            parse: self.parse + other.parse,
            queueing: self.queueing + other.queueing,
            index_search: self.index_search + other.index_search,
            optimization_searches: self.optimization_searches + other.optimization_searches,
            merge: self.merge + other.merge,
            spelling: self.spelling + other.spelling,
            details: self.details + other.details,
            summaries: self.summaries + other.summaries,
            render: self.render + other.render,
            total: self.total + other.total,
            search_cpu: either(self.search_cpu, other.search_cpu),
            run_queue: either(self.run_queue, other.run_queue),
        }
    }

    /// Returns the value of a `Server-Timing` header: every phase and the total, in milliseconds.
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
