//! Contract of the page and the API over a real socket.
use crate::corpus::{document, index};
use index::Index;
use serve::{ServeError, ServeOptions, Server};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use wire::SearchAnswer;

const SCRIPT: &str = "<script>alert('\"1\"')</script>";

/// Server on a free port, stopped and joined when dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    admin: Option<SocketAddr>,
    /// Runtime of its I/O threads.
    pub(crate) runtime: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
}

pub(crate) fn options(partitions: usize) -> ServeOptions {
    ServeOptions {
        listen: "127.0.0.1:0".into(),
        partitions,
        handlers: 2,
        ..ServeOptions::default()
    }
}

fn start() -> Running {
    let hostile = [
        "javascript:alert(1)",
        "java\tscript:alert(1)",
        "http://h.example/\"><script>",
    ]
    .map(|url| document::Document {
        url: url.into(),
        title: format!("{SCRIPT} hostile"),
        body: format!("hostile {SCRIPT} hostile"),
        ..Default::default()
    });
    let documents = (0..30)
        .map(|n| document(n, (n % 4) as u8, 0b11))
        .chain(hostile);
    Running::start(index(documents, 3), &options(2))
}

impl Running {
    pub(crate) fn start(index: Arc<Index>, options: &ServeOptions) -> Running {
        Running::of(Server::bind(index, options).unwrap())
    }

    pub(crate) fn of(server: Server) -> Running {
        let (address, admin) = (server.address(), server.admin_address());
        let runtime = server.runtime().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            server.run_until(async {
                let _ = stopped.await;
            })
        });
        Running {
            address,
            admin,
            runtime,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Returns the admin address.
    pub(crate) fn admin(&self) -> SocketAddr {
        self.admin.unwrap()
    }

    /// Asks the server to end, without waiting.
    pub(crate) fn tell_to_end(&mut self) {
        drop(self.stop.take());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stop.take());
        let ended = self.thread.take().unwrap().join();
        if !std::thread::panicking() {
            ended.unwrap().unwrap();
        }
    }
}

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// Sends bytes unchanged and reads until the server closes.
pub(crate) fn raw_to(address: SocketAddr, request: &[u8]) -> Response {
    let mut stream = TcpStream::connect(address).unwrap();
    // A server that refuses a body may answer and close before it has read all of it.
    let sent = stream.write_all(request);
    let mut bytes = Vec::new();
    let read = stream.read_to_end(&mut bytes);
    if bytes.is_empty() {
        sent.unwrap();
        read.unwrap();
    }
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Response {
        status,
        head: head.to_ascii_lowercase(),
        body: body.into(),
    }
}

impl Running {
    pub(crate) fn raw(&self, request: &[u8]) -> Response {
        raw_to(self.address, request)
    }

    fn request(&self, method: &str, target: &str) -> Response {
        let request =
            format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        self.raw(request.as_bytes())
    }

    pub(crate) fn get(&self, target: &str) -> Response {
        self.request("GET", target)
    }
}

#[test]
fn the_api_answers() {
    let server = start();
    let response = server.get("/search?q=alpha+beta&k=5&start=2&per_site=3");
    assert_eq!(response.status, 200);
    assert!(response.head.contains("content-type: application/json"));
    let answer: SearchAnswer = serde_json::from_str(&response.body).unwrap();
    assert_eq!(answer.query, "alpha beta");
    assert_eq!(
        (answer.total.value, answer.hits.len(), answer.more_hits),
        (30, 5, true)
    );
    let timing = answer.phases_us.server_timing();
    assert!(
        response.head.contains(&format!("server-timing: {timing}")),
        "{}",
        response.head
    );
}

#[test]
fn bad_requests_say_what_to_do() {
    let server = start();
    for (target, part) in [
        ("/search", "/search?q=WORDS"),
        ("/search?q=a&k=1001", "1000 at most"),
        ("/search?q=a&start=10000", "narrow the query"),
        ("/search?q=a&size=3", "is not known"),
    ] {
        let response = server.get(target);
        assert_eq!(response.status, 400, "{target}");
        let json: serde_json::Value = serde_json::from_str(&response.body).unwrap();
        let reason = json["error"]["reason"].as_str().unwrap();
        assert!(reason.contains(part), "{target}: {reason}");
    }
    assert_eq!(server.get("/?q=a&k=x").status, 400);
    assert_eq!(server.get("/nothing").status, 404);
    assert_eq!(server.get("/document?url=nowhere").status, 404);
    assert_eq!(server.get("/document").status, 400);
    let post = server.request("POST", "/document?url=a");
    assert_eq!(post.status, 405);
    assert!(post.head.contains("allow: get"), "{}", post.head);
    assert!(post.body.contains("use GET"), "{}", post.body);
    assert_eq!(server.request("HEAD", "/?q=alpha").status, 200);
}

