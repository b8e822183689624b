//! Duration of summaries: a short text, and long texts with rare and with frequent words.
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use text::summary::{Marked, SummaryOptions, SummaryQuery, SummaryTerm};
use text::{Analyzer, Language, Languages};

/// Frequent words, in about the proportions of English prose; the other words are synthetic.
const FREQUENT: [&str; 16] = [
    "the", "of", "and", "to", "a", "in", "is", "that", "it", "was", "for", "on", "with", "he",
    "as", "there",
];

/// A question of many words, frequent and rare ones.
const MANY: &str = "the president of the united states was asked to go to the lighthouse in that year and he said that \
    it is for the people who live there with the sea on one side as well as a road to no town on the other but the \
    harbour had been closed by then so nobody went";

fn standard() -> Analyzer {
    Analyzer::Standard(Languages::default().with(Language::English))
}

/// Returns synthetic prose of about `bytes` bytes, the same in every run.
fn prose(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 64);
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) % below
    };
    while text.len() < bytes {
        let start = text.len();
        if next(2) == 0 {
            text.push_str(FREQUENT[(next(16) * next(16) / 16) as usize]);
        } else {
            let letters = 3 + next(7);
            text.extend((0..letters).map(|_| {
                b"etaoinshrdlucmfwypvbgkjqxz"[(next(26) * next(26) / 26) as usize] as char
            }));
        }
        match next(12) {
            0 => text.push_str(". "),
            1 => text.push_str(", "),
            _ => text.push(' '),
        }
        if next(9) == 0 {
            text[start..=start].make_ascii_uppercase();
        }
    }
    for (at, word) in [(3, "President"), (5, "lighthouse"), (8, "states")] {
        text.insert_str(text.len() * at / 10, &format!(" {word} "));
    }
    text
}

fn query(analyzer: Analyzer, words: &str) -> SummaryQuery {
    let terms = analyzer.terms(words).into_iter().map(|term| SummaryTerm {
        weight: if FREQUENT.contains(&term.as_str()) {
            0.1
        } else {
            6.0
        },
        marked: Marked::Term(term),
    });
    SummaryQuery::new(analyzer, terms.collect(), SummaryOptions::default())
}

fn summaries(criterion: &mut Criterion) {
    let long = prose(700_000);
    let short = prose(1_400);
    let mut group = criterion.benchmark_group("summary");
    for (name, text, analyzer, words) in [
        (
            "short",
            &short,
            Analyzer::Plain,
            "president lighthouse states",
        ),
        (
            "short_frequent",
            &short,
            Analyzer::Plain,
            "the president of the united states",
        ),
        (
            "long_rare",
            &long,
            Analyzer::Plain,
            "president lighthouse states",
        ),
        (
            "long_mixed",
            &long,
            Analyzer::Plain,
            "the president of the united states",
        ),
        ("long_frequent", &long, Analyzer::Plain, "the of"),
        (
            "long_english",
            &long,
            Analyzer::English,
            "the president of the united states",
        ),
        (
            "long_standard",
            &long,
            standard(),
            "the president of the united states",
        ),
        ("long_standard_many", &long, standard(), MANY),
        ("short_standard_many", &short, standard(), MANY),
        (
            "short_standard",
            &short,
            standard(),
            "president lighthouse states",
        ),
    ] {
        let query = query(analyzer, words);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| query.summarize(black_box(text)))
        });
    }
    group.finish();
    criterion.bench_function("prepare_query", |bencher| {
        bencher.iter(|| {
            query(
                Analyzer::Plain,
                black_box("the president of the united states"),
            )
        });
    });
}

fn tokens(criterion: &mut Criterion) {
    let text = prose(700_000);
    let mut group = criterion.benchmark_group("tokens");
    group.throughput(Throughput::Bytes(text.len() as u64));
    for analyzer in [Analyzer::Plain, Analyzer::English, standard()] {
        let mut buffer = String::new();
        group.bench_function(analyzer.name(), |bencher| {
            bencher.iter(|| {
                let mut bytes_count = 0;
                analyzer.each_token(black_box(&text), &mut buffer, |token| {
                    bytes_count += token.term.len()
                });
                bytes_count
            });
        });
    }
    group.finish();
}

criterion_group!(benches, summaries, tokens);
criterion_main!(benches);
