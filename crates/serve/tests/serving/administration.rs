//! Administration at the admin address, and nowhere else.
use crate::corpus::{commit, document, index};
use crate::http::{Response, Running, options, raw_to};
use serve::{
    AdminAddress, AdminOptions, AdminToken, Cluster, CrawlFailure, Generations, HandlerOptions,
    ObservedCrawl, ServeOptions, Server, Topology, io_runtime,
};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use vfs::{MemoryStorage, SharedStorage};
use wire::{CrawlProgress, CrawlStatus};

/// Upper limit on the time of an answer of the admin address, whatever the load of the public port.
const HEALTH_MAX: Duration = Duration::from_millis(50);

const ALL_METHODS: [&str; 9] = [
    "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PURGE",
];

/// Starts a server whose index has a newer generation than it serves.
fn outdated() -> (SharedStorage, Running) {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    commit(&storage, 0..10);
    let generations = Generations::open(storage.clone()).unwrap();
    let topology = Topology {
        partitions: 1,
        handlers: 1,
        queue_length: 10,
    };
    let cluster =
        Cluster::in_process(&generations, &topology, &[], &HandlerOptions::default()).unwrap();
    let server = Server::bind_cluster(cluster, &options(1), io_runtime().unwrap()).unwrap();
    commit(&storage, 10..20);
    (storage, Running::of(server))
}

fn ask(address: SocketAddr, method: &str, path: &str, headers: &str) -> Response {
    let request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n");
    raw_to(address, request.as_bytes())
}

fn generation(server: &Running) -> String {
    let host = format!("Host: {}\r\n", server.admin());
    let metrics = ask(server.admin(), "GET", "/metrics", &host).body;
    let line = metrics
        .lines()
        .find(|line| line.starts_with("shorttail_generation "));
    line.unwrap_or_else(|| panic!("no generation in {metrics}"))
        .to_owned()
}

#[test]
fn no_public_route_changes_what_is_served() {
    let (_storage, server) = outdated();
    let before = generation(&server);
    for method in ALL_METHODS {
        for path in [
            "/",
            "/?q=alpha",
            "/search?q=alpha",
            "/document?url=x",
            "/healthz",
            "/reload",
            "/metrics",
            "/style.css",
            "/favicon.svg",
            "/favicon.ico",
            "/nothing",
            "/admin",
            "/reload/",
            "/crawl",
            "/crawl/stop",
            "//reload",
        ] {
            let answered = ask(server.address, method, path, "Host: localhost\r\n");
            assert!(
                answered.status < 500,
                "{method} {path}: {}",
                answered.status
            );
            let is_read = matches!(method, "GET" | "HEAD");
            assert!(
                is_read || answered.status >= 400,
                "{method} {path}: {}",
                answered.status
            );
            assert_eq!(generation(&server), before, "{method} {path}");
        }
    }
    for path in ["/reload", "/metrics", "/crawl/stop"] {
        let answered = ask(server.address, "POST", path, "Host: localhost\r\n");
        assert_eq!(answered.status, 404);
        assert!(answered.body.contains("admin address"), "{}", answered.body);
    }
    let host = format!("Host: {}\r\n", server.admin());
    assert_eq!(ask(server.admin(), "GET", "/reload", &host).status, 405);
    let reloaded = ask(server.admin(), "POST", "/reload", &host);
    assert_eq!(
        (reloaded.status, reloaded.body.as_str()),
        (200, "{\"generation\":2}")
    );
    assert_ne!(generation(&server), before);
}

