//! Distinction of every outcome of a request.
use crate::server::{self, Reply};
use load::{Arrivals, Ending, Live, Outcome, QueryStream, Settings, Target, Think};
use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

fn settings(address: SocketAddr, rate_qps: f64) -> Settings {
    let target = Target::parse(&format!("http://{address}")).unwrap();
    let queries = QueryStream::as_is(["one", "two", "three"]);
    let arrivals = Arrivals::Constant { rate_qps };
    Settings::open(target, queries, arrivals, Duration::from_millis(500))
}

fn closed(settings: &Settings) -> Settings {
    let (target, queries) = (settings.target.clone(), settings.queries.clone());
    let think = Think::Fixed(Duration::from_millis(10));
    let mut closed = Settings::closed(target, queries, 2, think, settings.duration);
    closed.timeout = settings.timeout;
    closed
}

fn endings(outcome: &Outcome) -> BTreeMap<Ending, usize> {
    let mut counts = BTreeMap::new();
    outcome
        .samples
        .iter()
        .for_each(|s| *counts.entry(s.ending).or_default() += 1);
    counts
}

/// Runs both loops against a server and checks that every request ends as expected.
fn check(address: SocketAddr, expected: Ending) {
    let mut open = settings(address, 100.0);
    open.timeout = Duration::from_millis(200);
    for settings in [closed(&open), open] {
        let outcome = load::run(&settings).unwrap();
        let endings = endings(&outcome);
        assert_eq!(
            endings.keys().collect::<Vec<_>>(),
            [&expected],
            "{:?}",
            settings.load
        );
        assert!(outcome.is_complete);
    }
}

#[test]
fn statuses_are_kept_with_what_they_say() {
    let n = AtomicU64::new(0);
    let address = server::start(move |_| match n.fetch_add(1, SeqCst) % 3 {
        0 => Reply::status("429 Too Many Requests", "Retry-After: 2\r\n", "busy"),
        1 => Reply::status("503 Service Unavailable", "", "down"),
        _ => Reply::ok("{}"),
    });
    let outcome = load::run(&settings(address, 120.0)).unwrap();
    let endings = endings(&outcome);
    assert_eq!(
        endings.into_iter().collect::<Vec<_>>(),
        [
            (Ending::Answered(200), 20),
            (Ending::Answered(429), 20),
            (Ending::Answered(503), 20)
        ]
    );
    for sample in &outcome.samples {
        let shed = sample.ending == Ending::Answered(429);
        assert_eq!(sample.retry_after_s, shed.then_some(2));
        assert_eq!(sample.answer.is_some(), sample.ending.is_answer());
        assert_eq!(sample.ending.is_shed(), !sample.ending.is_answer());
    }
}

#[test]
fn nobody_listens() {
    // A port that was just free and is closed again.
    let address = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    check(address, Ending::Refused);
}

#[test]
fn the_server_hangs_up() {
    let close = |bytes: &[u8]| Reply {
        bytes: bytes.to_vec(),
        closes: true,
    };
    check(server::start(move |_| close(b"")), Ending::Closed);
    let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{";
    check(server::start(move |_| close(cut)), Ending::Closed);
    check(
        server::start(move |_| close(b"220 mail ready\r\n")),
        Ending::Malformed,
    );
}

#[test]
fn a_response_that_ends_with_its_connection_is_whole() {
    let bytes = b"HTTP/1.1 200 OK\r\n\r\n{}".to_vec();
    let address = server::start(move |_| Reply {
        bytes: bytes.clone(),
        closes: true,
    });
    check(address, Ending::Answered(200));
}

#[test]
fn the_client_gives_up_in_time() {
    let address = server::start(|_| {
        std::thread::sleep(Duration::from_secs(5));
        Reply::ok("{}")
    });
    let started = Instant::now();
    check(address, Ending::TimedOut);
    assert!(started.elapsed() < Duration::from_secs(4));
    let mut settings = settings(address, 100.0);
    settings.timeout = Duration::from_millis(200);
    let outcome = load::run(&settings).unwrap();
    for sample in &outcome.samples {
        let waited = sample.response_ns().unwrap();
        assert!((200_000_000..400_000_000).contains(&waited), "{waited} ns");
    }
}

#[test]
fn a_full_client_drops_and_an_early_end_leaves_unfinished() {
    let address = server::start(|_| {
        std::thread::sleep(Duration::from_secs(5));
        Reply::ok("{}")
    });
    let mut settings = settings(address, 40.0);
    settings.connections_max = 4;
    settings.drain = Duration::from_millis(100);
    let outcome = load::run(&settings).unwrap();
    let endings = endings(&outcome);
    assert_eq!(endings.get(&Ending::Unfinished), Some(&4));
    assert_eq!(endings.get(&Ending::Dropped), Some(&16));
    let dropped = outcome
        .samples
        .iter()
        .find(|s| s.ending == Ending::Dropped)
        .unwrap();
    assert_eq!((dropped.sent_ns, dropped.done_ns), (None, None));
}

#[test]
fn a_stopped_run_keeps_its_samples() {
    let address = server::start(|_| Reply::ok("{}"));
    for settings in [settings(address, 200.0), closed(&settings(address, 200.0))] {
        let settings = Settings {
            duration: Duration::from_secs(60),
            ..settings
        };
        let live = Live::default();
        let outcome = std::thread::scope(|scope| {
            let run = scope.spawn(|| load::run_watched(&settings, &live));
            while live.look().answered < 10 {
                std::thread::yield_now();
            }
            live.stop();
            run.join().unwrap().unwrap()
        });
        assert!(!outcome.is_complete);
        assert!(outcome.samples.len() >= 10);
        assert!(outcome.measured < Duration::from_secs(30));
        assert_eq!(live.look().in_flight, 0);
    }
}

#[test]
fn connections_are_kept_and_renewed() {
    let n = AtomicU64::new(0);
    let address = server::start(move |_| match n.fetch_add(1, SeqCst) % 10 {
        9 => Reply::status("200 OK", "Connection: close\r\n", "{}"),
        _ => Reply::ok("{}"),
    });
    let outcome = load::run(&settings(address, 100.0)).unwrap();
    assert!(
        outcome
            .samples
            .iter()
            .all(|sample| sample.ending.is_answer())
    );
    let made = outcome
        .samples
        .iter()
        .filter(|sample| sample.new_connection)
        .count();
    assert!(
        (5..25).contains(&made),
        "{made} connections for 50 requests"
    );
}
