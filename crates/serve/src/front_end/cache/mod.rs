//! Result cache.
//!
//! The cache is off by default, because it hides the cost of a search. All indexes of a process share it. It takes an answer only with the
//! proof that it is complete; complete answers do not depend on the timeout. The generation of the
//! index is part of the key, and so is the trust in its files: servers examine the files after they
//! made a reply, and what they find later, which no stamp showed then, drops all that was kept before.
//!
//! ```text
//! text, filters, … ─parse─► clauses ─► key        "Moon  landing", "moon landing" and moon AND landing: one answer
//! ```
//!
//! The key has the parsed query, so texts that mean the same share an answer. Few answers show how the query was typed:
//! those with words that hits lack, and with a correction. They are only given to the same text.

use crate::api::messages::Query;
use crate::api::options::SearchOptions;
use crate::encoding::query_bytes;
use crate::telemetry::CacheFigures;
use engine::{Complete, PreparedQuery, Returned};
use quick_cache::Weighter;
use quick_cache::sync::Cache as Kept;
use search::SortKey;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wire::{FacetAnswer, FacetBucket, FacetPercentile, PhaseTimes, SearchAnswer};

/// Result cache of a front-end, bounded in bytes.
pub(crate) struct Cache {
    kept: Kept<Key, Arc<SearchAnswer>, Bytes>,
    hits: AtomicU64,
    misses: AtomicU64,
}

/// Cache key: everything that an answer depends on, but the text as typed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// Parsed query with its filters, as it travels between servers.
    query: Vec<u8>,
    /// The query for documents with some of the words.
    some_words: Option<Vec<u8>>,
    /// Each group of facets: its query, the facets, and their places.
    facets: Vec<(Vec<u8>, Vec<String>, Vec<usize>)>,
    sort: Arc<[SortKey]>,
    /// Warnings of the parser, which are part of the answer.
    warnings: Vec<String>,
    /// Rules that it was read by, which are part of an explained answer.
    rules: Vec<String>,
    k: usize,
    start: usize,
    per_site: u32,
    collapse: String,
    counts_hidden: bool,
    /// Text of the ranking, which names all its parameters.
    ranking: String,
    explain: bool,
    returned: Returned,
    suggest: bool,
    correct: bool,
    /// Number of the front-end, generation of its index, and trust epoch of its files.
    of_index: (u64, u64, u64),
}

impl Key {
    /// Returns the key of a query to a front-end, at a generation and a trust epoch; `None` where its steps are traced, or it asks for cursors.
    pub(super) fn of(prepared: &PreparedQuery, of_index: (u64, u64, u64)) -> Option<Key> {
        let options = &prepared.options;
        let clauses = |query: &Query| query_bytes(&query.tree);
        let mut facets = Vec::with_capacity(prepared.facets.len());
        for group in &prepared.facets {
            let names = group.facets.iter().map(ToString::to_string).collect();
            facets.push((clauses(&group.query), names, group.places.clone()));
        }
        let some_words = prepared.some_words.as_deref().map(clauses);
        // A cursor belongs to the text as typed.
        if options.trace
            || prepared.cursors.is_some()
            || !options.returned.hits.has_summaries()
            || !options.filter_trees.is_empty()
        {
            return None;
        }
        Some(Key {
            query: clauses(&prepared.query),
            some_words,
            facets,
            sort: Arc::clone(&prepared.sort),
            warnings: prepared.warnings.clone(),
            rules: prepared.rules.clone(),
            k: options.k,
            start: options.start,
            per_site: options.per_site,
            collapse: options.collapse.clone(),
            counts_hidden: options.counts_hidden,
            ranking: options.ranking.to_string(),
            explain: options.explain,
            returned: options.returned,
            suggest: options.suggest,
            correct: options.correct,
            of_index,
        })
    }

    fn bytes(&self) -> usize {
        let facets = self.facets.iter();
        let facets = facets.map(|(query, names, places)| {
            query.len() + 8 * places.len() + names.iter().map(String::len).sum::<usize>()
        });
        self.query.len()
            + self.ranking.len()
            + self.collapse.len()
            + self.some_words.as_ref().map_or(0, Vec::len)
            + facets.sum::<usize>()
            + (self.warnings.iter().chain(&self.rules))
                .map(String::len)
                .sum::<usize>()
    }
}

/// Returns whether an answer shows how its query was typed.
fn shows_text(answer: &SearchAnswer, options: &SearchOptions) -> bool {
    let is_corrected = answer.corrected.is_some() || answer.did_you_mean.is_some();
    // One without a correction may have one for another text of the same words.
    let may_be_corrected = options.may_correct(answer, answer.total.value == 0);
    is_corrected || may_be_corrected || answer.hits.iter().any(|hit| !hit.lacks.is_empty())
}

#[derive(Clone)]
struct Bytes;

impl Weighter<Key, Arc<SearchAnswer>> for Bytes {
    fn weight(&self, key: &Key, answer: &Arc<SearchAnswer>) -> u64 {
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
        let fixed = size_of::<Key>() + size_of::<SearchAnswer>();
        let facets: usize = answer.facets.iter().map(facet_bytes).sum();
        (fixed + key.bytes() + answer.query.len() + hits + warnings + facets) as u64
    }
}

/// Returns the memory of a facet, with those within its buckets, in bytes.
fn facet_bytes(facet: &FacetAnswer) -> usize {
    let bucket = |bucket: &FacetBucket| {
        let value = bucket.value.as_str().map_or(0, str::len);
        let within: usize = bucket.facets.iter().map(facet_bytes).sum();
        size_of::<FacetBucket>() + value + bucket.filter.len() + within
    };
    let percentiles = facet.percentiles.len() * size_of::<FacetPercentile>();
    let buckets: usize = facet.buckets.iter().map(bucket).sum();
    size_of::<FacetAnswer>() + facet.field.len() + facet.facet.len() + percentiles + buckets
}

impl Cache {
    /// Returns a cache of about `bytes` bytes.
    pub(crate) fn new(bytes: usize) -> Cache {
        // A page of ten hits has about four kilobytes.
        let answers = (bytes / 4096).max(1);
        Cache {
            kept: Kept::with_weighter(answers, bytes as u64, Bytes),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// Returns the cached answer of a query, if there is one.
    pub(super) fn get(&self, key: Option<&Key>, prepared: &PreparedQuery) -> Option<SearchAnswer> {
        let (text, options) = (&prepared.query.text, &prepared.options);
        let kept = key.and_then(|key| self.kept.get(key));
        let kept = kept.filter(|kept| kept.query == *text || !shows_text(kept, options));
        let Some(kept) = kept else {
            self.misses.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        self.hits.fetch_add(1, Ordering::Relaxed);
        Some(SearchAnswer {
            query: text.clone(),
            phases_us: PhaseTimes {
                total: prepared.arrived.elapsed().as_micros() as u64,
                ..PhaseTimes::default()
            },
            ..SearchAnswer::clone(&kept)
        })
    }

    /// Stores an answer that is proven complete.
    pub(super) fn put(&self, key: Key, answer: &SearchAnswer, _proof: &Complete) {
        // Answers of older generations and trust epochs are never asked for again, so the cache evicts them.
        self.kept.insert(key, Arc::new(answer.clone()));
    }

    pub(crate) fn figures(&self) -> CacheFigures {
        CacheFigures {
            hits: self.hits.load(Ordering::Relaxed),
            misses: self.misses.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests;
