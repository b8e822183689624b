//! Submissions of IndexNow: keys proved by a file on the site or by the configuration, and what is refused before and after.

use crawl::CrawlConfig;
use crawl::indexnow::{IndexNow, Verdict};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use vfs::{MemoryStorage, SharedStorage};

const KEY: &str = "abcd-1234-EFGH";

/// Site on a port of loopback that has files, and logs the paths asked for. Its thread ends with the process.
struct Site {
    address: SocketAddr,
    log: Arc<Mutex<Vec<String>>>,
}

impl Site {
    /// Starts it with answers by path: status and body.
    fn start(files: &[(&str, u16, &str)]) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let files: BTreeMap<String, (u16, String)> = files
            .iter()
            .map(|(path, status, body)| ((*path).to_owned(), (*status, (*body).to_owned())))
            .collect();
        let log = Arc::new(Mutex::new(Vec::new()));
        let noted = log.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
                let first = lines.next().unwrap_or_default();
                let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
                lines.take_while(|line| !line.is_empty()).for_each(drop);
                let missing = (404, String::new());
                let (status, body) = files.get(&path).unwrap_or(&missing);
                noted.lock().unwrap().push(path);
                // The client may have left.
                let _ = write!(
                    &stream,
                    "HTTP/1.1 {status} x\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                );
            }
        });
        Site { address, log }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn requests(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    /// Returns a receiver for it as an own site, with settings of TOML.
    fn receiver(&self, settings: &str) -> (IndexNow, SharedStorage) {
        let seed = self.url("/");
        let text = format!(
            "allow_addresses = ['127.0.0.0/8']\n[[site]]\nseeds = ['{seed}']\nrules = [{{ deny = '/private/' }}]\n{settings}"
        );
        let config = CrawlConfig::from_toml(&text).unwrap();
        let storage: SharedStorage = Arc::new(MemoryStorage::new());
        let receiver = IndexNow::new(config, storage.clone(), None).unwrap();
        (receiver, storage)
    }
}

fn body(host: &str, key: &str, urls: &[String]) -> Vec<u8> {
    let body = serde_json::json!({ "host": host, "key": key, "urlList": urls });
    body.to_string().into_bytes()
}

/// Returns the URLs that wait for the crawl.
fn waiting(storage: &SharedStorage) -> Vec<String> {
    let mut urls = Vec::new();
    for name in storage.list().unwrap() {
        if name.starts_with("ping-") {
            let bytes = storage.open(&name).unwrap().to_vec();
            urls.extend(String::from_utf8(bytes).unwrap().lines().map(str::to_owned));
        }
    }
    urls
}

#[test]
fn a_key_file_proves_the_site_once_a_day() {
    let site = Site::start(&[(&format!("/{KEY}.txt"), 200, &format!("{KEY}\n"))]);
    let (receiver, storage) = site.receiver("owned = true");
    let (one, two, private) = (site.url("/one"), site.url("/two"), site.url("/private/x"));
    let taken = receiver.take_query(&format!("url={one}&key={KEY}"));
    let accepted = |urls, left_out| Verdict::Accepted { urls, left_out };
    assert_eq!(taken, accepted(1, 0));
    let host = site.address.to_string();
    let taken = receiver.take_body(&body(&host, KEY, &[two.clone(), private.clone()]));
    assert_eq!(taken, accepted(1, 1));
    assert_eq!(waiting(&storage), [one, two]);
    assert_eq!(site.requests(), [format!("/{KEY}.txt")]);
    // What rules leave out alone is refused.
    assert_eq!(
        receiver.take_body(&body(&host, KEY, &[private])).status(),
        422
    );
    // Another key of the same site must wait for its request.
    let other = receiver.take_query(&format!("url={}&key=another-key", site.url("/")));
    assert!(
        matches!(
            other,
            Verdict::TooMany {
                retry_after_s: 1..=5
            }
        ),
        "{other:?}"
    );
    assert_eq!(waiting(&storage).len(), 2);
    // A server drops it within its runtime.
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(async { drop(receiver) });
}

#[test]
fn a_site_without_the_key_file_is_not_proved() {
    let wrong = format!("<html>{KEY}</html>");
    let long = format!("{KEY}{}", " ".repeat(4_000));
    for (status, text, expected) in [
        (404, "", 403),
        (200, wrong.as_str(), 403),
        (200, "another-key", 403),
        (200, long.as_str(), 403),
        (302, KEY, 403),
        (500, KEY, 503),
    ] {
        let site = Site::start(&[(&format!("/{KEY}.txt"), status, text)]);
        let (receiver, storage) = site.receiver("owned = true");
        let taken = receiver.take_query(&format!("url={}&key={KEY}", site.url("/")));
        assert_eq!(taken.status(), expected, "{status} {text} {taken:?}");
        assert_eq!(site.requests().len(), 1);
        assert!(waiting(&storage).is_empty());
    }
}

#[test]
fn only_own_sites_are_asked_for_a_key() {
    let site = Site::start(&[(&format!("/{KEY}.txt"), 200, KEY)]);
    let (foreign, storage) = site.receiver("");
    let query = format!("url={}&key={KEY}", site.url("/"));
    assert_eq!(foreign.take_query(&query).status(), 422);
    let (own, own_storage) = site.receiver("owned = true");
    let other = Site::start(&[]);
    let query = format!("url={}&key={KEY}", other.url("/"));
    assert_eq!(own.take_query(&query).status(), 422);
    assert_eq!((site.requests().len(), other.requests().len()), (0, 0));
    assert!(waiting(&storage).is_empty() && waiting(&own_storage).is_empty());
}

#[test]
fn a_configured_key_takes_the_place_of_the_file() {
    let site = Site::start(&[("/other-key-1.txt", 200, "other-key-1")]);
    let (receiver, storage) = site.receiver(&format!("owned = true\nindexnow_key = '{KEY}'"));
    let query = |key: &str| format!("url={}&key={key}", site.url("/a"));
    assert_eq!(receiver.take_query(&query(KEY)).status(), 200);
    assert_eq!(receiver.take_query(&query("other-key-1")).status(), 403);
    assert!(site.requests().is_empty());
    assert_eq!(waiting(&storage).len(), 1);
    // No crawl takes them.
    for number in 0..999 {
        let name = format!("ping-{number}.txt");
        storage.create(&name).unwrap().finish().unwrap();
    }
    assert_eq!(receiver.take_query(&query(KEY)).status(), 429);
}

#[test]
fn the_key_stays_out_of_the_copy_of_the_configuration() {
    let text = format!("[[site]]\nseeds = ['a.test']\nowned = true\nindexnow_key = '{KEY}'");
    let config = CrawlConfig::from_toml(&text).unwrap();
    assert_eq!(config.sites[0].indexnow_key.as_deref(), Some(KEY));
    assert!(!serde_json::to_string(&config).unwrap().contains(KEY));
}
