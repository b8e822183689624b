//! Shares of connections and output between clients.
use crate::corpus::{document, index};
use crate::http::{Running, options};
use serve::{ConnectionLimits, ServeOptions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn start(limits: ConnectionLimits) -> Running {
    let index = index((0..400).map(|n| document(n, (n % 9) as u8, 1)), 2);
    Running::start(
        index,
        &ServeOptions {
            limits,
            ..options(1)
        },
    )
}

/// Opens a connection that has had an answer and stays open.
fn kept(server: &Running) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(server.address).unwrap();
    asks(&mut stream, "").then_some(stream)
}

/// Returns whether a health check over a connection is answered.
fn asks(stream: &mut TcpStream, headers: &str) -> bool {
    let request = format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
    let mut bytes = [0; 1024];
    stream.write_all(request.as_bytes()).is_ok()
        && matches!(stream.read(&mut bytes), Ok(length) if bytes[..length].starts_with(b"HTTP/1.1 200"))
}

/// Sleeps until a connection counts as idle.
fn pause() {
    std::thread::sleep(Duration::from_millis(80));
}

#[test]
fn idle_connections_give_way_to_newcomers() {
    let server = start(ConnectionLimits {
        connections_max: 40,
        ..ConnectionLimits::default()
    });
    let mut squatters: Vec<TcpStream> = (0..40).map(|_| kept(&server).unwrap()).collect();
    for round in 0..9 {
        pause();
        // The squatters do everything that keeps a connection open.
        squatters.retain_mut(|squatter| asks(squatter, ""));
        pause();
        let honest = kept(&server);
        assert!(
            honest.is_some(),
            "round {round}: an honest client is turned away"
        );
    }
    assert!(
        squatters.len() >= 30,
        "only as many as were needed are closed"
    );
}

#[test]
fn a_client_has_its_share_of_connections_and_no_more() {
    let server = start(ConnectionLimits {
        connections_max: 100,
        connections_per_client: 3,
        loopback_is_limited: true,
        ..ConnectionLimits::default()
    });
    let mut own: Vec<TcpStream> = (0..3).map(|_| kept(&server).unwrap()).collect();
    pause();
    // A fourth takes the place of the first.
    let mut fourth = kept(&server).unwrap();
    assert!(!asks(&mut own[0], ""));
    assert!(asks(&mut own[1], "") && asks(&mut own[2], "") && asks(&mut fourth, ""));
    drop((own, fourth));

    // By default, loopback clients have no limit of their own.
    let server = start(ConnectionLimits {
        connections_per_client: 3,
        ..ConnectionLimits::default()
    });
    let all: Vec<_> = (0..20).map(|_| kept(&server).unwrap()).collect();
    assert_eq!(all.len(), 20);
}

/// Opens a connection that requests a large page repeatedly and reads nothing.
fn greedy(server: &Running, headers: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).unwrap();
    let request =
        format!("GET /?q=alpha&k=1000&per_site=0 HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
    stream.write_all(request.repeat(20).as_bytes()).unwrap();
    stream
}

#[test]
fn readers_that_do_not_read_are_refused_and_starve_nobody() {
    let server = start(ConnectionLimits {
        output_bytes_max: 1 << 20,
        ..ConnectionLimits::default()
    });
    let crowd: Vec<TcpStream> = (0..16).map(|_| greedy(&server, "")).collect();
    let mut slowest = Duration::ZERO;
    for _ in 0..20 {
        let begun = Instant::now();
        let answer = server.get("/search?q=alpha&k=5");
        assert_eq!(answer.status, 200, "{}", answer.body);
        slowest = slowest.max(begun.elapsed());
    }
    // With the client's limit in use, a further large answer is refused.
    let begun = Instant::now();
    let refused = loop {
        let answer = server.get("/?q=alpha&k=1000&per_site=0");
        if answer.status != 200 {
            break answer;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "nothing is refused"
        );
    };
    assert!(matches!(refused.status, 429 | 503), "{}", refused.status);
    assert!(refused.head.contains("retry-after: 1"), "{}", refused.head);
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
    drop(crowd);
}

#[test]
fn clients_behind_a_proxy_are_told_apart() {
    let mut limits = ConnectionLimits {
        connections_per_client: 1,
        write_timeout: Duration::from_secs(2),
        ..ConnectionLimits::default()
    };
    limits.trusted_proxies.networks = vec![serve::parse_network("127.0.0.1").unwrap()];
    let server = start(limits);
    // The number of the proxy's own connections is not limited.
    let mut connections: Vec<TcpStream> = (0..10).map(|_| kept(&server).unwrap()).collect();
    assert!(asks(&mut connections[3], "X-Forwarded-For: 192.0.2.1\r\n"));
    // One client may have one request in work: some of many concurrent ones are refused.
    let burst = |address: fn(usize) -> usize| {
        let asking = |at: usize| {
            let host = server.address;
            std::thread::spawn(move || {
                let mut stream = TcpStream::connect(host).unwrap();
                let client = address(at);
                let request = format!(
                    "GET /?q=alpha&k=1000&per_site=0 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
                     X-Forwarded-For: 10.9.9.9, 192.0.2.{client}\r\n\r\n"
                );
                stream.write_all(request.as_bytes()).unwrap();
                let mut answer = String::new();
                stream.read_to_string(&mut answer).unwrap();
                answer.starts_with("HTTP/1.1 429")
            })
        };
        let all: Vec<_> = (0..24).map(asking).collect();
        let refused = all.into_iter().map(|one| one.join().unwrap());
        refused.filter(|refused| *refused).count()
    };
    assert!(
        burst(|_| 1) > 0,
        "one client had 24 requests in work at once"
    );
    assert_eq!(burst(|at| at + 1), 0, "24 clients were taken for one");
}
