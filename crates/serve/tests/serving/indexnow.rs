//! Listener of IndexNow: what reaches the judge, what is refused before, the status of each verdict.
use crate::http::{Response, raw_to};
use serve::{IndexNowServer, SubmissionReply, Submitted};
use std::sync::{Arc, Mutex};

pub(crate) type Seen = Arc<Mutex<Vec<Submitted>>>;

/// Starts a listener whose judge takes all that names a key, and notes what it sees.
pub(crate) fn started() -> (IndexNowServer, Seen) {
    let seen = Seen::default();
    let noted = seen.clone();
    let judge = move |submitted: Submitted| {
        noted.lock().unwrap().push(submitted.clone());
        let is_good = match &submitted {
            Submitted::Query(query) => query.contains("key="),
            Submitted::Body(body) => body.starts_with(b"{"),
        };
        SubmissionReply {
            status: if is_good { 200 } else { 429 },
            message: "\"judged\"".into(),
            retry_after_s: (!is_good).then_some(7),
        }
    };
    let server = IndexNowServer::start("127.0.0.1:0", Arc::new(judge)).unwrap();
    (server, seen)
}

pub(crate) fn ask(server: &IndexNowServer, first: &str, body: &str) -> Response {
    let head = format!(
        "{first} HTTP/1.1\r\nHost: any.example\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    raw_to(server.address(), format!("{head}{body}").as_bytes())
}

#[test]
fn submissions_reach_the_judge_as_they_are() {
    let (server, seen) = started();
    let taken = ask(
        &server,
        "GET /indexnow?url=http%3A%2F%2Fa.test%2F&key=abc",
        "",
    );
    assert_eq!(
        (taken.status, &*taken.body),
        (200, r#"{"result":"\"judged\""}"#)
    );
    assert_eq!(ask(&server, "POST /indexnow", "{}").status, 200);
    let refused = ask(&server, "GET /indexnow", "");
    assert_eq!(refused.status, 429);
    assert!(refused.head.contains("retry-after: 7"), "{}", refused.head);
    assert!(refused.body.contains("reason"), "{}", refused.body);
    let expected = [
        Submitted::Query("url=http%3A%2F%2Fa.test%2F&key=abc".into()),
        Submitted::Body("{}".into()),
        Submitted::Query(String::new()),
    ];
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[test]
fn other_requests_and_large_bodies_never_reach_it() {
    let (server, seen) = started();
    for (first, expected) in [
        ("GET /", 404),
        ("POST /crawl/stop", 404),
        ("POST /reload", 404),
        ("GET /metrics", 404),
        ("DELETE /indexnow", 405),
        ("PUT /indexnow", 405),
    ] {
        assert_eq!(ask(&server, first, "").status, expected, "{first}");
    }
    let large = "{".repeat((2 << 20) + 1);
    assert_eq!(ask(&server, "POST /indexnow", &large).status, 413);
    assert!(seen.lock().unwrap().is_empty());
}
