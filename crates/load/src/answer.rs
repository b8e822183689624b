//! Contents of an answer's body: match count, hits and phase times.
//!
//! The formats of Shorttail, OpenSearch (and Elasticsearch) and Solr are parsed; any other body is
//! reduced to a checksum of its bytes.
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use wire::answer::Span;
use wire::{PhaseTimes, Total};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Figures that an answer reports about itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Number of matching documents, if the answer reports it.
    pub matches_count: Option<u64>,
    /// Number of hits on the page.
    pub hits_count: u32,
    /// Checksum of the match count and the ids of the hits in order; of the whole body if its format is
    /// unknown. Two answers to a query with different checksums have different results.
    pub checksum: u64,
    /// Whether the deadline ended the search early.
    pub timed_out: bool,
    /// Share of the documents searched, 0 to 1.
    pub coverage: f64,
    /// Phase times reported by the server (Shorttail only).
    pub phases: Option<PhaseTimes>,
    /// Total time reported by the server: the sum of the phases, `took`, or `QTime`.
    pub server_us: Option<u64>,
    /// Searches of the partitions in the order of their names, if steps were requested (`trace=1`). Not
    /// recorded.
    pub searches: Vec<PartSearch>,
    /// Number of handlers that took ranges of the search, of the partition with the most; `None` unless steps were
    /// requested and the server tells its schedule. Not recorded.
    pub handlers: Option<u32>,
}

/// Times of one partition's search of a query; sums over several searches (with a larger k).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartSearch {
    /// Time from the arrival of the query at the front-end to the partition's queue.
    pub queued_us: u64,
    /// Time in the queue.
    pub queueing_us: u64,
    /// Time on a handler.
    pub search_us: u64,
}

impl Answer {
    /// Returns whether all documents were searched; only complete answers to the same query must agree.
    pub fn is_whole(&self) -> bool {
        !self.timed_out && self.coverage >= 1.0
    }

    /// Reads a body. Never fails: a body of unknown format yields the checksum of its bytes.
    pub fn read(body: &[u8]) -> Answer {
        // The formats share no required key, so at most one of them matches.
        shorttail(body)
            .or_else(|| opensearch(body))
            .or_else(|| solr(body))
            .unwrap_or_else(|| Answer {
                matches_count: None,
                hits_count: 0,
                checksum: xxh3_64(body),
                timed_out: false,
                coverage: 1.0,
                phases: None,
                server_us: None,
                searches: Vec::new(),
                handlers: None,
            })
    }
}

fn checksum<'a>(matches_count: u64, ids: impl Iterator<Item = &'a str>) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&matches_count.to_le_bytes());
    for id in ids {
        hash.update(&(id.len() as u64).to_le_bytes());
        hash.update(id.as_bytes());
    }
    hash.digest()
}

#[derive(Deserialize)]
struct ShorttailBody {
    total: Total,
    hits: Vec<ShorttailHit>,
    phases_us: PhaseTimes,
    timed_out: bool,
    coverage: f64,
    #[serde(default)]
    trace: Vec<Span>,
    #[serde(default)]
    schedule: Vec<ScheduleBody>,
}

/// Schedule of a search of one partition on its handlers.
#[derive(Deserialize)]
struct ScheduleBody {
    visits: Vec<VisitBody>,
}

#[derive(Deserialize)]
struct VisitBody {
    handler: u32,
    ranges_searched: u32,
}

impl ScheduleBody {
    /// Returns the number of handlers that searched ranges; the first one plans, and counts if it did no more.
    fn handlers(&self) -> u32 {
        let searching = self.visits.iter().filter(|visit| visit.ranges_searched > 0);
        let handlers: BTreeSet<u32> = searching.map(|visit| visit.handler).collect();
        (handlers.len() as u32).max(1)
    }
}

#[derive(Deserialize)]
struct ShorttailHit {
    id: String,
}

fn shorttail(body: &[u8]) -> Option<Answer> {
    let body: ShorttailBody = serde_json::from_slice(body).ok()?;
    Some(Answer {
        matches_count: Some(body.total.value),
        hits_count: body.hits.len() as u32,
        checksum: checksum(
            body.total.value,
            body.hits.iter().map(|hit| hit.id.as_str()),
        ),
        timed_out: body.timed_out,
        coverage: body.coverage,
        server_us: Some(body.phases_us.total),
        phases: Some(body.phases_us),
        searches: searches(&body.trace),
        handlers: body.schedule.iter().map(ScheduleBody::handlers).max(),
    })
}

