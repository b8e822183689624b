//! Any text, and any text with the signs of the grammar, parses into a sound query.

use super::*;
use crate::query::tree::Query;
use index::Field;
use proptest::prelude::*;
use text::Analyzer;

/// Returns whether a query keeps the promises of the parser.
fn is_well_formed(query: &Query) -> bool {
    match query {
        Query::Nothing | Query::All => true,
        Query::TitleStart { .. } | Query::Urls(_) | Query::Ruled { .. } => false,
        Query::Term { term, weight, .. } => !term.is_empty() && *weight > 0,
        Query::Pattern { pattern, .. } => pattern.is_valid(),
        Query::Value { .. } => true,
        Query::Phrase { field, terms, slop } => {
            let length = 2..=PHRASE_WORDS_MAX;
            length.contains(&terms.len()) && *slop <= SLOP_MAX && *field != Field::Site
        }
        Query::Boolean {
            required,
            optional,
            excluded,
        } => {
            !(required.is_empty() && optional.is_empty())
                && required
                    .iter()
                    .chain(optional)
                    .chain(excluded)
                    .all(|query| is_well_formed(query) && *query != Query::Nothing)
        }
        Query::AnyTelling(words) | Query::AllTelling(words) => {
            words.len() > 1 && words.iter().all(is_well_formed)
        }
        Query::AtLeast { least, clauses } => {
            (1..=clauses.len()).contains(&(*least as usize)) && clauses.iter().all(is_well_formed)
        }
        Query::Filter(clause) => is_well_formed(clause),
        Query::Boosted { boost, clause } => {
            (BOOST_MIN..=BOOST_MAX).contains(boost)
                && **clause != Query::Nothing
                && is_well_formed(clause)
        }
        Query::BestOf { clauses, .. } => clauses.len() > 1 && clauses.iter().all(is_well_formed),
        Query::Constant { .. } | Query::Named { .. } => false,
    }
}

fn grammar_shaped() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => "[a-c]{1,2}",
        1 => Just("title:".to_owned()),
        1 => Just("site:".to_owned()),
        1 => Just("foo:".to_owned()),
        2 => Just("\"".to_owned()),
        1 => Just("~2".to_owned()),
        1 => Just("~".to_owned()),
        1 => Just("?".to_owned()),
        2 => Just("(".to_owned()),
        2 => Just(")".to_owned()),
        1 => Just("-".to_owned()),
        1 => Just("+".to_owned()),
        1 => Just("*".to_owned()),
        1 => Just("/a.?/".to_owned()),
        1 => Just("^2".to_owned()),
        1 => Just("^.".to_owned()),
        1 => Just("^0.001".to_owned()),
        1 => Just("OR".to_owned()),
        1 => Just("AND".to_owned()),
        1 => Just("NOT".to_owned()),
        6 => Just(" ".to_owned()),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn operators() -> impl Strategy<Value = Operator> {
    prop_oneof![
        Just(Operator::And),
        Just(Operator::Or),
        Just(Operator::Auto),
        Just(Operator::Most(Least::Percent(60))),
    ]
}

proptest! {
    #[test]
    fn anything_typed_parses(typed in any::<String>(), operator in operators()) {
        for analyzer in [Analyzer::Plain, Analyzer::English] {
            let parsed = parse(&typed, analyzer, operator);
            prop_assert!(is_well_formed(&parsed.query), "{:?}", parsed);
            prop_assert!(parsed.some_words.iter().all(is_well_formed), "{:?}", parsed);
            bag_of_words(&typed, analyzer, operator);
            phrase_of(&typed, analyzer);
        }
    }

    #[test]
    fn anything_like_a_query_parses(typed in grammar_shaped(), operator in operators()) {
        let parsed = parse(&typed, Analyzer::Plain, operator);
        prop_assert!(is_well_formed(&parsed.query), "{:?}", parsed);
        prop_assert!(parsed.some_words.iter().all(is_well_formed), "{:?}", parsed);
        let as_all = parse(&typed, Analyzer::Plain, Operator::And);
        if operator == Operator::Auto {
            prop_assert_eq!(&parsed.warnings, &as_all.warnings);
            prop_assert!(parsed.some_words.is_some() || parsed.query == as_all.query);
        }
        let silent = parsed.query == Query::Nothing && parsed.warnings.is_empty();
        prop_assert!(!silent, "an empty answer without a reason: {typed:?}");
    }

    #[test]
    fn plain_words_mean_the_same_with_and_without_syntax(
        words in proptest::collection::vec("[a-c]{1,2}", 1..8),
        operator in operators(),
    ) {
        let typed = words.join(" ");
        prop_assert_eq!(
            parse(&typed, Analyzer::Plain, operator).query,
            words_with(&typed, Analyzer::Plain, operator).query
        );
    }
}
