//! Requests to index servers and document servers.

use crate::aggregation::Aggregation;
use crate::details::{HitAddress, HitsRead};
use crate::part::Part;
use fields::{Facet, FacetCounts, Value};
use index::{IndexError, TextKey};
use search::{After, Plan, SortKey, Stop};
use std::sync::Arc;
use std::time::Instant;
use text::summary::SummaryTerm;

/// Request for the best hits of a partition.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// Number of hits requested.
    pub k: usize,
    /// Whether all matches are counted.
    pub counted: bool,
    /// Fields by which hits are sorted; empty for the order of scores.
    pub sort: Arc<[SortKey]>,
    /// Field by which hits are collapsed.
    pub collapse: Option<Arc<str>>,
    /// Place up to which hits are left out.
    pub after: Option<Arc<After>>,
    /// Whether the reply says how tests of values ran, and how handlers shared the search.
    pub trace: bool,
    /// Generation to search; 0 is the newest.
    pub generation: u64,
    /// Deadline of the request.
    pub deadline: Instant,
    /// Whether the calling thread has nothing else to do for the query until the reply: a server in this process may search on
    /// it.
    pub caller_waits: bool,
}

/// Request for the details of hits.
#[derive(Debug, Clone)]
pub struct DetailsRequest {
    /// Hits.
    pub hits: Vec<HitAddress>,
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

/// Request for the number of matching documents of some sites, or of some groups.
#[derive(Debug, Clone)]
pub struct CountMatchesRequest {
    /// What is counted.
    pub counted: Counted,
    /// Generation to search.
    pub generation: u64,
    /// Deadline of the request.
    pub deadline: Instant,
}

/// Documents whose matches are counted.
#[derive(Debug, Clone)]
pub enum Counted {
    /// Those of sites.
    Sites {
        /// Names of the sites.
        names: Arc<[String]>,
        /// Count at which counting stops, for each site.
        limit: u64,
    },
    /// Those with a value of a field by which hits are collapsed.
    Groups {
        /// The field.
        field: Arc<str>,
        /// The values.
        values: Arc<[Value]>,
    },
}

impl Counted {
    /// Returns the number of counts.
    pub fn counts_len(&self) -> usize {
        match self {
            Counted::Sites { names, .. } => names.len(),
            Counted::Groups { values, .. } => values.len(),
        }
    }
}

/// Request for the counts of facets.
#[derive(Debug, Clone)]
pub struct CountFacetsRequest {
    /// Facets.
    pub facets: Arc<[Facet]>,
    /// Whether no other server has matches.
    pub is_whole: bool,
    /// Counts of each facet over all servers, with the values that have facets within them; empty in the first request.
    pub chosen: Arc<[FacetCounts]>,
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

/// Request for the words of the whole index near those typed, which any part answers from its newest generation.
#[derive(Debug, Clone)]
pub struct NearWordsRequest {
    /// Words as typed.
    pub words: Arc<[String]>,
    /// Whether each of them may have documents and be wrong all the same, since no document has all of them.
    pub apart: bool,
    /// Deadline of the request.
    pub deadline: Instant,
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
    pub fn key(&self, at: usize) -> Option<TextKey<'_>> {
        match self {
            SummariesOf::Urls(urls) => urls.get(at).map(|url| TextKey::Url(url)),
            SummariesOf::UrlHashes(hashes) => hashes.get(at).map(|&hash| TextKey::UrlHash(hash)),
        }
    }
}

impl SearchRequest {
    /// Returns the aggregation that finds the hits of a request sorted by fields.
    pub fn aggregation(&self) -> Aggregation {
        Aggregation {
            sort: self.sort.to_vec(),
            k: self.k,
            after: self.after.as_deref().cloned(),
            ..Aggregation::default()
        }
    }
}

impl DetailsRequest {
    /// Returns the reader of the details; `plan` is that of the query, where explanations or missing terms are
    /// requested.
    pub fn read<'a>(&'a self, plan: Option<&'a Plan>) -> HitsRead<'a> {
        HitsRead {
            hits: &self.hits,
            explained_by: plan.filter(|_| self.explain),
            missing_terms_of: plan.filter(|_| self.lacks),
            bytes_max: self.bytes_max,
        }
    }
}

impl CountFacetsRequest {
    /// Returns the aggregation that counts the facets.
    pub fn aggregation(&self) -> Aggregation {
        Aggregation {
            facets: self.facets.to_vec(),
            is_whole: self.is_whole,
            chosen: Arc::clone(&self.chosen),
            ..Aggregation::default()
        }
    }
}

impl Part {
    /// Counts the matches of sites or groups, in their order. Lower bounds where `stop` is due.
    ///
    /// # Errors
    /// Damage, and files that cannot be read.
    pub fn count_matches(
        &self,
        plan: &Plan,
        counted: &Counted,
        stop: &Stop<'_>,
    ) -> Result<Vec<u64>, IndexError> {
        match counted {
            Counted::Sites { names, limit } => names
                .iter()
                .map(|site| self.count_site(plan, site, *limit, stop))
                .collect(),
            Counted::Groups { field, values } => {
                let mut counts = vec![0; values.len()];
                for segment in self.segments() {
                    search::count_groups(plan, segment, field, values, &mut counts, stop)?;
                }
                Ok(counts)
            }
        }
    }
}
