//! Captions, units and values of every series that is named after a publication.
//!
//! The numbers stand here as the publications print them, or, where they draw a curve without numbers, as
//! an independent calculation of that curve gives them (`tests/model/definitions.py` has the formulas).
//! A series without an entry fails, so a figure cannot be added, or changed into another quantity, under
//! the name of a publication unseen.

use model::costs::Costs;
use model::energy::{CorePower, JUNO};
use model::figures::{Series, partition_tails, slow_processors, thesis_scenarios, thesis_waits};

/// Expected caption of a series, with some of its values.
struct Caption {
    figure: &'static str,
    title: &'static str,
    name: &'static str,
    x: &'static str,
    y: &'static str,
    /// Computed values by x, to the last digit given.
    ours: &'static [(f64, &'static str)],
    /// Published values by x.
    published: &'static [(f64, f64)],
    /// Number of points.
    points_count: usize,
}

const SCENARIOS: &str = "mean times of the four scenarios at 150 queries/s";
const WAITS: &str = "mean wait at 150 queries/s over the number of cores";
const TAILS: &str = "99th percentile with and without partitions";
const PRICES: &str = "cost of servers of 1.6 GHz over that of 2.4 GHz";
const BOARD: &str = "price of a board with its chips, $";

const CAPTIONS: [Caption; 13] = [
    Caption {
        figure: "Antoniou 2019, 2.2",
        title: SCENARIOS,
        name: "response",
        x: "scenario",
        y: "ms",
        ours: &[(0.0, "130.7"), (1.0, "77.1"), (2.0, "111.5"), (3.0, "41.9")],
        published: &[(0.0, 130.0)],
        points_count: 4,
    },
    Caption {
        figure: "Antoniou 2019, 2.2",
        title: SCENARIOS,
        name: "wait",
        x: "scenario",
        y: "ms",
        ours: &[(0.0, "80.7"), (1.0, "2.11"), (2.0, "86.5"), (3.0, "4.35")],
        published: &[(0.0, 80.0)],
        points_count: 4,
    },
    Caption {
        figure: "Antoniou 2019, 2.2",
        title: SCENARIOS,
        name: "saved",
        x: "scenario",
        y: "ms",
        ours: &[(0.0, "0"), (1.0, "53.6"), (2.0, "19.2"), (3.0, "88.9")],
        published: &[(1.0, 53.0), (2.0, 19.0), (3.0, 89.0)],
        points_count: 4,
    },
    Caption {
        figure: "Antoniou 2019, 2.3",
        title: WAITS,
        name: "SMT-noPart",
        x: "cores",
        y: "ms",
        ours: &[
            (8.0, "80.7"),
            (9.0, "33.2"),
            (10.0, "18.5"),
            (11.0, "11.6"),
            (12.0, "7.80"),
            (13.0, "5.45"),
            (14.0, "3.90"),
            (15.0, "2.85"),
            (16.0, "2.11"),
        ],
        published: &[],
        points_count: 9,
    },
    Caption {
        figure: "Antoniou 2019, 2.4",
        title: WAITS,
        name: "SMT-Part",
        x: "cores",
        y: "ms",
        ours: &[
            (8.0, "86.5"),
            (10.0, "23.1"),
            (12.0, "11.4"),
            (14.0, "6.76"),
            (16.0, "4.35"),
        ],
        published: &[],
        points_count: 5,
    },
    tail("1 partition"),
    tail("2 partitions, speed-up 1.8"),
    tail("2 partitions, speed-up 1.9"),
    tail("2 partitions, speed-up 2"),
    // By hand: a year costs price · (1/3 + 0.05) + 15 + 1.3 · (10/15 · peak + 8.766 · 0.07 · mean watts).
    prices("single", &[(200.0, "0.966"), (600.0, "1.67")]),
    prices("dual", &[(600.0, "0.947"), (700.0, "1.04")]),
    prices("quad", &[(1500.0, "0.982"), (1600.0, "1.03")]),
    Caption {
        figure: "Hadjilambrou et al. 2019, 19",
        title: PRICES,
        name: "pays up to",
        x: "board",
        y: BOARD,
        ours: &[(0.0, "219"), (1.0, "660"), (2.0, "1541")],
        published: &[(0.0, 200.0), (1.0, 600.0), (2.0, 1500.0)],
        points_count: 3,
    },
];

