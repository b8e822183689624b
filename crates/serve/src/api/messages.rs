//! Requests to index servers and document servers, and their answers.

use crate::api::chunks::Chunks;
pub use engine::HitDetails;
use index::{DocId, Index, IndexError, ReadStart, TextKey};
use search::{Operator, Plan, Ranking, ScoredHit};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use text::Analyzer;
use text::summary::SummaryTerm;

/// A query, the same for all requests of one answer.
#[derive(Debug)]
pub struct Query {
    /// Unique among the queries of a front-end: for logs.
    pub id: u64,
    /// As typed.
    pub text: String,
    /// How words stand to each other when the query does not say.
    pub operator: Operator,
    /// The query as the front-end parsed it; `None` leaves that to the index servers.
    pub parsed: Option<search::Query>,
    /// How documents are scored.
    pub ranking: Ranking,
    /// The plan made last: servers of one process share it.
    planned: Mutex<Option<Arc<Planned>>>,
}

/// A query planned for one generation of an index.
#[derive(Debug)]
pub struct Planned {
    /// The generation whose statistics weigh the words.
    pub generation: u64,
    /// From before it was made: what was known of the files then.
    pub(crate) since: ReadStart,
    /// What is searched.
    pub plan: Arc<Plan>,
    /// Warnings of the parser; empty where the front-end parsed the query.
    pub warnings: Vec<String>,
    /// What summaries should look for.
    pub summary_terms: Vec<SummaryTerm>,
    /// What parsing and planning took.
    pub parse_us: u64,
}

impl Query {
    /// A query that nobody has planned yet.
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

    /// The same query, parsed.
    pub fn with_parsed(mut self, parsed: search::Query) -> Query {
        self.parsed = Some(parsed);
        self
    }

    /// The plan for an index: made at most once for all servers of this process.
    pub fn planned(&self, index: &Index) -> Result<Arc<Planned>, IndexError> {
        let mut slot = self.planned.lock().unwrap_or_else(PoisonError::into_inner);
        // One that was made while a file was being changed may be wrong.
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
                parsed_here = search::parse(&self.text, index.analyzer(), self.operator);
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
}

/// Asks for the best hits of a partition.
#[derive(Debug, Clone, Copy)]
pub struct SearchRequest {
    /// Hits wanted.
    pub k: usize,
    /// Whether all matches are counted.
    pub counted: bool,
    /// The generation to answer from; 0 is the newest.
    pub generation: u64,
    /// Deadline of the request.
    pub deadline: Instant,
}

/// Asks what hits show.
#[derive(Debug, Clone)]
pub struct DetailsRequest {
    /// Segment and document of each hit.
    pub hits: Vec<(u32, DocId)>,
    /// Whether to say how scores came about.
    pub explain: bool,
    /// Bytes of text that the reply may have; a larger one is refused.
    pub bytes_max: usize,
    /// The generation that the hits are of.
    pub generation: u64,
    /// Deadline of the request.
    pub deadline: Instant,
}

/// Asks how many documents of some sites match.
#[derive(Debug, Clone)]
pub struct CountSitesRequest {
    /// The sites, by name.
    pub sites: Arc<[String]>,
    /// Counting stops here.
    pub limit: u64,
    /// The generation to answer from.
    pub generation: u64,
    /// Deadline of the request.
    pub deadline: Instant,
}

/// Asks for summaries of documents for a query.
#[derive(Debug, Clone)]
pub struct SummariesRequest {
    /// The query that asks.
    pub query_id: u64,
    /// The documents.
    pub of: SummariesOf,
    /// What the query looks for.
    pub terms: Arc<[SummaryTerm]>,
    /// The generation to answer from; 0 is the newest.
    pub generation: u64,
    /// Deadline of the request.
    pub deadline: Instant,
}

/// Documents whose summaries are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SummariesOf {
    /// Those at some URLs.
    Urls(Vec<String>),
    /// Those whose URLs have some hashes: known from the search, before anybody has said the URLs. Two URLs
    /// may share a hash, so the URL that comes back is to be compared.
    UrlHashes(Vec<u64>),
}

impl SummariesOf {
    /// How many documents.
    pub fn count(&self) -> usize {
        match self {
            SummariesOf::Urls(urls) => urls.len(),
            SummariesOf::UrlHashes(hashes) => hashes.len(),
        }
    }

    /// How the text of one of them is found.
    pub(crate) fn key(&self, at: usize) -> Option<TextKey<'_>> {
        match self {
            SummariesOf::Urls(urls) => urls.get(at).map(|url| TextKey::Url(url)),
            SummariesOf::UrlHashes(hashes) => hashes.get(at).map(|&hash| TextKey::UrlHash(hash)),
        }
    }
}

/// The summary of a document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextSummary {
    /// The document's URL, as stored beside its text; empty in an index without texts.
    pub url: String,
    /// The summary; empty in an index without texts.
    pub html: String,
}

/// The best hits of one partition.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PartitionHits {
    /// The k best, best first; all, where fewer match.
    pub hits: Vec<ScoredHit>,
    /// Matching documents of the partition: a lower bound, where the count is not exact.
    pub matches_count: u64,
    /// Whether every match was counted.
    pub count_is_exact: bool,
    /// Documents that the hits were chosen from, deleted ones included.
    pub documents_searched: u64,
    /// Documents of the partition, deleted ones included.
    pub documents_count: u64,
    /// Whether matches beyond `hits` may exist.
    pub is_cut: bool,
    /// The generation that answered.
    pub generation: u64,
    /// What parsing and planning took.
    pub parse_us: u64,
    /// From arrival at the index server to a handler taking the request.
    pub queueing_us: u64,
    /// On the handler.
    pub search_us: u64,
    /// Warnings of the parser; empty where the front-end parsed the query.
    pub warnings: Vec<String>,
    /// What summaries should look for.
    pub summary_terms: Vec<SummaryTerm>,
}

/// What a front-end tells a server when it asks how it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatusRequest {
    /// A name for the front-end; empty asks without telling.
    pub front_end: String,
    /// The parts into which the front-end's cluster file cuts the index.
    pub parts: Vec<Chunks>,
}

/// What a server is and holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Which index.
    pub index_id: String,
    /// The newest generation open here.
    pub generation: u64,
    /// The one before it, which is still answered from; 0 is none.
    pub generation_before: u64,
    /// Chunks of the whole index.
    pub chunks_count: u32,
    /// Chunks answered for.
    pub chunks: Chunks,
    /// Live documents of the whole index.
    pub documents_count: u64,
    /// Documents of the chunks answered for, deleted ones included.
    pub documents_here_count: u64,
    /// Whether texts are kept.
    pub has_texts: bool,
    /// The analyzer of the index; `None` of a server that does not tell it.
    pub analyzer: Option<Analyzer>,
    /// About to end.
    pub is_draining: bool,
    /// What is to be told of another front-end that cuts the index in another way.
    pub disagreement: Option<String>,
}
