//! Plans and simulations of load runs: CPU demand, labels, and the measured beside the predicted percentile.

use crate::support::{Bench, Run, shorttail};
use ::load::{
    Answer, Arrivals, Ending, Noise, Outcome, QueryStream, RunRecord, Sample, Settings, Summary,
    Target,
};
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};

/// A run that is made rather than measured: a request every 10 ms.
struct Made {
    /// Search by the wall clock, and CPU time of the same, in µs.
    search_us: (u64, Option<u64>),
    /// Details and summaries, in µs.
    rest_us: [u64; 2],
    /// Response time, in µs.
    response_us: u64,
    /// One request in this number is refused; 0 for none.
    refused_every: usize,
    pressure: f64,
    server_cpu_s: Option<f64>,
}

/// Searches of 1.29 ms, as measured on a quiet machine.
const QUIET: Made = Made {
    search_us: (1_290, Some(1_290)),
    rest_us: [100, 300],
    response_us: 2_000,
    refused_every: 0,
    pressure: 0.0,
    server_cpu_s: None,
};

const COUNT: usize = 2_000;

impl Made {
    /// Saves the run in a folder and returns its path.
    fn save(&self, bench: &Bench, name: &str) -> String {
        let body = json!({
            "total": {"value": 1, "exact": true},
            "hits": [],
            "phases_us": {
                "parse": 10, "queueing": 5, "index_search": self.search_us.0,
                "optimization_searches": 0, "merge": 10, "details": self.rest_us[0],
                "summaries": self.rest_us[1], "render": 20, "total": self.response_us,
                "search_cpu": self.search_us.1,
            },
            "timed_out": false,
            "coverage": 1.0,
        });
        let answer = Answer::read(body.to_string().as_bytes());
        assert!(answer.phases.is_some(), "{body}");
        let sample = |idx: usize| {
            let is_refused = self.refused_every > 0 && idx.is_multiple_of(self.refused_every);
            let intended_ns = idx as u64 * 10_000_000;
            Sample {
                arrival_idx: idx as u32,
                query_idx: 0,
                warm_up: false,
                intended_ns,
                sent_ns: Some(intended_ns),
                done_ns: Some(intended_ns + self.response_us * 1000),
                ending: Ending::Answered(if is_refused { 429 } else { 200 }),
                new_connection: false,
                retry_after_s: None,
                body_bytes: 100,
                answer: (!is_refused).then(|| answer.clone()),
            }
        };
        let outcome = Outcome {
            samples: (0..COUNT).map(sample).collect(),
            started_at: SystemTime::UNIX_EPOCH,
            warm_up: Duration::ZERO,
            measured: Duration::from_secs(COUNT as u64 / 100),
            is_complete: true,
            noise: Noise {
                pressure: Some(self.pressure),
                ..Noise::default()
            },
        };
        let settings = Settings::open(
            Target::parse("http://127.0.0.1:1").unwrap(),
            QueryStream::as_is(["a"]),
            Arrivals::Constant { rate_qps: 100.0 },
            outcome.measured,
        );
        let mut record = RunRecord::of(&settings, &outcome, &Summary::of(&outcome), None);
        record.server_cpu_s = self.server_cpu_s;
        record.machine.cores_count = Some(2);
        let folder = bench.path(name);
        record.save(&folder, &outcome.samples).unwrap();
        folder.to_str().unwrap().to_owned()
    }
}

fn plan(run: &str, more: &str) -> Run {
    let line = format!("plan {run} --rate 40000 --target p99=20ms {more}");
    shorttail(line.split_whitespace())
}

fn servers(finished: &Run) -> Vec<(String, u64)> {
    let of = |line: &Value| {
        let name = line["server"].as_str().unwrap().to_owned();
        (name, line["servers"].as_u64().unwrap())
    };
    finished.json_lines().iter().map(of).collect()
}

/// The same searches, on a machine where they waited for a core for most of their time.
fn slowed() -> Made {
    Made {
        search_us: (42_000, Some(1_290)),
        response_us: 43_000,
        ..QUIET
    }
}

#[test]
fn a_slow_wall_clock_buys_no_servers() {
    let bench = Bench::new();
    let quiet = plan(&QUIET.save(&bench, "quiet"), "--json").ends(0);
    let slow = slowed().save(&bench, "slow");
    let by_cpu = plan(&slow, "--json --fixed 0.26 --despite contradicted").ends(0);
    assert_eq!(servers(&quiet), servers(&by_cpu));
    // Without CPU times the wall clock is all there is: many more servers, and it is said.
    let unknown = Made {
        search_us: (42_000, None),
        ..slowed()
    };
    let by_wall = plan(
        &unknown.save(&bench, "unknown"),
        "--json --despite contradicted",
    );
    let by_wall = by_wall.ends(0);
    assert!(servers(&by_wall)[0].1 > 5 * servers(&by_cpu)[0].1);
    let assumed = |run: &Run| run.json_lines()[0]["assumptions"].to_string();
    assert!(
        assumed(&by_wall).contains("was not recorded"),
        "{by_wall:#?}"
    );
    assert!(assumed(&by_cpu).contains("CPU time that the server measured"));
}

