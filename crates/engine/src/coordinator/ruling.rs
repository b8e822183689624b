//! What the rules of an index say of the hits of a query: priors, and documents that are pinned or hidden.
//!
//! ```text
//! ruled( query  but not (first or hidden)  with the filters )        priors add to the scores; `first` with the filters go before
//! ```
//!
//! Whether a document stands first depends on no word of the query, and filters hold for it as for all hits. In an order by
//! fields nothing is pinned.

use crate::options::SearchOptions;
use crate::refinement::{filtered, with_pinned};
use search::{Parsed, Pinned, Query, QueryRules, Ruled, Ruling};
use std::time::{SystemTime, UNIX_EPOCH};

/// Rules about the hits of one query.
#[derive(Debug, Default)]
pub(crate) struct HitRules {
    ruled: Ruled,
    /// Why rules are not obeyed, where scores are explained.
    ignored: Vec<String>,
    /// Days since 1970, where scores depend on them.
    day: Option<u64>,
}

impl HitRules {
    /// Returns the rules about the hits of a text.
    pub(crate) fn of(text: &str, rules: Option<&QueryRules>, options: &SearchOptions) -> HitRules {
        let Some(rules) = rules else {
            return HitRules::default();
        };
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
        let day = since_1970.unwrap_or_default().as_secs() / 86_400;
        let mut ruled = rules.ruled(text, day as i64);
        let ignored = match options.explain {
            true => rules.ignored().to_vec(),
            false => Vec::new(),
        };
        if !options.sort.trim().is_empty() {
            ruled.first.clear();
            ruled.priors.clear();
        }
        HitRules {
            ruled,
            ignored,
            day: rules.has_ages().then_some(day),
        }
    }

    /// Leaves out what is hidden, and what stands first anyway.
    pub(crate) fn exclude(&mut self, parsed: Parsed) -> Parsed {
        let Ruled { first, hidden, .. } = &self.ruled;
        let urls: Vec<String> = first.iter().chain(hidden).cloned().collect();
        let without = |query: Query| match urls.is_empty() {
            true => query,
            false => Query::Boolean {
                required: vec![query],
                optional: Vec::new(),
                excluded: vec![Query::Urls(urls.clone())],
            },
        };
        let mut parsed = Parsed {
            query: without(parsed.query),
            some_words: parsed.some_words.map(without),
            ..parsed
        };
        parsed.warnings.append(&mut self.ignored);
        parsed.rules.append(&mut self.ruled.rules);
        parsed
    }

    /// Returns the clause of the documents that stand first.
    pub(crate) fn pinned(&self) -> Option<Query> {
        let first = &self.ruled.first;
        (!first.is_empty()).then(|| Query::Urls(first.clone()))
    }

    /// Puts the rules around a query with the filters, and that for some of its words. Returns also the query for all matches,
    /// where `parsed` excludes some.
    pub(crate) fn around(self, parsed: Parsed, filters: &[Query]) -> (Parsed, Option<Query>) {
        let pinned = self.pinned().map(|urls| Pinned {
            clause: filtered(urls, filters.to_vec()),
            urls: self.ruled.first,
        });
        let all_matches = pinned.as_ref().map(|pinned| {
            let query = parsed.some_words.as_ref().unwrap_or(&parsed.query);
            with_pinned(query.clone(), Some(&pinned.clause))
        });
        let ruling = Ruling {
            priors: self.ruled.priors,
            pinned,
        };
        let around = |clause: Query| match ruling == Ruling::default() {
            true => clause,
            false => Query::Ruled {
                by: Box::new(ruling.clone()),
                clause: Box::new(clause),
            },
        };
        let parsed = Parsed {
            query: around(parsed.query),
            some_words: parsed.some_words.map(around),
            ..parsed
        };
        (parsed, all_matches)
    }

    /// Returns the identity of the index with that of its scores, by which a cursor knows whether they have moved.
    pub(crate) fn identity(&self, index_id: &str) -> String {
        match self.day {
            Some(day) => format!("{index_id} on day {day}"),
            None => index_id.to_owned(),
        }
    }
}
