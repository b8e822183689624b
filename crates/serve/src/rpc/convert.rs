//! Conversion between messages and the types of this process. All input is checked: a malformed message
//! is an error, never a panic.

use super::{schedule, schemas};
use crate::api::messages::{HandlerTimes, HitDetails, PartitionHits, Query, Status, StatusRequest};
use crate::api::options::ANSWER_BYTES_MAX;
use crate::encoding::{clause, malformed, values};
use engine::HitAddress;
use engine::calls::{Chunks, PartError};
use index::{Details, DocId, StoredDocument};
use search::{Ranking, ScoredHit};
use std::iter::repeat;
use std::sync::Arc;
use std::time::{Duration, Instant};
use text::summary::{Marked, SummaryTerm};
use text::{Pattern, Regex};
use wire::rpc;

/// Returns the time left until a deadline, in microseconds.
pub(super) fn left_us(deadline: Instant) -> u64 {
    deadline
        .saturating_duration_since(Instant::now())
        .as_micros() as u64
}

/// Returns the deadline `left_us` microseconds from now, by the local clock.
pub(super) fn deadline(left_us: u64) -> Instant {
    // Cap on the time left: no request waits longer than an hour, and a larger number could overflow
    // the clock.
    const LEFT_MAX_US: u64 = 3_600_000_000;
    Instant::now() + Duration::from_micros(left_us.min(LEFT_MAX_US))
}

/// Returns the upper limit on a reply with details, in bytes; the default for an older front-end, which
/// names none.
pub(super) fn bytes_max(named: u64) -> usize {
    let named = usize::try_from(named).ok().filter(|&named| named > 0);
    named.unwrap_or(ANSWER_BYTES_MAX).min(ANSWER_BYTES_MAX * 16)
}

/// Returns the message of a query of the index `index`.
pub(super) fn query_message(
    query: &Query,
    deadline: Instant,
    generation: u64,
    index: &str,
) -> rpc::Query {
    use rpc::ranking::Function;
    let function = match query.ranking {
        // Older servers read these messages alone. A model that is added later has its text.
        Ranking::Bm25 { k1, b } => Function::Bm25(rpc::Bm25 { k1, b }),
        Ranking::TfIdf => Function::TfIdf(rpc::TfIdf {}),
        other => Function::Model(other.to_string()),
    };
    rpc::Query {
        id: query.id,
        text: query.text.clone(),
        ranking: Some(rpc::Ranking {
            function: Some(function),
        }),
        left_us: left_us(deadline),
        generation,
        clauses: clause::messages(&query.tree),
        index: index.to_owned(),
    }
}

/// Returns the query of a message, its deadline and its generation.
pub(super) fn query(
    message: Option<rpc::Query>,
) -> Result<(Arc<Query>, Instant, u64), tonic::Status> {
    use rpc::ranking::Function;
    let message = message.ok_or_else(|| tonic::Status::invalid_argument("the query is missing"))?;
    let ranking = match message.ranking.and_then(|ranking| ranking.function) {
        Some(Function::Bm25(rpc::Bm25 { k1, b })) => Ranking::Bm25 { k1, b },
        Some(Function::TfIdf(_)) => Ranking::TfIdf,
        Some(Function::Model(text)) => text.parse().map_err(|error| {
            tonic::Status::invalid_argument(format!(
                "the ranking {text:?} is not known here ({error}); update this server before the front-end"
            ))
        })?,
        None => {
            return Err(tonic::Status::invalid_argument(
                "the ranking is not known here",
            ));
        }
    };
    let deadline = deadline(message.left_us);
    if message.clauses.is_empty() {
        return Err(tonic::Status::invalid_argument(
            "the query has no clauses; update the front-end that sent it",
        ));
    }
    let tree = clause::query(message.clauses)?;
    let query = Query::new(message.id, message.text, tree, ranking).of_index(&message.index);
    Ok((Arc::new(query), deadline, message.generation))
}

