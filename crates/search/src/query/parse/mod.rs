//! Lenient parser of typed text: every text becomes a query and warnings; it never fails.
//!
//! ```text
//! query   := clause { [AND | OR] clause }       a b = a AND b, or a OR b with Operator::Or
//! clause  := { + | - | NOT } [field:] ( words | words* | /regex/ | "phrase"[~slop] | (query) ) [^boost]
//! field   := title | site | a field of text | a field of the schema, whose value is a test: see `fields::Test`,
//!            or a range, `[a TO b]`
//! ```
//!
//! - A word is what the analyzer says: `foo/bar` is two words, both wanted like any others.
//!   `+` and `-` mean something only at the start of a clause; `AND OR NOT` only in capitals.
//! - `OR` binds tighter than its neighbours, as in web search: `a OR b c` is `(a OR b) AND c`.
//! - With [`Operator::Or`] bare words are optional; `+word`, the sides of an `AND` and `site:`
//!   stay required.
//! - With [`Operator::Auto`] all bare words that tell something are required, and a second query requires one of them:
//!   [`Parsed::some_words`].
//! - With [`Operator::Most`] a number of the bare words is required.
//! - `site:` takes a whole name, filters, and adds nothing to the score.
//! - `name:` of a field of the schema tests its values, filters, and adds nothing to the score. Of keywords whose words are
//!   searched it looks for words, and filters likewise; in a filter it tests their values. A quoted value is exactly that text.
//! - Words said again merge into one clause of that weight; prefixes said again into one.
//! - Signs of other query languages are not obeyed, and each has a warning.
//!
//! Limits keep evaluation bounded whatever is typed: see the constants. The parser keeps its own
//! stack of open parentheses, so no input can overflow the program's.

#[cfg(test)]
mod any_text;
mod as_you_type;
mod brackets;
mod clauses;
mod limits;
mod obeyed;
mod parser;
mod pieces;
mod quoted;
mod ranges;
mod read_rules;
mod rules;
#[cfg(test)]
mod rules_tests;
mod ruling;
mod runs;
mod scan;
mod sites;
mod some_words;
mod terms;
#[cfg(test)]
mod tests;
mod typed;
mod unobeyed;
mod values;

pub use as_you_type::typing_errors;
pub use clauses::simplified;
pub use limits::{
    BOOST_MAX, BOOST_MIN, CLAUSES_MAX, DEPTH_MAX, NAME_BYTES_MAX, NAMES_MAX, PATTERNS_MAX,
    PHRASE_WORDS_MAX, QUERY_BYTES_MAX, SLOP_MAX, URLS_MAX, WARNINGS_MAX, WAYS_MAX,
};
pub use rules::{QueryRules, ReadWith, SYNONYM_WEIGHT, SYNONYMS_ADDED_MAX};
pub use ruling::Ruled;
pub use runs::{edits_of, prefix_query, prefixes_of};
pub use sites::site_query;
pub use terms::{Least, Operator, UnknownLeast, near_query, phrase_in_ways, word_query};
pub use typed::{
    Parsed, Reading, bag_of_words, bag_of_words_in, parse, parse_as_you_type, parse_filter,
    parse_with, phrase_of, some_of_words, words_as_you_type, words_begun, words_with,
};
