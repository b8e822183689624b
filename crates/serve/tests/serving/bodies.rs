//! Bodies of requests that write: one meaning, reasons that are counted, damage that is reported with its place.

use crate::corpus::document;
use crate::http::Running;
use crate::writing::{line, send, sent, total, writing};
use index::Texts;
use serde_json::{Value, json};
use std::io::Write;

fn status_and_json(
    server: &Running,
    method: &str,
    target: &str,
    headers: &str,
    body: &[u8],
) -> (u16, Value) {
    let answered = send(server, method, target, headers, body);
    let json = serde_json::from_str(&answered.body);
    (
        answered.status,
        json.unwrap_or_else(|_| panic!("{}", answered.body)),
    )
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text).unwrap();
    gzip.finish().unwrap()
}

#[test]
fn what_is_no_whole_json_is_refused_with_its_place_and_changes_nothing() {
    let (_storage, server) = writing(1, Texts::Stored);
    let url = "https://site1.example/3";
    let quoted = format!("\"{url}\"");
    let object = line(&document(50, 2, 0b100));
    let patch = format!("{{\"url\":{quoted},\"title\":\"gamma\"}}");
    let cases = [
        ("DELETE", format!("[{quoted},"), 1, quoted.len() + 2),
        ("DELETE", format!("[{quoted}"), 1, quoted.len() + 1),
        ("DELETE", format!("[{quoted},]"), 1, quoted.len() + 2),
        (
            "DELETE",
            format!("[{quoted}\n{quoted}]"),
            2,
            quoted.len() + 2,
        ),
        ("DELETE", format!("['{url}']"), 1, 1),
        ("DELETE", format!("[{quoted}]]"), 1, quoted.len() + 2),
        ("DELETE", format!("[{quoted}] x"), 1, quoted.len() + 3),
        (
            "DELETE",
            format!("[{{\"url\":{quoted},}}]"),
            1,
            quoted.len() + 9,
        ),
        ("POST", format!("[{object}"), 1, object.len() + 1),
        ("POST", format!("[{object},\n\n"), 3, object.len() + 4),
        ("POST", format!("[{object}{object}]"), 1, object.len() + 1),
        (
            "POST",
            format!("{{\n{}x", &object[1..]),
            2,
            object.len() + 1,
        ),
        ("PATCH", format!("[{patch},]"), 1, patch.len() + 2),
        ("PATCH", format!("[{patch}"), 1, patch.len() + 1),
    ];
    for (method, body, line, offset) in &cases {
        for (encoding, bytes) in [
            ("", body.as_bytes().to_vec()),
            ("Content-Encoding: gzip\r\n", gzip(body.as_bytes())),
        ] {
            let (status, answer) =
                status_and_json(&server, method, "/documents?refresh=now", encoding, &bytes);
            assert_eq!(status, 400, "{method} {body}: {answer}");
            let error = &answer["error"];
            assert_eq!(
                (&error["line"], &error["offset"], &answer["accepted"]),
                (&json!(line), &json!(offset), &json!(0)),
                "{method} {body}: {answer}"
            );
        }
    }
    sent(&server, "POST", "/refresh", "", 200);
    assert_eq!((total(&server, "alpha"), total(&server, "gamma")), (12, 0));
}

