//! A query before its first call: read once, with its filters, facets, order and place.

use crate::calls::Query;
use crate::coordinator::ruling::HitRules;
use crate::coordinator::timeline::Timeline;
use crate::cursor::{Cursors, PageStart};
use crate::error::BadRequest;
use crate::options::SearchOptions;
use crate::refinement::{FacetGroup, Refinement, filtered};
use crate::returned::{HitContents, Returned};
use fields::{Facet, Schema};
use search::{Operator, Parsed, QueryRules, ReadWith, Reading, SortKey};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;
use text::Analyzer;

/// Least score of a document with all telling words that stands before those with some of them, as a share of the best score of
/// these.
pub const FIRST_SHARE: f32 = 0.7;

/// Properties of an index by which queries are read.
#[derive(Debug, Clone, Copy)]
pub struct IndexFacts<'a> {
    /// Analyzer of its texts.
    pub analyzer: Analyzer,
    /// Its fields.
    pub fields: &'a Schema,
    /// Identity of the index.
    pub index_id: &'a str,
    /// Its rules; `None` for none.
    pub rules: Option<&'a QueryRules>,
}

/// Query of a search: a text, words, or a tree of clauses.
#[derive(Debug, Clone, Copy)]
pub enum QuerySource<'a> {
    /// Text as typed, in the language of queries.
    Text(&'a str),
    /// Words without any syntax, joined by the operator of the search.
    Words(&'a str),
    /// Tree of clauses, which no parser has seen.
    Tree(&'a search::Query),
}

impl<'a> From<&'a str> for QuerySource<'a> {
    fn from(text: &'a str) -> Self {
        QuerySource::Text(text)
    }
}

impl<'a> From<&'a String> for QuerySource<'a> {
    fn from(text: &'a String) -> Self {
        QuerySource::Text(text)
    }
}

impl<'a> From<&'a search::Query> for QuerySource<'a> {
    fn from(tree: &'a search::Query) -> Self {
        QuerySource::Tree(tree)
    }
}

/// Facets that are counted over the matches of one query.
#[derive(Debug)]
pub struct FacetCall {
    /// The query.
    pub query: Arc<Query>,
    /// The facets.
    pub facets: Arc<[Facet]>,
    /// Places of the facets in the answer.
    pub places: Vec<usize>,
}

/// State of a query that all its attempts share.
#[derive(Debug)]
pub struct PreparedQuery {
    /// The query for documents with all words.
    pub query: Arc<Query>,
    /// Query for documents with some of the words, of which `query` finds those with all telling ones.
    pub some_words: Option<Arc<Query>>,
    /// Query for all documents that pages list.
    pub(crate) all_matches: Arc<Query>,
    /// Warnings of the parser.
    pub warnings: Vec<String>,
    /// Rules of the index that the query was read by, where it is explained.
    pub rules: Vec<String>,
    /// Facets over all matches.
    pub facets: Vec<FacetCall>,
    /// Fields by which hits are sorted; empty for the order of scores.
    pub sort: Arc<[SortKey]>,
    /// Cursors, where they are asked for.
    pub cursors: Option<Cursors>,
    /// Start of the page.
    pub start: PageStart,
    /// Time of parsing, in microseconds.
    pub parse_us: u64,
    /// Options of the search, as they apply to this query and index.
    pub options: SearchOptions,
    /// Analyzer by which titles are marked; none where nothing is shown.
    pub(crate) analyzer: Option<Analyzer>,
    filters: Vec<search::Query>,
    index_id: String,
    /// Arrival of the query.
    pub arrived: Instant,
    /// Steps of the search, where they are traced.
    pub timeline: Timeline,
}

impl PreparedQuery {
    /// Reads a query once for all parts.
    ///
    /// # Errors
    /// A tree beyond the limits of the parser, and a filter, facet, order or cursor that cannot be read.
    pub fn new(
        id: u64,
        source: QuerySource<'_>,
        options: SearchOptions,
        index: IndexFacts<'_>,
        arrived: Instant,
    ) -> Result<PreparedQuery, BadRequest> {
        PreparedQuery::read(id, source, None, options, index, arrived)
    }

