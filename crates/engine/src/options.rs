//! Options of a search: the page, the contents of the answer, the operator, the ranking, limits.

use crate::returned::Returned;
use search::{Operator, Query, Ranking};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Options of a search.
///
/// Serialized, they are an object with the keys of the struct, of which those with default values may be left out; the operator
/// is `words`, the timeout `timeout_us`. Unknown keys are errors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchOptions {
    /// Number of hits on the page.
    pub k: usize,
    /// Number of hits before the page.
    pub start: usize,
    /// Rank up to which pages with cursors go where they count on from the first hit; `None` is no limit.
    pub depth_max: Option<usize>,
    /// Hits of a site that come before further hits of it; 0 is no limit. It changes the order among the best
    /// [`SITE_LIMIT_WINDOW`](crate::SITE_LIMIT_WINDOW) matches, and leaves none out. A query that names one site has no limit.
    pub per_site: u32,
    /// Field of whose values the best hit each is listed, and the others are hidden; empty hides none. Hits without a value
    /// are all listed.
    pub collapse: String,
    /// Whether each hit counts the matches that it hides.
    pub counts_hidden: bool,
    /// Operator between words without one.
    #[serde(rename = "words")]
    pub operator: Operator,
    /// Ranking function.
    pub ranking: Ranking,
    /// Whether hits explain their scores.
    pub explain: bool,
    /// What the answer holds: the count of all matches, and the contents of each hit.
    pub returned: Returned,
    /// Time from the arrival of the query to its answer; `None` is the server's own, and no limit in this process.
    #[serde(rename = "timeout_us", with = "micros")]
    pub timeout: Option<Duration>,
    /// Whether an answer may lack parts of the index, which it names.
    pub partial: bool,
    /// Whether the answer lists its steps with their times.
    pub trace: bool,
    /// Whether the text is still being typed: its last word is a beginning, and words may have typing errors. It changes
    /// nothing about a tree.
    pub as_you_type: bool,
    /// Whether a query that finds little is offered a correction: "did you mean".
    pub suggest: bool,
    /// Whether a query that finds nothing, for a word that no document has, is answered with the hits of its correction.
    pub correct: bool,
    /// Whether the query, where it is a text, is read with the rules of the index: synonyms and stop words.
    pub rules: bool,
    /// Clauses that all hits match and that add nothing to their scores, in the language of queries.
    pub filters: Vec<String>,
    /// Further such clauses, as trees.
    pub filter_trees: Vec<Query>,
    /// Facets to count over all matches: `lang`, `date:month`, `price:stats`.
    pub facets: Vec<String>,
    /// Fields by which hits are sorted: `date:desc,price`; empty for the order of scores.
    pub sort: String,
    /// Place from which the page goes on, as the answer of the page before names it: a cursor, or `*` for the first page.
    /// `None` names no cursors.
    pub after: Option<String>,
}

impl Default for SearchOptions {
    fn default() -> Self {
        SearchOptions {
            k: 10,
            start: 0,
            depth_max: None,
            per_site: 0,
            collapse: String::new(),
            counts_hidden: true,
            operator: Operator::default(),
            ranking: Ranking::default(),
            explain: false,
            returned: Returned::default(),
            timeout: None,
            partial: true,
            trace: false,
            as_you_type: false,
            suggest: false,
            correct: false,
            rules: true,
            filters: Vec::new(),
            filter_trees: Vec::new(),
            facets: Vec::new(),
            sort: String::new(),
            after: None,
        }
    }
}

impl SearchOptions {
    /// Returns the options as they apply to a query. A limit for the only site would change nothing.
    pub fn resolved(self, query: &Query) -> SearchOptions {
        let per_site = match query.requires_one_site() {
            true => 0,
            false => self.per_site,
        };
        SearchOptions { per_site, ..self }
    }
}

/// Serialized form of a time: whole microseconds.
mod micros {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::time::Duration;

    pub(super) fn serialize<S: Serializer>(
        time: &Option<Duration>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let us = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        time.map(us).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Duration>, D::Error> {
        let us = Option::<u64>::deserialize(from)?;
        Ok(us.map(Duration::from_micros))
    }
}
