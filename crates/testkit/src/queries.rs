//! Strategies of queries and rankings: every kind of clause, nested, over the tiny vocabulary.

use crate::documents::{VOCABULARY, urls, words};
use crate::floats;
use crate::values::FIELD_TYPES;
use fields::{FieldType, PriorOf, QueryPrior, Test};
use index::Field;
use proptest::collection::vec;
use proptest::prelude::*;
use search::parse::{BOOST_MAX, BOOST_MIN};
use search::ranking::Model;
use search::{Query, Ranking, Ruling};
use text::{Pattern, Regex};

fn fields() -> impl Strategy<Value = Field> {
    prop_oneof![
        8 => Just(Field::Text),
        2 => Just(Field::Title),
        1 => (3u8..5).prop_map(Field::of_number),
    ]
}

fn terms() -> impl Strategy<Value = Query> {
    let word = prop_oneof![
        20 => words().prop_map(str::to_owned),
        1 => Just("absent".to_owned()),
    ];
    (fields(), word, 1u32..4).prop_map(|(field, term, weight)| Query::Term {
        field,
        term,
        weight,
    })
}

fn sites() -> impl Strategy<Value = Query> {
    prop_oneof![
        4 => (0u8..5).prop_map(|site| format!("s{site}.test")),
        1 => Just("/Folder".to_owned()),
        1 => Just("note-1".to_owned()),
    ]
    .prop_map(|term| Query::Term {
        field: Field::Site,
        term,
        weight: 1,
    })
}

fn phrases() -> impl Strategy<Value = Query> {
    let slop = prop_oneof![3 => Just(0u32), 2 => 1u32..5];
    (fields(), vec(words().prop_map(str::to_owned), 2..5), slop)
        .prop_map(|(field, terms, slop)| Query::Phrase { field, terms, slop })
}

fn patterns() -> impl Strategy<Value = Query> {
    let pattern = (0..VOCABULARY.len(), 0..7u8, any::<prop::sample::Index>());
    (fields(), pattern).prop_map(|(field, (word, kind, place))| Query::Pattern {
        field,
        pattern: pattern_of(VOCABULARY[word], kind, place),
    })
}

/// Returns a pattern that a word is of: a prefix, a wildcard in place of a character, the word and those like it.
fn pattern_of(word: &str, kind: u8, place: prop::sample::Index) -> Pattern {
    let characters: Vec<char> = word.chars().collect();
    let at = place.index(characters.len());
    let with = |sign: &str| {
        let [before, after] = [&characters[..at], &characters[at + 1..]];
        let [before, after] = [before, after].map(|part| part.iter().collect::<String>());
        Pattern::of_wildcard(&format!("{before}{sign}{after}"))
    };
    let wildcard = match kind {
        0 => with("?"),
        1 => with("*"),
        2 => return Pattern::near(word, 1),
        3 => return Pattern::near(word, 2),
        6 => {
            let [before, after] = [&characters[..at], &characters[at..]];
            let [before, after] = [before, after].map(|part| part.iter().collect::<String>());
            let text = format!("({before})?(.|[a-k])*{after}");
            return Pattern::Regex(Regex::new(&text).expect("a regular expression"));
        }
        _ => None,
    };
    wildcard.unwrap_or_else(|| Pattern::Prefix(word.to_owned()))
}

/// Tests of the values of made-up documents, of each type and form.
pub fn tests_of_values() -> impl Strategy<Value = (&'static str, &'static str)> {
    prop::sample::select(vec![
        ("n", "3..7"),
        ("n", ">5"),
        ("n", "<=2"),
        ("n", "4"),
        ("n", "*"),
        ("f", "0.5..1"),
        ("f", "<0"),
        ("k", "a"),
        ("k", "a*"),
        ("k", "b..ca"),
        ("t", "2024-02"),
        ("t", ">=2024-01-03"),
        ("t", "2024-01-01..2024-01-02T00:00:00Z"),
        ("b", "true"),
        ("none", "1"),
    ])
}

fn values() -> impl Strategy<Value = Query> {
    tests_of_values().prop_map(|(field, text)| {
        let known = FIELD_TYPES.iter().find(|(name, _)| *name == field);
        let kind = known.map_or(FieldType::Integer, |(_, kind)| *kind);
        Query::Value {
            field: field.to_owned(),
            test: Test::parse(kind, text).expect("a test of its field"),
        }
    })
}

fn clauses() -> impl Strategy<Value = Query> {
    prop_oneof![
        8 => terms(),
        2 => values(),
        3 => phrases(),
        3 => patterns(),
        1 => sites(),
        1 => vec(urls(), 0..4).prop_map(Query::Urls),
        1 => Just(Query::Nothing),
        1 => Just(Query::All),
    ]
}

/// Boosts between the limits, and the limits.
fn boosts() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => floats(0.1, 10.0),
        1 => Just(BOOST_MIN),
        1 => Just(BOOST_MAX),
    ]
}

/// Tie breakers of every kind: none, all, and between.
fn tie_breakers() -> impl Strategy<Value = f32> {
    prop_oneof![
        2 => Just(0.0f32),
        1 => Just(1.0),
        4 => floats(0.0, 1.0),
    ]
}

/// Returns a filter, a boost, a name or a constant score around a clause.
fn modified(inner: impl Strategy<Value = Query> + Clone) -> impl Strategy<Value = Query> {
    let boxed = inner.prop_map(Box::new);
    prop_oneof![
        2 => boxed.clone().prop_map(Query::Filter),
        2 => (boosts(), boxed.clone()).prop_map(|(boost, clause)| Query::Boosted { boost, clause }),
        2 => (boosts(), boxed.clone()).prop_map(|(score, clause)| Query::Constant { score, clause }),
        1 => ("[a-z/]{1,4}", boxed).prop_map(|(name, clause)| Query::Named { name, clause }),
    ]
}