    /// Reads a corrected text in place of a query, whose cursors it takes and gives.
    ///
    /// # Errors
    /// Those of [`PreparedQuery::new`].
    pub fn corrected(
        id: u64,
        source: QuerySource<'_>,
        text: &str,
        options: SearchOptions,
        index: IndexFacts<'_>,
        arrived: Instant,
    ) -> Result<PreparedQuery, BadRequest> {
        let instead = match source {
            QuerySource::Words(_) => QuerySource::Words(text),
            _ => QuerySource::Text(text),
        };
        PreparedQuery::read(id, source, Some(instead), options, index, arrived)
    }

    fn read(
        id: u64,
        source: QuerySource<'_>,
        instead: Option<QuerySource<'_>>,
        options: SearchOptions,
        index: IndexFacts<'_>,
        arrived: Instant,
    ) -> Result<PreparedQuery, BadRequest> {
        let started = Instant::now();
        let (analyzer, fields) = (index.analyzer, index.fields);
        let reading = Reading {
            with: ReadWith {
                rules: index.rules.filter(|_| options.rules),
                is_explained: options.explain,
            },
            ..Reading::new(analyzer, fields, options.operator)
        };
        let (text, parsed) = match instead.unwrap_or(source) {
            // Filters without a query select among all documents.
            QuerySource::Text(text) | QuerySource::Words(text)
                if text.trim().is_empty() && options.is_filtered() =>
            {
                (text, Parsed::of(search::Query::All))
            }
            QuerySource::Text(text) if options.as_you_type => {
                (text, reading.parse_as_you_type(text))
            }
            QuerySource::Words(text) if options.as_you_type => {
                (text, reading.words_as_you_type(text))
            }
            QuerySource::Text(text) => (text, reading.parse(text)),
            QuerySource::Words(text) => (text, reading.words(text)),
            QuerySource::Tree(tree) => {
                tree.check().map_err(|beyond| BadRequest {
                    parameter: "query",
                    reason: beyond.to_string(),
                })?;
                ("", Parsed::of(tree.clone()))
            }
        };
        // Cursors belong to a query by its text.
        let identity = match source {
            QuerySource::Tree(tree) if options.is_refined() => Cow::from(format!("{tree:?}")),
            // Words with a sign of the grammar are another query than that text.
            QuerySource::Words(text) if options.after.is_some() && !text.trim().is_empty() => {
                Cow::from(format!("words {text}"))
            }
            QuerySource::Text(text) | QuerySource::Words(text) => Cow::from(text),
            QuerySource::Tree(_) => Cow::from(""),
        };
        let identity = match options.as_you_type && options.after.is_some() {
            true => Cow::from(format!("as you type {identity}")),
            false => identity,
        };
        let identity = match !options.rules && options.after.is_some() {
            true => Cow::from(format!("without rules {identity}")),
            false => identity,
        };
        // A tree says what it means.
        let is_text = !matches!(source, QuerySource::Tree(_));
        let rules = reading.with.rules.filter(|_| is_text);
        let mut rules = HitRules::of(text, rules, &options);
        let parsed = rules.exclude(parsed);
        let pinned = rules.pinned();
        let refined = options.refine(&identity, parsed, pinned.as_ref(), analyzer, fields)?;
        let (parsed, refinement) = refined;
        let Refinement {
            facets,
            sort,
            cursors,
            filters,
        } = refinement;
        let index_id = rules.identity(index.index_id);
        let (parsed, all_matches) = rules.around(parsed, &filters);
        let mut options = options.resolved(&parsed.query);
        if options.explain {
            // Explanations are made where the ids are read.
            let contents = &mut options.returned.hits;
            *contents = (*contents).max(HitContents::Ids);
        }
        let start = match &cursors {
            Some(cursors) => cursors.page_start(&options, parsed.some_words.is_some())?,
            None => PageStart {
                start: options.start,
                after: None,
            },
        };
        let shared = |tree| Arc::new(Query::new(id, text.to_owned(), tree, options.ranking));
        let query = shared(parsed.query);
        let facets = facets.into_iter().map(|group| {
            let FacetGroup {
                query: own,
                facets,
                places,
            } = group;
            FacetCall {
                query: own.map_or_else(|| Arc::clone(&query), &shared),
                facets: facets.into(),
                places,
            }
        });
        let some_words = parsed.some_words.map(&shared);
        Ok(PreparedQuery {
            facets: facets.collect(),
            all_matches: match all_matches {
                Some(tree) => shared(tree),
                None => Arc::clone(some_words.as_ref().unwrap_or(&query)),
            },
            some_words,
            query,
            warnings: parsed.warnings,
            rules: match options.explain {
                true => parsed.rules,
                false => Vec::new(),
            },
            sort: sort.into(),
            cursors,
            start,
            parse_us: started.elapsed().as_micros() as u64,
            timeline: Timeline::new(arrived, options.trace),
            options,
            analyzer: Some(analyzer),
            filters,
            index_id,
            arrived,
        })
    }

