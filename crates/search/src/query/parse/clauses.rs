//! Combination of the clauses of one pair of parentheses.
use super::limits::{Warnings, shortened};
use super::terms::{Operator, push_loose_words};
use crate::query::tree::Query;
use fields::FieldType;
use index::Field;
use std::collections::{HashMap, HashSet};
use text::Pattern;

/// The keyword between a clause and the one before.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) enum Join {
    #[default]
    None,
    And,
    Or,
}

/// The sign before a clause.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Sign {
    Required,
    Excluded,
}

/// Field that a word is typed for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Target {
    /// Words of the index.
    Words(Field),
    /// Values of a field of the schema.
    Values(String, FieldType),
}

/// Clause as typed.
#[derive(Debug, Clone)]
pub(super) struct Clause {
    pub(super) join: Join,
    pub(super) sign: Option<Sign>,
    // Whether the words are one run without blanks, `foo-bar`, and not a group.
    pub(super) is_run: bool,
    pub(super) query: Query,
}

/// A group being read: its clauses, and the modifiers of the next one.
#[derive(Debug, Default)]
pub(super) struct Frame {
    pub(super) clauses: Vec<Clause>,
    pub(super) join: Join,
    pub(super) sign: Option<Sign>,
    pub(super) field: Option<Target>,
    // Field written before the group's parenthesis.
    inherited: Option<Target>,
}

impl Frame {
    pub(super) fn inside(field: Target) -> Frame {
        Frame {
            inherited: Some(field),
            ..Frame::default()
        }
    }

    pub(super) fn field_in_force(&self) -> Target {
        let field = self.field.as_ref().or(self.inherited.as_ref());
        field.cloned().unwrap_or(Target::Words(Field::Text))
    }

    /// Returns whether `AND` or `OR` has a clause on its left and is not yet pending.
    pub(super) fn can_join(&self) -> bool {
        !self.clauses.is_empty() && self.join == Join::None && self.sign.is_none()
    }

    pub(super) fn push(&mut self, query: Query) {
        self.push_clause(query, false);
    }

    pub(super) fn push_run(&mut self, query: Query) {
        self.push_clause(query, true);
    }

    fn push_clause(&mut self, query: Query, is_run: bool) {
        self.clauses.push(Clause {
            join: std::mem::take(&mut self.join),
            sign: self.sign.take(),
            is_run,
            query,
        });
        self.field = None;
    }

    /// Drops an empty clause. An operator before it applies to the clause after it.
    pub(super) fn drop_clause(&mut self) {
        self.sign = None;
        self.field = None;
    }
}

/// Leaves out each `*` beside words, in pasted text, and all but one beside filters: alone it is all documents.
pub(super) fn leave_out_stars(clauses: &mut Vec<Clause>, warnings: &mut Warnings) {
    let is_star = |clause: &Clause| match &clause.query {
        Query::Boosted { clause, .. } => **clause == Query::All,
        query => *query == Query::All,
    };
    if !clauses.iter().any(is_star) {
        return;
    }
    let is_excluded = |clause: &Clause| clause.sign == Some(Sign::Excluded);
    let is_word =
        |clause: &Clause| !is_star(clause) && !is_excluded(clause) && !clause.query.only_filters();
    let mut is_wanted = !clauses.iter().any(is_word);
    let before = clauses.len();
    clauses.retain(|clause| {
        !is_star(clause) || !is_excluded(clause) && std::mem::take(&mut is_wanted)
    });
    if clauses.len() < before {
        warnings.add(
            "A `*` beside words stands for no word and was ignored; alone it finds all documents, and `wor*` is a beginning.",
        );
    }
}

/// Combines the clauses of a group into one query. If all are excluded, it is a `Boolean` with only
/// excluded clauses, and the caller decides.
pub(super) fn combine(clauses: Vec<Clause>, operator: Operator, warnings: &mut Warnings) -> Query {
    let mut lists = Lists::default();
    let mut clauses = clauses.into_iter().peekable();
    while let Some(first) = clauses.next() {
        let mut joined_by_and = first.join == Join::And;
        let mut alternatives = vec![first];
        while let Some(next) = clauses.next_if(|next| next.join == Join::Or) {
            alternatives.push(next);
        }
        joined_by_and |= clauses.peek().is_some_and(|next| next.join == Join::And);
        lists.add(alternatives, operator, joined_by_and, warnings);
    }
    for list in [&lists.required, &lists.optional, &lists.excluded] {
        warn_of_repeated_patterns(list, warnings);
    }
    simplified(lists.required, lists.optional, lists.excluded)
}

#[derive(Debug, Default)]
struct Lists {
    required: Vec<Query>,
    optional: Vec<Query>,
    excluded: Vec<Query>,
}

