//! The synthetic web, served and fetched by an obedient walk; its judge, also on spoilt logs.

use std::collections::{HashSet, VecDeque};
use std::io::Write;
use std::sync::{Arc, Mutex};

use crawl::fetch::{AcceptedTypes, AddressGuard, FetchOptions, FetchRequest, Fetcher, Outcome};
use crawl::synthetic::{
    HostClass, JudgeOptions, LogRecord, Place, Reason, RequestFacts, SyntheticOptions,
    SyntheticResolver, SyntheticWeb, Verdict, judge, listen, read_log, serve,
};
use url::Url;

fn options() -> SyntheticOptions {
    SyntheticOptions {
        hosts: 28,
        pages_mean: 12.0,
        page_bytes_mean: 2_000,
        ..SyntheticOptions::default()
    }
}

/// Links of a page, without those that are nofollow.
fn links(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    for tag in page.split('<').skip(1) {
        let open = ["a ", "link "].iter().any(|name| tag.starts_with(name));
        if open && !tag.contains("nofollow") && !tag.contains("canonical") {
            found.extend(
                tag.split_once("href=\"")
                    .and_then(|(_, rest)| rest.split_once('"'))
                    .map(|(to, _)| to.to_owned()),
            );
        }
        for name in ["link>http", "loc>http"] {
            if let Some(rest) = tag.strip_prefix(name) {
                found.push(format!("http{rest}"));
            }
        }
    }
    found
}

/// The log of a walk that keeps the rules, with times of a clock of its own: no request is sent.
fn obedient_log(web: &SyntheticWeb) -> Vec<LogRecord> {
    let mut log = Vec::new();
    let mut seen = HashSet::new();
    let mut queue = VecDeque::from([(Url::parse(&web.seeds_url()).unwrap(), 0)]);
    let mut robots_done = HashSet::new();
    let mut now_us = 5_000_000;
    let mut ask = |url: &Url| {
        let host = url.host_str().unwrap().to_owned();
        let path = url[url::Position::BeforePath..].to_owned();
        // Longer than every delay of the options, and never in the busy second of ten.
        now_us += 10_000_000;
        let made = web.respond(&host, &path, now_us / 1_000, RequestFacts::default());
        log.push(LogRecord {
            start_us: now_us,
            end_us: now_us + 1_000,
            address: web.address(&host).unwrap(),
            host,
            path,
            status: made.status,
            conditional: false,
            agent: "walk".to_owned(),
            retry_after_s: made.retry_after_s,
        });
        made
    };
    while let Some((url, hops)) = queue.pop_front() {
        let host = url.host_str().unwrap().to_owned();
        let number = web.host_named(&host);
        if robots_done.insert(host) {
            let robots = ask(&url.join("/robots.txt").unwrap());
            let text = String::from_utf8(robots.body).unwrap();
            let listed = text
                .lines()
                .filter_map(|line| line.strip_prefix("Sitemap: "));
            queue.extend(listed.map(|to| (Url::parse(to).unwrap(), 0)));
        }
        let class = number.map(|host| host.class);
        let path = url[url::Position::BeforePath..].to_owned();
        let trap =
            matches!(class, Some(HostClass::Trap(_))) && path.to_lowercase().contains("/trap");
        let disallowed = class == Some(HostClass::Disallow) && path.starts_with("/private/");
        if disallowed || trap || class == Some(HostClass::RobotsUnavailable) {
            continue;
        }
        let made = ask(&url);
        let page = String::from_utf8_lossy(&made.body).into_owned();
        let location = made
            .headers
            .iter()
            .find(|(name, _)| *name == "Location")
            .map(|(_, to)| to.clone());
        let hop = location.is_some();
        for to in links(&page).into_iter().chain(location) {
            let to = url.join(&to).unwrap();
            let hops = if hop { hops + 1 } else { 0 };
            if hops <= 5 && seen.insert(to.clone()) {
                queue.push_back((to, hops));
            }
        }
    }
    log
}

fn check(change: impl FnOnce(&mut Vec<LogRecord>, &SyntheticWeb)) -> Verdict {
    let web = SyntheticWeb::new(options());
    let mut log = obedient_log(&web);
    change(&mut log, &web);
    judge(&log, &web, &JudgeOptions::default())
}

#[test]
fn an_obedient_walk_reaches_exactly_what_is_expected() {
    let verdict = check(|_, _| {});
    assert!(verdict.passes(), "{verdict:?}");
    assert!(verdict.gaps_count > 100, "{verdict:?}");
}

