//! Tests of every registered model, and of its text.

use super::*;
use proptest::prelude::*;
use testkit::floats;

/// Any registered model, with any values of its parameters.
pub(crate) fn rankings() -> impl Strategy<Value = Ranking> {
    let values = prop::collection::vec(floats(0.0, 1.0), 4);
    (prop::sample::select(&Ranking::MODELS[..]), values).prop_map(|(model, shares)| {
        // Most of a range is odd values, so half of the values are within four times the default.
        let value = |(one, share): (&Parameter, f32)| match share < 0.5 {
            true => one.least + share * 8.0 * (one.default - one.least),
            false => one.least + (share - 0.5) * 2.0 * (one.greatest - one.least),
        };
        let values: Values = model.parameters.iter().zip(shares).map(value).collect();
        model.with(&values)
    })
}

fn counts(documents_count: u64, document_frequency: u64) -> TermCounts {
    TermCounts {
        documents_count,
        document_frequency,
        ..TermCounts::default()
    }
}

#[test]
fn bm25_by_hand() {
    let ranking = Ranking::default();
    let idf = ranking.rarity(&counts(10, 2));
    assert!((idf - (1.0f32 + 8.5 / 2.5).ln()).abs() < 1e-6);
    let weight = ranking.weigh(1, 1.0, idf);
    let score = ranking.score(weight, 3, ranking.factor(20, 10.0), 0.0);
    let expected = idf * 3.0 / (3.0 + 1.2 * (0.25 + 0.75 * 2.0));
    assert!((score - expected).abs() < 1e-6, "{score} {expected}");
}

#[test]
fn tfidf_by_hand() {
    let ranking = Ranking::TfIdf;
    let idf = ranking.rarity(&counts(10, 4));
    assert!((idf - (1.0 + 2.0f32.ln())).abs() < 1e-6);
    let score = ranking.score(ranking.weigh(1, 1.0, idf), 9, ranking.factor(25, 0.0), 0.0);
    assert!((score - idf * idf * 3.0 / 5.0).abs() < 1e-6);
}

#[test]
fn query_likelihood_by_hand() {
    let ranking = Ranking::Dirichlet { mu: 1000.0 };
    let information = ranking.rarity(&TermCounts {
        occurrences: 49,
        words: 9999,
        ..TermCounts::default()
    });
    assert!((information - 200f32.ln()).abs() < 1e-6);
    let weight = ranking.weigh(2, 1.0, information);
    let score =
        |frequency, length| ranking.score(weight, frequency, ranking.factor(length, 0.0), 0.0);
    let expected = 2.0 * ((1.0f64 + 3.0 * 0.2).ln() + (1000.0f64 / 1250.0).ln());
    assert!((f64::from(score(3, 250)) - expected).abs() < 1e-6);
    // Fewer occurrences than the collection has in a text of this length.
    assert_eq!(score(1, 250), 0.0);
}

#[test]
fn query_likelihood_tells_neighbouring_numbers_apart() {
    let ranking = Ranking::Dirichlet { mu: 1000.0 };
    let weight = TermWeight {
        weight: 1.0,
        scale: 0.0,
    };
    // Without a frequency, the factor is the likelihood.
    let score = |likelihood: f32| ranking.score(weight, 1, likelihood, 0.0);
    let neighbours = |number: u32| (f32::from_bits(number), f32::from_bits(number + 1));
    for first in [1.0f32, 1.4, 1.999, 2.0, 3.0, 1e3, 1e20, 1e37] {
        for number in (first.to_bits()..).take(100_000) {
            let (one, next) = neighbours(number);
            assert!(score(one) <= score(next), "{one}");
        }
    }
}

#[test]
fn odd_parameters_give_no_nan() {
    let odd = [
        f32::NAN,
        f32::NEG_INFINITY,
        -1.0,
        0.0,
        1.0,
        7.0,
        f32::INFINITY,
    ];
    for model in Ranking::MODELS {
        for first in odd {
            for second in odd {
                let ranking = model.with(&[first, second]);
                for length in [0, 1, 1000, u32::MAX] {
                    let weight = ranking.weigh(1, 1.0, 2.0);
                    let score = ranking.score(weight, 3, ranking.factor(length, 1.0), 6.0);
                    assert!(
                        (0.0..=1e30).contains(&score),
                        "{ranking:?} {length} {score}"
                    );
                }
            }
        }
    }
}