pub(super) fn terms_message(terms: &[SummaryTerm]) -> Vec<rpc::SummaryTerm> {
    let one = |term: &SummaryTerm| {
        let mut message = rpc::SummaryTerm {
            weight: term.weight,
            ..rpc::SummaryTerm::default()
        };
        match &term.marked {
            Marked::Term(term) => message.term.clone_from(term),
            Marked::Like(Pattern::Prefix(prefix)) => {
                message.term.clone_from(prefix);
                message.prefix = true;
            }
            Marked::Like(Pattern::Wildcard(signs)) => {
                message.term.clone_from(signs);
                message.wildcard = true;
            }
            Marked::Like(Pattern::Regex(regex)) => {
                regex.as_str().clone_into(&mut message.term);
                message.regex = true;
            }
            Marked::Like(Pattern::Near { term, edits, fixed }) => {
                message.term.clone_from(term);
                message.edits = (*edits).into();
                message.fixed = (*fixed).into();
            }
            Marked::Like(Pattern::NearStart { start, edits }) => {
                message.term.clone_from(start);
                message.edits = (*edits).into();
                message.start = true;
            }
        }
        message
    };
    terms.iter().map(one).collect()
}

pub(super) fn terms(message: Vec<rpc::SummaryTerm>) -> Vec<SummaryTerm> {
    let one = |message: rpc::SummaryTerm| {
        let term = message.term;
        let regex = message.regex.then(|| Regex::new(&term));
        let marked = match (message.prefix, message.wildcard, message.edits) {
            _ if let Some(Ok(regex)) = regex => Marked::Like(Pattern::Regex(regex)),
            _ if message.start => Marked::Like(Pattern::NearStart {
                start: term,
                edits: u8::try_from(message.edits).unwrap_or(u8::MAX),
            }),
            (true, ..) => Marked::Like(Pattern::Prefix(term)),
            (_, true, _) => Marked::Like(Pattern::Wildcard(term)),
            (.., 0) => Marked::Term(term),
            (.., edits) => {
                let edits = u8::try_from(edits).unwrap_or(u8::MAX);
                let fixed = u8::try_from(message.fixed).unwrap_or(u8::MAX);
                Marked::Like(Pattern::Near { term, edits, fixed })
            }
        };
        SummaryTerm {
            marked,
            weight: message.weight,
        }
    };
    message.into_iter().map(one).collect()
}

pub(super) fn hits_message(found: PartitionHits) -> rpc::SearchReply {
    let hits = &found.hits;
    rpc::SearchReply {
        hits: Some(rpc::Hits {
            score: hits.iter().map(|hit| hit.score).collect(),
            url_hash: hits.iter().map(|hit| hit.url_hash).collect(),
            site_hash: hits.iter().map(|hit| hit.site_hash).collect(),
            segment: hits.iter().map(|hit| hit.segment).collect(),
            doc: hits.iter().map(|hit| hit.doc.0).collect(),
        }),
        sort_values: found
            .sort_values
            .iter()
            .map(|own| values::sort_values_message(own))
            .collect(),
        groups: values::sort_values_message(&found.groups).values,
        is_cut: found.is_cut,
        matches_count: found.matches_count,
        count_is_exact: found.count_is_exact,
        documents_searched: found.documents_searched,
        documents_count: found.documents_count,
        generation: found.generation,
        parse_us: found.parse_us,
        queueing_us: found.queueing_us,
        search_us: found.search_us,
        summary_terms: terms_message(&found.summary_terms),
        filters: found.filters.into_iter().map(values::run_message).collect(),
        schedule: found.schedule.as_deref().map(schedule::message),
        cpu_us: found.handlers_us.map(|times| times.cpu),
        run_queue_us: found.handlers_us.map(|times| times.run_queue),
        incomplete_most: found.incomplete_most,
    }
}