#[test]
fn other_sites_and_other_names_are_refused() {
    let (_storage, server) = outdated();
    let admin = server.admin();
    let before = generation(&server);
    let own = format!("Host: {admin}\r\n");
    for headers in [
        format!("{own}Origin: http://evil.example\r\n"),
        format!("{own}Origin: null\r\n"),
        format!("{own}Sec-Fetch-Site: cross-site\r\n"),
        // A form needs no permission of the server that receives it.
        format!(
            "{own}Origin: http://evil.example\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n"
        ),
        format!("Host: evil.example:{}\r\n", admin.port()),
    ] {
        let refused = ask(admin, "POST", "/reload", &headers);
        assert_eq!(refused.status, 403, "{headers}");
    }
    assert_eq!(
        ask(admin, "GET", "/metrics", "Host: evil.example\r\n").status,
        403
    );
    assert_eq!(ask(admin, "GET", "/metrics", "").status, 400);
    assert_eq!(
        ask(admin, "GET", "/healthz", "Host: 10.0.0.1\r\n").status,
        200
    );
    assert_eq!(generation(&server), before);
    let same = format!("{own}Origin: http://{admin}\r\nSec-Fetch-Site: same-origin\r\n");
    assert_eq!(ask(admin, "POST", "/reload", &same).status, 200);
}

#[test]
fn addresses_that_others_reach_demand_a_token() {
    let at = |address: &str, token: Option<&str>| ServeOptions {
        admin: AdminOptions {
            address: AdminAddress::At(address.into()),
            token: token.map(|token| AdminToken::parse(token).unwrap()),
        },
        ..options(1)
    };
    let small = || index((0..3).map(|n| document(n, 1, 1)), 1);
    let refused = Server::bind(small(), &at("0.0.0.0:0", None)).err().unwrap();
    let refused = refused.to_string();
    assert!(refused.contains("--admin-token-file"), "{refused}");

    let token = "a-token-of-some-length";
    let server = Running::start(small(), &at("0.0.0.0:0", Some(token)));
    let admin = SocketAddr::from(([127, 0, 0, 1], server.admin().port()));
    let host = format!("Host: {admin}\r\n");
    let wrong = format!("{host}Authorization: Bearer a-token-of-some-lengtH\r\n");
    for headers in [&host, &wrong] {
        let refused = ask(admin, "POST", "/reload", headers);
        assert_eq!(refused.status, 401);
        assert!(
            refused.head.contains("www-authenticate: bearer"),
            "{}",
            refused.head
        );
        assert_eq!(ask(admin, "GET", "/metrics", headers).status, 401);
    }
    let right = format!("{host}Authorization: Bearer {token}\r\n");
    assert_eq!(ask(admin, "POST", "/reload", &right).status, 200);
    assert_eq!(ask(admin, "GET", "/healthz", &host).status, 200);
}

#[test]
fn administration_may_be_off_and_its_port_taken() {
    let small = || index((0..3).map(|n| document(n, 1, 1)), 1);
    let off = ServeOptions {
        admin: AdminOptions {
            address: AdminAddress::Off,
            token: None,
        },
        ..options(1)
    };
    assert_eq!(Server::bind(small(), &off).unwrap().admin_address(), None);
    let first = Server::bind(small(), &options(1)).unwrap();
    let taken = first.admin_address().unwrap();
    let at = ServeOptions {
        admin: AdminOptions {
            address: AdminAddress::At(taken.to_string()),
            token: None,
        },
        ..options(1)
    };
    let message = Server::bind(small(), &at).err().unwrap().to_string();
    assert!(
        message.contains("--admin") && message.contains(&taken.to_string()),
        "{message}"
    );

    // Take the port before the taken one: its default admin port is then taken.
    let beside = SocketAddr::from(([127, 0, 0, 1], taken.port() - 1));
    let beside = ServeOptions {
        listen: beside.to_string(),
        ..options(1)
    };
    // Another process may have that port; then the case cannot be tested.
    if let Ok(second) = Server::bind(small(), &beside) {
        let chosen = second.admin_address().unwrap();
        assert!(chosen.ip().is_loopback() && chosen != taken);
    }
}

