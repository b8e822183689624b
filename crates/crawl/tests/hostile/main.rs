//! Fetches from hostile servers: each costs at most the limits, and no connection leaves the permitted addresses.

mod cases;

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crawl::fetch::{
    AddressGuard, FetchError, FetchOptions, FetchRequest, Fetched, Fetcher, Limits, Outcome,
    Resolve, Resolving, Truncated,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use cases::{Endless, Greet, Hold, Send, Server, cases, page};

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

fn describe(fetched: &Result<Fetched, FetchError>) -> String {
    match fetched {
        Err(error) => error.kind().to_owned(),
        Ok(fetched) => {
            let outcome = match &fetched.outcome {
                Outcome::Page => "page",
                Outcome::NotModified => "not modified",
                Outcome::Redirect { .. } => "redirect",
                Outcome::SkippedType { .. } => "skipped",
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