#[test]
fn texts_of_rankings() {
    let read = |text: &str| text.parse::<Ranking>();
    assert_eq!(read("bm25"), Ok(Ranking::Bm25 { k1: 1.2, b: 0.75 }));
    assert_eq!(read("bm25:b=0.4"), Ok(Ranking::Bm25 { k1: 1.2, b: 0.4 }));
    assert_eq!(read("bm25:b=0,k1=2"), Ok(Ranking::Bm25 { k1: 2.0, b: 0.0 }));
    assert_eq!(read("tfidf"), Ok(Ranking::TfIdf));
    assert_eq!(Ranking::default().to_string(), "bm25:k1=1.2,b=0.75");
    assert_eq!(Ranking::TfIdf.to_string(), "tfidf");
    for (text, told) in [
        ("best", "choose bm25"),
        ("", "choose bm25"),
        ("tfidf:k1=2", "tfidf has no parameters"),
        ("bm25:c=2", "it has k1, b"),
        ("bm25:b=0.1,b=0.2", "given twice"),
        ("bm25:b=2", "give b from 0 to 1"),
        ("bm25:b=NaN", "give b from 0 to 1"),
        ("bm25:b", "give b from 0 to 1"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(told), "{text}: {error}");
    }
}

#[test]
fn names_and_defaults_are_sound() {
    let names = Ranking::MODELS.iter().flat_map(|model| {
        let aliases = model.aliases.iter().copied();
        std::iter::once(model.name).chain(aliases)
    });
    let mut seen = std::collections::BTreeSet::new();
    for name in names {
        assert!(seen.insert(name), "{name} names two models");
        let ranking: Ranking = name.parse().unwrap();
        assert!(ranking.model().name == name || ranking.model().aliases.contains(&name));
        for parameter in ranking.model().parameters {
            let value = ranking.parameter(parameter.name);
            assert_eq!(value, Some(parameter.default));
            assert!(parameter.allows(parameter.default), "{parameter}");
        }
    }
}

proptest! {
    #[test]
    fn texts_come_back(ranking in rankings()) {
        prop_assert_eq!(ranking.to_string().parse::<Ranking>(), Ok(ranking));
        prop_assert_eq!(ranking.sanitized(), ranking);
    }

    #[test]
    fn score_rises_with_frequency_and_falls_with_length(
        ranking in rankings(),
        (rarity, boost) in (floats(0.0, 50.0), floats(0.001, 50.0)),
        frequency in 1u32..100_000,
        more in 1u32..1000,
        length in 0u32..1_000_000,
        longer in 1u32..1_000_000,
        average in floats(0.5, 5000.0),
    ) {
        let (long, short) = (length + longer, length);
        let weight = ranking.weigh(1, boost, rarity);
        let grid = Ranking::grid(ranking.most(weight));
        let score = |tf, len| ranking.score(weight, tf, ranking.factor(len, average), grid);
        prop_assert!(score(frequency, short) <= score(frequency + more, short));
        prop_assert!(score(frequency, long) <= score(frequency, short));
        prop_assert!(score(frequency, short) >= 0.0);
        prop_assert_eq!(score(0, short), 0.0);
    }

    #[test]
    fn no_document_exceeds_the_bound(
        ranking in rankings(),
        (rarity, boost) in (floats(0.0, 30.0), floats(0.001, 50.0)),
        length in 1u32..1_000_000,
        share in floats(0.0, 1.0),
        average in floats(0.5, 5000.0),
    ) {
        // No frequency exceeds the length, which is stored up to an eighth too short.
        let frequency = ((length as f32 * share) as u32).clamp(1, length);
        let stored = index::length::dequantize(index::length::quantize(length));
        let weight = ranking.weigh(1, boost, rarity);
        let most = ranking.most(weight);
        let score = ranking.score(weight, frequency, ranking.factor(stored, average), Ranking::grid(most));
        prop_assert!(f64::from(score) <= most * (1.0 + 1e-6), "{} {}", score, most);
    }

    #[test]
    fn sums_on_the_grid_are_the_same_in_any_order(
        clauses in prop::collection::vec((floats(0.0, 4.0), 1u32..1000, 1u32..9000), 1..30),
        ranking in rankings(),
        turn in any::<prop::sample::Index>(),
    ) {
        let clauses = clauses.iter().map(|&(rarity, tf, longer)| {
            (ranking.weigh(1, 1.0, rarity), tf, tf - 1 + longer)
        });
        let clauses: Vec<_> = clauses.collect();
        let most = clauses.iter().map(|(weight, ..)| ranking.most(*weight)).sum();
        let grid = Ranking::grid(most);
        let mut scores: Vec<f32> = clauses
            .iter()
            .map(|&(weight, tf, length)| {
                ranking.score(weight, tf, ranking.factor(length, 100.0), grid)
            })
            .collect();
        let forwards: f32 = scores.iter().sum();
        let exact: f64 = scores.iter().map(|&score| f64::from(score)).sum();
        let at = turn.index(scores.len());
        scores.rotate_left(at);
        scores.reverse();
        prop_assert_eq!(scores.iter().sum::<f32>().to_bits(), forwards.to_bits());
        prop_assert_eq!(f64::from(forwards), exact);
    }
}
