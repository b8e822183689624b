//! Lives of single URLs: deletion, retries, traps, addresses, restarts.
use super::driver::{HOUR, START, fetched, link, next_page, open, small};
use crate::frontier::{
    Deletion, Effect, Failure, FrontierOptions, Next, Notice, Outcome, Parked, Refusal, State,
};
use crate::politeness::TrapDetector;
use vfs::MemoryStorage;

const URL: &str = "http://a.example/p";

fn one_visit(outcomes: &[(Outcome, u64, Effect, State)]) {
    let mut frontier = open(&MemoryStorage::new(), small(), START);
    let mut now = START;
    assert!(frontier.discover(&link(URL), now).expect("discovers"));
    for (outcome, after_ms, effect, state) in outcomes {
        frontier.again(now).expect("again");
        let visit = next_page(&mut frontier, &mut now).expect("due");
        let finished = frontier
            .finished(visit.id, outcome, now)
            .expect("finishes")
            .expect("in flight");
        assert_eq!(
            (finished.effect, finished.state),
            (*effect, *state),
            "{outcome:?}"
        );
        let explained = frontier.explain(URL).expect("known");
        assert_eq!(
            (explained.record.state, explained.in_flight),
            (*state, false)
        );
        now = now.plus_ms(*after_ms);
    }
}

fn gone() -> Outcome {
    Outcome::Gone {
        status: 404,
        took_ms: 5,
    }
}

fn failed(failure: Failure) -> Outcome {
    Outcome::Failed {
        failure,
        status: None,
        took_ms: 5,
        retry_after_s: None,
    }
}

#[test]
fn a_missing_page_is_deleted_at_the_second_answer_a_day_later() {
    let missing = State::Failed(Failure::Missing);
    one_visit(&[
        (fetched(1, 5), HOUR, Effect::Index, State::Fetched),
        (gone(), HOUR, Effect::Keep, missing),
        (gone(), 23 * HOUR, Effect::Keep, missing),
        (gone(), HOUR, Effect::Delete(Deletion::Gone), State::Gone),
        (fetched(1, 5), HOUR, Effect::Index, State::Fetched),
    ]);
    // An answer between them starts anew; a failure does not count as one.
    one_visit(&[
        (fetched(1, 5), HOUR, Effect::Index, State::Fetched),
        (gone(), 20 * HOUR, Effect::Keep, missing),
        (fetched(1, 5), 20 * HOUR, Effect::Keep, State::Fetched),
        (gone(), HOUR, Effect::Keep, missing),
        (
            failed(Failure::Timeout),
            25 * HOUR,
            Effect::Keep,
            State::Failed(Failure::Timeout),
        ),
        (gone(), HOUR, Effect::Delete(Deletion::Gone), State::Gone),
    ]);
}

#[test]
fn failures_keep_a_page_and_refusals_delete_it() {
    for failure in [
        Failure::Dns,
        Failure::Connect,
        Failure::Timeout,
        Failure::Server,
        Failure::Client,
        Failure::Throttled,
    ] {
        one_visit(&[
            (fetched(1, 5), HOUR, Effect::Index, State::Fetched),
            (
                failed(failure),
                90 * 24 * HOUR,
                Effect::Keep,
                State::Failed(failure),
            ),
            (failed(failure), HOUR, Effect::Keep, State::Failed(failure)),
            (
                Outcome::NotModified { took_ms: 3 },
                HOUR,
                Effect::Keep,
                State::Fetched,
            ),
        ]);
    }
    for refusal in [
        Refusal::Robots,
        Refusal::Rule,
        Refusal::NoIndex,
        Refusal::Duplicate,
    ] {
        let state = State::Refused(refusal);
        one_visit(&[
            (Outcome::Refused(refusal), HOUR, Effect::Keep, state),
            (fetched(1, 5), HOUR, Effect::Index, State::Fetched),
            (
                Outcome::Refused(refusal),
                HOUR,
                Effect::Delete(Deletion::Refused(refusal)),
                state,
            ),
            (Outcome::Refused(refusal), HOUR, Effect::Keep, state),
        ]);
    }
    let moved = Outcome::Redirected {
        status: 301,
        took_ms: 2,
    };
    one_visit(&[
        (fetched(1, 5), HOUR, Effect::Index, State::Fetched),
        (fetched(2, 5), HOUR, Effect::Index, State::Fetched),
        (moved, HOUR, Effect::Delete(Deletion::Moved), State::Moved),
    ]);
}

#[test]
fn clocks_robots_and_parked_shapes_survive_a_restart() {
    let disk = MemoryStorage::new();
    let options = FrontierOptions {
        shape: |_| 5,
        // The share alone is tried here.
        shapes: TrapDetector {
            repeats_max: u32::MAX,
            ..TrapDetector::default()
        },
        ..small()
    };
    let mut frontier = open(&disk, options.clone(), START);
    let mut now = START;
    for page in 0..102 {
        frontier
            .discover(&link(&format!("http://a.example/{page}")), now)
            .expect("discovers");
    }
    let mut parked = 0;
    for page in 0..100u32 {
        let visit = next_page(&mut frontier, &mut now).expect("due");
        let Outcome::Fetched {
            status,
            took_ms,
            validators,
            place,
            ..
        } = fetched(1, 10)
        else {
            unreachable!()
        };
        let duplicate = page >= 9;
        let outcome = Outcome::Fetched {
            status,
            took_ms,
            text_hash: 1,
            duplicate,
            noindex: false,
            repeats: false,
            validators,
            place,
        };
        let finished = frontier
            .finished(visit.id, &outcome, now)
            .expect("finishes")
            .expect("in flight");
        parked += usize::from(matches!(finished.notice, Some(Notice::ShapeParked { .. })));
    }
    assert_eq!(parked, 1);
    frontier.sync().expect("syncs");
    drop(frontier);
    let mut frontier = open(&disk, options, now);
    assert!(matches!(
        frontier.next(now).expect("next"),
        Next::Wait { .. }
    ));
    now = now.plus_ms(60_000);
    let visit = frontier.next(now).expect("next");
    assert!(!matches!(visit, Next::Visit(_)), "{visit:?}");
    frontier.checkpoint().expect("checkpoints");
    let counts = frontier.counts(now);
    assert_eq!((counts.known, counts.fetched), (102, 100));
    assert!(
        counts.states.contains(&(State::Parked(Parked::Trap), 2)),
        "{counts:?}"
    );
}
