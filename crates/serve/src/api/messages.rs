//! Requests to index servers and document servers, and their answers.

use crate::api::chunks::Chunks;
pub use engine::HitDetails;
use fields::{Facet, Schema, Value};
use index::{DocId, Index, IndexError, ReadStart, TextKey};
use search::{After, FilterRun, Operator, Plan, Ranking, ScoredHit, SortKey};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use text::Analyzer;
use text::summary::SummaryTerm;
use wire::Schedule;

/// A query, shared by all requests that its answer needs.
#[derive(Debug)]
pub struct Query {
    /// Number of the query, unique within a front-end, for logs.
    pub id: u64,
    /// Text as typed.
    pub text: String,
    /// Operator between words without an explicit one.
    pub operator: Operator,
    /// Query as parsed by the front-end; `None` leaves parsing to the index servers.
    pub parsed: Option<search::Query>,
    /// Ranking function.
    pub ranking: Ranking,
    /// Plan made last, shared by the servers of one process.
    planned: Mutex<Option<Arc<Planned>>>,
}

/// A query planned for one generation of an index.
#[derive(Debug)]
pub struct Planned {
    /// Generation whose statistics weigh the words.
    pub generation: u64,
    /// State of the files before planning began.
    pub(crate) since: ReadStart,
    /// Plan of the search.
    pub plan: Arc<Plan>,
    /// Warnings of the parser; empty where the front-end parsed the query.
    pub warnings: Vec<String>,
    /// Terms that summaries show.
    pub summary_terms: Vec<SummaryTerm>,
    /// Time of parsing and planning, in microseconds.
    pub parse_us: u64,
}

impl Query {
    /// Returns a query without a plan.
    pub fn new(id: u64, text: String, operator: Operator, ranking: Ranking) -> Query {
        Query {
            id,
            text,
            operator,
            parsed: None,
            ranking,
            planned: Mutex::new(None),
        }
    }

    /// Returns the same query with its parsed form.
    pub fn with_parsed(mut self, parsed: search::Query) -> Query {
        self.parsed = Some(parsed);
        self
    }

    /// Returns the plan for an index, which all servers of this process share.
    pub fn planned(&self, index: &Index) -> Result<Arc<Planned>, IndexError> {
        let mut slot = self.planned.lock().unwrap_or_else(PoisonError::into_inner);
        // A plan made while a file was changing may be wrong.
        let since = index.read_start();
        if let Some(planned) = &*slot
            && (planned.generation, planned.since) == (index.generation(), since)
        {
            return Ok(Arc::clone(planned));
        }
        let started = Instant::now();
        let parsed_here;
        let (query, warnings) = match &self.parsed {
            Some(query) => (query, Vec::new()),
            None => {
                parsed_here =
                    search::parse_with(&self.text, index.analyzer(), index.fields(), self.operator);
                (&parsed_here.query, parsed_here.warnings)
            }
        };
        let plan = Plan::new(query, self.ranking, index.statistics())?;
        let planned = Arc::new(Planned {
            generation: index.generation(),
            since,
            summary_terms: plan.summary_terms(),
            plan: Arc::new(plan),
            warnings,
            parse_us: started.elapsed().as_micros() as u64,
        });
        *slot = Some(Arc::clone(&planned));
        Ok(planned)
    }

    /// Returns the plan for an index where one was made in this process; it takes no planning.
    pub(crate) fn known_plan(&self, index: &Index) -> Option<Arc<Planned>> {
        let slot = self.planned.lock().unwrap_or_else(PoisonError::into_inner);
        let (generation, since) = (index.generation(), index.read_start());
        let known = slot.as_ref()?;
        ((known.generation, known.since) == (generation, since)).then(|| Arc::clone(known))
    }
}

/// Request for the best hits of a partition.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// Number of hits requested.
    pub k: usize,
    /// Whether all matches are counted.
    pub counted: bool,
    /// Fields by which hits are sorted; empty for the order of scores.
    pub sort: Arc<[SortKey]>,
    /// Place up to which hits are left out.
    pub after: Option<Arc<After>>,
    /// Whether the reply says how tests of values ran, and how handlers shared the search.
    pub trace: bool,
    /// Generation to search; 0 is the newest.
    pub generation: u64,
    /// Deadline of the request.
    pub deadline: Instant,
}

/// Request for the details of hits.
#[derive(Debug, Clone)]
pub struct DetailsRequest {
    /// Segment and document of each hit.
    pub hits: Vec<(u32, DocId)>,
    /// Whether scores are explained.
    pub explain: bool,
    /// Whether the telling words that each hit lacks are found.
    pub lacks: bool,
    /// Upper limit on the text of the reply, in bytes; a larger reply is refused.
    pub bytes_max: usize,
    /// Generation of the hits.
    pub generation: u64,
    /// Deadline of the request.
    pub deadline: Instant,
}