#[test]
fn the_judge_finds_each_sabotage() {
    let early = check(|log, _| {
        let last = log.last().unwrap().clone();
        log.push(LogRecord {
            start_us: last.end_us + 499_000,
            end_us: last.end_us + 499_500,
            ..last
        });
    });
    assert_eq!(
        (early.short_gaps_count, early.passes()),
        (2, false),
        "{early:?}"
    );
    let crawl_delay = check(|log, web| {
        let slow = |record: &&LogRecord| {
            web.host_named(&record.host)
                .is_some_and(|host| host.class == HostClass::CrawlDelay)
        };
        let last = log.iter().rfind(slow).unwrap().clone();
        log.push(LogRecord {
            start_us: last.end_us + 900_000,
            end_us: last.end_us + 901_000,
            ..last
        });
    });
    assert_eq!(crawl_delay.short_gaps_count, 1, "{crawl_delay:?}");
    let impatient = check(|log, _| {
        let mut last = log.last().unwrap().clone();
        log.last_mut().unwrap().retry_after_s = Some(2);
        last.start_us += 1_900_000;
        last.end_us += 1_900_000;
        log.push(last);
    });
    assert_eq!(impatient.short_gaps_count, 1, "{impatient:?}");
    let missing = check(|log, web| {
        let expected = web.expected().last().unwrap();
        let host = format!("h{}.web.test", expected.host);
        log.retain(|record| record.host != host || record.path != expected.path);
    });
    assert_eq!(missing.missing_count, 1, "{missing:?}");
    let later = |log: &mut Vec<LogRecord>, host: String, path: String| {
        let mut record = log.last().unwrap().clone();
        record.start_us += 100_000_000;
        record.end_us += 100_000_000;
        log.push(LogRecord {
            host,
            path,
            ..record
        });
    };
    for reason in [
        Reason::Disallowed,
        Reason::Nofollow,
        Reason::RobotsUnavailable,
    ] {
        let verdict = check(|log, web| {
            let forbidden = web
                .forbidden()
                .find(|forbidden| forbidden.reason == reason)
                .unwrap();
            later(log, format!("h{}.web.test", forbidden.host), forbidden.path);
        });
        assert_eq!(
            (verdict.forbidden_count, verdict.passes()),
            (1, false),
            "{reason:?} {verdict:?}"
        );
    }
    // One path that nothing links to is permitted a host: crawlers ask how it answers for pages that do not exist.
    let unexpected = check(|log, _| {
        for path in ["/never-linked", "/nor-this-one"] {
            later(log, "h0.web.test".to_owned(), path.to_owned());
        }
    });
    assert_eq!(
        (unexpected.unexpected_count, unexpected.passes()),
        (1, false),
        "{unexpected:?}"
    );
    let without_robots =
        check(|log, _| log.retain(|r| r.host != "h0.web.test" || r.path != "/robots.txt"));
    assert!(
        without_robots.forbidden_count > 0 && !without_robots.passes(),
        "{without_robots:?}"
    );
    let trapped = check(|log, _| {
        for _ in 0..log.len() {
            later(log, "h16.web.test".to_owned(), "/trap/".to_owned());
        }
    });
    assert!(
        trapped.trapped && trapped.short_gaps_count == 0,
        "{trapped:?}"
    );
}

#[test]
fn every_trap_is_endless_and_recognised() {
    let web = SyntheticWeb::new(options());
    for number in 16..28 {
        let host = web.host(number);
        let mut seen = HashSet::new();
        let mut queue = VecDeque::from([Url::parse(&web.url(number, "/trap/")).unwrap()]);
        while seen.len() < 30 {
            let Some(url) = queue.pop_front() else {
                panic!("{:?} ends after {} URLs", host.class, seen.len())
            };
            let path = &url[url::Position::BeforePath..];
            assert!(
                matches!(web.place(&host, path), Place::Trap(_)),
                "{:?} {path}",
                host.class
            );
            if !seen.insert(url.clone()) {
                continue;
            }
            let made = web.respond(url.host_str().unwrap(), path, 0, RequestFacts::default());
            let location = made
                .headers
                .iter()
                .find(|(name, _)| *name == "Location")
                .map(|(_, to)| to.clone());
            let page = String::from_utf8(made.body).unwrap();
            queue.extend(
                links(&page)
                    .into_iter()
                    .chain(location)
                    .map(|to| url.join(&to).unwrap()),
            );
        }
    }
}

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_server_answers_on_its_names_and_logs() {
    let listener = listen(0).unwrap();
    let port = listener.local_addr().unwrap().port();
    let web = Arc::new(SyntheticWeb::new(SyntheticOptions { port, ..options() }));
    let kept = Kept::default();
    tokio::spawn(serve(web.clone(), listener, Box::new(kept.clone())));
    let fetcher = Fetcher::new(FetchOptions {
        guard: AddressGuard::only(vec!["127.0.0.0/8".parse().unwrap()]),
        resolver: Arc::new(SyntheticResolver(web.clone())),
        ..FetchOptions::default()
    })
    .unwrap();
    let url = Url::parse(&web.url(0, "/")).unwrap();
    let first = fetcher.fetch(&FetchRequest::new(&url)).await.unwrap();
    assert_eq!(
        (first.outcome.clone(), first.status, first.reused),
        (Outcome::Page, 200, false)
    );
    let direct = web
        .respond("h0.web.test", "/", 0, RequestFacts::default())
        .body
        .len();
    assert!(
        first.body.len() >= direct / 2 && Some(first.remote.ip()) == web.address("h0.web.test")
    );
    assert!(
        first.request_head.starts_with(b"GET / HTTP/1.1\r\n")
            && first.request_head.ends_with(b"\r\n\r\n")
    );
    assert!(
        first.response_head.starts_with(b"HTTP/1.1 200 OK\r\n")
            && first.response_head.ends_with(b"\r\n\r\n")
    );
    let again = FetchRequest {
        etag: first.header_text("etag"),
        ..FetchRequest::new(&url)
    };
    let again = fetcher.fetch(&again).await.unwrap();
    assert_eq!(
        (again.outcome, again.status, again.reused),
        (Outcome::NotModified, 304, true)
    );
    let robots = Url::parse(&web.url(3, "/robots.txt")).unwrap();
    let robots = FetchRequest {
        accepted: AcceptedTypes::Any,
        ..FetchRequest::new(&robots)
    };
    let robots = fetcher.fetch(&robots).await.unwrap();
    assert_eq!(&robots.body[..], b"User-agent: *\nDisallow: /private/\n");
    let log = read_log(kept.0.lock().unwrap().as_slice()).unwrap();
    let rows: Vec<_> = log
        .iter()
        .map(|r| (r.host.as_str(), r.path.as_str(), r.status, r.conditional))
        .collect();
    let expected = [
        ("h0.web.test", "/", 200, false),
        ("h0.web.test", "/", 304, true),
        ("h3.web.test", "/robots.txt", 200, false),
    ];
    assert_eq!(rows, expected);
}