#[test]
fn what_came_in_batches_before_the_damage_is_accepted_and_counted() {
    let (_storage, server) = writing(1, Texts::Stored);
    let count = 10_000u32;
    let object = |n: u32| format!("{{\"url\":\"u:{n}\",\"title\":\"gamma\",\"body\":\"\"}}");
    let whole: Vec<String> = (0..count).map(object).collect();
    let damaged = format!("[{},]", whole.join(",\n"));
    let (status, answer) = status_and_json(&server, "POST", "/documents", "", damaged.as_bytes());
    assert_eq!(status, 400);
    let accepted = answer["accepted"].as_u64().unwrap();
    assert!(accepted > 0 && accepted < u64::from(count), "{answer}");
    let told = answer["error"]["reason"].as_str().unwrap();
    assert!(told.contains(&format!("line {count}")), "{told}");
    sent(&server, "POST", "/refresh", "", 200);
    // Exactly as many as the answer counts: the first ones.
    assert_eq!(total(&server, "gamma"), accepted);
    let last = format!("/documents?url=u:{}", accepted - 1);
    sent(&server, "GET", &last, "", 200);
    sent(
        &server,
        "GET",
        &format!("/documents?url=u:{accepted}"),
        "",
        404,
    );
    let good = format!("[{}]", whole.join(","));
    let answer = sent(
        &server,
        "POST",
        "/documents?refresh=now&versions=1",
        &good,
        200,
    );
    assert_eq!(answer["accepted"], count);
    assert_eq!(
        answer["documents"].as_array().unwrap().len(),
        count as usize
    );
    assert_eq!(total(&server, "gamma"), u64::from(count));
}

#[test]
fn the_first_reasons_are_named_and_the_rest_counted() {
    let (_storage, server) = writing(1, Texts::Stored);
    let good = line(&document(20, 2, 0b100));
    for (method, bad) in [("POST", "{}"), ("PATCH", "x"), ("DELETE", "{\"a\":1}")] {
        let body = format!("{bad}\n").repeat(5_000);
        let answer = sent(&server, method, "/documents", &body, 400);
        assert_eq!(answer["rejected_count"], 5_000, "{method}");
        let rejected = answer["rejected"].as_array().unwrap();
        assert_eq!((rejected.len(), &rejected[99]["line"]), (100, &json!(100)));
    }
    let body = format!("{}{good}\n", "{}\n".repeat(5_000));
    let answer = sent(&server, "POST", "/documents", &body, 200);
    assert_eq!(
        (&answer["accepted"], &answer["rejected_count"]),
        (&json!(1), &json!(5_000))
    );
}

#[test]
fn keys_and_parameters_that_come_twice_are_refused() {
    let (_storage, server) = writing(1, Texts::Stored);
    let url = "https://site1.example/3";
    for (method, body) in [
        (
            "PATCH",
            format!("{{\"url\":\"{url}\",\"url\":\"x\",\"title\":\"t\"}}"),
        ),
        (
            "PATCH",
            format!("{{\"url\":\"x\",\"title\":\"t\",\"url\":\"{url}\"}}"),
        ),
        ("PATCH", format!("{{\"url\":\"{url}\",\"n\":1,\"n\":2}}")),
        (
            "PATCH",
            format!("{{\"url\":\"{url}\",\"o\":{{\"n\":1,\"n\":2}}}}"),
        ),
        (
            "POST",
            format!("{{\"url\":\"{url}\",\"title\":\"t\",\"o\":[{{\"n\":1,\"n\":2}}]}}"),
        ),
        ("DELETE", format!("{{\"url\":\"x\",\"url\":\"{url}\"}}")),
        ("DELETE", format!("[{{\"url\":\"x\",\"url\":\"{url}\"}}]")),
    ] {
        let answer = sent(&server, method, "/documents", &body, 400);
        let reason = answer["rejected"][0]["reason"].as_str().unwrap();
        assert!(reason.contains("occurs twice"), "{method} {body}: {reason}");
    }
    for (method, target) in [
        ("POST", "/delete-by-query?q=alpha&q=nothing"),
        ("POST", "/delete-by-query?dry_run=1&q=alpha&dry_run=0"),
        ("POST", "/documents?refresh=now&refresh=none"),
        ("POST", "/documents?if_version=none&if_version=none"),
        ("PATCH", "/documents?versions=1&versions=1"),
    ] {
        let answer = sent(&server, method, target, &line(&document(60, 2, 0b100)), 400);
        let reason = answer["error"]["reason"].as_str().unwrap();
        assert!(reason.contains("twice"), "{target}: {reason}");
    }
    sent(&server, "POST", "/refresh", "", 200);
    assert_eq!((total(&server, "alpha"), total(&server, "gamma")), (12, 0));
    let gone = sent(
        &server,
        "DELETE",
        &format!("/documents?url={url}&url=x&refresh=now"),
        "",
        200,
    );
    assert_eq!(
        (&gone["accepted"], total(&server, "alpha")),
        (&json!(2), 11)
    );
}