pub(super) fn hits(message: rpc::SearchReply) -> Result<PartitionHits, PartError> {
    let columns = message.hits.unwrap_or_default();
    let count = columns.score.len();
    let lengths = [
        columns.url_hash.len(),
        columns.site_hash.len(),
        columns.segment.len(),
        columns.doc.len(),
    ];
    if lengths.iter().any(|&length| length != count)
        || columns.score.iter().any(|score| score.is_nan())
    {
        return Err(malformed("hits"));
    }
    let hit = |at: usize| ScoredHit {
        score: columns.score[at],
        url_hash: columns.url_hash[at],
        site_hash: columns.site_hash[at],
        segment: columns.segment[at],
        doc: DocId(columns.doc[at]),
    };
    Ok(PartitionHits {
        hits: (0..count).map(hit).collect(),
        sort_values: message
            .sort_values
            .into_iter()
            .map(values::sort_values)
            .collect(),
        groups: message.groups.into_iter().map(values::value).collect(),
        is_cut: message.is_cut,
        matches_count: message.matches_count,
        count_is_exact: message.count_is_exact,
        documents_searched: message.documents_searched.min(message.documents_count),
        documents_count: message.documents_count,
        generation: message.generation,
        parse_us: message.parse_us,
        queueing_us: message.queueing_us,
        search_us: message.search_us,
        summary_terms: terms(message.summary_terms),
        // Not a number is no bound.
        incomplete_most: message.incomplete_most.filter(|most| !most.is_nan()),
        filters: message
            .filters
            .into_iter()
            .filter_map(values::run)
            .collect(),
        schedule: message
            .schedule
            .map(|message| Box::new(schedule::schedule(message))),
        handlers_us: message.cpu_us.map(|cpu| HandlerTimes {
            cpu,
            run_queue: message.run_queue_us.unwrap_or(0),
        }),
    })
}

/// Returns the hashes of the URLs of hits; none where one is not known.
pub(super) fn url_hashes(hits: &[HitAddress]) -> Vec<u64> {
    let hashes: Option<Vec<u64>> = hits.iter().map(|hit| hit.url_hash).collect();
    hashes.unwrap_or_default()
}

/// Returns the addresses of hits; a front-end of before sends no hashes.
pub(super) fn addresses(
    segments: Vec<u32>,
    docs: Vec<u32>,
    url_hashes: Vec<u64>,
) -> Result<Vec<HitAddress>, tonic::Status> {
    let differs = |count: usize| count != segments.len();
    if differs(docs.len()) || !url_hashes.is_empty() && differs(url_hashes.len()) {
        return Err(tonic::Status::invalid_argument(
            "segments, documents and hashes differ in number",
        ));
    }
    let hashes = url_hashes.into_iter().map(Some).chain(repeat(None));
    let hits = segments.into_iter().zip(docs).zip(hashes);
    let address = |((segment, doc), url_hash)| HitAddress {
        url_hash,
        segment,
        doc: DocId(doc),
    };
    Ok(hits.map(address).collect())
}

pub(super) fn details_message(hits: Vec<HitDetails>) -> rpc::DetailsReply {
    let one = |hit: HitDetails| rpc::HitDetails {
        id: hit.details.id,
        url: hit.details.url,
        title: hit.details.title,
        site: hit.details.site,
        site_documents_count: hit.site_documents_count,
        explanation: hit
            .explanation
            .map_or_else(String::new, |why| why.to_string()),
        lacks: hit.lacks,
    };
    rpc::DetailsReply {
        hits: hits.into_iter().map(one).collect(),
    }
}

pub(super) fn details(message: rpc::DetailsReply) -> Result<Vec<HitDetails>, PartError> {
    let one = |hit: rpc::HitDetails| {
        let explanation = match hit.explanation.as_str() {
            "" => None,
            json => Some(serde_json::from_str(json).map_err(|_| malformed("an explanation"))?),
        };
        Ok(HitDetails {
            details: Details {
                id: hit.id,
                url: hit.url,
                title: hit.title,
                site: hit.site,
            },
            site_documents_count: hit.site_documents_count,
            explanation,
            lacks: hit.lacks,
        })
    };
    message.hits.into_iter().map(one).collect()
}

pub(super) fn document(message: rpc::DocumentReply) -> Result<Option<StoredDocument>, PartError> {
    match message.found {
        false => Ok(None),
        true => serde_json::from_str(&message.document)
            .map(Some)
            .map_err(|_| malformed("a document")),
    }
}

fn chunks_message(chunks: &Chunks) -> rpc::Chunks {
    rpc::Chunks {
        first: *chunks.start(),
        last: *chunks.end(),
    }
}

fn chunks(message: Option<rpc::Chunks>) -> Chunks {
    let message = message.unwrap_or_default();
    message.first..=message.last
}

pub(super) fn status_request_message(request: &StatusRequest, index: &str) -> rpc::StatusRequest {
    rpc::StatusRequest {
        index: index.to_owned(),
        front_end: request.front_end.clone(),
        parts: request.parts.iter().map(chunks_message).collect(),
    }
}

