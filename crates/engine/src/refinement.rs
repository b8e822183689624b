//! Filters, facets and order of a search, read with the fields of an index.

use crate::cursor::Cursors;
use crate::error::BadRequest;
use crate::options::SearchOptions;
use fields::facet::SITE;
use fields::{Facet, Schema};
use search::{Parsed, Query, SortKey};
use text::Analyzer;

/// Upper limit on the facets of a search, those within others included.
pub const FACETS_MAX: usize = 32;
/// Upper limit on the filters of a search.
pub const FILTERS_MAX: usize = 32;

/// Facets that are counted over the matches of one query.
#[derive(Debug, Clone, PartialEq)]
pub struct FacetGroup {
    /// The query; `None` is that of the hits.
    pub query: Option<Query>,
    /// The facets.
    pub facets: Vec<Facet>,
    /// Places of the facets in the answer.
    pub places: Vec<usize>,
}

/// Facets and order of a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Refinement {
    /// Facets to count. A facet of a field is not narrowed by the filters of that field, so that it shows the other
    /// values that could be chosen.
    pub facets: Vec<FacetGroup>,
    /// Order of the hits; empty for that of scores.
    pub sort: Vec<SortKey>,
    /// Cursors; `None` where they are not asked for.
    pub cursors: Option<Cursors>,
    /// Filters, of the query and of those on its behalf.
    pub filters: Vec<Query>,
}

impl SearchOptions {
    /// Returns whether the search has filters, facets, an order of its own or cursors.
    pub fn is_refined(&self) -> bool {
        !(self.facets.is_empty() && self.sort.trim().is_empty())
            || self.is_filtered()
            || self.after.is_some()
    }

    /// Returns whether the search has filters.
    pub fn is_filtered(&self) -> bool {
        !(self.filters.is_empty() && self.filter_trees.is_empty())
    }

    /// Reads filters, facets and order. Returns the query with the filters. Facets count the documents of `pinned`, too, which the
    /// query excludes.
    ///
    /// # Errors
    /// A filter, facet or order that cannot be read, or names a field that does not exist.
    pub fn refine(
        &self,
        text: &str,
        parsed: Parsed,
        pinned: Option<&Query>,
        analyzer: Analyzer,
        schema: &Schema,
    ) -> Result<(Parsed, Refinement), BadRequest> {
        let refused = |parameter, reason: String| BadRequest { parameter, reason };
        if self.filters.len() + self.filter_trees.len() > FILTERS_MAX {
            return Err(refused(
                "filter",
                format!("more than {FILTERS_MAX} filters"),
            ));
        }
        let cursors = Cursors::of(text, self)?;
        if !self.collapse.is_empty() {
            let checked = search::check_collapse(&self.collapse, schema);
            checked.map_err(|bad| refused("collapse", bad.reason))?;
        }
        let mut facets = Vec::with_capacity(self.facets.len());
        for facet in &self.facets {
            let facet = Facet::parse(facet, schema);
            facets.push(facet.map_err(|bad| refused("facet", bad.reason))?);
            if facets.iter().map(Facet::count).sum::<usize>() > FACETS_MAX {
                return Err(refused("facet", format!("more than {FACETS_MAX} facets")));
            }
        }
        let sort = match self.sort.trim().is_empty() {
            true => Vec::new(),
            false => {
                SortKey::parse_all(&self.sort, schema).map_err(|bad| refused("sort", bad.reason))?
            }
        };
        let mut filters = Vec::with_capacity(self.filters.len() + self.filter_trees.len());
        for filter in &self.filters {
            let parsed = search::parse_filter(filter, analyzer, schema);
            let parsed = parsed.map_err(|reason| refused("filter", reason))?;
            filters.push(match self.explain {
                true => named(filter, parsed),
                false => parsed,
            });
        }
        for tree in &self.filter_trees {
            let checked = tree.check();
            checked.map_err(|beyond| refused("filter", beyond.to_string()))?;
        }
        let trees = self.filter_trees.iter().cloned();
        filters.extend(trees.map(|tree| match tree.only_excludes() {
            true => tree,
            false => Query::Filter(Box::new(tree)),
        }));
        let query_of = |facet: &Facet| {
            let is_kept = |filter: &&Query| only_field(filter) != Some(&facet.field);
            let kept: Vec<Query> = filters.iter().filter(is_kept).cloned().collect();
            let is_of_hits = kept.len() == filters.len() && pinned.is_none();
            (!is_of_hits).then(|| filtered(with_pinned(parsed.query.clone(), pinned), kept))
        };
        let facets = grouped(facets, query_of);
        let mut parsed = Parsed {
            query: filtered(parsed.query, filters.clone()),
            some_words: (parsed.some_words).map(|query| filtered(query, filters.clone())),
            ..parsed
        };
        if !sort.is_empty() {
            // One order for all documents: those with all words.
            parsed.some_words = None;
        }
        let refinement = Refinement {
            facets,
            sort,
            cursors,
            filters,
        };
        Ok((parsed, refinement))
    }
}