#[test]
fn a_content_type_of_json_leaves_no_plain_text() {
    let (_storage, server) = writing(1, Texts::Stored);
    let url = "https://site1.example/3";
    let json = "Content-Type: application/json\r\n";
    let lines = "Content-Type: application/x-ndjson\r\n";
    for (headers, body, status) in [
        (json, url.to_owned(), 400),
        (json, format!("'{url}'"), 400),
        (lines, format!("[\"{url}\"]"), 400),
        ("Content-Type: text/plain\r\n", format!("[\"{url}\""), 400),
        // JSON after a plain URL would be taken for one.
        ("", format!("[\n\"{url}\""), 400),
        (lines, format!("\"{url}\""), 200),
        (json, format!("[\"{url}\"]"), 200),
        ("Content-Type: text/plain\r\n", url.to_owned(), 200),
    ] {
        let (found, answer) =
            status_and_json(&server, "DELETE", "/documents", headers, body.as_bytes());
        assert_eq!(found, status, "{headers}{body}: {answer}");
    }
    let mixed = sent(
        &server,
        "DELETE",
        "/documents",
        &format!("u:1\n[\"{url}\"]"),
        200,
    );
    assert_eq!(
        (&mixed["accepted"], &mixed["rejected"][0]["line"]),
        (&json!(1), &json!(2))
    );
}

#[test]
fn ids_have_a_limit_when_they_are_written() {
    let (_storage, server) = writing(1, Texts::Stored);
    let with_id = |bytes: usize| {
        json!({ "url": "u:1", "title": "gamma", "id": "i".repeat(bytes) }).to_string()
    };
    sent(
        &server,
        "POST",
        "/documents?refresh=now",
        &with_id(2_048),
        200,
    );
    for (method, body) in [
        ("POST", with_id(2_049)),
        ("POST", format!("[{}]", with_id(5 << 20))),
        (
            "PATCH",
            json!({ "url": "u:1", "id": "i".repeat(2_049) }).to_string(),
        ),
    ] {
        let answer = sent(&server, method, "/documents", &body, 400);
        let reason = answer["rejected"][0]["reason"].as_str().unwrap();
        assert!(reason.contains("2048"), "{reason}");
    }
    assert_eq!(total(&server, "gamma"), 1);
}

#[test]
fn a_body_over_its_limits_is_refused_and_what_was_accepted_is_told() {
    let (_storage, server) = writing(1, Texts::Stored);
    let object = |n: usize| format!("{{\"url\":\"u:{n}\",\"title\":\"gamma\"}}\n");
    let mut text: String = (0..5_000).map(object).collect();
    text.push_str(&" ".repeat((256 << 20) + 1 - text.len()));
    let (status, answer) = status_and_json(
        &server,
        "POST",
        "/documents",
        "Content-Encoding: gzip\r\n",
        &gzip(text.as_bytes()),
    );
    assert_eq!(status, 413, "{answer}");
    let accepted = answer["accepted"].as_u64().unwrap();
    sent(&server, "POST", "/refresh", "", 200);
    assert_eq!(total(&server, "gamma"), accepted);
    // A body that says so at once is not waited for.
    let head = format!(
        "POST /documents HTTP/1.1\r\nHost: {}\r\nContent-Length: 100000000\r\n\r\n",
        server.admin()
    );
    let mut stream = std::net::TcpStream::connect(server.admin()).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let mut first = [0; 12];
    std::io::Read::read_exact(&mut stream, &mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 413");
}
