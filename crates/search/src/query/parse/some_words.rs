//! Queries for documents with the telling words of those that were typed, or with some of the words, for
//! [`Operator::Auto`](super::Operator::Auto) and [`Operator::Most`](super::Operator::Most).
//!
//! ```text
//! how do solar sails steer        all telling ones, or any telling one, of: how do solar sails steer
//! solar +sails site:nasa.gov      +sails site:nasa.gov solar: one bare word, so nothing is left to relax
//! solar sails "how to" -boat      +"how to" +(telling ones of: solar sails) -boat
//! ```

use super::clauses::{Clause, Join, combine, merge_repeated};
use super::limits::Warnings;
use super::terms::{Least, Operator, loosened, push_loose_words, typed_words_count};
use crate::query::tree::Query;
use index::Field;

/// Number of bare words below which there is nothing to relax.
const WORDS_MIN: usize = 2;

/// The two queries of [`Operator::Auto`].
pub(super) struct ByTelling {
    /// The query in which all telling ones of the bare words are required.
    pub(super) all: Query,
    /// The query in which one of them is.
    pub(super) any: Query,
}

/// Returns the queries in which telling ones of the bare words are required. `None` with fewer than [`WORDS_MIN`] bare words.
pub(super) fn by_telling(clauses: &[Clause]) -> Option<ByTelling> {
    let (mut whole, mut words, mut typed_count) = (Vec::new(), Vec::new(), 0);
    let kept = split(clauses, |group| {
        push_required_of(group, &mut whole);
        typed_count += push_words_of(group, &mut words);
    });
    merge_repeated(&mut whole);
    merge_repeated(&mut words);
    let is_group = |word: &Query| match word {
        Query::BestOf { clauses, .. } => matches!(clauses.first(), Some(Query::AnyTelling(_))),
        _ => false,
    };
    if typed_count < WORDS_MIN || words.len() < WORDS_MIN && !words.iter().any(is_group) {
        return None;
    }
    // A compound alone has parts, of which some may be missing.
    let all = match whole.len() {
        1 => whole.remove(0),
        _ => Query::AllTelling(whole),
    };
    Some(ByTelling {
        all: together(kept.clone(), all),
        any: together(kept, Query::AnyTelling(words)),
    })
}

/// Returns the query in which `least` of the bare words are required, each in any of its forms. `None` with fewer than
/// [`WORDS_MIN`] bare words.
pub(super) fn with_most_words(clauses: &[Clause], least: Least) -> Option<Query> {
    let mut words = Vec::new();
    let kept = split(clauses, |group| push_whole_words_of(group, &mut words));
    merge_repeated(&mut words);
    let count = words.len();
    (count >= WORDS_MIN).then(|| {
        let most = Query::AtLeast {
            least: least.of(count) as u32,
            clauses: words,
        };
        together(kept, most)
    })
}

/// Calls `bare` for the bare words of the outermost group, each with those that `OR` joins to it; returns the other
/// clauses: signs, quotes, fields, sites and `AND` hold as typed.
fn split<'c>(clauses: &'c [Clause], mut bare: impl FnMut(&'c [Clause])) -> Vec<Clause> {
    let mut kept = Vec::new();
    let mut rest = clauses;
    while let [first, ..] = rest {
        let others = rest[1..].iter().take_while(|next| next.join == Join::Or);
        let (group, after) = rest.split_at(1 + others.count());
        let is_joined =
            first.join == Join::And || after.first().is_some_and(|next| next.join == Join::And);
        rest = after;
        match !is_joined && group.iter().all(is_bare) {
            true => bare(group),
            false => kept.extend_from_slice(group),
        }
    }
    kept
}

/// Puts the clauses that hold as typed and the demand on the bare words together.
fn together(kept: Vec<Clause>, words: Query) -> Query {
    // Its warnings are those of the query with all words.
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
    }
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
        Query::BestOf { clauses, .. } => clauses.iter().all(is_of_text),
        Query::Boosted { clause, .. } | Query::Named { clause, .. } => is_of_text(clause),
        _ => false,
    }
}

/// Adds what is required of clauses joined by `OR`: one alternative, or each word of a run such as `foo/bar`.
fn push_required_of(group: &[Clause], words: &mut Vec<Query>) {
    let no_warnings = &mut Warnings::default();
    match (group, combine(group.to_vec(), Operator::And, no_warnings)) {
        (
            [only],
            Query::Boolean {
                required,
                optional,
                excluded,
            },
        ) if only.is_run && optional.is_empty() && excluded.is_empty() => words.extend(required),
        (_, query) => words.push(query),
    }
}

/// Adds the words of clauses joined by `OR`, whole: `e-mail` in any of its forms is one word. A text without blanks has
/// none, and each of its pairs of letters is one.
fn push_whole_words_of(group: &[Clause], words: &mut Vec<Query>) {
    let [only] = group else {
        let no_warnings = &mut Warnings::default();
        return words.push(combine(group.to_vec(), Operator::And, no_warnings));
    };
    let typed = match &only.query {
        Query::Boolean { required, .. } if only.is_run && !required.is_empty() => required,
        one => std::slice::from_ref(one),
    };
    for word in typed {
        match word {
            Query::Phrase { .. } if only.is_run => push_loose_words(word.clone(), words),
            word => words.push(word.clone()),
        }
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
            word => typed_words_count(word),
        };
        // Of words that have synonyms together, one that says nothing alone finds nothing alone.
        match loosened(word, Query::AnyTelling) {
            Some(group) => words.push(group),
            None => push_loose_words(word.clone(), words),
        }
    }
    typed_count
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::super::tests::shown;
    use super::*;
    use text::Analyzer;

    #[test]
    fn most_of_the_bare_words_are_required() {
        let least = |text: &str| text.parse::<Least>().unwrap();
        for (most, typed, expected) in [
            ("75%", "a b c d", "3 of[a b c d]"),
            ("75%", "a b c", "2 of[a b c]"),
            ("2", "a b c", "2 of[a b c]"),
            ("9", "a b c", "3 of[a b c]"),
            ("1%", "a b c", "1 of[a b c]"),
            ("50%", "a", "a"),
            ("50%", "a +b c", "(+b +1 of[a c])"),
            ("2", "a a b c", "2 of[a^2 b c]"),
            ("50%", "a b -c \"d e\"", "(+\"d e\" +1 of[a b] -c)"),
            ("50%", "a OR b c d e", "2 of[(a b) c d e]"),
            ("50%", "(a b) c*", "1 of[(+a +b) c*]"),
            ("100%", "foo-bar x", "3 of[foo bar x]"),
            ("50%", "-a", "nothing"),
        ] {
            let parsed = parse(typed, Analyzer::Plain, Operator::Most(least(most)));
            assert_eq!(shown(&parsed.query), expected, "{typed} --most {most}");
            assert_eq!(parsed.some_words, None);
        }
        let standard = Analyzer::Standard(text::Languages::default());
        let parsed = parse("e-mail 東京都 x", standard, Operator::Most(least("50%")));
        assert_eq!(shown(&parsed.query), "2 of[(email \"e mail\") 東京 京都 x]");
        for bad in ["0", "0%", "101%", "-1", "", "%", "half"] {
            assert!(bad.parse::<Least>().is_err(), "{bad}");
        }
    }
}