const fn tail(name: &'static str) -> Caption {
    Caption {
        figure: "Hadjilambrou et al. 2019, 15",
        title: TAILS,
        name,
        x: "queries/s",
        y: "ms",
        // Simulated: other tests hold their shape.
        ours: &[],
        published: &[],
        points_count: 32,
    }
}

const fn prices(name: &'static str, ours: &'static [(f64, &'static str)]) -> Caption {
    Caption {
        figure: "Hadjilambrou et al. 2019, 19",
        title: PRICES,
        name,
        x: BOARD,
        y: "cost over the baseline's",
        ours,
        published: &[],
        points_count: 21,
    }
}

fn all() -> Vec<Series> {
    let mut list = thesis_scenarios().unwrap();
    list.extend(thesis_waits().unwrap());
    list.extend(partition_tails(None, 8, 2_000, 2).unwrap());
    list.extend(slow_processors(&Costs::parse("").unwrap()).unwrap());
    list
}

#[track_caller]
fn check(series: &Series, expected: &Caption) {
    let name = format!("{}: {}", series.figure, series.name);
    assert_eq!(
        (series.title, series.x, series.y),
        (expected.title, expected.x, expected.y),
        "{name}"
    );
    assert_eq!(series.points.len(), expected.points_count, "{name}");
    let point = |x: f64| {
        let mut found = series.points.iter().filter(|point| point.x == x);
        found
            .next()
            .unwrap_or_else(|| panic!("{name}: nothing at {x}"))
    };
    for &(x, printed) in expected.ours {
        let ours = point(x).ours.unwrap();
        let decimals = printed
            .split_once('.')
            .map_or(0, |(_, digits)| digits.len());
        assert_eq!(format!("{ours:.decimals$}"), printed, "{name} at {x}");
    }
    let published: Vec<(f64, f64)> = series
        .points
        .iter()
        .filter_map(|point| Some((point.x, point.published?)))
        .collect();
    assert_eq!(published, expected.published, "{name}");
}

#[test]
fn every_published_series_shows_what_its_name_says() {
    let mut rest: Vec<&Caption> = CAPTIONS.iter().collect();
    for series in all() {
        let place = rest
            .iter()
            .position(|one| (one.figure, one.name) == (series.figure, series.name.as_str()));
        let place = place.unwrap_or_else(|| {
            panic!(
                "{}: {} has no entry in CAPTIONS: write down what the publication shows",
                series.figure, series.name
            )
        });
        check(&series, rest.swap_remove(place));
    }
    let lacking: Vec<&str> = rest.iter().map(|one| one.name).collect();
    assert!(lacking.is_empty(), "not computed any more: {lacking:?}");
}

/// Nishtala et al., Hurry-up, 2019: a busy big core takes 0.76 W, as much as the rest of the system, and a
/// little one does 2.3 times the work for a joule; one big core divides the tail of a little one by 3.2 and
/// takes 7.8 times its power.
#[test]
fn powers_of_big_and_little_cores_are_the_published() {
    assert_eq!((JUNO.big.busy_watts, JUNO.rest_watts), (0.76, 0.76));
    let work_of_a_joule = |speed: f64, power: CorePower| speed / power.busy_watts;
    let efficiency =
        work_of_a_joule(JUNO.little_speed, JUNO.little) / work_of_a_joule(1.0, JUNO.big);
    assert!((efficiency - 2.3).abs() < 1e-12, "{efficiency}");
    assert!((1.0 / JUNO.little_speed - 3.2).abs() < 1e-12);
    let more = JUNO.big.busy_watts / JUNO.little.busy_watts;
    assert!((more / 7.8 - 1.0).abs() < 0.06, "{more}");
}
