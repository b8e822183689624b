//! Agreement of recorded scripts with a board that gets the same events again.

use model::handlers::{HandlersSettings, run};
use model::simulate::{Arrivals, Distribution, Split, Times};
use schedule::board::script::{Event, play_all};
use schedule::board::{Board, Learnt, policy_named};

const POLICIES: [&str; 13] = [
    "least-left",
    "least-left:alone",
    "help-and-yield",
    "help-and-yield:300us,500us",
    "fifo",
    "fifo:3",
    "idle-share",
    "adaptive",
    "few-to-many",
    "target:2ms",
    "sjf",
    "earliest-deadline",
    "hurry-up",
];

fn settings() -> HandlersSettings {
    let times = Times::Drawn {
        mean_ms: 0.5,
        distribution: Distribution::Lognormal { cv2: 6.0 },
        split: Split::perfect(1),
    };
    let arrivals = Arrivals::Poisson { rate_per_s: 4000.0 };
    let mut settings = HandlersSettings::new(4, arrivals, times, 2_000);
    settings.speeds = vec![1.0, 1.0, 0.5, 0.5];
    settings.deadline_ms = Some(30.0);
    settings.keep_script = true;
    settings
}

#[test]
fn a_board_decides_again_as_in_the_simulation() {
    for policy in POLICIES.map(|name| policy_named(name).unwrap()) {
        for random_wakes in [false, true] {
            let mut settings = settings();
            settings.random_wakes = random_wakes;
            let report = run(&settings, &policy).unwrap();
            let mut board = Board::new(policy.clone(), &settings.speeds);
            board.learn(Learnt::default());
            let events: Vec<Event> = report.script.iter().map(|one| one.event).collect();
            let again = play_all(&mut board, events);
            for (number, (ours, theirs)) in again.iter().zip(&report.script).enumerate() {
                assert_eq!(ours, theirs, "{} at event {number}", policy.name());
            }
            assert_eq!(board.queries_count(), 0, "{}", policy.name());
        }
    }
}

#[test]
fn a_script_reads_as_lines() {
    let mut settings = settings();
    settings.arrivals = Arrivals::Trace(vec![0.0, 0.1, 50.0]);
    settings.queries = 3;
    settings.warm_up = 0;
    settings.speeds = vec![1.0, 1.0];
    settings.times = Times::Drawn {
        mean_ms: 0.4,
        distribution: Distribution::Constant,
        split: Split::perfect(1),
    };
    settings.costs.prediction_deviation = 0.0;
    settings.costs.range_us = 0.0;
    settings.deadline_ms = None;
    let report = run(&settings, &policy_named("least-left").unwrap()).unwrap();
    let lines: Vec<String> = report.script.iter().map(ToString::to_string).collect();
    let expected = "\
0.0 us  arrive likely 400.0 us -> query 0
0.0 us  wake -> 0
32.0 us  turn of 0 -> begin 0
start 0 likely 400.0 us -> ranges of 150.0 us, degree 2
32.0 us  open 0 in 3 ranges
take of 0, live 2
32.0 us  wake -> 1
64.0 us  turn of 1 -> help 0
take of 0, live 1
64.0 us  wake -> nobody
100.0 us  arrive likely 400.0 us -> query 1
100.0 us  wake -> nobody
165.3 us  done by 0 in 133.3 us -> stays
take of 0, live 0
217.1 us  done by 1 in 153.1 us -> leaves
217.1 us  leave by 1, none left -> others go on
217.1 us  turn of 1 -> begin 1
start 1 likely 400.0 us -> ranges of 150.0 us, degree 2
217.1 us  open 1 in 3 ranges";
    assert_eq!(lines[..19].join("\n"), expected);
}
