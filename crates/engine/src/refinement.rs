//! Filters, facets and order of a search, read with the fields of an index.

use crate::error::BadRequest;
use crate::options::SearchOptions;
use fields::{Facet, Schema};
use search::{Parsed, Query, SortKey};
use text::Analyzer;

/// Upper limit on the facets of a search.
pub const FACETS_MAX: usize = 32;
/// Upper limit on the filters of a search.
pub const FILTERS_MAX: usize = 32;

/// Facets and order of a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Refinement {
    /// Facets to count.
    pub facets: Vec<Facet>,
    /// Order of the hits; empty for that of scores.
    pub sort: Vec<SortKey>,
}

impl SearchOptions {
    /// Returns whether the search has filters, facets or an order of its own.
    pub fn is_refined(&self) -> bool {
        !(self.filters.is_empty() && self.facets.is_empty() && self.sort.trim().is_empty())
    }

    /// Reads filters, facets and order. Returns the query with the filters; a query without text is the filters alone.
    ///
    /// # Errors
    /// A filter, facet or order that cannot be read, or names a field that does not exist.
    pub fn refine(
        &self,
        text: &str,
        parsed: Parsed,
        analyzer: Analyzer,
        schema: &Schema,
    ) -> Result<(Parsed, Refinement), BadRequest> {
        let refused = |parameter, reason: String| BadRequest { parameter, reason };
        if self.facets.len() > FACETS_MAX {
            return Err(refused("facet", format!("more than {FACETS_MAX} facets")));
        }
        if self.filters.len() > FILTERS_MAX {
            return Err(refused(
                "filter",
                format!("more than {FILTERS_MAX} filters"),
            ));
        }
        let mut facets = Vec::with_capacity(self.facets.len());
        for facet in &self.facets {
            let facet = Facet::parse(facet, schema);
            facets.push(facet.map_err(|bad| refused("facet", bad.reason))?);
        }
        let sort = match self.sort.trim().is_empty() {
            true => Vec::new(),
            false => {
                SortKey::parse_all(&self.sort, schema).map_err(|bad| refused("sort", bad.reason))?
            }
        };
        let mut filters = Vec::with_capacity(self.filters.len());
        for filter in &self.filters {
            let filter = search::parse_filter(filter, analyzer, schema);
            filters.push(filter.map_err(|reason| refused("filter", reason))?);
        }
        let mut parsed = filtered(text, parsed, filters);
        if !sort.is_empty() {
            // One order for all documents: those with all words.
            parsed.some_words = None;
        }
        Ok((parsed, Refinement { facets, sort }))
    }
}

/// Returns a query of which all filters hold.
fn filtered(text: &str, parsed: Parsed, filters: Vec<Query>) -> Parsed {
    if filters.is_empty() {
        return parsed;
    }
    let with_filters = |query: Option<Query>| Query::Boolean {
        required: query.into_iter().chain(filters.iter().cloned()).collect(),
        optional: Vec::new(),
        excluded: Vec::new(),
    };
    match text.trim().is_empty() {
        true => Parsed {
            query: with_filters(None),
            some_words: None,
            warnings: Vec::new(),
        },
        false => Parsed {
            query: with_filters(Some(parsed.query)),
            some_words: parsed.some_words.map(|query| with_filters(Some(query))),
            warnings: parsed.warnings,
        },
    }
}
