//! Fetches from hostile servers: each costs at most the limits, and no connection leaves the permitted addresses.

use std::io::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crawl::fetch::{
    AddressGuard, FetchError, FetchOptions, FetchRequest, Fetched, Fetcher, Limits, Outcome,
    Resolve, Resolving, Truncated,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

/// What the server does after the request head was read.
enum Server {
    /// Sends these bytes and closes.
    Send(Vec<u8>),
    /// Sends these bytes, then waits for the client to close.
    Hold(Vec<u8>),
    /// Sends the first bytes, then the second ones again and again, with a pause in ms between.
    Endless(Vec<u8>, Vec<u8>, u64),
    /// Sends these before the request is read (for TLS), and closes.
    Greet(Vec<u8>),
}
use Server::{Endless, Greet, Hold, Send};

fn limits() -> Limits {
    Limits {
        body_bytes_max: 200_000,
        head_bytes_max: 16 << 10,
        ratio_max: 20,
        ratio_allowance_bytes: 10_000,
        headers_count_max: 64,
        connect_ms: 500,
        tls_ms: 500,
        head_ms: 700,
        bytes_per_s_min: 10_000,
        speed_grace_ms: 300,
        whole_ms: 2_000,
        ..Limits::default()
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

async fn brotli(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = async_compression::tokio::write::BrotliEncoder::new(Vec::new());
    encoder.write_all(bytes).await.unwrap();
    encoder.shutdown().await.unwrap();
    encoder.into_inner()
}

async fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = async_compression::tokio::write::ZstdEncoder::new(Vec::new());
    encoder.write_all(bytes).await.unwrap();
    encoder.shutdown().await.unwrap();
    encoder.into_inner()
}

const TYPE: &str = "Content-Type: text/html\r\n";

fn page(headers: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 200 OK\r\n{TYPE}{headers}\r\n").into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

fn coded(coding: &str, body: &[u8]) -> Vec<u8> {
    page(
        &format!(
            "Content-Encoding: {coding}\r\nContent-Length: {}\r\n",
            body.len()
        ),
        body,
    )
}

fn describe(fetched: &Result<Fetched, FetchError>) -> String {
    match fetched {
        Err(error) => error.kind().to_owned(),
        Ok(fetched) => {
            let outcome = match &fetched.outcome {
                Outcome::Page => "page",
                Outcome::NotModified => "not modified",
                Outcome::Redirect { .. } => "redirect",
                Outcome::SkippedType { .. } => "skipped",
                _ => "other",
            };
            let cut = match fetched.truncated {
                None => "",
                Some(Truncated::Length) => " cut",
                Some(Truncated::Disconnect) => " disconnected",
                Some(Truncated::Decoding) => " damaged",
            };
            format!("{outcome} {} {}{cut}", fetched.status, fetched.body.len())
        }
    }
}

async fn cases() -> Vec<(&'static str, Server, &'static str)> {
    let zeros = vec![0; 5_000_000];
    let ok = |body: &[u8]| page(&format!("Content-Length: {}\r\n", body.len()), body);
    let raw = |text: &str| text.as_bytes().to_vec();
    let head = |lines: &str| format!("HTTP/1.1 200 OK\r\n{TYPE}{lines}\r\n").into_bytes();
    vec![
        ("honest", Send(ok(b"hello")), "page 200 5"),
        (
            "honest gzip",
            Send(coded("gzip", &gzip(b"hello"))),
            "page 200 5",
        ),
        (
            "honest brotli",
            Send(coded("br", &brotli(b"hello").await)),
            "page 200 5",
        ),
        (
            "honest zstd",
            Send(coded("zstd", &zstd(b"hello").await)),
            "page 200 5",
        ),
        (
            "two members of gzip",
            Send(coded("gzip", &[gzip(b"one"), gzip(b"two")].concat())),
            "page 200 6",
        ),
        (
            "honest nested gzip",
            Send(coded("gzip, gzip", &gzip(&gzip(b"hello")))),
            "page 200 5",
        ),
        ("no answer", Hold(vec![]), "timeout head"),
        (
            "head byte by byte",
            Endless(raw("HTTP/1.1 200 OK\r\nX: "), raw("x"), 20),
            "timeout head",
        ),
        (
            "endless status line",
            Endless(raw("HTTP/1.1 200 "), vec![b'x'; 4096], 0),
            "head too large",
        ),
        (
            "endless header",
            Endless(raw("HTTP/1.1 200 OK\r\nX: "), vec![b'x'; 4096], 0),
            "head too large",
        ),
        (
            "endless headers",
            Endless(raw("HTTP/1.1 200 OK\r\n"), raw("X: y\r\n"), 0),
            "head too large",
        ),
        (
            "many headers",
            Send(head(&"X: y\r\n".repeat(100))),
            "head too large",
        ),
        (
            "flood of 100",
            Endless(vec![], raw("HTTP/1.1 100 Continue\r\n\r\n"), 0),
            "head too large",
        ),
        (
            "flood of 103",
            Endless(
                vec![],
                raw("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
                0,
            ),
            "head too large",
        ),
        (
            "one 100 before",
            Send([raw("HTTP/1.1 100 Continue\r\n\r\n"), ok(b"hello")].concat()),
            "page 200 5",
        ),
        (
            "101 unasked",
            Hold(raw(
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
            )),
            "protocol",
        ),
        (
            "endless body",
            Endless(head(""), vec![b'x'; 16 << 10], 0),
            "page 200 200000 cut",
        ),
        (
            "endless chunks",
            Endless(
                head("Transfer-Encoding: chunked\r\n"),
                raw("4\r\nabcd\r\n"),
                0,
            ),
            "page 200 200000 cut",
        ),
        (
            "endless chunk extension",
            Endless(head("Transfer-Encoding: chunked\r\n"), vec![b'1'; 4096], 0),
            "protocol",
        ),
        ("slow body", Endless(head(""), raw("x"), 20), "too slow"),
        (
            "stalled body",
            Hold(page("Content-Length: 100\r\n", b"hello")),
            "too slow",
        ),
        (
            "steady body for ever",
            Endless(head(""), vec![b'x'; 700], 20),
            "timeout whole",
        ),
        ("gzip bomb", Send(coded("gzip", &gzip(&zeros))), "bomb"),
        (
            "brotli bomb",
            Send(coded("br", &brotli(&zeros).await)),
            "bomb",
        ),
        (
            "zstd bomb",
            Send(coded("zstd", &zstd(&zeros).await)),
            "bomb",
        ),
        (
            "nested bomb",
            Send(coded("gzip, gzip", &gzip(&gzip(&zeros)))),
            "bomb",
        ),
        (
            "bomb in the middle layer",
            Send(coded("br, gzip", &gzip(&zeros))),
            "bomb",
        ),
        (
            "many codings",
            Send(coded("gzip, gzip, gzip", &gzip(&gzip(&gzip(b"hello"))))),
            "protocol",
        ),
        ("unknown coding", Send(coded("lzma", b"hello")), "protocol"),
        (
            "coding not applied",
            Send(coded("gzip", b"<p>hello")),
            "page 200 8",
        ),
        (
            "gzip of garbage",
            Send(coded("gzip", b"\x1f\x8bgarbage garbage")),
            "protocol",
        ),
        (
            "gzip cut off",
            Send(coded("gzip", &gzip(b"hello hello hello")[..20])),
            "page 200 17 damaged",
        ),
        (
            "length too long",
            Send(page("Content-Length: 100\r\n", b"hello")),
            "page 200 5 disconnected",
        ),
        (
            "length too long, nothing sent",
            Send(page("Content-Length: 100\r\n", b"")),
            "protocol",
        ),
        (
            "length too short",
            Send(page("Content-Length: 3\r\n", b"hello")),
            "page 200 3",
        ),
        (
            "negative length",
            Send(page("Content-Length: -5\r\n", b"hello")),
            "protocol",
        ),
        (
            "two lengths",
            Send(page(
                "Content-Length: 5\r\nContent-Length: 6\r\n",
                b"hello!",
            )),
            "protocol",
        ),
        (
            "huge length",
            Hold(page("Content-Length: 18446744073709551614\r\n", b"hello")),
            "head too large",
        ),
        (
            "length beyond 64 bits",
            Send(page(
                "Content-Length: 99999999999999999999999\r\n",
                b"hello",
            )),
            "protocol",
        ),
        (
            "chunk size is no number",
            Send(page("Transfer-Encoding: chunked\r\n", b"zz\r\nhello\r\n")),
            "protocol",
        ),
        (
            "chunk size overflows",
            Send(page(
                "Transfer-Encoding: chunked\r\n",
                b"fffffffffffffffff\r\nhello",
            )),
            "protocol",
        ),
        (
            "chunks without end",
            Send(page("Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\n")),
            "page 200 5 disconnected",
        ),
        (
            "chunk longer than stated",
            Send(page(
                "Transfer-Encoding: chunked\r\n",
                b"2\r\nhello\r\n0\r\n\r\n",
            )),
            "page 200 2 disconnected",
        ),
        (
            "redirect to metadata",
            Send(raw(
                "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n",
            )),
            "redirect 302 0",
        ),
        (
            "redirect to file",
            Send(raw(
                "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n",
            )),
            "bad redirect",
        ),
        (
            "redirect to javascript",
            Send(raw(
                "HTTP/1.1 302 Found\r\nLocation: javascript:alert(1)\r\n\r\n",
            )),
            "bad redirect",
        ),
        (
            "redirect to data",
            Send(raw(
                "HTTP/1.1 302 Found\r\nLocation: data:text/html,x\r\n\r\n",
            )),
            "bad redirect",
        ),
        (
            "redirect without location",
            Send(raw("HTTP/1.1 302 Found\r\nContent-Length: 2\r\n\r\nhi")),
            "page 302 2",
        ),
        (
            "redirect with endless body",
            Endless(
                raw("HTTP/1.1 302 Found\r\nLocation: /a\r\n\r\n"),
                vec![b'x'; 4096],
                0,
            ),
            "redirect 302 16384 cut",
        ),
        ("no status line", Send(raw("\r\n\r\n")), "protocol"),
        ("HTTP/0.9", Send(raw("<html>hello</html>")), "protocol"),
        (
            "HTTP/9.9",
            Send(raw("HTTP/9.9 200 OK\r\n\r\nhello")),
            "protocol",
        ),
        (
            "status of four digits",
            Send(raw("HTTP/1.1 2000 OK\r\n\r\nhello")),
            "protocol",
        ),
        (
            "status 000",
            Send(raw("HTTP/1.1 000 OK\r\n\r\nhello")),
            "protocol",
        ),
        (
            "other protocol",
            Send(raw("SSH-2.0-OpenSSH_9.6\r\n")),
            "protocol",
        ),
        (
            "TLS at a plain port",
            Greet(vec![0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]),
            "protocol",
        ),
        ("closed at once", Send(vec![]), "protocol"),
        (
            "closed in the status line",
            Send(raw("HTTP/1.1 2")),
            "protocol",
        ),
        (
            "closed in a header",
            Send(raw("HTTP/1.1 200 OK\r\nContent-Ty")),
            "protocol",
        ),
        ("closed after the head", Send(head("")), "page 200 0"),
        (
            "image as type",
            Endless(
                raw("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n"),
                vec![b'x'; 4096],
                0,
            ),
            "skipped 200 0",
        ),
        (
            "image called html",
            Send(page("Content-Length: 4\r\n", b"\x89PNG")),
            "page 200 4",
        ),
        (
            "NUL in a header",
            Send(head("X: a\0b\r\nContent-Length: 0\r\n")),
            "protocol",
        ),
        (
            "204 with body",
            Send(raw(
                "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
            )),
            "page 204 0",
        ),
        (
            "304 without condition",
            Send(raw("HTTP/1.1 304 Not Modified\r\n\r\n")),
            "protocol",
        ),
    ]
}

async fn read_head(stream: &mut TcpStream) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
}

async fn behave(mut stream: TcpStream, server: &Server) -> std::io::Result<()> {
    if let Greet(bytes) = server {
        stream.write_all(bytes).await?;
        return stream.shutdown().await;
    }
    read_head(&mut stream).await;
    match server {
        Greet(_) => {}
        Send(bytes) => {
            stream.write_all(bytes).await?;
            stream.shutdown().await?;
        }
        Hold(bytes) => {
            stream.write_all(bytes).await?;
            while stream.read(&mut [0; 64]).await? > 0 {}
        }
        Endless(first, again, pause_ms) => {
            stream.write_all(first).await?;
            loop {
                stream.write_all(again).await?;
                if *pause_ms > 0 {
                    tokio::time::sleep(Duration::from_millis(*pause_ms)).await;
                }
            }
        }
    }
    Ok(())
}

fn fetcher(resolver: Option<Arc<dyn Resolve>>) -> (Fetcher, Arc<Mutex<Vec<SocketAddr>>>) {
    let connects = Arc::new(Mutex::new(Vec::new()));
    let seen = connects.clone();
    let mut options = FetchOptions {
        limits: limits(),
        guard: AddressGuard::new(vec!["127.0.0.0/24".parse().unwrap()]),
        on_connect: Some(Arc::new(move |address| seen.lock().unwrap().push(address))),
        ..FetchOptions::default()
    };
    if let Some(resolver) = resolver {
        options.resolver = resolver;
    }
    (Fetcher::new(options).unwrap(), connects)
}

#[tokio::test]
async fn hostile_servers_cost_at_most_the_limits() {
    let (fetcher, connects) = fetcher(None);
    let fetcher = Arc::new(fetcher);
    let mut running = Vec::new();
    for (name, server, expected) in cases().await {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = behave(stream, &server).await;
            }
        });
        let fetcher = fetcher.clone();
        running.push(tokio::spawn(async move {
            let started = Instant::now();
            let fetched = fetcher.fetch(&FetchRequest::new(&url)).await;
            accepting.abort();
            let took_ms = started.elapsed().as_millis() as u64;
            (
                name,
                expected,
                describe(&fetched),
                took_ms,
                format!("{:?}", fetched.err()),
            )
        }));
    }
    assert!(running.len() >= 40);
    let mut wrong = Vec::new();
    for case in running {
        let (name, expected, found, took_ms, error) = case.await.unwrap();
        if found != expected || took_ms > limits().whole_ms + 1_000 {
            wrong.push(format!(
                "{name}: expected {expected}, found {found} after {took_ms} ms {error}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let connects = connects.lock().unwrap();
    assert!(
        connects.len() >= 40 && connects.iter().all(|address| address.ip().is_loopback()),
        "{connects:?}"
    );
}

/// Answers with the next of its lists at each call; the last one stays.
struct Changing(AtomicUsize, Vec<Vec<&'static str>>);

impl Resolve for Changing {
    fn resolve<'a>(&'a self, _host: &'a str) -> Resolving<'a> {
        let call = self.0.fetch_add(1, Ordering::Relaxed).min(self.1.len() - 1);
        let addresses: Vec<IpAddr> = self.1[call]
            .iter()
            .map(|text| text.parse().unwrap())
            .collect();
        Box::pin(async move { Ok(addresses.into()) })
    }
}

#[tokio::test]
async fn names_that_change_to_denied_addresses_are_not_connected_to() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = behave(
                stream,
                &Send(page("Connection: close\r\nContent-Length: 2\r\n", b"ok")),
            )
            .await;
        }
    });
    let answers = vec![
        vec!["127.0.0.1"],
        vec!["10.0.0.1"],
        vec!["169.254.169.254", "::1"],
        vec!["::ffff:10.1.2.3"],
        vec!["10.0.0.1", "127.0.0.1"],
        vec![],
        vec!["127.0.1.1"],
    ];
    let (fetcher, connects) = fetcher(Some(Arc::new(Changing(AtomicUsize::new(0), answers))));
    let url = Url::parse(&format!("http://changing.test:{port}/")).unwrap();
    for expected in [
        "page 200 2",
        "denied",
        "denied",
        "denied",
        "page 200 2",
        "dns",
        "denied",
    ] {
        let fetched = fetcher.fetch(&FetchRequest::new(&url)).await;
        assert_eq!(describe(&fetched), expected);
    }
    let expected: SocketAddr = ([127, 0, 0, 1], port).into();
    assert_eq!(*connects.lock().unwrap(), [expected; 2]);
}

#[tokio::test]
async fn addresses_in_any_form_are_checked_and_other_schemes_refused() {
    let (fetcher, connects) = fetcher(None);
    for (url, expected) in [
        ("http://169.254.169.254/latest/meta-data/", "denied"),
        ("http://2852039166/", "denied"),
        ("http://0xa9fea9fe/", "denied"),
        ("http://0251.0376.0251.0376/", "denied"),
        ("http://10.1/", "denied"),
        ("http://0/", "denied"),
        ("http://[::]/", "denied"),
        ("http://[::1]/", "denied"),
        ("http://[::ffff:10.0.0.1]/", "denied"),
        ("http://[64:ff9b::10.0.0.1]/", "denied"),
        ("http://[2002:a00:1::]/", "denied"),
        ("http://127.0.1.1/", "denied"),
        ("http://172.16.0.1/", "denied"),
        ("https://192.168.0.1/", "denied"),
        ("http://\u{ff11}\u{ff10}.0.0.1/", "denied"),
        ("file:///etc/passwd", "url"),
        ("ftp://127.0.0.1/", "url"),
        ("javascript:alert(1)", "url"),
        ("data:text/html,x", "url"),
    ] {
        let fetched = fetcher
            .fetch(&FetchRequest::new(&Url::parse(url).unwrap()))
            .await;
        assert_eq!(describe(&fetched), expected, "{url}");
    }
    assert!(connects.lock().unwrap().is_empty());
}