/// Puts the facets of one query together.
fn grouped(facets: Vec<Facet>, query_of: impl Fn(&Facet) -> Option<Query>) -> Vec<FacetGroup> {
    let mut groups: Vec<FacetGroup> = Vec::new();
    for (place, facet) in facets.into_iter().enumerate() {
        let query = query_of(&facet);
        let group = match groups.iter().position(|group| group.query == query) {
            Some(at) => at,
            None => {
                groups.push(FacetGroup {
                    query,
                    facets: Vec::new(),
                    places: Vec::new(),
                });
                groups.len() - 1
            }
        };
        groups[group].facets.push(facet);
        groups[group].places.push(place);
    }
    groups
}

/// Returns a filter whose name in explanations is its text, cut to the length of a name.
fn named(text: &str, filter: Query) -> Query {
    let text = text.trim();
    let longest = text.len().min(search::parse::NAME_BYTES_MAX);
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    let end = (0..=longest).rev().find(is_boundary).unwrap_or(0);
    Query::Named {
        name: text[..end].to_owned(),
        clause: Box::new(filter),
    }
}

/// Returns the field whose values are all that a filter tests.
fn only_field(filter: &Query) -> Option<&str> {
    match filter {
        Query::Value { field, .. } => Some(field),
        Query::Term {
            field: index::Field::Site,
            ..
        }
        | Query::Pattern {
            field: index::Field::Site,
            ..
        } => Some(SITE),
        Query::Constant { clause, .. }
        | Query::Filter(clause)
        | Query::Boosted { clause, .. }
        | Query::Named { clause, .. } => only_field(clause),
        Query::Boolean {
            required,
            optional,
            excluded,
        } => {
            let mut all = required.iter().chain(optional).chain(excluded);
            let first = only_field(all.next()?)?;
            all.all(|clause| only_field(clause) == Some(first))
                .then_some(first)
        }
        _ => None,
    }
}

/// Returns a query of which all filters hold.
pub(crate) fn filtered(query: Query, filters: Vec<Query>) -> Query {
    if filters.is_empty() {
        return query;
    }
    let (left_out, kept): (Vec<Query>, Vec<Query>) =
        filters.into_iter().partition(Query::only_excludes);
    Query::Boolean {
        required: std::iter::once(query).chain(kept).collect(),
        optional: Vec::new(),
        excluded: left_out.into_iter().flat_map(excluded_of).collect(),
    }
}

/// Returns a query for the matches of another one and for the documents before its hits.
pub(crate) fn with_pinned(query: Query, pinned: Option<&Query>) -> Query {
    match pinned {
        Some(pinned) => Query::Boolean {
            required: Vec::new(),
            optional: vec![query, pinned.clone()],
            excluded: Vec::new(),
        },
        None => query,
    }
}