fn searches(trace: &[Span]) -> Vec<PartSearch> {
    let mut parts: BTreeMap<&str, PartSearch> = BTreeMap::new();
    for span in trace.iter().filter(|span| !span.part.is_empty()) {
        let is_search = match span.name.as_str() {
            "queueing" => false,
            "search" => true,
            _ => continue,
        };
        let part = parts.entry(&span.part).or_insert(PartSearch {
            queued_us: span.start_us,
            queueing_us: 0,
            search_us: 0,
        });
        let sum_us = match is_search {
            true => &mut part.search_us,
            false => &mut part.queueing_us,
        };
        *sum_us = sum_us.saturating_add(span.duration_us);
    }
    parts.into_values().collect()
}

#[derive(Deserialize)]
struct OpenSearchBody {
    took: u64,
    timed_out: bool,
    #[serde(rename = "_shards", default)]
    shards: Shards,
    hits: OpenSearchHits,
}

#[derive(Deserialize, Default)]
struct Shards {
    total: u64,
    successful: u64,
}

#[derive(Deserialize)]
struct OpenSearchHits {
    /// Absent if counting was disabled.
    total: Option<OpenSearchTotal>,
    hits: Vec<OpenSearchHit>,
}

#[derive(Deserialize)]
struct OpenSearchTotal {
    value: u64,
}

#[derive(Deserialize)]
struct OpenSearchHit {
    #[serde(rename = "_id")]
    id: String,
}

fn opensearch(body: &[u8]) -> Option<Answer> {
    let body: OpenSearchBody = serde_json::from_slice(body).ok()?;
    let matches_count = body.hits.total.map(|total| total.value);
    let ids = body.hits.hits.iter().map(|hit| hit.id.as_str());
    Some(Answer {
        matches_count,
        hits_count: body.hits.hits.len() as u32,
        checksum: checksum(matches_count.unwrap_or(u64::MAX), ids),
        timed_out: body.timed_out,
        coverage: match body.shards.total {
            0 => 1.0,
            total => body.shards.successful as f64 / total as f64,
        },
        phases: None,
        server_us: Some(body.took.saturating_mul(1000)),
        searches: Vec::new(),
        handlers: None,
    })
}

#[derive(Deserialize)]
struct SolrBody {
    #[serde(rename = "responseHeader")]
    header: SolrHeader,
    response: SolrResponse,
}

#[derive(Deserialize)]
struct SolrHeader {
    #[serde(rename = "QTime")]
    time_ms: u64,
    #[serde(rename = "partialResults", default)]
    partial: bool,
}

#[derive(Deserialize)]
struct SolrResponse {
    #[serde(rename = "numFound")]
    found: u64,
    docs: Vec<serde_json::Map<String, serde_json::Value>>,
}