/// Returns the name of the index, and the request.
pub(super) fn status_request(message: rpc::StatusRequest) -> (String, StatusRequest) {
    // A partition map with more parts than any index has chunks is ignored.
    const PARTS_MAX: usize = 65_536;
    let parts = message.parts.into_iter().take(PARTS_MAX);
    let request = StatusRequest {
        front_end: message.front_end.chars().take(200).collect(),
        parts: parts.map(|part| chunks(Some(part))).collect(),
    };
    (message.index, request)
}

pub(super) fn status_message(status: Status, index: String) -> rpc::StatusReply {
    rpc::StatusReply {
        protocol: rpc::PROTOCOL,
        index,
        chunks: Some(chunks_message(&status.chunks)),
        index_id: status.index_id,
        generation: status.generation,
        generation_before: status.generation_before,
        chunks_count: status.chunks_count,
        documents_count: status.documents_count,
        documents_here_count: status.documents_here_count,
        has_texts: status.has_texts,
        draining: status.is_draining,
        disagreement: status.disagreement.unwrap_or_default(),
        analyzer: status.analyzer.map_or(String::new(), |one| one.name()),
        phrases: status
            .phrases
            .iter()
            .map(|phrase| phrase.join(" "))
            .collect(),
        fields: schemas::schema_message(&status.fields),
        folders: status.folders.to_vec(),
        rules: schemas::rules_message(&status.rules),
        trust_epoch: status.trust_epoch,
    }
}

/// Returns the status of the server of the index `index`.
pub(super) fn status(message: rpc::StatusReply, index: &str) -> Result<Status, PartError> {
    if message.protocol != rpc::PROTOCOL {
        return Err(PartError::Protocol {
            reason: format!(
                "it speaks version {} of the protocol, this front-end version {}; update the older one",
                message.protocol,
                rpc::PROTOCOL
            ),
        });
    }
    if message.index != index {
        return Err(PartError::Protocol {
            reason: format!(
                "it answers for its only index where {index:?} is asked for; update it, or start it with the folder of the \
                 indexes"
            ),
        });
    }
    Ok(Status {
        chunks: chunks(message.chunks),
        index_id: message.index_id,
        generation: message.generation,
        generation_before: message.generation_before,
        chunks_count: message.chunks_count,
        documents_count: message.documents_count,
        documents_here_count: message.documents_here_count,
        has_texts: message.has_texts,
        is_draining: message.draining,
        analyzer: message.analyzer.parse().ok(),
        fields: Arc::new(schemas::schema(message.fields)),
        phrases: message
            .phrases
            .iter()
            .filter_map(|phrase| two_words(phrase))
            .collect(),
        folders: message.folders.into(),
        rules: Arc::new(schemas::rules(&message.rules)),
        disagreement: Some(message.disagreement).filter(|told| !told.is_empty()),
        trust_epoch: message.trust_epoch,
    })
}

/// Reads a phrase of two words.
fn two_words(phrase: &str) -> Option<[String; 2]> {
    let (first, second) = phrase.split_once(' ')?;
    Some([first.to_owned(), second.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use fields::{FieldType, Schema};
    use serde_json::json;
    use text::Analyzer;

    #[test]
    fn a_schema_keeps_what_a_query_is_read_with() {
        let mut fields = Schema::default();
        for (name, kind) in [("code", FieldType::Text), ("n", FieldType::Integer)] {
            assert!(fields.add(name, kind));
        }
        assert!(fields.search_words("code").is_some());
        assert!(fields.analyze_with("code", Analyzer::English));
        assert_eq!(schemas::schema(schemas::schema_message(&fields)), fields);
    }

    #[test]
    fn explanations_keep_their_numbers_to_the_last_bit() {
        // An imprecise parser of decimals reads this score as its nearest neighbour.
        let why = json!({ "value": 1.135_845_184_326_171_9_f64, "description": "BM25" });
        let hit = HitDetails {
            details: Details {
                id: "1".into(),
                url: "http://a.test/1".into(),
                title: "one".into(),
                site: "a.test".into(),
            },
            site_documents_count: 1,
            explanation: Some(why.clone()),
            lacks: vec!["steer".into()],
        };
        let arrived = details(details_message(vec![hit])).unwrap();
        assert_eq!(arrived[0].explanation, Some(why));
    }
}
