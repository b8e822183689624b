//! What a search box on a page of another site needs: searches by POST, permission to read answers, compressed answers.

use crate::corpus::{document, index};
use crate::http::{Running, options, raw_to};
use serve::{ServeOptions, parse_origin};
use std::io::{Read, Write};
use std::net::TcpStream;

fn start(origins: &[&str]) -> Running {
    let index = index((0..30).map(|n| document(n, 1, 0b11)), 2);
    let origins = origins.iter().map(|origin| parse_origin(origin).unwrap());
    let options = ServeOptions {
        origins: origins.collect(),
        ..options(2)
    };
    Running::start(index, &options)
}

fn ask(server: &Running, line: &str, headers: &[&str], body: &str) -> crate::http::Response {
    let headers = headers.join("\r\n");
    let request = format!(
        "{line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n{headers}{}\r\n{body}",
        body.len(),
        if headers.is_empty() { "" } else { "\r\n" },
    );
    raw_to(server.address, request.as_bytes())
}

/// Returns an answer without its times.
fn untimed(body: &str) -> serde_json::Value {
    let mut answer: serde_json::Value = serde_json::from_str(body).unwrap();
    answer["phases_us"].take();
    answer
}

#[test]
fn a_search_that_is_posted_is_the_one_in_an_address() {
    let server = start(&[]);
    let got = |target: &str| untimed(&server.get(target).body);
    let json = "Content-Type: application/json";
    for (line, headers, body, target) in [
        (
            "POST /search",
            &[json][..],
            r#"{"q":"alpha","k":3}"#,
            "/search?q=alpha&k=3",
        ),
        (
            "POST /search?k=3",
            &[json],
            r#"{"q":"alpha"}"#,
            "/search?q=alpha&k=3",
        ),
        (
            "POST /search?k=9",
            &[json],
            r#"{"q":"alpha","k":3}"#,
            "/search?q=alpha&k=3",
        ),
        (
            "POST /search",
            &[],
            r#"{"filter":["site:site1.example","-title:1"],"explain":true,"facet":["site"]}"#,
            "/search?filter=site:site1.example&filter=-title:1&explain=1&facet=site",
        ),
        (
            "POST /search",
            &["Content-Type: application/x-www-form-urlencoded"],
            "q=alpha+beta&words=any",
            "/search?q=alpha+beta&words=any",
        ),
        ("POST /search?q=*", &[], "{}", "/search?q=*"),
    ] {
        let posted = ask(&server, line, headers, body);
        assert_eq!(posted.status, 200, "{body}: {}", posted.body);
        let posted = untimed(&posted.body);
        assert_eq!(posted, got(target), "{body}");
        assert!(posted["total"]["value"].as_u64() > Some(0), "{body}");
    }
    for (body, part) in [
        ("", "it is no JSON"),
        ("{}", "the query is missing"),
        (r#"{"q":"alpha","size":3}"#, "is not known"),
        (r#"{"q":"alpha","k":"many"}"#, "is not a whole number"),
        (r#"{"q":["alpha",{}]}"#, "a value within a value"),
    ] {
        let refused = ask(&server, "POST /search", &[json], body);
        assert_eq!(refused.status, 400, "{body}");
        assert!(refused.body.contains(part), "{body}: {}", refused.body);
    }
    // Longer than it says it may be.
    let long = format!(r#"{{"q":"{}"}}"#, "a".repeat(70_000));
    assert_eq!(ask(&server, "POST /search", &[json], &long).status, 413);
    let chunked = format!(
        "POST /search HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{long}\r\n0\r\n\r\n",
        long.len()
    );
    let refused = raw_to(server.address, chunked.as_bytes());
    assert_eq!(refused.status, 400, "{}", refused.body);
}

#[test]
fn pages_of_named_origins_may_read_answers_and_no_others() {
    let server = start(&["https://www.example.org", "http://localhost:3000"]);
    let preflight = |origin: &str| {
        let origin = format!("Origin: {origin}");
        let headers = [
            origin.as_str(),
            "Access-Control-Request-Method: POST",
            "Access-Control-Request-Headers: content-type",
        ];
        ask(&server, "OPTIONS /search", &headers, "")
    };
    let allowed = preflight("https://www.example.org");
    assert_eq!(allowed.status, 204);
    for header in [
        "access-control-allow-origin: https://www.example.org",
        "access-control-allow-methods: get, head, post",
        "access-control-allow-headers: content-type",
        "vary: origin",
        "content-security-policy: ",
    ] {
        assert!(allowed.head.contains(header), "{header}: {}", allowed.head);
    }
    let refused = preflight("https://evil.example");
    assert_eq!(refused.status, 403);
    assert!(refused.body.contains("--allow-origin"), "{}", refused.body);
    for (origin, is_allowed) in [
        ("http://localhost:3000", true),
        ("http://localhost:3001", false),
        ("https://evil.example", false),
        ("null", false),
    ] {
        let origin_header = format!("Origin: {origin}");
        let answer = ask(&server, "GET /search?q=alpha", &[&origin_header], "");
        assert_eq!(answer.status, 200);
        let told = format!("access-control-allow-origin: {origin}");
        assert_eq!(answer.head.contains(&told), is_allowed, "{}", answer.head);
        assert!(answer.head.contains("vary: origin"), "{}", answer.head);
    }
    // Refusals can be read too.
    let bad = ask(
        &server,
        "GET /search",
        &["Origin: http://localhost:3000"],
        "",
    );
    assert_eq!(bad.status, 400);
    assert!(
        bad.head.contains("access-control-allow-origin"),
        "{}",
        bad.head
    );
    let any = start(&["*"]);
    let answer = ask(
        &any,
        "GET /search?q=alpha",
        &["Origin: https://a.example"],
        "",
    );
    assert!(
        answer.head.contains("access-control-allow-origin: *"),
        "{}",
        answer.head
    );
    let none = start(&[]);
    let answer = ask(
        &none,
        "GET /search?q=alpha",
        &["Origin: https://a.example"],
        "",
    );
    assert!(!answer.head.contains("access-control"), "{}", answer.head);
    assert_eq!(ask(&none, "OPTIONS /search", &[], "").status, 405);
}

#[test]
fn answers_are_compressed_for_those_who_ask() {
    let server = start(&[]);
    let plain = server.get("/search?q=alpha");
    assert!(!plain.head.contains("content-encoding"), "{}", plain.head);
    assert!(
        plain.head.contains("vary: accept-encoding"),
        "{}",
        plain.head
    );
    for (asked, coding) in [
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip, br", "br"),
        ("gzip;q=0.5", "gzip"),
    ] {
        for target in ["/search?q=alpha", "/?q=alpha", "/style.css"] {
            let mut stream = TcpStream::connect(server.address).unwrap();
            let request = format!(
                "GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept-Encoding: {asked}\r\n\r\n"
            );
            stream.write_all(request.as_bytes()).unwrap();
            let mut bytes = Vec::new();
            stream.read_to_end(&mut bytes).unwrap();
            let end = bytes
                .windows(4)
                .position(|window| window == b"\r\n\r\n")
                .unwrap();
            let (head, body) = (
                String::from_utf8_lossy(&bytes[..end]).to_lowercase(),
                &bytes[end + 4..],
            );
            assert!(
                head.contains(&format!("content-encoding: {coding}")),
                "{target}: {head}"
            );
            assert!(
                head.contains(&format!("content-length: {}", body.len())),
                "{head}"
            );
            let mut text = Vec::new();
            match coding {
                "zstd" => text = zstd::decode_all(body).unwrap(),
                "br" => brotli::BrotliDecompress(&mut &body[..], &mut text).unwrap(),
                _ => {
                    flate2::read::GzDecoder::new(body)
                        .read_to_end(&mut text)
                        .unwrap();
                }
            }
            let text = String::from_utf8(text).unwrap();
            let whole = server.get(target).body;
            match target {
                "/search?q=alpha" => assert_eq!(untimed(&text), untimed(&whole)),
                "/?q=alpha" => {
                    assert!(text.contains("<mark>alpha</mark>") && text.contains("</html>"))
                }
                _ => assert_eq!(text, whole),
            }
        }
    }
    // What is short is sent as it is.
    let short = ask(&server, "GET /healthz", &["Accept-Encoding: gzip"], "");
    assert_eq!(short.body, "ok\n");
}