    /// Returns a search on behalf of this one, for the `k` best hits of words under its filters.
    pub(crate) fn probe(
        &self,
        words: &str,
        analyzer: Analyzer,
        operator: Operator,
        k: usize,
    ) -> PreparedQuery {
        let options = SearchOptions {
            k,
            operator,
            ranking: self.options.ranking,
            timeout: self.options.timeout,
            returned: Returned {
                hits: HitContents::Numbers,
                ..Returned::default()
            },
            ..SearchOptions::default()
        };
        let parsed = search::parse(words, analyzer, operator);
        let with_filters = |query| filtered(query, self.filters.clone());
        let query = |tree| {
            Arc::new(Query::new(
                self.query.id,
                String::new(),
                tree,
                options.ranking,
            ))
        };
        let some_words = parsed.some_words.map(|some| query(with_filters(some)));
        let all_words = with_filters(parsed.query);
        PreparedQuery {
            some_words,
            ..PreparedQuery::of_tree(self.query.id, all_words, options, self.arrived)
        }
    }

    /// Returns a search for the hits of a tree, whose words are not marked.
    pub(crate) fn of_tree(
        id: u64,
        tree: search::Query,
        options: SearchOptions,
        arrived: Instant,
    ) -> PreparedQuery {
        let query = Query::new(id, String::new(), tree, options.ranking);
        let query = Arc::new(query);
        PreparedQuery {
            all_matches: Arc::clone(&query),
            query,
            some_words: None,
            warnings: Vec::new(),
            rules: Vec::new(),
            facets: Vec::new(),
            sort: Arc::default(),
            cursors: None,
            start: PageStart::default(),
            parse_us: 0,
            options,
            analyzer: None,
            filters: Vec::new(),
            index_id: String::new(),
            arrived,
            timeline: Timeline::new(arrived, false),
        }
    }

    /// Returns the generation that the page before is of; 0 for none.
    pub(crate) fn generation(&self) -> u64 {
        self.cursors.as_ref().map_or(0, Cursors::generation)
    }

    pub(crate) fn index_id(&self) -> &str {
        &self.index_id
    }

    /// Returns whether the count of the matches is all that is looked for, so that no hit is ranked.
    pub(crate) fn counts_alone(&self) -> bool {
        let is_first = self.start == PageStart::default();
        self.options.k == 0 && self.options.returned.counted && is_first
    }

    /// Returns whether each hit counts the matches that it hides.
    pub(crate) fn counts_groups(&self) -> bool {
        let SearchOptions {
            collapse,
            counts_hidden,
            returned,
            ..
        } = &self.options;
        !collapse.is_empty() && *counts_hidden && returned.hits > HitContents::Ids
    }

    /// Returns the least score of a document that `query` finds and that stands before the others of `some_words`, as a share of
    /// the best of these.
    pub(crate) fn first_share(&self) -> f32 {
        match self.options.as_you_type {
            // What is typed without errors stands first.
            true => 0.0,
            false => FIRST_SHARE,
        }
    }

    /// Returns the number of hits to look for: one more than the page has shows whether another page follows.
    pub(crate) fn wanted(&self) -> usize {
        if self.counts_alone() {
            return 0;
        }
        let page_end = self.start.start.saturating_add(self.options.k);
        page_end.saturating_add(1)
    }
}
