//! Deadlines of queries.
use crate::corpus::{RUNTIME, Searched, alpha, document, index, index_server};
use crate::failing::{Failing, Failure};
use serve::api::messages::SearchRequest;
use serve::{IndexServer, PartError, Query, Reply, SearchError, SearchOptions};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

#[test]
fn an_answer_comes_before_its_timeout() {
    let index = index((0..60).map(|n| document(n, (n % 5) as u8, 0b11)), 4);
    let stopped = Failing::new(Failure::Stopped, index_server(&index, 2..=3));
    let front_end = Searched::before(
        &index,
        vec![
            (0..=1, Arc::new(index_server(&index, 0..=1))),
            (2..=3, Arc::new(stopped)),
        ],
    );
    for timeout_ms in [250, 1000] {
        let timeout = Duration::from_millis(timeout_ms);
        let options = SearchOptions {
            timeout: Some(timeout),
            ..SearchOptions::default()
        };
        let begun = Instant::now();
        let answer = front_end.search("alpha", &options).unwrap();
        let took = begun.elapsed();
        assert!(answer.timed_out && answer.coverage < 1.0);
        assert!(!answer.hits.is_empty(), "what was found in time is shown");
        assert!(took >= timeout * 8 / 10, "{took:?} of {timeout:?}");
        assert!(
            took < timeout + Duration::from_millis(500),
            "{took:?} of {timeout:?}"
        );
    }
}

fn request(deadline: Instant) -> SearchRequest {
    SearchRequest {
        k: 10,
        counted: true,
        sort: Arc::default(),
        collapse: None,
        after: None,
        trace: false,
        generation: 0,
        deadline,
        caller_waits: false,
    }
}

fn query() -> Arc<Query> {
    let ranking = search::Ranking::default();
    Arc::new(Query::new(1, "alpha".into(), alpha(), ranking))
}

#[test]
fn work_past_its_deadline_is_never_begun() {
    let index = index((0..60).map(|n| document(n, 1, 1)), 1);
    let server = index_server(&index, 0..=0);
    let (reply, answer) = Reply::channel();
    server.search(&query(), request(Instant::now()), reply);
    let answered = RUNTIME.block_on(answer).unwrap();
    assert!(matches!(answered, Err(PartError::Expired)), "{answered:?}");
    assert_eq!(server.figures().never_begun.load(Ordering::Relaxed), 1);
}

#[test]
fn work_that_nobody_waits_for_is_never_begun() {
    let index = index((0..60).map(|n| document(n, 1, 1)), 1);
    let server = index_server(&index, 0..=0);
    let (reply, answer) = Reply::channel();
    drop(answer);
    let deadline = Instant::now() + Duration::from_secs(60);
    server.search(&query(), request(deadline), reply);
    let until = Instant::now() + Duration::from_secs(10);
    while server.figures().never_begun.load(Ordering::Relaxed) == 0 {
        assert!(Instant::now() < until, "the request was begun");
        std::thread::yield_now();
    }
}

#[test]
fn a_timeout_that_nothing_can_meet_is_an_error() {
    let index = index((0..60).map(|n| document(n, 1, 1)), 1);
    let stopped = Failing::new(Failure::Stopped, index_server(&index, 0..=0));
    let front_end = Searched::before(&index, vec![(0..=0, Arc::new(stopped))]);
    let options = SearchOptions {
        timeout: Some(Duration::from_millis(1)),
        ..SearchOptions::default()
    };
    let refused = front_end.search("alpha", &options).unwrap_err();
    assert!(matches!(refused, SearchError::TimedOut { .. }), "{refused}");
}