impl Lists {
    /// Adds clauses joined by `OR`; usually there is only one.
    fn add(
        &mut self,
        alternatives: Vec<Clause>,
        operator: Operator,
        joined_by_and: bool,
        warnings: &mut Warnings,
    ) {
        let alone = alternatives.len() == 1;
        let mut must = operator != Operator::Or || joined_by_and;
        let is_run = alternatives.iter().all(|clause| clause.is_run);
        let mut positive = Vec::with_capacity(alternatives.len());
        for clause in alternatives {
            match clause.sign {
                Some(Sign::Excluded) => {
                    if !alone {
                        warnings.add(
                            "What is excluded cannot be an alternative: it was left out of all \
                             results.",
                        );
                    }
                    self.excluded.push(clause.query);
                }
                sign => {
                    must |= sign == Some(Sign::Required);
                    positive.push(clause.query);
                }
            }
        }
        must |= positive.len() == 1 && positive[0].only_filters();
        match (positive.len(), must) {
            (0, _) => {}
            (1, true) => positive.into_iter().for_each(|query| self.require(query)),
            (_, true) => {
                let mut any = Vec::new();
                for query in positive {
                    flatten_optional(query, &mut any);
                }
                self.require(simplified(Vec::new(), any, Vec::new()));
            }
            (1, false) if alone && is_run => positive
                .into_iter()
                .for_each(|query| self.offer_words(query)),
            (_, false) => {
                for query in positive {
                    flatten_optional(query, &mut self.optional);
                }
            }
        }
    }

    /// Requires a query; its own required and excluded clauses go straight into the lists.
    fn require(&mut self, query: Query) {
        match query {
            Query::Boolean {
                required,
                optional,
                excluded,
            } if optional.is_empty() => {
                self.required.extend(required);
                self.excluded.extend(excluded);
            }
            query => self.required.push(query),
        }
    }

    /// Makes each word of a run optional.
    fn offer_words(&mut self, query: Query) {
        match query {
            Query::Boolean { required, .. } if !required.is_empty() => required
                .into_iter()
                .for_each(|word| push_loose_words(word, &mut self.optional)),
            query => push_loose_words(query, &mut self.optional),
        }
    }
}

/// Adds an alternative; nested alternatives are flattened.
fn flatten_optional(query: Query, optional: &mut Vec<Query>) {
    match query {
        Query::Boolean {
            required,
            optional: inner,
            excluded,
        } if required.is_empty() && excluded.is_empty() => optional.extend(inner),
        query => optional.push(query),
    }
}

/// Makes a combination with repeated words merged; a combination of one clause is that clause.
pub fn simplified(
    mut required: Vec<Query>,
    mut optional: Vec<Query>,
    mut excluded: Vec<Query>,
) -> Query {
    for list in [&mut required, &mut optional, &mut excluded] {
        merge_repeated(list);
    }
    if required.is_empty() && optional.is_empty() && excluded.is_empty() {
        return Query::Nothing;
    }
    if excluded.is_empty() && required.len() + optional.len() == 1 {
        return required.pop().or(optional.pop()).unwrap_or(Query::Nothing);
    }
    // `(a OR b) -c` is one combination.
    if optional.is_empty() && required.len() == 1 {
        match required.remove(0) {
            Query::Boolean {
                required: inner_required,
                optional: inner_optional,
                excluded: inner_excluded,
            } => {
                excluded.extend(inner_excluded);
                merge_repeated(&mut excluded);
                (required, optional) = (inner_required, inner_optional);
            }
            query => required.push(query),
        }
    }
    Query::Boolean {
        required,
        optional,
        excluded,
    }
}

/// Upper limit on clauses that are compared in pairs; more are compared through a table.
const COMPARED_MAX: usize = 12;

/// The key that equal words, or equal patterns, share.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Term(Field, String),
    Pattern(Field, Pattern),
}

fn key(query: &Query) -> Option<Key> {
    match query {
        Query::Term { field, term, .. } => Some(Key::Term(*field, term.clone())),
        Query::Pattern { field, pattern } => Some(Key::Pattern(*field, pattern.clone())),
        _ => None,
    }
}

/// Merges a repeated term or pattern into its first place. Weights of terms add up; a pattern has none.
pub(super) fn merge_repeated(list: &mut Vec<Query>) {
    if list.len() <= COMPARED_MAX && !any_repeated(list) {
        return;
    }
    let mut places: HashMap<Key, usize> = HashMap::new();
    let mut merged: Vec<Query> = Vec::with_capacity(list.len());
    for query in list.drain(..) {
        if let Some(key) = key(&query) {
            let place = *places.entry(key).or_insert(merged.len());
            match (merged.get_mut(place), &query) {
                (Some(Query::Term { weight: sum, .. }), Query::Term { weight, .. }) => {
                    *sum = sum.saturating_add(*weight);
                    continue;
                }
                (Some(_), _) => continue,
                (None, _) => {}
            }
        }
        merged.push(query);
    }
    *list = merged;
}

fn any_repeated(list: &[Query]) -> bool {
    let same = |a: &Query, b: &Query| match (a, b) {
        (
            Query::Term { field, term, .. },
            Query::Term {
                field: other_field,
                term: other,
                ..
            },
        ) => field == other_field && term == other,
        (Query::Pattern { .. }, Query::Pattern { .. }) => a == b,
        _ => false,
    };
    (1..list.len()).any(|at| list[..at].iter().any(|before| same(before, &list[at])))
}

/// Warns of repeated patterns: a repeated term counts twice, a pattern has no weight.
fn warn_of_repeated_patterns(list: &[Query], warnings: &mut Warnings) {
    let mut known = HashSet::new();
    for query in list {
        if let Query::Pattern { field, pattern } = query
            && !known.insert((*field, pattern))
        {
            warnings.add(format!(
                "`{}` stands in the query more than once; it counts once.",
                shortened(&pattern.to_string())
            ));
        }
    }
}
