//! Hurry-up on handlers of emulated speeds: long queries move to fast handlers at the ends of ranges.

use crate::corpus::{RUNTIME, document, index};
use serve::{Generations, HandlerOptions, InProcessIndexServer, Reply, SyntheticRequest};
use std::time::{Duration, Instant};

/// Returns the number of handlers that work on a query of 60 ms: it begins on the slow one of two handlers, with a query
/// of 15 ms on the fast one.
fn handlers_of_long_query(policy: &str, speeds: [f64; 2]) -> u32 {
    let options = HandlerOptions {
        handlers: 2,
        emulated_speeds: speeds.to_vec(),
        policy: policy.parse().unwrap(),
        ..HandlerOptions::default()
    };
    let index = index([document(1, 1, 1)], 1);
    let draining = serve::Draining::default();
    let server =
        InProcessIndexServer::start(Generations::fixed(index), 0..=0, &options, draining).unwrap();
    let spin = |ms: u64| {
        let time = Duration::from_millis(ms);
        let (reply, answer) = Reply::channel();
        let request = SyntheticRequest {
            time,
            likely: time,
            high: time,
            deadline: Instant::now() + Duration::from_secs(60),
            clock: Default::default(),
        };
        server.spin(request, reply);
        answer
    };
    // The sampling thread sleeps until the first query.
    std::thread::sleep(Duration::from_millis(10));
    let short = spin(15);
    // The fast handler takes it.
    std::thread::sleep(Duration::from_millis(3));
    let long = spin(60);
    RUNTIME.block_on(short).unwrap().unwrap();
    RUNTIME.block_on(long).unwrap().unwrap().handlers
}

#[test]
fn long_queries_move_to_fast_handlers() {
    assert_eq!(handlers_of_long_query("fifo:1", [1.0, 0.2]), 1);
    assert_eq!(handlers_of_long_query("hurry-up:2ms,5ms", [1.0, 0.2]), 2);
    // Alike, or not to be told apart: nothing moves.
    assert_eq!(handlers_of_long_query("hurry-up:2ms,5ms", [1.0, 1.0]), 1);
    assert_eq!(
        handlers_of_long_query("hurry-up:2ms,5ms", [f64::NAN, 7.0]),
        1
    );
}
