//! The frontier and its twin in random sequences of operations, restarts among them.
use super::driver::{Dice, HOUR, START, fetched, open, small};
use crate::frontier::twin::Twin;
use crate::frontier::{
    Discovery, Failure, Frontier, Next, Outcome, Refusal, RobotsAnswer, RobotsOutcome, Source,
    Visit, VisitKind,
};
use crate::politeness::TimeMs;
use vfs::MemoryStorage;

struct Pair {
    disk: MemoryStorage,
    frontier: Frontier,
    twin: Twin,
    now: TimeMs,
    flying: Vec<Visit>,
    dice: Dice,
}

fn outcome(dice: &mut Dice) -> Outcome {
    let took_ms = dice.below(900);
    match dice.below(10) {
        0 => Outcome::Gone {
            status: 404,
            took_ms,
        },
        1 => Outcome::NotModified { took_ms },
        2 => Outcome::Redirected {
            status: 301,
            took_ms,
        },
        3 => Outcome::Refused(Refusal::Robots),
        5 => Outcome::HandedOver,
        4 => Outcome::Failed {
            failure: [Failure::Timeout, Failure::Client, Failure::Throttled]
                [dice.below(3) as usize],
            status: None,
            took_ms,
            retry_after_s: (dice.below(2) == 0).then_some(90),
        },
        _ => fetched(u128::from(dice.below(3)), took_ms),
    }
}

impl Pair {
    fn discover(&mut self) {
        let dice = &mut self.dice;
        let url = format!("http://h{}.example/{}", dice.below(4), dice.below(20));
        let found = Discovery {
            url: &url,
            depth: dice.below(4) as u16,
            source: Source::Link,
            from: Some(dice.below(3)),
            importance: dice.below(3) as f32 + 0.3,
            modified: (dice.below(6) == 0).then_some(self.now),
        };
        let new = self.twin.discover(&found, self.now);
        let fresh = self.frontier.discover(&found, self.now).expect("discovers");
        assert!(fresh || !new, "{url} is new");
    }

    fn next(&mut self) {
        let next_at = self.twin.next_at();
        match self.frontier.next(self.now).expect("next") {
            Next::Visit(visit) => {
                let is_robots = visit.kind == VisitKind::Robots;
                assert_eq!(
                    self.twin.visit(&visit.url, is_robots, self.now),
                    Ok(()),
                    "{}",
                    visit.url
                );
                self.flying.push(*visit);
            }
            Next::Wait { until } => {
                assert!(
                    next_at.is_none_or(|at| at > self.now),
                    "a visit is due: {next_at:?} {:?}",
                    self.now
                );
                assert!(
                    next_at.is_none_or(|at| until <= at),
                    "{until:?} is later than {next_at:?}"
                );
            }
            Next::Idle => assert_eq!((next_at, self.flying.len()), (None, 0)),
        }
    }

    fn end(&mut self) {
        if self.flying.is_empty() {
            return;
        }
        let visit = self
            .flying
            .swap_remove(self.dice.below(self.flying.len() as u64) as usize);
        if visit.kind == VisitKind::Page {
            let outcome = outcome(&mut self.dice);
            let finished = self
                .frontier
                .finished(visit.id, &outcome, self.now)
                .expect("finishes");
            let effect = self.twin.finished(&visit.url, &outcome, self.now);
            assert_eq!(finished.expect("in flight").effect, effect, "{outcome:?}");
            return;
        }
        let until = self.now.plus_ms(1 + self.dice.below(20 * HOUR));
        let waits = self.dice.below(5) == 0;
        let outcome = match waits {
            true => RobotsOutcome::WaitUntil(until),
            false => RobotsOutcome::Free { valid_until: until },
        };
        let answer = RobotsAnswer {
            outcome,
            throttled: None,
            took_ms: 30,
            source: b"x",
        };
        self.frontier
            .robots(visit.id, &answer, self.now)
            .expect("robots");
        let valid = if waits { Err(until) } else { Ok(until) };
        self.twin.robots(&visit.origin, valid, 30, self.now);
    }

    fn restart(&mut self) {
        self.frontier.sync().expect("syncs");
        self.flying.clear();
        self.twin.restart(self.now);
        // The lock must be given back before.
        let other = open(&MemoryStorage::new(), small(), self.now);
        drop(std::mem::replace(&mut self.frontier, other));
        self.frontier = open(&self.disk, small(), self.now);
    }

    fn compare(&mut self) {
        let frontier = &mut self.frontier;
        let mut known = 0;
        for (url, record) in self.twin.records() {
            assert_eq!(
                frontier.explain(url).map(|found| found.record).as_ref(),
                Some(record),
                "{url}"
            );
            known += 1;
        }
        frontier.checkpoint().expect("checkpoints");
        let counts = frontier.counts(self.now);
        assert_eq!((counts.known, counts.unchecked), (known, 0));
        for (state, count) in counts.states {
            let of_state = self
                .twin
                .records()
                .filter(|(_, record)| record.state == state)
                .count();
            assert_eq!(of_state as u64, count, "{state:?}");
        }
    }
}

fn sequence(seed: u64) {
    let disk = MemoryStorage::new();
    let options = small();
    let mut pair = Pair {
        frontier: open(&disk, options.clone(), START),
        twin: Twin::new(options.law, options.recrawl),
        disk,
        now: START,
        flying: Vec::new(),
        dice: Dice(seed),
    };
    for _ in 0..150 {
        match pair.dice.below(40) {
            0 => pair.restart(),
            1 => pair.frontier.checkpoint().expect("checkpoints"),
            2 => drop(pair.frontier.work(20).expect("works")),
            3 => {
                pair.frontier.again(pair.now).expect("again");
                pair.twin.again(pair.now);
            }
            4 => pair.now = pair.now.plus_ms(pair.dice.below(40 * HOUR)),
            5..=9 => pair.now = pair.now.plus_ms(pair.dice.below(2_000)),
            10..=17 => pair.discover(),
            18..=28 => pair.end(),
            _ => pair.next(),
        }
    }
    pair.compare();
}

/// SHORTTAIL_FRONTIER_SEQUENCES sets their number.
#[test]
fn the_frontier_is_its_twin() {
    let wanted = std::env::var("SHORTTAIL_FRONTIER_SEQUENCES").ok();
    let sequences = wanted.and_then(|number| number.parse().ok()).unwrap_or(300);
    for seed in 0..sequences {
        if std::panic::catch_unwind(|| sequence(seed)).is_err() {
            panic!("sequence({seed}) differs");
        }
    }
    println!("{sequences} sequences");
}
