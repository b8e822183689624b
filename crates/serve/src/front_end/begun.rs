//! Query of a front-end before its first attempt: parsed once, with its filters, facets and order.

use crate::api::error::SearchError;
use crate::api::messages::Query;
use crate::api::options::SearchOptions;
use crate::cluster::Known;
use crate::front_end::facet_phase::AskedFacets;
use crate::front_end::timeline::Timeline;
use engine::{Cursors, FacetGroup, PageStart, Refinement};
use search::SortKey;
use std::sync::Arc;
use std::time::Instant;

/// State of a query that all its attempts share.
pub(super) struct Begun {
    pub(super) query: Arc<Query>,
    /// The query for documents with some of the words, where it has been parsed here.
    pub(super) some_words: Option<Arc<Query>>,
    /// Warnings of the parser; `None` where index servers parse the query.
    pub(super) warnings: Option<Vec<String>>,
    /// Facets over all matches.
    pub(super) facets: Vec<AskedFacets>,
    /// Fields by which hits are sorted; empty for the order of scores.
    pub(super) sort: Arc<[SortKey]>,
    /// Cursors, where they are asked for.
    pub(super) cursors: Option<Cursors>,
    /// Where the page begins.
    pub(super) start: PageStart,
    pub(super) parse_us: u64,
    pub(super) options: SearchOptions,
    pub(super) known: Known,
    pub(super) arrived: Instant,
    pub(super) timeline: Timeline,
}

impl Begun {
    /// Parses the query once for all servers, if the analyzer of the index is known.
    pub(super) fn new(
        id: u64,
        text: &str,
        options: &SearchOptions,
        known: Known,
        arrived: Instant,
    ) -> Result<Begun, SearchError> {
        let timeline = Timeline::new(arrived, options.trace);
        let started = Instant::now();
        let query = || Query::new(id, text.to_owned(), options.operator, options.ranking);
        let (parsed, refinement) = match known.analyzer {
            Some(analyzer) => {
                let fields = &known.fields;
                let parsed = search::parse_with(text, analyzer, fields, options.operator);
                let (parsed, refinement) = options.refine(text, parsed, analyzer, fields)?;
                (Some(parsed), refinement)
            }
            None if options.is_refined() => {
                return Err(SearchError::BadRequest {
                    parameter: "parameters",
                    reason: "no index server has reported its fields yet; try again".into(),
                });
            }
            None => (None, Refinement::default()),
        };
        let Refinement {
            facets,
            sort,
            cursors,
        } = refinement;
        let options = match &parsed {
            Some(parsed) => {
                let options = options.clone();
                options.resolved(&parsed.query, known.has_several_sites)
            }
            None => options.clone(),
        };
        let has_some_words = (parsed.as_ref()).is_some_and(|parsed| parsed.some_words.is_some());
        let start = match &cursors {
            Some(cursors) => cursors.page_start(&options, has_some_words)?,
            None => PageStart {
                start: options.start,
                after: None,
            },
        };
        let (query, some_words, warnings) = match parsed {
            Some(parsed) => (
                query().with_parsed(parsed.query),
                parsed.some_words.map(|some| query().with_parsed(some)),
                Some(parsed.warnings),
            ),
            None => (query(), None, None),
        };
        let query = Arc::new(query);
        let own_query = |group: &FacetGroup| match &group.query {
            None => Arc::clone(&query),
            Some(parsed) => {
                let (operator, ranking) = (options.operator, options.ranking);
                let own = Query::new(id, text.to_owned(), operator, ranking);
                Arc::new(own.with_parsed(parsed.clone()))
            }
        };
        let facets = facets.into_iter().map(|group| AskedFacets {
            query: own_query(&group),
            facets: group.facets.into(),
            places: group.places,
        });
        Ok(Begun {
            facets: facets.collect(),
            query,
            some_words: some_words.map(Arc::new),
            warnings,
            sort: sort.into(),
            cursors,
            start,
            parse_us: started.elapsed().as_micros() as u64,
            options,
            known,
            arrived,
            timeline,
        })
    }
}
