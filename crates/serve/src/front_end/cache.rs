//! Result cache.
//!
//! The cache is off by default, because it hides the cost of a search. It takes an answer only with the
//! proof that it is complete; complete answers do not depend on the timeout. The generation of the
//! index is part of the key.

use crate::api::options::SearchOptions;
use crate::front_end::coverage::Complete;
use quick_cache::Weighter;
use quick_cache::sync::Cache as Kept;
use search::{Operator, Ranking};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use wire::{PhaseTimes, SearchAnswer};

/// Result cache of a front-end, bounded in bytes.
pub(crate) struct Cache {
    kept: Kept<Asked, Arc<SearchAnswer>, Bytes>,
    generation: AtomicU64,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// Counters of the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CacheFigures {
    pub(crate) hits: u64,
    pub(crate) misses: u64,
}

/// Cache key: everything that an answer depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Asked {
    query: String,
    k: usize,
    start: usize,
    per_site: Option<u32>,
    operator: Operator,
    /// Bits of the ranking function's parameters; all ones for a function without parameters.
    ranking: (u32, u32),
    explain: bool,
    counted: bool,
    suggest: bool,
    fields: bool,
    filters: Vec<String>,
    facets: Vec<String>,
    sort: String,
    generation: u64,
}

#[derive(Clone)]
struct Bytes;

impl Weighter<Asked, Arc<SearchAnswer>> for Bytes {
    fn weight(&self, asked: &Asked, answer: &Arc<SearchAnswer>) -> u64 {
        let hit = |hit: &wire::Hit| {
            let explanation = hit
                .explanation
                .as_ref()
                .map_or(0, |why| why.to_string().len() * 4);
            let texts = [&hit.id, &hit.url, &hit.title, &hit.site, &hit.summary];
            size_of::<wire::Hit>()
                + texts.iter().map(|text| text.len()).sum::<usize>()
                + explanation
        };
        let hits: usize = answer.hits.iter().map(hit).sum();
        let warnings: usize = answer.warnings.iter().map(String::len).sum();
        let fixed = size_of::<Asked>() + size_of::<SearchAnswer>();
        (fixed + 2 * asked.query.len() + hits + warnings) as u64
    }
}

impl Cache {
    /// Returns a cache of about `bytes` bytes.
    pub(crate) fn new(bytes: usize) -> Cache {
        // A page of ten hits has about four kilobytes.
        let answers = (bytes / 4096).max(1);
        Cache {
            kept: Kept::with_weighter(answers, bytes as u64, Bytes),
            generation: AtomicU64::new(0),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// Returns the cached answer of a query that arrived at `arrived`, if there is one.
    pub(crate) fn get(
        &self,
        query: &str,
        options: &SearchOptions,
        generation: u64,
        arrived: Instant,
    ) -> Option<SearchAnswer> {
        // The trace of a cached answer would hold no information.
        let kept = match options.trace {
            true => None,
            false => self.kept.get(&asked(query, options, generation)),
        };
        let Some(kept) = kept else {
            self.misses.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        self.hits.fetch_add(1, Ordering::Relaxed);
        let mut answer = SearchAnswer::clone(&kept);
        answer.phases_us = PhaseTimes {
            total: arrived.elapsed().as_micros() as u64,
            ..PhaseTimes::default()
        };
        Some(answer)
    }

    /// Stores an answer that is proven complete.
    pub(crate) fn put(
        &self,
        query: &str,
        options: &SearchOptions,
        generation: u64,
        answer: &SearchAnswer,
        _proof: &Complete,
    ) {
        if self.generation.swap(generation, Ordering::Relaxed) != generation {
            // Answers of other generations are never found again, so their memory is freed.
            self.kept.clear();
        }
        let mut answer = answer.clone();
        answer.trace = None;
        self.kept
            .insert(asked(query, options, generation), Arc::new(answer));
    }

    pub(crate) fn figures(&self) -> CacheFigures {
        CacheFigures {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
        }
    }
}

fn asked(query: &str, options: &SearchOptions, generation: u64) -> Asked {
    Asked {
        query: query.to_owned(),
        k: options.k,
        start: options.start,
        per_site: options.per_site,
        operator: options.operator,
        ranking: match options.ranking {
            Ranking::Bm25 { k1, b } => (k1.to_bits(), b.to_bits()),
            Ranking::TfIdf => (u32::MAX, u32::MAX),
        },
        explain: options.explain,
        counted: options.counted,
        suggest: options.suggest,
        fields: options.fields,
        filters: options.filters.clone(),
        facets: options.facets.clone(),
        sort: options.sort.clone(),
        generation,
    }
}