/// Any query, nested a few levels deep.
pub fn queries() -> impl Strategy<Value = Query> {
    clauses().prop_recursive(3, 16, 4, |inner| {
        let whole = inner.clone();
        let combined = (
            vec(inner.clone(), 0..4),
            vec(inner.clone(), 0..3),
            prop_oneof![2 => Just(0usize), 1 => Just(1)]
                .prop_flat_map(move |count| vec(inner.clone(), count)),
        )
            .prop_map(|(required, optional, excluded)| Query::Boolean {
                required,
                optional,
                excluded,
            });
        let telling =
            (vec(whole.clone(), 0..5), any::<bool>()).prop_map(|(words, all)| match all {
                true => Query::AllTelling(words),
                false => Query::AnyTelling(words),
            });
        let at_least = (0u32..5, vec(whole.clone(), 0..6))
            .prop_map(|(least, clauses)| Query::AtLeast { least, clauses });
        let best_of =
            (vec(whole.clone(), 0..5), tie_breakers()).prop_map(|(clauses, tie_breaker)| {
                Query::BestOf {
                    clauses,
                    tie_breaker,
                }
            });
        prop_oneof![6 => combined, 3 => modified(whole), 1 => telling, 2 => at_least, 2 => best_of]
    })
}

/// Any query, with priors of rules around some.
pub fn ruled_queries() -> impl Strategy<Value = Query> {
    let of = prop_oneof![
        3 => values().prop_map(|query| match query {
            Query::Value { field, test } => PriorOf::Passes { field, test },
            _ => PriorOf::Site("s1.test".to_owned()),
        }),
        1 => prop::sample::select(vec!["s1.test", "test", "1.test", "note-1"])
            .prop_map(|site| PriorOf::Site(site.to_owned())),
        2 => (0i64..120, floats(0.1, 100.0)).prop_map(|(day, half_days)| PriorOf::Age {
            field: "t".to_owned(),
            now_us: fields::days_us((19_700 + day) as f64) as i64,
            half_us: fields::days_us(half_days.into()),
        }),
    ];
    let prior = (floats(0.001, 100.0), of).prop_map(|(weight, of)| QueryPrior { weight, of });
    let priors = prop_oneof![2 => Just(Vec::new()), 1 => vec(prior, 1..4)];
    (queries(), priors).prop_map(|(query, priors)| match priors.is_empty() {
        true => query,
        false => Query::Ruled {
            by: Box::new(Ruling {
                priors,
                pinned: None,
            }),
            clause: Box::new(query),
        },
    })
}

/// Rankings: the default, every other registered model, and each with odd but allowed parameters.
pub fn rankings() -> impl Strategy<Value = Ranking> {
    let models = prop::sample::select(&Ranking::MODELS[..]);
    let odd = (models.clone(), vec(floats(0.0, 3.0), 4)).prop_map(|(model, shares)| {
        let values = model.parameters.iter().zip(shares);
        let values: Vec<f32> = values
            .map(|(one, share)| one.least + share * (one.default - one.least))
            .collect();
        model.with(&values)
    });
    prop_oneof![
        2 => Just(Ranking::default()),
        2 => models.prop_map(Model::ranking),
        2 => odd,
    ]
}

/// Typed combinations of given words: each clause a word, a phrase, a prefix, a site or alternatives; required,
/// excluded or optional.
pub fn typed(
    words: impl Strategy<Value = String> + Clone + 'static,
) -> impl Strategy<Value = String> {
    let two = (words.clone(), words.clone());
    let three = (words.clone(), words.clone(), words.clone());
    let clauses = prop_oneof![
        12 => words.clone(),
        4 => two.clone().prop_map(|(one, other)| format!("\"{one} {other}\"")),
        1 => three.clone().prop_map(|(a, b, c)| format!("\"{a} {b} {c}\"")),
        1 => (two.clone(), 1u32..4).prop_map(|((a, b), slop)| format!("\"{a} {b}\"~{slop}")),
        1 => (0u8..5).prop_map(|site| format!("site:s{site}.test")),
        2 => tests_of_values().prop_map(|(field, test)| format!("{field}:{test}")),
        1 => prop::sample::select(vec![
            "n:[3 TO 7]",
            "n:{3 TO 7}",
            "k:[b TO ca}",
            "t:{2024-01-03 TO *]",
            "f:[* TO 0.5}",
        ]).prop_map(str::to_owned),
        1 => words.clone().prop_map(|word| match word.char_indices().next_back() {
            Some((last @ 1.., _)) => format!("{}*", &word[..last]),
            _ => format!("{word}*"),
        }),
        1 => (words.clone(), prop::sample::select(vec!["~", "~1", "~2"]))
            .prop_map(|(word, near)| format!("{word}{near}")),
        1 => words.prop_map(|word| match word.char_indices().nth(1) {
            Some((second, character)) => {
                format!("{}?{}", &word[..second], &word[second + character.len_utf8()..])
            }
            None => format!("*{word}"),
        }),
        2 => two.clone().prop_map(|(one, other)| format!("({one} OR {other})")),
        1 => two.prop_map(|(one, other)| format!("({one} -{other})")),
        1 => three.prop_map(|(a, b, c)| format!("(+{a} \"{b} {c}\")")),
    ];
    let signs = prop_oneof![3 => Just(""), 3 => Just("+"), 2 => Just("-")];
    vec((signs, clauses), 1..6).prop_map(|clauses| {
        let mut typed = String::new();
        for (sign, clause) in clauses {
            typed.push_str(&format!("{sign}{clause} "));
        }
        typed
    })
}
