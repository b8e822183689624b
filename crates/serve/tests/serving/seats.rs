//! Silent, slow and busy connections: none of them closes a port, and health checks always have a seat.

use crate::corpus::{document, index};
use crate::http::{Running, options, raw_to};
use crate::indexnow;
use crate::writing::{line, sent, writing};
use index::Texts;
use serve::{ConnectionLimits, ServeOptions};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

/// More than any small port has seats.
const CONNECTIONS: usize = 320;

/// Opens connections that send the beginning of a request and no more.
fn opened(address: SocketAddr, count: usize, beginning: &str) -> Vec<TcpStream> {
    let open = |_| {
        let mut stream = TcpStream::connect(address).unwrap();
        // The server may have closed it already.
        let _ = stream.write_all(beginning.as_bytes());
        stream
    };
    (0..count).map(open).collect()
}

fn health(address: SocketAddr) -> u16 {
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    raw_to(address, request.as_bytes()).status
}

#[test]
fn bodies_that_do_not_come_do_not_close_the_admin_port() {
    let (_storage, server) = writing(1, Texts::Stored);
    let admin = server.admin();
    let head = |length: usize| {
        format!("POST /documents HTTP/1.1\r\nHost: {admin}\r\nContent-Length: {length}\r\n\r\n")
    };
    let beginnings = [
        head(1_000),
        format!("{}{{\"url\":\"u:1\"", head(1_000_000)),
        format!(
            "POST /documents HTTP/1.1\r\nHost: {admin}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n[1,2,\r\n"
        ),
        format!(
            "POST /documents HTTP/1.1\r\nHost: {admin}\r\nContent-Encoding: zstd\r\nContent-Length: 90000\r\n\r\n("
        ),
        "GET /metrics HTTP/1.1\r\nHo".to_owned(),
        String::new(),
    ];
    for (number, beginning) in beginnings.iter().enumerate() {
        let held = opened(admin, CONNECTIONS, beginning);
        assert_eq!(health(admin), 200, "{beginning:?}");
        // A newcomer takes the seat of one that is late by 50 ms.
        let written = line(&document(100 + number, 2, 0b100));
        let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
        loop {
            let answered =
                crate::writing::send(&server, "POST", "/documents", "", written.as_bytes());
            if answered.status == 200 {
                break;
            }
            assert!(
                std::time::Instant::now() < until,
                "{beginning:?}: {answered:?}"
            );
        }
        drop(held);
    }
    sent(&server, "POST", "/refresh", "", 200);
}

#[test]
fn submissions_pass_slow_ones() {
    let (server, seen) = indexnow::started();
    let beginning =
        "POST /indexnow HTTP/1.1\r\nHost: a.example\r\nContent-Length: 2000000\r\n\r\n{";
    let held = opened(server.address(), CONNECTIONS, beginning);
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while indexnow::ask(&server, "POST /indexnow", "{}").status != 200 {
        assert!(std::time::Instant::now() < until);
    }
    assert_eq!(seen.lock().unwrap().len(), 1);
    drop(held);
}

#[test]
fn health_has_a_seat_where_every_connection_is_busy() {
    // Each of these waits for a refresh that is not asked for within an hour.
    let (_storage, server) = writing(1, Texts::Stored);
    let admin = server.admin();
    let body = line(&document(100, 2, 0b100));
    let request = format!(
        "POST /documents?refresh=wait HTTP/1.1\r\nHost: {admin}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut held = opened(admin, CONNECTIONS, &request);
    for _ in 0..3 {
        assert_eq!(health(admin), 200);
    }
    // A connection beyond the limit is answered 503.
    let mut last = held.pop().unwrap();
    let mut answer = String::new();
    let _ = last.read_to_string(&mut answer);
    assert!(
        answer.starts_with("HTTP/1.1 503") && answer.contains("retry-after"),
        "{answer}"
    );
    drop((last, held));
    // Lets those in work end.
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while crate::writing::send(&server, "POST", "/refresh", "", b"").status != 200 {
        assert!(std::time::Instant::now() < until);
    }
}

#[test]
fn health_has_a_seat_at_the_public_port() {
    let limits = ConnectionLimits {
        connections_max: 2,
        ..ConnectionLimits::default()
    };
    let index = index((0..30).map(|n| document(n, 1, 1)), 2);
    let server = Running::start(
        index,
        &ServeOptions {
            limits,
            ..options(1)
        },
    );
    // Connections that have just come give way to no other.
    let held = opened(server.address, 200, "");
    assert_eq!(health(server.address), 200);
    drop(held);
}