#[test]
fn any_bytes_get_an_answer() {
    let server = start();
    for target in [
        "/?q=%ff%fe%00",
        "/search?q=%ff%zz%",
        "/search?q=+%22%28%2D*~:",
        "/?q=%E2%80%AE",
    ] {
        assert_eq!(server.get(target).status, 200, "{target}");
    }
    let raw = server
        .raw(b"GET /search?q=\xff\xfe HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert!(raw.status < 500);
    let long = server.get(&format!("/search?q={}", "(".repeat(30_000)));
    assert_eq!(long.status, 200);
}

#[test]
fn every_answer_carries_the_security_headers() {
    let server = start();
    for target in [
        "/",
        "/?q=alpha",
        "/search?q=alpha",
        "/search",
        "/none",
        "/metrics",
        "/healthz",
        "/style.css",
        "/favicon.svg",
        "/document?url=https://site1.example/1",
    ] {
        let head = server.get(target).head;
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; \
             img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
        ] {
            assert!(head.contains(header), "{target}: {head}");
        }
    }
}

#[test]
fn hostile_documents_stay_text() {
    let server = start();
    // They have one text.
    let page = server.get("/?q=hostile&collapse=").body;
    let stored = server.get("/document?url=javascript%3Aalert(1)").body;
    let echoed = server.get("/?q=%3Cscript%3Ealert(1)%3C/script%3E").body;
    let refused = server.get("/document?url=%3Cscript%3E").body;
    for html in [&page, &stored, &echoed, &refused] {
        let without_own_script = html.replacen("<script defer src=\"page.js", "", 1);
        assert!(!without_own_script.contains("<script"), "{html}");
        assert!(!html.contains("href=\"java"), "{html}");
    }
    assert_eq!(page.matches("<li>").count(), 3);
    assert!(stored.contains("alert("));
}

#[test]
fn a_document_is_shown_with_the_words_of_the_query_and_as_json() {
    let server = start();
    let page = server.get("/?q=hostile").body;
    assert!(
        page.contains("&#38;q=hostile") || page.contains("&amp;q=hostile"),
        "{page}"
    );
    let url = "https://site1.example/1";
    let plain = server.get(&format!("/document?url={url}")).body;
    assert!(!plain.contains("<mark>"), "{plain}");
    let marked = server
        .get(&format!(
            "/document?url={url}&q=ALPHA+-text+site:site1.example"
        ))
        .body;
    assert!(marked.contains("<mark>alpha</mark>"), "{marked}");
    assert!(!marked.contains("<mark>text</mark>"), "{marked}");
    assert!(
        marked.contains("value=\"ALPHA -text site:site1.example\""),
        "{marked}"
    );
    assert_eq!(strip(&marked), strip(&plain));

    let json = server.get(&format!("/document?url={url}&format=json"));
    assert!(
        json.head.contains("content-type: application/json"),
        "{}",
        json.head
    );
    let json: serde_json::Value = serde_json::from_str(&json.body).unwrap();
    assert_eq!([&json["url"], &json["id"]], [url, url]);
    assert!(json["body"].as_str().unwrap().contains("alpha"), "{json}");
    assert!(json["fields"].is_object(), "{json}");
    for (target, status, part) in [
        (
            "/document?url=nowhere&format=json",
            404,
            "no document at nowhere",
        ),
        ("/document?format=json", 400, "/document?url=ADDRESS"),
        ("/document?url=nowhere&format=xml", 400, "json or html"),
    ] {
        let refused = server.get(target);
        let json: serde_json::Value = serde_json::from_str(&refused.body).unwrap();
        let reason = json["error"]["reason"].as_str().unwrap();
        assert!(
            refused.status == status && reason.contains(part),
            "{target}: {reason}"
        );
    }
}

/// The text of a document's page, without marks.
fn strip(page: &str) -> String {
    let body = page.split("<pre").nth(1).unwrap();
    body.replace("<mark>", "").replace("</mark>", "")
}

#[test]
fn metrics_count_what_happened() {
    let server = start();
    server.get("/search?q=alpha");
    server.get("/?q=alpha");
    server.get("/search?q=alpha&k=x");
    let read = format!(
        "GET /metrics HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        server.admin()
    );
    let metrics = raw_to(server.admin(), read.as_bytes());
    assert!(metrics.head.contains("x-content-type-options: nosniff"));
    let metrics = metrics.body;
    for line in [
        "shorttail_queries_total{client=\"json\"} 1",
        "shorttail_queries_total{client=\"page\"} 1",
        "shorttail_errors_total{kind=\"bad_request\"} 1",
        "shorttail_phase_seconds_count{phase=\"index_search\"} 2",
        "shorttail_search_seconds_bucket{le=\"0.001\"}",
        "shorttail_documents 33",
    ] {
        assert!(metrics.contains(line), "{line} is not in {metrics}");
    }
    assert_eq!(server.get("/healthz").body, "ok\n");
}

#[test]
fn addresses_in_use_and_too_many_partitions_are_explained() {
    let server = start();
    let taken = ServeOptions {
        listen: server.address.to_string(),
        ..options(1)
    };
    let message = Server::bind(index([], 1), &taken)
        .err()
        .unwrap()
        .to_string();
    assert!(message.contains(&server.address.to_string()), "{message}");
    assert!(message.contains("127.0.0.1:0"), "{message}");
    let message = Server::bind(index([], 2), &options(3))
        .err()
        .unwrap()
        .to_string();
    assert!(message.contains("1 to 2"), "{message}");
}
