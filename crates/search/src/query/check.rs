//! Check of trees that no parser has made: programs and bytes from outside keep the limits of the parser.

use crate::query::limits::{
    BOOST_MAX, BOOST_MIN, CLAUSES_MAX, NAME_BYTES_MAX, NAMES_MAX, NESTED_MAX, PATTERNS_MAX,
    PHRASE_WORDS_MAX, SLOP_MAX, URLS_MAX,
};
use crate::query::tree::Query;
use fields::Searched;
use index::Field;
use std::fmt;
use text::{EDITS_MAX, Pattern};

/// Error of a tree that exceeds the limits of the parser, as a sentence with what exceeds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BeyondLimits(&'static str);

impl fmt::Display for BeyondLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for BeyondLimits {}

impl Query {
    /// Checks that a tree is within the limits of the parser ([`parse`](crate::parse)), so that its evaluation is bounded.
    ///
    /// # Errors
    /// The first limit that is exceeded.
    pub fn check(&self) -> Result<(), BeyondLimits> {
        let mut left = Left {
            clauses: CLAUSES_MAX,
            patterns: PATTERNS_MAX,
            names: NAMES_MAX,
        };
        left.take(self, 0).map_err(BeyondLimits)
    }
}

/// What a tree may still have.
struct Left {
    clauses: usize,
    patterns: usize,
    names: usize,
}

impl Left {
    fn take(&mut self, query: &Query, depth: usize) -> Result<(), &'static str> {
        if depth > NESTED_MAX {
            return Err("the query is nested too deep");
        }
        let weight = BOOST_MIN..=BOOST_MAX;
        match query {
            Query::Nothing | Query::All | Query::Value { .. } => {}
            Query::TitleStart { start, edits } => {
                let is_valid = Pattern::near_start(start, *edits).is_valid() && *edits <= EDITS_MAX;
                ensure(
                    is_valid,
                    "the query has a beginning of titles beyond the limits",
                )?;
            }
            Query::Term { field, weight, .. } => {
                is_known(*field)?;
                ensure(*weight > 0, "the query has a term with a weight of 0")?;
            }
            Query::Pattern { field, pattern } => {
                is_known(*field)?;
                let is_valid = pattern.is_valid();
                ensure(is_valid, "the query has a pattern beyond the limits")?;
                // Subdomains are looked up and not looked for.
                if *field != Field::Site {
                    take_one(&mut self.patterns, "the query has too many patterns")?;
                }
            }
            Query::Urls(urls) => {
                let is_few = urls.len() <= URLS_MAX;
                ensure(is_few, "the query has more than 1,000 URLs in one clause")?;
            }
            Query::Phrase { field, terms, slop } => {
                is_known(*field)?;
                let is_short = (2..=PHRASE_WORDS_MAX).contains(&terms.len());
                let is_within = is_short && *slop <= SLOP_MAX;
                ensure(is_within, "the query has a phrase beyond the limits")?;
            }
            Query::Boolean {
                required,
                optional,
                excluded,
            } => {
                let mut all = required.iter().chain(optional).chain(excluded);
                return all.try_for_each(|clause| self.take(clause, depth + 1));
            }
            Query::AnyTelling(clauses)
            | Query::AllTelling(clauses)
            | Query::AtLeast { clauses, .. } => {
                return clauses
                    .iter()
                    .try_for_each(|clause| self.take(clause, depth + 1));
            }
            Query::BestOf {
                clauses,
                tie_breaker,
            } => {
                let is_share = (0.0..=1.0).contains(tie_breaker);
                ensure(is_share, "the query has a tie breaker beyond the limits")?;
                return clauses
                    .iter()
                    .try_for_each(|clause| self.take(clause, depth + 1));
            }
            Query::Constant { score, clause } => {
                let is_within = weight.contains(score);
                ensure(
                    is_within,
                    "the query has a constant score beyond the limits",
                )?;
                return self.take(clause, depth + 1);
            }
            Query::Filter(clause) => return self.take(clause, depth + 1),
            Query::Ruled { .. } => return Err("the query has rules of its own"),
            Query::Boosted { boost, clause } => {
                let is_within = weight.contains(boost);
                ensure(is_within, "the query has a boost beyond the limits")?;
                return self.take(clause, depth + 1);
            }
            Query::Named { name, clause } => {
                take_one(&mut self.names, "the query has too many names")?;
                let is_short = name.len() <= NAME_BYTES_MAX;
                ensure(is_short, "the query has a name that is too long")?;
                return self.take(clause, depth + 1);
            }
        }
        take_one(&mut self.clauses, "the query has too many clauses")
    }
}

fn is_known(field: Field) -> Result<(), &'static str> {
    match field {
        Field::Further(number) => {
            let is_further = Field::of_number(number) == field;
            let is_sound = is_further && Searched::new(number).is_sound();
            ensure(is_sound, "the query asks for an unknown field")
        }
        _ => Ok(()),
    }
}

fn ensure(holds: bool, refusal: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(refusal) }
}

fn take_one(left: &mut usize, refusal: &'static str) -> Result<(), &'static str> {
    *left = left.checked_sub(1).ok_or(refusal)?;
    Ok(())
}
