//! A server behind a proxy that gives it a part of its paths: every link stays within that part, and works.

use crate::catalog::{build, documents, serving};
use crate::http::{Running, raw_to};
use crate::originals::Files;
use std::collections::{BTreeSet, VecDeque};
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use url::Url;
use vfs::MemoryFolder;

const PREFIX: &str = "/intranet/search";

/// Proxy that takes the prefix away, as `proxy_pass http://server/;` of nginx does. It ends with its last request.
struct Proxy {
    address: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    fn before(server: SocketAddr) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            while let Ok((client, _)) = listener.accept() {
                if !forward(client, server) {
                    return;
                }
            }
        });
        Proxy {
            address,
            thread: Some(thread),
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // A connection without a request ends the proxy.
        drop(TcpStream::connect(self.address));
        let _ = self.thread.take().unwrap().join();
    }
}

/// Forwards one request; `false` where the client sends none.
fn forward(mut client: TcpStream, server: SocketAddr) -> bool {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if client.read(&mut byte).unwrap_or(0) == 0 {
            return false;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let own = format!(" {PREFIX}/");
    assert!(head.contains(&own), "a request leaves the prefix: {head}");
    let mut upstream = TcpStream::connect(server).unwrap();
    upstream
        .write_all(head.replacen(&own, " /", 1).as_bytes())
        .unwrap();
    let mut answer = Vec::new();
    upstream.read_to_end(&mut answer).unwrap();
    client.write_all(&answer).unwrap();
    let _ = client.shutdown(Shutdown::Both);
    true
}

/// Follows every link from a page on; returns the paths that were asked for.
fn crawl(proxy: &Proxy, first: &str) -> BTreeSet<String> {
    const PAGES_MAX: usize = 150;
    let origin = Url::parse(&format!("http://localhost{PREFIX}/")).unwrap();
    // The nearest pages first: filters can be combined without end.
    let mut waiting = VecDeque::from([origin.join(first).unwrap()]);
    let mut seen = BTreeSet::new();
    while let Some(page) = waiting.pop_front() {
        let target = page[url::Position::BeforePath..url::Position::AfterQuery].to_owned();
        if seen.len() == PAGES_MAX || !seen.insert(target.clone()) {
            continue;
        }
        assert!(target.starts_with(&format!("{PREFIX}/")), "{target}");
        let request =
            format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let got = raw_to(proxy.address, request.as_bytes());
        let moved = got
            .head
            .lines()
            .find_map(|line| line.strip_prefix("location: "));
        if let Some(moved) = moved {
            waiting.push_back(page.join(moved).unwrap());
            continue;
        }
        assert_eq!(got.status, 200, "{target}: {}", got.body);
        if !got.head.contains("content-type: text/html") || target.contains("/original/") {
            continue;
        }
        for attribute in ["href=\"", "src=\"", "action=\""] {
            for rest in got.body.split(attribute).skip(1) {
                let link = rest.split('"').next().unwrap();
                let link = link
                    .replace("&#38;", "&")
                    .replace("&#39;", "'")
                    .replace("&#34;", "\"");
                let link = page.join(&link).unwrap();
                if link.origin() == origin.origin() {
                    waiting.push_back(link);
                }
            }
        }
    }
    seen
}

fn has(seen: &BTreeSet<String>, part: &str) -> bool {
    seen.iter().any(|path| path.contains(part))
}

#[test]
fn every_link_of_an_index_stays_within_the_prefix() {
    let files = Files::new();
    let server = files.serve(&[], true);
    let proxy = Proxy::before(server.address);
    let seen = crawl(&proxy, "?q=owls&k=3&facet=site");
    for part in [
        "start=3",
        "/document?",
        "/original/",
        "/style.css",
        "/favicon.svg",
        "/search?q=",
        "trace=1",
        "filter=site",
    ] {
        assert!(has(&seen, part), "{part}");
    }
    assert!(has(&crawl(&proxy, ""), "/?q="));
}

#[test]
fn every_link_of_many_indexes_stays_within_the_prefix() {
    let folder = Arc::new(MemoryFolder::default());
    build(&*folder, "Bücher.2", &documents(2, 30));
    build(&*folder, "few", &documents(1, 7));
    let server: Running = serving(folder, false);
    let proxy = Proxy::before(server.address);
    let seen = crawl(&proxy, "");
    for part in ["/few/", "/B%C3%BCcher.2/", "/indexes", "/few/style.css"] {
        assert!(has(&seen, part), "{part}");
    }
    let seen = crawl(&proxy, "few?q=alpha&k=3");
    for part in ["/few/?q=alpha", "/few/document?", "/few/search?"] {
        assert!(has(&seen, part), "{part}");
    }
    // A page for what is not here finds its files, too.
    let request = format!(
        "GET {PREFIX}/few/a/b HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nConnection: close\r\n\r\n"
    );
    let got = raw_to(proxy.address, request.as_bytes());
    assert_eq!(got.status, 404);
    assert!(got.body.contains("href=\"../style.css"), "{}", got.body);
}