/// Returns the clauses of a filter that only says what to leave out.
fn excluded_of(filter: Query) -> Vec<Query> {
    match filter {
        Query::Boolean { excluded, .. } => excluded,
        Query::Named { clause, .. } => excluded_of(*clause),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fields::FieldType;

    #[test]
    fn a_facet_is_not_narrowed_by_the_filters_of_its_field() {
        let schema: Schema = [("lang", FieldType::Keyword), ("n", FieldType::Integer)]
            .into_iter()
            .collect();
        let options = SearchOptions {
            filters: vec![
                "lang:(en OR de)".into(),
                "n:>3 -n:7".into(),
                "site:a.test lang:en".into(),
            ],
            facets: vec![
                "lang".into(),
                "n".into(),
                "site".into(),
                "lang:terms:3".into(),
            ],
            ..SearchOptions::default()
        };
        let parse =
            |text: &str| search::parse_with(text, Analyzer::Plain, &schema, options.operator);
        let refined = options.refine("moon", parse("moon"), None, Analyzer::Plain, &schema);
        let (parsed, refinement) = refined.unwrap();
        let places: Vec<&[usize]> = refinement
            .facets
            .iter()
            .map(|group| &group.places[..])
            .collect();
        assert_eq!(places, [&[0, 3][..], &[1], &[2]]);
        let count = |query: &Query| match query {
            Query::Boolean { required, .. } => required.len(),
            _ => 0,
        };
        assert_eq!(count(&parsed.query), 4);
        let counts = refinement
            .facets
            .iter()
            .map(|group| group.query.as_ref().map(count));
        assert_eq!(counts.collect::<Vec<_>>(), [Some(3), Some(3), None]);
    }

    #[test]
    fn explained_filters_have_their_text_as_a_name() {
        let schema: Schema = [("lang", FieldType::Keyword)].into_iter().collect();
        let long = format!("lang:x{}", "é".repeat(200));
        let names = |explain| {
            let options = SearchOptions {
                filters: vec![" lang:(en OR de)".into(), long.clone()],
                explain,
                ..SearchOptions::default()
            };
            let parsed = search::parse("moon", Analyzer::Plain, options.operator);
            let refined = options.refine("moon", parsed, None, Analyzer::Plain, &schema);
            let Query::Boolean { required, .. } = refined.unwrap().0.query else {
                panic!("filters are required");
            };
            let name = |clause: Query| match clause {
                Query::Named { name, .. } => Some(name),
                _ => None,
            };
            required.into_iter().filter_map(name).collect::<Vec<_>>()
        };
        let cut = format!("lang:x{}", "é".repeat(125));
        assert_eq!(names(true), ["lang:(en OR de)".to_owned(), cut]);
        assert!(names(false).is_empty());
    }

    #[test]
    fn every_clause_of_a_bucket_is_read_back() {
        let fields = FieldType::ALL.map(|kind| (kind.name().to_owned(), kind));
        let schema: Schema = fields.into_iter().collect();
        for filter in [
            "keyword:cs.LG",
            "keyword:\"a b\"",
            "date:2024-02",
            "date:(>=2024-02-01 <2024-02-08)",
            "date:(>=2024-02-01 <2024-02-01T12:00:00Z)",
            "i64:(>=-10 <0)",
            "-i64:*",
            "keyword:\"a b\" date:(>=2024-02-01 <2024-02-08) i64:..5",
        ] {
            let parsed = search::parse_filter(filter, Analyzer::Plain, &schema);
            assert!(parsed.is_ok(), "{filter}: {parsed:?}");
        }
    }

    #[test]
    fn a_filter_may_only_leave_out() {
        let schema: Schema = [("n", FieldType::Integer)].into_iter().collect();
        let refined = |text: &str, filters: &[&str], explain| {
            let options = SearchOptions {
                filters: filters.iter().map(|&filter| filter.to_owned()).collect(),
                explain,
                ..SearchOptions::default()
            };
            let parsed = search::parse(text, Analyzer::Plain, options.operator);
            let refined = options.refine(text, parsed, None, Analyzer::Plain, &schema);
            refined.unwrap().0.query
        };
        for explain in [false, true] {
            for (text, filters, required_count) in [
                ("moon", &["-n:*"][..], 1),
                ("moon", &["-n:*", "n:>3"], 2),
                ("*", &["-n:7", "n:>3"], 2),
                ("*", &["-n:7"], 1),
            ] {
                let query = refined(text, filters, explain);
                let Query::Boolean {
                    required,
                    optional,
                    excluded,
                } = query
                else {
                    panic!("{filters:?}");
                };
                assert_eq!(
                    (required.len(), optional.len(), excluded.len()),
                    (required_count, 0, 1)
                );
            }
        }
    }

    #[test]
    fn facets_within_others_count_towards_the_limit() {
        let schema: Schema = [("n", FieldType::Integer)].into_iter().collect();
        let refined = |count: usize| {
            let options = SearchOptions {
                facets: vec![format!("n:step:1{{{}}}", vec!["n"; count].join(","))],
                ..SearchOptions::default()
            };
            let parsed = search::parse("moon", Analyzer::Plain, options.operator);
            options
                .refine("moon", parsed, None, Analyzer::Plain, &schema)
                .map(|_| ())
        };
        assert_eq!(refined(FACETS_MAX - 1), Ok(()));
        let refused = refined(FACETS_MAX).unwrap_err();
        assert_eq!(refused.to_string(), "facet: more than 32 facets");
    }
}
