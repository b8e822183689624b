//! Fairness of handlers: a long query beside short ones that keep coming.

use crate::corpus::{RUNTIME, document, index};
use serve::{Generations, HandlerOptions, InProcessIndexServer, Reply, SyntheticRequest};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time for which short queries keep coming.
const TRAFFIC: Duration = Duration::from_millis(1_600);

/// Returns the response time of a query of 20 ms on one handler, beside four queries of 1 ms at any time.
fn response_of_long_query(policy: &str, timeout: Duration) -> Duration {
    let options = HandlerOptions {
        handlers: 1,
        policy: policy.parse().unwrap(),
        // Not by predicted time: the long one is let in however long it takes.
        queue_length: 100,
        ..HandlerOptions::default()
    };
    let index = index([document(1, 1, 1)], 1);
    let draining = serve::Draining::default();
    let server =
        InProcessIndexServer::start(Generations::fixed(index), 0..=0, &options, draining).unwrap();
    let spin = |time: Duration, timeout: Duration| {
        let (reply, answer) = Reply::channel();
        let request = SyntheticRequest {
            time,
            likely: time,
            high: time,
            clock: Default::default(),
            deadline: Instant::now() + timeout,
        };
        server.spin(request, reply);
        RUNTIME.block_on(answer).unwrap().unwrap()
    };
    let hour = Duration::from_secs(3_600);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    spin(Duration::from_millis(1), hour);
                }
            });
        }
        // Among the short ones from the start.
        std::thread::sleep(Duration::from_millis(20));
        let began = Instant::now();
        let spin = &spin;
        let long = scope.spawn(move || {
            spin(Duration::from_millis(20), timeout);
            began.elapsed()
        });
        while began.elapsed() < TRAFFIC && !long.is_finished() {
            std::thread::sleep(Duration::from_millis(5));
        }
        is_over.store(true, Ordering::Relaxed);
        long.join().unwrap()
    })
}

#[test]
fn nobody_waits_for_more_than_a_tenth_of_the_deadline_while_others_run() {
    // Without a near deadline the short ones always have less time left: the long one waits for the end of the traffic.
    let starved = response_of_long_query("least-left", Duration::from_secs(3_600));
    assert!(starved >= TRAFFIC, "{starved:?}");
    for policy in ["least-left", "boost"] {
        // A tenth is 200 ms; then it goes first. The machine may be busy with other tests.
        let fair = response_of_long_query(policy, Duration::from_secs(2));
        assert!(fair < TRAFFIC * 3 / 4, "{policy}: {fair:?}");
    }
}
