//! Replies of index servers and document servers.

use crate::aggregation::Aggregated;
use crate::calls::query::Planned;
use fields::Value;
use search::{FilterRun, ScoredHit, Searched};
use text::summary::SummaryTerm;
use wire::Schedule;

/// Summary of a document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextSummary {
    /// URL of the document, as stored beside its text; empty in an index without texts.
    pub url: String,
    /// Summary as HTML; empty in an index without texts.
    pub html: String,
    /// Further fields as JSON, where wanted.
    pub fields: String,
    /// Names of the fields that were cut.
    pub cut: Vec<String>,
}

/// Best hits of one partition.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PartitionHits {
    /// The k best hits, best first; all matches where fewer than k match.
    pub hits: Vec<ScoredHit>,
    /// Values by which each hit is sorted; empty for the order of scores.
    pub sort_values: Vec<Vec<Option<Value>>>,
    /// Value by which each hit is collapsed, without one for a document without a value; empty where hits are not
    /// collapsed.
    pub groups: Vec<Option<Value>>,
    /// Number of matching documents of the partition; a lower bound unless the count is exact.
    pub matches_count: u64,
    /// Whether every match was counted.
    pub count_is_exact: bool,
    /// Number of documents searched, deleted ones included.
    pub documents_searched: u64,
    /// Number of documents in the partition, deleted ones included.
    pub documents_count: u64,
    /// Whether matches beyond `hits` may exist.
    pub is_cut: bool,
    /// Generation that was searched.
    pub generation: u64,
    /// Time of planning, in microseconds.
    pub parse_us: u64,
    /// Time from arrival at the index server until a handler took the request, in microseconds.
    pub queueing_us: u64,
    /// Time on the handler, in microseconds.
    pub search_us: u64,
    /// Terms that summaries show.
    pub summary_terms: Vec<SummaryTerm>,
    /// Upper bound on the scores of documents that lack some of the telling words ([`Plan::incomplete_most`]), where one is
    /// known.
    ///
    /// [`Plan::incomplete_most`]: search::Plan::incomplete_most
    pub incomplete_most: Option<f32>,
    /// Runs of the tests of values, where requested.
    pub filters: Vec<FilterRun>,
    /// Schedule of the search on the handlers, where requested. Starts count from the first handler.
    pub schedule: Option<Box<Schedule>>,
    /// CPU time and run-queue wait of the handlers, where they were measured.
    pub handlers_us: Option<HandlerTimes>,
}

/// What an index knows of a word that was typed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TypedWord {
    /// Number of live documents of the whole index that the word finds.
    pub documents: u64,
    /// Words that may be meant, best first; none where the word is in order.
    pub near: Vec<NearWord>,
}

/// Word of an index near a typed one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearWord {
    /// The word as it is written, folded.
    pub written: String,
    /// Number of live documents of the whole index that it finds.
    pub documents: u64,
    /// Cost of the typing errors, in hundredths.
    pub cost: u32,
}

/// Times of the handlers of a search, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HandlerTimes {
    /// CPU time.
    pub cpu: u64,
    /// Time in run queues: threads that could run, and had no CPU.
    pub run_queue: u64,
}

impl PartitionHits {
    /// Returns the `k` best hits of a search; `is_later` says that it left out hits up to a place, which are counted.
    pub fn of_scores(searched: Searched, k: usize, is_later: bool) -> PartitionHits {
        PartitionHits {
            is_cut: match searched.count_is_exact && !is_later {
                true => searched.matches_count > searched.hits.len() as u64,
                false => searched.hits.len() >= k,
            },
            hits: searched.hits,
            matches_count: searched.matches_count,
            count_is_exact: searched.count_is_exact,
            documents_searched: searched.documents_searched,
            documents_count: searched.documents_count,
            ..PartitionHits::default()
        }
    }

    /// Adds what is known of the plan.
    pub fn planned_by(self, planned: &Planned) -> PartitionHits {
        PartitionHits {
            generation: planned.generation,
            parse_us: planned.parse_us,
            summary_terms: planned.summary_terms.clone(),
            incomplete_most: planned.plan.incomplete_most(),
            ..self
        }
    }

    /// Returns the hits in the order of fields. Nothing is found where the time did not suffice for all matches.
    pub fn of_values(found: Aggregated) -> PartitionHits {
        let is_complete = found.is_complete();
        let (sort_values, hits): (Vec<_>, Vec<_>) = found
            .hits
            .into_iter()
            .map(|one| (one.values, one.hit))
            .unzip();
        PartitionHits {
            is_cut: is_complete && found.is_cut,
            hits,
            sort_values,
            matches_count: if is_complete { found.matches_count } else { 0 },
            count_is_exact: is_complete,
            documents_searched: match is_complete {
                true => found.documents_count,
                false => 0,
            },
            documents_count: found.documents_count,
            ..PartitionHits::default()
        }
    }
}