/// Request for the number of matching documents of some sites.
#[derive(Debug, Clone)]
pub struct CountSitesRequest {
    /// Names of the sites.
    pub sites: Arc<[String]>,
    /// Count at which counting stops, for each site.
    pub limit: u64,
    /// Generation to search.
    pub generation: u64,
    /// Deadline of the request.
    pub deadline: Instant,
}

/// Request for the counts of facets.
#[derive(Debug, Clone)]
pub struct CountFacetsRequest {
    /// Facets.
    pub facets: Arc<[Facet]>,
    /// Whether no other server has matches.
    pub is_whole: bool,
    /// Generation to search.
    pub generation: u64,
    /// Deadline of the request.
    pub deadline: Instant,
}

/// Request for the summaries of documents for a query.
#[derive(Debug, Clone)]
pub struct SummariesRequest {
    /// Number of the query, for logs.
    pub query_id: u64,
    /// Documents to summarize.
    pub of: SummariesOf,
    /// Terms of the query that summaries show.
    pub terms: Arc<[SummaryTerm]>,
    /// Whether the further fields of the documents are wanted.
    pub fields: bool,
    /// Generation to read; 0 is the newest.
    pub generation: u64,
    /// Deadline of the request.
    pub deadline: Instant,
}

/// Documents of a summary request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SummariesOf {
    /// Documents by URL.
    Urls(Vec<String>),
    /// Documents by the hash of their URL, which a search gives before the details name the URLs. Two
    /// URLs may have the same hash, so the caller compares the URL in the reply.
    UrlHashes(Vec<u64>),
}

impl SummariesOf {
    /// Returns the number of documents.
    pub fn count(&self) -> usize {
        match self {
            SummariesOf::Urls(urls) => urls.len(),
            SummariesOf::UrlHashes(hashes) => hashes.len(),
        }
    }

    /// Returns the key that finds the text of document `at`.
    pub(crate) fn key(&self, at: usize) -> Option<TextKey<'_>> {
        match self {
            SummariesOf::Urls(urls) => urls.get(at).map(|url| TextKey::Url(url)),
            SummariesOf::UrlHashes(hashes) => hashes.get(at).map(|&hash| TextKey::UrlHash(hash)),
        }
    }
}

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
    /// Time of parsing and planning, in microseconds.
    pub parse_us: u64,
    /// Time from arrival at the index server until a handler took the request, in microseconds.
    pub queueing_us: u64,
    /// Time on the handler, in microseconds.
    pub search_us: u64,
    /// Warnings of the parser; empty where the front-end parsed the query.
    pub warnings: Vec<String>,
    /// Terms that summaries show.
    pub summary_terms: Vec<SummaryTerm>,
    /// How tests of values ran, where that was asked for.
    pub filters: Vec<FilterRun>,
    /// How handlers shared the search, where requested. Starts count from the first handler.
    pub schedule: Option<Box<Schedule>>,
    /// CPU time and run-queue wait of the handlers, where they were measured.
    pub handlers_us: Option<HandlerTimes>,
}

/// Times of the handlers of a search, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HandlerTimes {
    /// CPU time.
    pub cpu: u64,
    /// Time in run queues: threads that could run, and had no CPU.
    pub run_queue: u64,
}

/// Request for the status of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatusRequest {
    /// Name of the front-end; empty for an anonymous request.
    pub front_end: String,
    /// Parts into which the front-end's cluster file divides the index.
    pub parts: Vec<Chunks>,
}

/// Status of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Identifier of the index.
    pub index_id: String,
    /// Newest open generation.
    pub generation: u64,
    /// Generation before it that is still open; 0 for none.
    pub generation_before: u64,
    /// Number of chunks of the whole index.
    pub chunks_count: u32,
    /// Chunks that the server serves.
    pub chunks: Chunks,
    /// Number of live documents in the whole index.
    pub documents_count: u64,
    /// Number of documents in the served chunks, deleted ones included.
    pub documents_here_count: u64,
    /// Whether the index has texts.
    pub has_texts: bool,
    /// Analyzer of the index; `None` if the server does not report it.
    pub analyzer: Option<Analyzer>,
    /// Fields of the index.
    pub fields: Arc<Schema>,
    /// Whether live documents are of several sites.
    pub has_several_sites: bool,
    /// Phrases that titles have often: examples of queries.
    pub phrases: Arc<[[String; 2]]>,
    /// Whether the server is about to end.
    pub is_draining: bool,
    /// Message about another front-end that divides the index differently.
    pub disagreement: Option<String>,
    /// Number that differs after each change of the trust in the server's files, and after each opening of them.
    pub trust_epoch: u64,
}
