//! Summaries of long texts, which handlers of a document server share.

use crate::corpus::{RUNTIME, document, index};
use index::Index;
use serve::api::messages::{SummariesOf, SummariesRequest, TextSummary};
use serve::{DocumentServer, Draining, Generations, InProcessDocumentServer, PartError, Reply};
use std::sync::Arc;
use std::time::{Duration, Instant};
use text::summary::{Marked, SummaryOptions, SummaryQuery, SummaryTerm};

const TEXTS: usize = 24;

fn url(n: usize) -> String {
    format!("https://site1.example/{n}")
}

/// Bodies of 2 to 600 kB, of which the long ones have pieces. Sentences have one of the words, and one has both, at the
/// beginning, in the middle or at the end.
fn body(n: usize) -> String {
    let repeated = [25, 1_200, 4_000, 7_000][n % 4];
    let filler = "plain words without meaning stand here, or alpha alone. ";
    let (before, after) = (n % 5 * repeated / 4, (4 - n % 5) * repeated / 4);
    format!(
        "{}Here alpha meets beta in {n}. {}",
        filler.repeat(before),
        filler.repeat(after)
    )
}

/// A word without a blank, which cannot be cut.
fn uncut() -> String {
    "alpha".repeat(60_000)
}

fn long_texts() -> Arc<Index> {
    let documents = (0..TEXTS).map(|n| document::Document {
        body: body(n),
        ..document(n, 1, 1)
    });
    let odd = [uncut(), String::new()].into_iter().zip(TEXTS..);
    let odd = odd.map(|(body, n)| document::Document {
        body,
        ..document(n, 1, 1)
    });
    index(documents.chain(odd), 1)
}

fn terms() -> Vec<SummaryTerm> {
    ["alpha", "beta"]
        .map(|term| SummaryTerm {
            marked: Marked::Term(term.into()),
            weight: 1.0,
        })
        .into()
}

fn started(index: &Arc<Index>, handlers: usize, policy: &str) -> InProcessDocumentServer {
    let generations = Generations::fixed(index.clone());
    let policy = policy.parse().unwrap();
    InProcessDocumentServer::start(generations, 0..=0, handlers, &policy, Draining::default())
        .unwrap()
}

type Summaries = Result<Vec<Option<TextSummary>>, PartError>;

/// Asks for the summaries of some texts, on a thread that is none of a runtime.
fn ask(
    server: &InProcessDocumentServer,
    of: impl Iterator<Item = usize>,
    timeout: Duration,
) -> impl Future<Output = Result<Summaries, tokio::sync::oneshot::error::RecvError>> {
    let (reply, answer) = Reply::channel();
    let request = SummariesRequest {
        query_id: 1,
        of: SummariesOf::Urls(of.map(url).collect()),
        terms: terms().into(),
        fields: false,
        generation: 0,
        deadline: Instant::now() + timeout,
    };
    server.summaries(request, reply);
    answer
}

#[test]
fn shared_summaries_are_those_of_one_thread() {
    let index = long_texts();
    let query = SummaryQuery::new(index.analyzer(), terms(), SummaryOptions::default());
    let bodies = (0..TEXTS).map(body).chain([uncut(), String::new()]);
    let expected: Vec<String> = bodies.map(|body| query.summarize(&body)).collect();
    assert!(expected[3].contains("<mark>alpha</mark> meets <mark>beta</mark> in 3"));
    for policy in ["boost", "least-left", "fifo:1"] {
        let server = &started(&index, 3, policy);
        std::thread::scope(|scope| {
            for client in 0..4 {
                let expected = &expected;
                scope.spawn(move || {
                    // Pages of one text and of many.
                    for count in [1, TEXTS + 2, 7, 2] {
                        let of = || (0..count).map(|n| (n + client * 5) % (TEXTS + 2));
                        let made = RUNTIME.block_on(ask(server, of(), Duration::from_secs(60)));
                        let made = made.unwrap().unwrap();
                        assert_eq!(made.len(), count);
                        for (n, summary) in of().zip(made) {
                            let summary = summary.unwrap();
                            assert_eq!((summary.url, &summary.html), (url(n), &expected[n]));
                        }
                    }
                });
            }
        });
    }
}

#[test]
fn requests_without_time_or_client_end_and_hold_nobody_up() {
    let index = long_texts();
    let server = started(&index, 2, "boost");
    for round in 0..20 {
        // The client goes while handlers work.
        drop(ask(&server, 0..TEXTS, Duration::from_secs(60)));
        let late = ask(&server, 0..TEXTS, Duration::from_micros(200 * round));
        match RUNTIME.block_on(late).unwrap() {
            Ok(made) => assert_eq!(made.iter().flatten().count(), TEXTS),
            Err(error) => assert!(matches!(error, PartError::Expired), "{error}"),
        }
    }
    let none = RUNTIME.block_on(ask(&server, 0..0, Duration::from_secs(60)));
    assert_eq!(none.unwrap().unwrap(), []);
    let absent = RUNTIME.block_on(ask(&server, [9_999].into_iter(), Duration::from_secs(60)));
    assert_eq!(absent.unwrap().unwrap(), [None]);
}
