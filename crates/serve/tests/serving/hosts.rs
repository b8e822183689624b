//! Names by which servers are asked: a page whose name resolves to loopback reads nothing there.

use crate::corpus::{document, index};
use crate::http::{Response, Running, options, raw_to};
use serve::{AdminAddress, AdminOptions, ServeOptions};
use std::net::SocketAddr;

const TARGETS: [&str; 9] = [
    "/",
    "/?q=alpha",
    "/search?q=alpha",
    "/document?url=https://site1.example/1",
    "/document?url=https://site1.example/1&format=json",
    "/style.css",
    "/page.js",
    "/favicon.ico",
    "/nothing",
];

fn ask(address: SocketAddr, target: &str, host: &str) -> Response {
    let request = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    raw_to(address, request.as_bytes())
}

fn start(host_names: &[&str]) -> Running {
    let index = index((0..30).map(|n| document(n, 1, 0b11)), 2);
    let options = ServeOptions {
        host_names: host_names.iter().map(|&name| name.to_owned()).collect(),
        admin: AdminOptions {
            address: AdminAddress::At("127.0.0.1:0".into()),
            token: None,
        },
        ..options(1)
    };
    Running::start(index, &options)
}

#[test]
fn a_foreign_name_reads_nothing_on_loopback() {
    let server = start(&[]);
    for target in TARGETS {
        for host in [
            "evil.example",
            "evil.example:80",
            "localhost.evil.example",
            "10.0.0.1",
            "",
        ] {
            let refused = ask(server.address, target, host);
            assert_eq!(refused.status, 421, "{target} of {host}");
            assert!(refused.body.contains("--host NAME"), "{}", refused.body);
            assert!(
                refused.head.contains("content-security-policy"),
                "{}",
                refused.head
            );
        }
        for host in [
            "localhost",
            "LocalHost:1",
            "127.0.0.1",
            "127.1.2.3:80",
            "[::1]:7700",
        ] {
            let answered = ask(server.address, target, host);
            assert_ne!(answered.status, 421, "{target} of {host}");
        }
        // The host of a target in full counts as much.
        let full = format!("http://evil.example{target}");
        assert_eq!(
            ask(server.address, &full, "localhost").status,
            421,
            "{full}"
        );
    }
    let health = ask(server.address, "/healthz", "evil.example");
    assert_eq!((health.status, &*health.body), (200, "ok\n"));
    // HTTP/1.0 names no host, and no browser speaks it.
    let old = raw_to(server.address, b"GET /search?q=alpha HTTP/1.0\r\n\r\n");
    assert_eq!(old.status, 200);
}

#[test]
fn names_that_the_operator_gives_are_answered_everywhere() {
    let server = start(&["Search.example.org", "search"]);
    for host in [
        "search.example.org",
        "SEARCH.example.org:443",
        "search",
        "localhost",
    ] {
        assert_eq!(
            ask(server.address, "/search?q=alpha", host).status,
            200,
            "{host}"
        );
        assert_eq!(ask(server.admin(), "/metrics", host).status, 200, "{host}");
    }
    for host in ["example.org", "research", "search.example.org.evil.example"] {
        assert_eq!(
            ask(server.address, "/search?q=alpha", host).status,
            421,
            "{host}"
        );
        let refused = ask(server.admin(), "/metrics", host);
        assert_eq!(refused.status, 403, "{host}");
        assert!(refused.body.contains("--host NAME"), "{}", refused.body);
    }
    let full = ask(server.admin(), "http://evil.example/metrics", "localhost");
    assert_eq!(full.status, 403);
}
