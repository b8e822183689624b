//! End of inactive connections, and survival of active ones.
use crate::corpus::{document, index};
use crate::http::{Running, options};
use serve::{ConnectionLimits, ServeOptions};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn start(limits: ConnectionLimits) -> Running {
    let index = index((0..30).map(|n| document(n, 1, 1)), 2);
    Running::start(
        index,
        &ServeOptions {
            limits,
            ..options(1)
        },
    )
}

/// Waits until the server closes a connection; returns whether it did within ten seconds.
fn is_closed(stream: &mut TcpStream) -> bool {
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    let mut bytes = [0; 1024];
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::ConnectionReset,
        }
    }
}

#[test]
fn whoever_does_not_ask_is_left() {
    let server = start(ConnectionLimits {
        head_timeout: Duration::from_millis(200),
        ..ConnectionLimits::default()
    });
    let connect = || TcpStream::connect(server.address).unwrap();
    let (mut silent, mut slow, mut idle) = (connect(), connect(), connect());
    slow.write_all(b"GET / HTTP/1.1\r\nHos").unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        .unwrap();
    assert_eq!(server.get("/search?q=alpha").status, 200);
    for stream in [&mut silent, &mut slow, &mut idle] {
        assert!(is_closed(stream));
    }
    assert_eq!(server.get("/search?q=alpha").status, 200);
}

#[test]
fn a_connection_too_many_takes_the_place_of_the_one_idle_longest() {
    let server = start(ConnectionLimits {
        connections_max: 2,
        ..ConnectionLimits::default()
    });
    let ask = |stream: &mut TcpStream| {
        stream.write_all(b"GET /favicon.svg HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
        let mut bytes = [0; 4096];
        let length = stream.read(&mut bytes)?;
        Ok::<_, std::io::Error>(usize::from(bytes[..length].starts_with(b"HTTP/1.1 200")))
    };
    let connect = || {
        let mut stream = TcpStream::connect(server.address).unwrap();
        let answered = matches!(ask(&mut stream), Ok(1..));
        answered.then_some(stream)
    };
    let (mut first, mut second) = (connect().unwrap(), connect().unwrap());
    // No connection is idle yet.
    assert!(connect().is_none(), "it was answered");
    std::thread::sleep(Duration::from_millis(100));
    let mut third = connect().unwrap();
    assert!(!matches!(ask(&mut first), Ok(1..)), "it was to give way");
    assert!(ask(&mut second).unwrap() > 0 && ask(&mut third).unwrap() > 0);
    drop((second, third));
    let until = Instant::now() + Duration::from_secs(10);
    while connect().is_none() {
        assert!(Instant::now() < until, "there is room again");
    }
}

#[test]
fn bodies_are_not_waited_for() {
    let server = start(ConnectionLimits::default());
    let head = "POST /reload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n";
    let response = server.raw(head.as_bytes());
    assert_eq!(response.status, 413);
    assert!(
        response.body.contains("no request needs so long a body"),
        "{}",
        response.body
    );
}

#[test]
fn a_server_that_ends_answers_what_is_there() {
    let server = start(ConnectionLimits::default());
    let mut stream = TcpStream::connect(server.address).unwrap();
    let ask = |stream: &mut TcpStream, target: &str| {
        write!(stream, "GET {target} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let mut bytes = [0; 4096];
        let length = stream.read(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes[..length]).to_ascii_lowercase()
    };
    assert!(ask(&mut stream, "/healthz").contains("200 ok"));
    let mut server = server;
    server.tell_to_end();
    // The kept connection is answered once more, and the answer announces its end.
    let until = Instant::now() + Duration::from_secs(1);
    while TcpStream::connect(server.address).is_ok() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    let last = ask(&mut stream, "/healthz");
    assert!(
        last.contains("503") && last.contains("connection: close"),
        "{last}"
    );
    assert!(is_closed(&mut stream));
}
