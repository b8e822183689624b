//! Conformance to HTTP at its edges: hosts, heads, half-closed connections, unusual characters.
use crate::corpus::{document, index};
use crate::http::{Running, options, raw_to};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

fn start() -> Running {
    let odd = document::Document {
        url: "https://odd.example/\u{202e}gpj.exe".into(),
        title: "odd \u{1b}[31m\0\u{9b}1m \u{2066}title\u{202e}".into(),
        body: "odd \u{7f}\u{8}\u{202d}body odd".into(),
        ..Default::default()
    };
    let documents = (0..30).map(|n| document(n, 1, 1)).chain([odd]);
    Running::start(index(documents, 2), &options(1))
}

#[test]
fn a_request_names_one_host() {
    let server = start();
    let status = |request: &str| server.raw(request.as_bytes()).status;
    for path in ["/", "/search?q=alpha", "/healthz", "/nothing"] {
        let of = |headers: &str| {
            status(&format!(
                "GET {path} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n"
            ))
        };
        assert_ne!(of("Host: a.example\r\n"), 400, "{path}");
        assert_ne!(of("Host: [::1]:7700\r\n"), 400, "{path}");
        assert_ne!(of("Host:\r\n"), 400, "{path}");
        assert_eq!(of(""), 400, "{path}");
        assert_eq!(of("Host: a\r\nHost: b\r\n"), 400, "{path}");
        assert_eq!(of("Host: a\r\nHost: a\r\n"), 400, "{path}");
        assert_eq!(of("Host: a b\r\n"), 400, "{path}");
        assert_eq!(of("Host: user@a\r\n"), 400, "{path}");
        assert_ne!(
            status(&format!("GET {path} HTTP/1.0\r\n\r\n")),
            400,
            "{path}"
        );
    }
    // The header is required whatever the form of the target.
    let absolute = "GET http://a.example/healthz HTTP/1.1\r\nConnection: close\r\n\r\n";
    assert_eq!(status(absolute), 400);
}

#[test]
fn heads_have_32_kib() {
    let server = start();
    let of = |bytes: usize| {
        let head = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: \r\n\r\n";
        let filled = "y".repeat(bytes - head.len());
        let request = head.replace("X: ", &format!("X: {filled}"));
        assert_eq!(request.len(), bytes);
        server.raw(request.as_bytes()).status
    };
    assert_eq!(of(32 * 1024), 200);
    assert_eq!(of(32 * 1024 + 1), 431);
    assert_eq!(of(40 * 1024), 431);
}

/// Sends a request, closes the sending side, and reads to the end.
fn half_closed(server: &Running, request: &str) -> String {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    // A client ignores interim responses.
    answer.replace("HTTP/1.1 100 Continue\r\n\r\n", "")
}

#[test]
fn who_ends_its_sending_side_gets_its_answer() {
    let server = start();
    for path in ["/healthz", "/search?q=alpha", "/?q=alpha", "/nothing"] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let expected = server.get(path).status;
        for _ in 0..20 {
            let answer = half_closed(&server, &request);
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {expected} ")),
                "{path}: {answer:?}"
            );
        }
        // Requests sent ahead are all answered too.
        let answers = half_closed(&server, &request.repeat(3));
        let heads = answers.matches(&format!("HTTP/1.1 {expected} ")).count();
        assert_eq!(heads, 3, "{path}: {answers:?}");
    }
    let old = half_closed(&server, "GET /healthz HTTP/1.0\r\n\r\n");
    assert!(old.starts_with("HTTP/1.0 200 "), "{old:?}");
}

#[test]
fn hidden_characters_never_reach_a_page() {
    let server = start();
    let hidden = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\r' | '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    for target in [
        "/?q=odd",
        "/?q=odd&explain=1",
        "/?q=%00%1b%5b31m%c2%9b%e2%80%ae%e2%81%a6",
        "/?q=odd&k=%1b",
        "/document?url=https://odd.example/%e2%80%aegpj.exe",
        "/document?url=%00%1b%e2%80%ae",
    ] {
        let page = raw_to(
            server.address,
            format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                .as_bytes(),
        );
        assert!(page.status < 500, "{target}");
        let found = page.body.chars().find(|c| hidden(*c));
        assert_eq!(found, None, "{target}: {}", page.body);
        let is_shown = page.body.contains('\u{fffd}') || target.contains("k=%1b");
        assert!(is_shown, "{target}: nothing stands for them: {}", page.body);
    }
}
