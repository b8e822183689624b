//! Search with Shorttail in each mode.

use crate::protocol::{Found, Mode, Operator, Result, Searcher};
use crate::words::query_of;
use engine::{HitContents, QuerySource, Returned, SearchOptions};
use index::{Index, IndexError, Segment};
use search::{Plan, Ranking, ScoredHit};
use search::{count_partition, phrase_of, search_partition, top_of_partition};
use serve::api::messages::{Query, SearchRequest};
use serve::{Draining, Generations, HandlerOptions, InProcessIndexServer, IndexServer, Reply};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vfs::RealStorage;

/// Time limit of a search on handlers: none is given up.
const TIMEOUT: Duration = Duration::from_secs(60);

/// An open index.
#[derive(Clone)]
pub(crate) struct Engine {
    index: Arc<Index>,
    segments: Vec<Arc<Segment>>,
    /// What answers in the way that is the default of servers.
    whole: Arc<engine::Engine>,
    /// Handlers that share queries, where there are several.
    handlers: Option<Arc<InProcessIndexServer>>,
}

impl Engine {
    /// Opens an index. With more than one thread, searches go to that many handlers of an index server, as those of a
    /// served index do; with one they run on the calling thread.
    pub(crate) fn open(directory: &Path, threads: usize) -> Result<Engine> {
        let generations = Generations::open(Arc::new(RealStorage::open(directory)?))?;
        let index = generations.newest();
        let segments = index.segments(0..index.chunks_count()).cloned().collect();
        let handlers = match threads {
            1 => None,
            handlers => Some(Arc::new(InProcessIndexServer::start(
                generations,
                0..=index.chunks_count() - 1,
                &HandlerOptions {
                    handlers,
                    ..HandlerOptions::default()
                },
                Draining::default(),
            )?)),
        };
        Ok(Engine {
            whole: Arc::new(engine::Engine::from_index(Arc::clone(&index))),
            index,
            segments,
            handlers,
        })
    }

    fn query(&self, text: &str, operator: Operator) -> search::Query {
        let analyzer = self.index.analyzer();
        match operator {
            Operator::And => query_of(text, analyzer, search::Operator::And),
            Operator::Or => query_of(text, analyzer, search::Operator::Or),
            Operator::Phrase => phrase_of(text, analyzer),
        }
    }

    /// Searches for what servers search for when nothing is said: all telling words, then any of them.
    fn search_auto(&self, text: &str, mode: Mode) -> Result<Found<ScoredHit>> {
        let options = SearchOptions {
            k: mode.k,
            per_site: 0,
            operator: search::Operator::Auto,
            returned: Returned {
                counted: mode.counts,
                hits: HitContents::Numbers,
            },
            ..SearchOptions::default()
        };
        let found = self
            .whole
            .search(QuerySource::Words(&each_once(text)), &options)?;
        Ok(Found {
            count: match mode.counts {
                true => found.total.value,
                false => found.numbers.len() as u64,
            },
            // Its order is not that of the other engines.
            best: None,
        })
    }
}

/// Returns the words of `text`, each of them once.
fn each_once(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let word = word.to_lowercase();
        if !word.is_empty() && !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(" ")
}

/// Searches on handlers, which share what is long enough.
fn on_handlers(
    server: &InProcessIndexServer,
    query: search::Query,
    mode: Mode,
) -> Result<Found<ScoredHit>> {
    let ranking = Ranking::default();
    let query = Query::new(0, String::new(), query, ranking);
    let request = SearchRequest {
        sort: Default::default(),
        collapse: None,
        k: mode.k,
        counted: mode.counts,
        after: None,
        trace: false,
        generation: 0,
        deadline: Instant::now() + TIMEOUT,
        caller_waits: false,
    };
    let (reply, answer) = Reply::channel();
    server.search(&Arc::new(query), request, reply);
    let found = answer.blocking_recv()??;
    Ok(Found {
        count: match mode.counts {
            true => found.matches_count,
            false => found.hits.len() as u64,
        },
        best: found.hits.first().map(|hit| (hit.score, *hit)),
    })
}

impl Searcher for Engine {
    type Hit = ScoredHit;

    fn search(&mut self, query: &str, mode: Mode) -> Result<Found<ScoredHit>> {
        if mode.is_auto {
            return self.search_auto(query, mode);
        }
        let query = self.query(query, mode.operator);
        if let Some(server) = self.handlers.as_deref().filter(|_| mode.k > 0) {
            return on_handlers(server, query, mode);
        }
        let plan = Plan::new(&query, Ranking::default(), self.index.statistics())?;
        if mode.k == 0 {
            let count = count_partition(&plan, &self.segments)?;
            return Ok(Found { count, best: None });
        }
        let (hits, count) = match mode.counts {
            true => search_partition(&plan, &self.segments, mode.k)?,
            false => best_hits(&plan, &self.segments, mode.k)?,
        };
        let best = hits.first().map(|hit| (hit.score, *hit));
        Ok(Found { count, best })
    }

    fn url(&self, hit: ScoredHit) -> Result<String> {
        let segment = self.segments.iter().find(|one| one.id() == hit.segment);
        let segment = segment.ok_or("a hit of no segment")?;
        Ok(segment.details(hit.doc)?.url)
    }

    fn another(&self) -> Option<Engine> {
        Some(self.clone())
    }
}

/// Returns the k best hits and their number. No exact count is wanted, so the search may skip documents.
fn best_hits(
    plan: &Plan,
    segments: &[Arc<Segment>],
    k: usize,
) -> std::result::Result<(Vec<ScoredHit>, u64), IndexError> {
    let hits = top_of_partition(plan, segments, k)?;
    let count = hits.len() as u64;
    Ok((hits, count))
}
