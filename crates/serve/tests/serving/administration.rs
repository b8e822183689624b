//! Administration at the admin address, and nowhere else.
use crate::corpus::{commit, document, index};
use crate::http::{Response, Running, options, raw_to};
use serve::{
    AdminAddress, AdminOptions, AdminToken, Cluster, Generations, HandlerOptions, ServeOptions,
    Server, Topology, io_runtime,
};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vfs::{MemoryStorage, SharedStorage};

/// Longer than any answer of the admin address may take, whatever the public port has to do.
const HEALTH_MAX: Duration = Duration::from_millis(50);

const ALL_METHODS: [&str; 9] = [
    "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PURGE",
];

/// A server of an index with a newer generation than it serves.
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
            "//reload",
        ] {
            let answered = ask(server.address, method, path, "Host: x\r\n");
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
    for path in ["/reload", "/metrics"] {
        let answered = ask(server.address, "POST", path, "Host: x\r\n");
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
        // A form needs no permission of the server that it is sent to.
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

    // The port before the one that is taken: its default is another one then.
    let beside = SocketAddr::from(([127, 0, 0, 1], taken.port() - 1));
    let beside = ServeOptions {
        listen: beside.to_string(),
        ..options(1)
    };
    // Somebody else may have that port; then there is nothing to see here.
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
            // Not a good citizen: it blocks the thread that it runs on.
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
        let health = ask(server.admin(), "GET", "/healthz", "Host: x\r\n");
        assert_eq!((health.status, health.body.as_str()), (200, "ok\n"));
        slowest = slowest.max(begun.elapsed());
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(busy.iter().any(|one| !one.is_finished()) || Instant::now() >= until);
    // Tests that run beside this one may take the processor for a moment.
    assert!(slowest < HEALTH_MAX * 4, "{slowest:?}");
}