/// Searches that keep every I/O thread busy must not keep a health check waiting.
#[test]
fn health_is_told_whatever_the_public_threads_do() {
    let (_storage, server) = outdated();
    let runtime = server.runtime.clone();
    let threads_count = std::thread::available_parallelism().unwrap().get();
    let until = Instant::now() + Duration::from_secs(2);
    let busy: Vec<_> = (0..threads_count)
        .map(|_| {
            // The task blocks its thread on purpose.
            runtime.spawn(async move {
                while Instant::now() < until {
                    std::thread::sleep(Duration::from_millis(20));
                }
            })
        })
        .collect();
    let mut slowest = Duration::ZERO;
    while Instant::now() < until {
        let begun = Instant::now();
        let health = ask(server.admin(), "GET", "/healthz", "Host: localhost\r\n");
        assert_eq!((health.status, health.body.as_str()), (200, "ok\n"));
        slowest = slowest.max(begun.elapsed());
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(busy.iter().any(|one| !one.is_finished()) || Instant::now() >= until);
    // Concurrent tests may take the processor for a moment.
    assert!(slowest < HEALTH_MAX * 4, "{slowest:?}");
}

/// Crawl whose figures are given; an error where they are `Err`.
struct GivenCrawl(Mutex<Result<Option<CrawlStatus>, &'static str>>);

impl ObservedCrawl for GivenCrawl {
    fn status(&self) -> Result<Option<CrawlStatus>, CrawlFailure> {
        Ok(self.0.lock().unwrap().clone()?)
    }

    fn request_stop(&self) -> Result<bool, CrawlFailure> {
        let mut given = self.0.lock().unwrap();
        match &mut *given {
            Ok(Some(status)) => Ok(std::mem::take(&mut status.is_running)),
            _ => Ok(false),
        }
    }
}

#[test]
fn the_crawl_of_the_index_is_told_and_ended() {
    let crawl = Arc::new(GivenCrawl(Mutex::new(Ok(None))));
    let server = Server::bind(index([document(0, 0, 1)], 1), &options(1)).unwrap();
    let server = Running::of(server.with_crawl(crawl.clone()));
    let host = format!("Host: {}\r\n", server.admin());
    let html = format!("{host}Accept: text/html,*/*\r\n");
    let get = |headers: &str| ask(server.admin(), "GET", "/crawl", headers);
    let stop = |headers: &str| ask(server.admin(), "POST", "/crawl/stop", headers);
    let metrics = || ask(server.admin(), "GET", "/metrics", &host).body;
    assert_eq!((get(&host).status, stop(&host).status), (404, 404));
    assert!(!metrics().contains("shorttail_crawl"));

    let progress = CrawlProgress {
        known: 41,
        ..CrawlProgress::default()
    };
    let status = CrawlStatus {
        progress,
        is_running: true,
    };
    *crawl.0.lock().unwrap() = Ok(Some(status.clone()));
    let told = get(&host);
    assert_eq!(told.status, 200);
    let told: CrawlStatus = serde_json::from_str(&told.body).unwrap();
    assert_eq!(told, status);
    let page = get(&html);
    assert!(
        page.head.contains("content-type: text/html"),
        "{}",
        page.head
    );
    assert!(page.body.contains("Crawl: running"), "{}", page.body);
    let (_, path) = page.body.split_once("stylesheet\" href=\"").unwrap();
    let path = path.split('"').next().unwrap();
    let path = format!("/{path}");
    assert_eq!(ask(server.admin(), "GET", &path, &host).status, 200);
    assert!(metrics().contains("shorttail_crawl_urls_known 41"));

    // A page of another site must not end it.
    let foreign = format!("{host}Origin: http://evil.example\r\n");
    assert_eq!(stop(&foreign).status, 403);
    assert!(crawl.status().unwrap().unwrap().is_running);
    let stopped = stop(&host);
    assert_eq!(
        (stopped.status, &*stopped.body),
        (202, "{\"stopping\":true}")
    );
    assert!(!crawl.status().unwrap().unwrap().is_running);
    assert_eq!(stop(&host).status, 409);

    *crawl.0.lock().unwrap() = Err("status.json: cut off");
    let failed = get(&host);
    assert_eq!(failed.status, 500);
    assert!(failed.body.contains("status.json"), "{}", failed.body);
    // The other metrics are shown all the same.
    assert!(metrics().contains("shorttail_documents"));
}