#[test]
fn whole_answers_are_planned_for() {
    let bench = Bench::new();
    let small = plan(&QUIET.save(&bench, "small"), "--json").ends(0);
    // All but the search takes 5 ms a query.
    let large = Made {
        rest_us: [100, 4_860],
        response_us: 6_800,
        ..QUIET
    };
    let large = plan(&large.save(&bench, "large"), "--json").ends(0);
    assert!(servers(&large)[0].1 > 2 * servers(&small)[0].1);
    // The process took 1.29 ms for searches and 5 ms for everything else, whatever the phases say.
    let counted = Made {
        server_cpu_s: Some(COUNT as f64 * 0.006_29),
        response_us: 6_800,
        ..QUIET
    };
    let counted = plan(&counted.save(&bench, "counted"), "--json").ends(0);
    assert_eq!(servers(&counted), servers(&large));
    let said = counted.json_lines()[0]["assumptions"].to_string();
    assert!(said.contains("6.290 ms an answer"), "{said}");
}

#[test]
fn unfit_runs_are_refused_unless_their_labels_are_named() {
    let bench = Bench::new();
    let contended = Made {
        pressure: 0.5,
        ..QUIET
    };
    let refusing = Made {
        refused_every: 3,
        pressure: 0.5,
        ..QUIET
    };
    let cases = [
        (contended.save(&bench, "contended"), "contended"),
        (refusing.save(&bench, "refusing"), "unanswered,contended"),
    ];
    for (run, labels) in &cases {
        for command in [
            "plan --rate 100 --target p90=20ms",
            "model simulate --cores 2",
            "model figures --queries 2000",
        ] {
            let words = format!("{command} {run}");
            let refused = shorttail(words.split_whitespace());
            let option = format!("--despite {labels}");
            refused.fails_saying(&["are not those of its server", &option, "tasks waited"]);
        }
        // One label of two is not enough.
        if labels.contains(',') {
            plan(run, "--despite contended").fails_saying(&["667 of 2000 requests", "429"]);
        }
        let taken = plan(run, &format!("--despite {labels},contradicted"))
            .ends(0)
            .stdout;
        let first = taken.lines().next().unwrap();
        assert!(
            first.starts_with("despite the labels of its run"),
            "{taken}"
        );
        for label in labels.split(',') {
            assert!(first.contains(label), "{first}");
        }
        let line = plan(run, &format!("--json --despite {labels},contradicted")).ends(0);
        let despite = &line.json_lines()[0]["run"]["despite"];
        assert_eq!(despite.as_array().unwrap().len(), labels.split(',').count());
    }
    plan(&cases[0].0, "--despite noise").ends(2);
}

#[test]
fn the_measured_percentile_stands_beside_the_predicted() {
    let bench = Bench::new();
    let quiet = QUIET.save(&bench, "quiet");
    let agreed = plan(&quiet, "").ends(0).stdout;
    assert!(
        agreed.contains(
            "the run itself, at its 100 queries/s: p99 measured 2 ms, predicted 1.995 ms (+0 %)"
        ),
        "{agreed}"
    );
    let simulated = format!("model simulate {quiet} --cores 2 --rate 100 --queries 2000 --runs 2");
    let simulated = shorttail(simulated.split(' ')).ends(0).stdout;
    assert!(
        simulated.contains("p99 measured 2 ms, predicted 1.995 ms (+0 %)"),
        "{simulated}"
    );
    assert!(
        simulated.contains("front-end, details, summaries"),
        "{simulated}"
    );

    // Most requests took 2 ms, and a twentieth 44 ms, for which the run gives no reason.
    let folder = bench.path("quiet");
    let (record, mut outcome) = RunRecord::open(&folder).unwrap();
    for sample in outcome.samples.iter_mut().step_by(20) {
        sample.done_ns = Some(sample.intended_ns + 44_000_000);
    }
    record.save(&bench.path("odd"), &outcome.samples).unwrap();
    let odd = bench.path("odd").to_str().unwrap().to_owned();
    for command in [
        "plan --rate 100 --target p99=20ms",
        "model simulate --cores 2 --rate 100 --queries 2000 --runs 2",
    ] {
        let words = format!("{command} {odd}");
        let run = shorttail(words.split_whitespace());
        let run = run.fails_saying(&["contradicts its own run", "p99 was 44 ms at 100 queries/s"]);
        assert!(
            run.stdout.contains("p99 measured 44 ms, predicted "),
            "{run:#?}"
        );
        let words = format!("{command} {odd} --json --despite contradicted");
        let line = &shorttail(words.split_whitespace()).ends(0).json_lines()[0];
        assert_eq!(line["run"]["contradicted"], true, "{line}");
        assert_eq!(line["run"]["measured_ms"], 44.0);
    }
}
