//! Matrix of deletions: forty things that happen to a page, and whether its document leaves the index.
//!
//! Each begins with a page that is in the index. Only what is said to delete may delete: a fetch that fails never does.

use super::outcome::{failure_of, outcome_of};
use super::visit::{AnswerKind, Answered, Records};
use crate::fetch::{FetchError, TimeLimit};
use crate::frontier::{
    Deletion, Discovery, Effect, Frontier, FrontierOptions, Next, Outcome, Refusal, RobotsAnswer,
    RobotsOutcome, Source, Validators, VisitKind, WarcPlace,
};
use crate::politeness::TimeMs;
use crate::reading::{self, Answer};
use std::io;
use std::sync::Arc;
use vfs::MemoryStorage;
use web::address::CanonicalUrl;

const HOUR: u64 = 3_600_000;
const URL: &str = "https://a.example/page";

/// Event at a visit.
enum Event {
    Status(u16),
    /// A page with these headers for robots, this head, and this text.
    Page(&'static str, &'static str, &'static str),
    NotModified,
    Redirect(&'static str),
    Type,
    Error(FetchError),
    Refused(Refusal),
}

use Event::*;

fn error(kind: &str) -> Event {
    let host = "a.example".to_owned();
    let source = || io::Error::from(io::ErrorKind::ConnectionReset);
    let timeout = |which| FetchError::Timeout {
        host: host.clone(),
        which,
        limit_ms: 1,
    };
    Error(match kind {
        "dns" => FetchError::Dns {
            host,
            source: source(),
        },
        "connect" => FetchError::Connect {
            host,
            source: source(),
        },
        "tls" => FetchError::Tls {
            host,
            source: source(),
        },
        "timeout dns" => timeout(TimeLimit::Dns),
        "timeout connect" => timeout(TimeLimit::Connect),
        "timeout tls" => timeout(TimeLimit::Tls),
        "timeout head" => timeout(TimeLimit::Head),
        "timeout whole" => timeout(TimeLimit::Whole),
        "slow" => FetchError::TooSlow {
            host,
            bytes: 1,
            took_ms: 9,
        },
        "protocol" => FetchError::Protocol {
            host,
            what: "no HTTP",
            source: None,
        },
        "head" => FetchError::HeadTooLarge { host },
        "bomb" => FetchError::Bomb {
            host,
            wire_bytes: 1,
            decoded_bytes: 1 << 30,
        },
        "redirect" => FetchError::BadRedirect {
            host,
            location: "ftp://x/".to_owned(),
        },
        _ => FetchError::Url {
            url: URL.to_owned(),
        },
    })
}

/// Name, visits with the hours since the first one, and the deletion that they end in.
type Cause = (&'static str, Vec<(u64, Event)>, Option<Deletion>);

/// Causes by name: visits with the hours since the first visit, and the deletion that they end in.
fn causes() -> Vec<Cause> {
    let gone = Some(Deletion::Gone);
    let refused = |refusal| Some(Deletion::Refused(refusal));
    let errors = [
        "dns",
        "connect",
        "tls",
        "timeout dns",
        "timeout connect",
        "timeout tls",
        "timeout head",
        "timeout whole",
        "slow",
        "protocol",
        "head",
        "bomb",
        "redirect",
    ];
    let mut causes: Vec<Cause> = errors
        .into_iter()
        .map(|kind| {
            (
                kind,
                vec![(1, error(kind)), (100, error(kind)), (2000, error(kind))],
                None,
            )
        })
        .collect();
    for (name, status) in [
        ("400", 400),
        ("401", 401),
        ("403", 403),
        ("405", 405),
        ("408", 408),
        ("418", 418),
        ("451", 451),
        ("429", 429),
        ("500", 500),
        ("502", 502),
        ("503", 503),
        ("504", 504),
    ] {
        causes.push((
            name,
            vec![
                (1, Status(status)),
                (100, Status(status)),
                (900, Status(status)),
            ],
            None,
        ));
    }
    causes.extend([
        ("404 once", vec![(1, Status(404))], None),
        (
            "404 twice within a day",
            vec![(1, Status(404)), (20, Status(404))],
            None,
        ),
        (
            "404 twice, a day apart",
            vec![(1, Status(404)), (26, Status(404))],
            gone,
        ),
        (
            "410 twice, a day apart",
            vec![(1, Status(410)), (26, Status(410))],
            gone,
        ),
        (
            "404, found again, 404",
            vec![
                (1, Status(404)),
                (30, Page("", "", "text")),
                (31, Status(404)),
            ],
            None,
        ),
        (
            "404, failures, 404",
            vec![(1, Status(404)), (9, Status(503)), (26, Status(404))],
            gone,
        ),
        ("unchanged", vec![(1, NotModified)], None),
        ("changed", vec![(1, Page("", "", "another text"))], None),
        ("without text", vec![(1, Page("", "", ""))], None),
        ("another type", vec![(1, Type)], None),
        (
            "redirect",
            vec![(1, Redirect("https://a.example/other"))],
            Some(Deletion::Moved),
        ),
        ("redirect to itself", vec![(1, Redirect(URL))], None),
        (
            "meta noindex",
            vec![(1, Page("", "<meta name=robots content=noindex>", "text"))],
            refused(Refusal::NoIndex),
        ),
        (
            "header noindex",
            vec![(1, Page("noindex", "", "text"))],
            refused(Refusal::NoIndex),
        ),
        (
            "noindex for another crawler",
            vec![(1, Page("otherbot: noindex", "", "text"))],
            None,
        ),
        (
            "canonical elsewhere",
            // The collection decides, once it has seen the other page.
            vec![(1, Page("", "<link rel=canonical href=/other>", "text"))],
            None,
        ),
        (
            "canonical itself",
            vec![(1, Page("", "<link rel=canonical href=/page>", "text"))],
            None,
        ),
        (
            "canonical out of the crawl",
            vec![(
                1,
                Page("", "<link rel=canonical href=https://b.example/>", "text"),
            )],
            None,
        ),
        (
            "robots.txt",
            vec![(1, Refused(Refusal::Robots))],
            refused(Refusal::Robots),
        ),
        (
            "a rule",
            vec![(1, Refused(Refusal::Rule))],
            refused(Refusal::Rule),
        ),
    ]);
    causes
}

fn outcome(event: Event) -> Outcome {
    let url = CanonicalUrl::parse(URL).unwrap();
    let (status, kind) = match event {
        Error(error) => return failure_of(&error, 10),
        Refused(refusal) => return Outcome::Refused(refusal),
        Status(status) => (status, AnswerKind::Status),
        NotModified => (304, AnswerKind::NotModified),
        Redirect(to) => (301, AnswerKind::Redirect(CanonicalUrl::parse(to).ok())),
        Type => (200, AnswerKind::OtherType),
        Page(header, head, text) => {
            let sites = crate::CrawlConfig::of_seeds(vec![URL.to_owned()])
                .compile()
                .unwrap();
            let html = format!("<html><head><title>T</title>{head}</head><body><p>{text}</body>");
            let answer = Answer {
                url: &url,
                content_type: Some("text/html"),
                robots_tags: &[header.to_owned()],
                language: None,
                body: html.as_bytes(),
                now_s: 1_790_000_000,
                is_named_list: false,
            };
            let reading = reading::read(&answer, &sites, "Shorttail", None);
            (200, AnswerKind::Page(Box::new(reading), 0))
        }
    };
    let answered = Answered {
        status,
        kind,
        wire_bytes: 0,
        is_cut: false,
        rendered: None,
        validators: Validators::default(),
        retry_after_s: None,
        records: Records {
            members: Vec::new(),
            response_at: 0,
            response_bytes: 0,
        },
    };
    outcome_of(&answered, &url, 10, WarcPlace::default(), false)
}

/// Frontier with the page, which waits for its next visit.
struct Visited {
    frontier: Frontier,
    now: TimeMs,
}

impl Visited {
    fn new() -> Visited {
        let now = TimeMs(1_790_000_000_000);
        let storage = Arc::new(MemoryStorage::new());
        let (frontier, _) = Frontier::open(storage, FrontierOptions::default(), now).unwrap();
        let mut visited = Visited { frontier, now };
        let found = Discovery {
            url: URL,
            depth: 0,
            source: Source::Seed,
            from: None,
            importance: 1.0,
            modified: None,
        };
        visited.frontier.discover(&found, now).unwrap();
        assert_eq!(visited.visit(0, Page("", "", "text")), Effect::Index);
        visited
    }

    /// Visits the page at the first instant from `hours` after the first visit on.
    fn visit(&mut self, hours: u64, event: Event) -> Effect {
        self.now = self.now.max(TimeMs(1_790_000_000_000 + hours * HOUR));
        self.frontier.again(self.now).unwrap();
        loop {
            match self.frontier.next(self.now).unwrap() {
                Next::Wait { until } => self.now = until,
                Next::Visit(visit) if visit.kind == VisitKind::Robots => {
                    let answer = RobotsAnswer {
                        outcome: RobotsOutcome::Free {
                            valid_until: self.now.plus_ms(9 * HOUR),
                        },
                        throttled: None,
                        took_ms: 5,
                        source: b"",
                    };
                    self.frontier.robots(visit.id, &answer, self.now).unwrap();
                }
                Next::Visit(visit) => {
                    let outcome = outcome(event);
                    let finished = self
                        .frontier
                        .finished(visit.id, &outcome, self.now)
                        .unwrap();
                    return finished.expect("in flight").effect;
                }
                Next::Idle => return Effect::Keep,
            }
        }
    }
}

#[test]
fn only_what_is_said_to_delete_deletes() {
    let causes = causes();
    assert!(causes.len() >= 40, "{}", causes.len());
    for (name, events, expected) in causes {
        let mut visited = Visited::new();
        let mut deleted = None;
        for (hours, event) in events {
            if let Effect::Delete(deletion) = visited.visit(hours, event) {
                assert_eq!(deleted.replace(deletion), None, "{name}: deleted twice");
            }
        }
        assert_eq!(deleted, expected, "{name}");
        let known = visited.frontier.explain(URL).expect("known").record;
        assert_eq!(known.indexed, expected.is_none(), "{name}: {}", known.state);
    }
}
