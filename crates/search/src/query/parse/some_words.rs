//! Query for documents with some of the words that were typed, for [`Operator::Auto`](super::Operator::Auto).
//!
//! ```text
//! how do solar sails steer        any telling one of: how do solar sails steer
//! solar +sails site:nasa.gov      +sails site:nasa.gov solar: one bare word, so nothing is left to relax
//! solar sails "how to" -boat      +"how to" +(any telling one of: solar sails) -boat
//! ```

use super::clauses::{Clause, Join, combine, merge_repeated};
use super::limits::Warnings;
use super::terms::{Operator, push_loose_words};
use crate::query::tree::Query;
use index::Field;

/// Number of bare words below which there is nothing to relax.
const WORDS_MIN: usize = 2;

/// Returns the query in which the bare words of the outermost group are relaxed: signs, quotes, fields, sites and `AND`
/// hold as typed, `a OR b` is one word. `None` with fewer than [`WORDS_MIN`] bare words.
pub(super) fn with_some_words(clauses: &[Clause]) -> Option<Query> {
    let (mut words, mut kept, mut typed_count) = (Vec::new(), Vec::new(), 0);
    let mut rest = clauses;
    while let [first, ..] = rest {
        let others = rest[1..].iter().take_while(|next| next.join == Join::Or);
        let (group, after) = rest.split_at(1 + others.count());
        let is_joined =
            first.join == Join::And || after.first().is_some_and(|next| next.join == Join::And);
        rest = after;
        match !is_joined && group.iter().all(is_bare) {
            true => typed_count += push_words_of(group, &mut words),
            false => kept.extend_from_slice(group),
        }
    }
    merge_repeated(&mut words);
    if typed_count < WORDS_MIN || words.len() < WORDS_MIN {
        return None;
    }
    let words = Query::AnyTelling(words);
    // Its warnings are those of the query with all words.
    Some(
        match combine(kept, Operator::And, &mut Warnings::default()) {
            Query::Nothing => words,
            Query::Boolean {
                mut required,
                optional,
                excluded,
            } if !required.is_empty() || optional.is_empty() => {
                required.push(words);
                Query::Boolean {
                    required,
                    optional,
                    excluded,
                }
            }
            other => Query::Boolean {
                required: vec![other, words],
                optional: Vec::new(),
                excluded: Vec::new(),
            },
        },
    )
}

/// Returns whether a clause is typed as plain words, alone or in parentheses.
fn is_bare(clause: &Clause) -> bool {
    let is_group = matches!(clause.query, Query::Boolean { .. });
    clause.sign.is_none() && (clause.is_run || is_group) && is_of_text(&clause.query)
}

fn is_of_text(query: &Query) -> bool {
    match query {
        Query::Term { field, .. } | Query::Pattern { field, .. } | Query::Phrase { field, .. } => {
            *field == Field::Text
        }
        Query::Boolean {
            required,
            optional,
            excluded,
        } => {
            let mut all = required.iter().chain(optional).chain(excluded);
            all.all(is_of_text)
        }
        Query::Boosted { clause, .. } => is_of_text(clause),
        _ => false,
    }
}

/// Adds the words of clauses joined by `OR`: one word, or each word of a run such as `foo/bar`, in its parts. Returns
/// the number of words typed: a compound is one, and so is each pair of letters of a text without blanks.
fn push_words_of(group: &[Clause], words: &mut Vec<Query>) -> usize {
    let run = match group {
        [only] if only.is_run => &only.query,
        [only] => {
            words.push(only.query.clone());
            return 1;
        }
        group => {
            let no_warnings = &mut Warnings::default();
            words.push(combine(group.to_vec(), Operator::And, no_warnings));
            return 1;
        }
    };
    let typed = match run {
        Query::Boolean { required, .. } if !required.is_empty() => required.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut typed_count = 0;
    for word in typed {
        typed_count += match word {
            Query::Phrase { terms, .. } => terms.len(),
            _ => 1,
        };
        push_loose_words(word.clone(), words);
    }
    typed_count
}
