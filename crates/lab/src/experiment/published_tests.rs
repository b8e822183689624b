//! Captions, units and values of what experiments show under the name of a publication.
//!
//! The figures stand here as `docs/lab.md` names the publications: [T] Antoniou 2019, [C] Hadjilambrou et
//! al. 2019, [S] *How to make SMT tail latency friendly*, [H] Nishtala et al. 2019. An experiment without an
//! entry fails, so a figure cannot be added or changed unseen.

use super::{Experiment, all};

/// Expected figure of an experiment: its source, phrases of the finding that must stand in it, and the
/// drawn series as (name, x, y, points).
struct Published {
    experiment: &'static str,
    figure: &'static str,
    says: &'static [&'static str],
    series: &'static [Drawn],
}

type Drawn = (
    &'static str,
    &'static str,
    &'static str,
    &'static [(f64, f64)],
);

const RATE: &str = "arrival rate in queries a second";

const PUBLISHED: [Published; 19] = [
    Published {
        experiment: "query-lengths",
        figure: "[C] 3",
        says: &["mean 2.93 words", "1 to 72"],
        series: &[],
    },
    Published {
        experiment: "response-distribution",
        figure: "[C] 4",
        says: &[
            "mean 59 ms",
            "p90 118 ms",
            "p99 437 ms",
            "over 490 ms",
            "10 %",
        ],
        series: &[(
            "published",
            "response time in ms",
            "share of queries in %",
            &[(118.0, 90.0), (437.0, 99.0)],
        )],
    },
    Published {
        experiment: "terms-and-time",
        figure: "[C] 5",
        says: &["time grows and matches fall", "1 to 3 words"],
        series: &[],
    },
    Published {
        experiment: "tail-by-terms",
        figure: "[C] 6",
        says: &["short queries do"],
        series: &[],
    },
    Published {
        experiment: "phases-and-size",
        figure: "[C] 7, [S] 4, [T] 3.2",
        says: &["linear", "flat"],
        series: &[],
    },
    Published {
        experiment: "documents-and-size",
        figure: "[C] 8",
        says: &["linear"],
        series: &[],
    },
    Published {
        experiment: "arrival-rate",
        figure: "[C] 9, 10",
        says: &[
            "40 to 125 ms",
            "255 to 1152 ms",
            "50 to 225 queries",
            "83 %",
        ],
        series: &[
            ("average", RATE, "ms", &[(50.0, 40.0), (225.0, 125.0)]),
            ("p99", RATE, "ms", &[(50.0, 255.0), (225.0, 1152.0)]),
        ],
    },
    Published {
        experiment: "posting-balance",
        figure: "[C] 11, 12",
        says: &["ratio above 2", "1,000 postings", "97 %", "below 1.1"],
        series: &[(
            "published: 1,000 postings and more",
            "ratio",
            "terms not above it in %",
            &[(1.1, 97.0)],
        )],
    },
    Published {
        experiment: "partitions",
        figure: "[C] 13, 14",
        says: &[
            "I4_C2",
            "up to 125 queries",
            "I2_C4",
            "above 100 I1_C8",
            "I8_C1 never",
        ],
        series: &[],
    },
    Published {
        experiment: "model-figures",
        figure: "[T] 2.2 to 2.4, [C] 15, 19",
        says: &[
            "53 ms",
            "19 ms",
            "89 ms",
            "waits fall as cores double",
            "never lose with a speed-up of 2",
            "$616",
            "boards with chips",
            "$200 (single), $600 (dual), $1,500 (quad)",
        ],
        series: &[],
    },
    Published {
        experiment: "prediction",
        figure: "[T] 2, [C] 15",
        says: &["not held against measurements"],
        series: &[],
    },
    Published {
        experiment: "idle-states",
        figure: "[C] 20, [T] 4.4",
        says: &["average is 1.5 times", "p99 1.35 times"],
        series: &[],
    },
    Published {
        experiment: "decompression-share",
        figure: "[C] 21",
        says: &["37 % of index search", "100,000 postings"],
        series: &[(
            "published: all queries",
            "words (6: 6 and more)",
            "share in %",
            &[(1.0, 37.0), (6.0, 37.0)],
        )],
    },
    Published {
        experiment: "simulated-caches",
        figure: "[C] 21, 25",
        says: &["0.77 times for 1,000 instructions", "20 MB"],
        series: &[(
            "published: last level, measured",
            "last-level cache in MB",
            "misses for 1,000 instructions",
            &[(20.0, 0.77)],
        )],
    },
    Published {
        experiment: "prefetch",
        figure: "[C] 22, 23",
        says: &["2.5 times as many L2 misses", "5 %"],
        series: &[],
    },
    Published {
        experiment: "query-locality",
        figure: "[C] 24",
        says: &["within 3 ms", "sorted one is worst end to end"],
        series: &[],
    },
    Published {
        experiment: "cache-size",
        figure: "[C] 25",
        says: &["10 of 20 MB of L3 nothing", "5 MB 7 %", "3 MB 8 %"],
        series: &[(
            "search time",
            "L3 in MB",
            "% above that with 20 MB",
            &[(20.0, 0.0), (10.0, 0.0), (5.0, 7.0), (3.0, 8.0)],
        )],
    },
    Published {
        experiment: "smt",
        figure: "[T] 6.5 to 6.8, [S] 9, 10",
        says: &[
            "best average and p99 at every rate",
            "throughput × 1.28",
            "÷ 1.25",
            "÷ 1.34",
        ],
        series: &[],
    },
    Published {
        experiment: "keywords-and-time",
        figure: "[H] 1",
        says: &["500 ms", "from 5 words on", "big one from 18"],
        series: &[],
    },
];

fn check(experiment: &Experiment, expected: &Published) {
    let name = &experiment.name;
    assert_eq!(experiment.figure, expected.figure, "{name}");
    for phrase in expected.says {
        let said = &experiment.published;
        assert!(
            said.contains(phrase),
            "{name}: `{phrase}` is not in: {said}"
        );
    }
    let drawn: Vec<_> = experiment
        .published_series
        .iter()
        .map(|one| {
            (
                one.name.as_str(),
                one.x.as_str(),
                one.y.as_str(),
                one.points.as_slice(),
            )
        })
        .collect();
    assert_eq!(drawn, expected.series, "{name}");
}

#[test]
fn every_figure_of_a_publication_is_that_figure() {
    let mut checked = 0;
    for experiment in all().unwrap() {
        // Brackets name a publication.
        if !experiment.figure.starts_with('[') {
            continue;
        }
        let expected = PUBLISHED
            .iter()
            .find(|one| one.experiment == experiment.name);
        let expected = expected.unwrap_or_else(|| {
            panic!(
                "{} is named after {} and has no entry in PUBLISHED",
                experiment.name, experiment.figure
            )
        });
        check(&experiment, expected);
        checked += 1;
    }
    assert_eq!(checked, PUBLISHED.len());
}