fn solr(body: &[u8]) -> Option<Answer> {
    let body: SolrBody = serde_json::from_slice(body).ok()?;
    let id = |doc: &serde_json::Map<String, serde_json::Value>| match doc.get("id") {
        Some(serde_json::Value::String(id)) => id.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    };
    let ids: Vec<String> = body.response.docs.iter().map(id).collect();
    Some(Answer {
        matches_count: Some(body.response.found),
        hits_count: ids.len() as u32,
        checksum: checksum(body.response.found, ids.iter().map(String::as_str)),
        timed_out: body.header.partial,
        // Solr reports that results are partial, but not the share searched.
        coverage: 1.0,
        phases: None,
        server_us: Some(body.header.time_ms.saturating_mul(1000)),
        searches: Vec::new(),
        handlers: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shorttail_answer_is_understood() {
        let answer = wire::SearchAnswer {
            query: "short tail".into(),
            total: Total {
                value: 12,
                exact: true,
            },
            hits: Vec::new(),
            numbers: Vec::new(),
            some_words_from: None,
            facets: Vec::new(),
            corrected: None,
            did_you_mean: None,
            more_hits: false,
            hides_some: false,
            after: None,
            moved: false,
            phases_us: PhaseTimes {
                index_search: 7,
                total: 9,
                ..PhaseTimes::default()
            },
            warnings: Vec::new(),
            rules: Vec::new(),
            coverage: 0.5,
            timed_out: true,
            degraded: Vec::new(),
            trace: None,
            schedule: Vec::new(),
        };
        let read = Answer::read(&serde_json::to_vec(&answer).unwrap());
        assert_eq!((read.matches_count, read.server_us), (Some(12), Some(9)));
        assert_eq!(read.phases, Some(answer.phases_us));
        assert!(read.timed_out && !read.is_whole());
        assert_eq!(read.searches, []);
    }

    #[test]
    fn the_searches_of_partitions_are_read_where_they_are_told() {
        let span = |name: &str, part: &str, start_us, duration_us| wire::answer::Span {
            name: name.into(),
            part: part.into(),
            start_us,
            duration_us,
            filters: Vec::new(),
        };
        let trace = [
            span("search call", "chunks 1", 5, 400),
            span("queueing", "chunks 1", 60, 15),
            span("search", "chunks 1", 75, 300),
            span("queueing", "chunks 0", 50, 5),
            span("search", "chunks 0", 55, u64::MAX),
            span("search", "chunks 0", 900, 1),
            span("merge", "", 420, 2),
        ];
        let part = |queued_us, queueing_us, search_us| PartSearch {
            queued_us,
            queueing_us,
            search_us,
        };
        assert_eq!(searches(&trace), [part(50, 5, u64::MAX), part(60, 15, 300)]);
    }

    #[test]
    fn handlers_are_counted_where_the_schedule_is_told() {
        let body = |schedule: &str| {
            let text = format!(
                r#"{{"total":{{"value":0,"exact":true}},"hits":[],"coverage":1.0,"timed_out":false,
                "phases_us":{{"parse":0,"queueing":0,"index_search":9,"optimization_searches":0,"merge":0,
                "details":0,"summaries":0,"render":0,"total":9}}{schedule}}}"#
            );
            let read = Answer::read(text.as_bytes());
            assert_eq!(read.server_us, Some(9));
            read.handlers
        };
        assert_eq!(body(""), None);
        let visit = |handler, ranges| {
            format!(r#"{{"handler":{handler},"role":"helps","ranges_searched":{ranges}}}"#)
        };
        let part =
            |visits: &[String]| format!(r#"{{"part":"chunks 0","visits":[{}]}}"#, visits.join(","));
        let shared = part(&[visit(3, 2), visit(1, 4), visit(3, 1), visit(0, 0)]);
        let alone = part(&[visit(2, 0)]);
        assert_eq!(body(&format!(r#","schedule":[{alone},{shared}]"#)), Some(2));
        assert_eq!(body(&format!(r#","schedule":[{alone}]"#)), Some(1));
    }

    #[test]
    fn answers_of_peers_are_understood() {
        let opensearch = br#"{"took":5,"timed_out":false,"_shards":{"total":4,"successful":3,"skipped":0,
            "failed":1},"hits":{"total":{"value":2,"relation":"eq"},"max_score":1.0,
            "hits":[{"_index":"a","_id":"x","_score":1.0},{"_index":"a","_id":"y","_score":0.5}]}}"#;
        let read = Answer::read(opensearch);
        assert_eq!((read.matches_count, read.hits_count), (Some(2), 2));
        assert_eq!((read.server_us, read.coverage), (Some(5000), 0.75));
        let solr = br#"{"responseHeader":{"status":0,"QTime":3},"response":{"numFound":2,"start":0,
            "numFoundExact":true,"docs":[{"id":"x"},{"id":"y"}]}}"#;
        let read_solr = Answer::read(solr);
        assert_eq!(
            (read_solr.matches_count, read_solr.server_us),
            (Some(2), Some(3000))
        );
        // The same hits have the same checksum on every engine.
        assert_eq!(read.checksum, read_solr.checksum);
        let other_order = br#"{"responseHeader":{"QTime":3},"response":{"numFound":2,
            "docs":[{"id":"y"},{"id":"x"}]}}"#;
        assert_ne!(Answer::read(other_order).checksum, read.checksum);
    }

    #[test]
    fn anything_else_has_a_checksum() {
        for body in [
            &b""[..],
            b"<html>",
            b"{}",
            b"[1]",
            b"\xff\xfe",
            br#"{"took":1}"#,
        ] {
            let read = Answer::read(body);
            assert_eq!((read.matches_count, read.server_us), (None, None));
            assert_eq!(read.checksum, xxh3_64(body));
        }
    }
}
