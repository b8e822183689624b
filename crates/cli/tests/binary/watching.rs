//! Live metrics of a server in `top`.

use crate::serving::Serving;
use crate::support::{Bench, command, finished, shorttail, small_corpus};
use serde_json::Value;
use std::io::{BufRead, BufReader};

fn top(address: &str, options: &[&str]) -> crate::support::Run {
    shorttail([&["top", address, "--every", "200ms"], options].concat())
}

#[test]
fn searches_are_seen_while_they_happen() {
    let bench = Bench::indexed(&small_corpus());
    let serving = Serving::start(&bench);
    let arguments = ["top", &serving.admin, "--every", "200ms", "--json"];
    let mut watching = command(arguments).spawn().unwrap();
    let lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    // The first line may be of the time before the searches; one of the next ones has them.
    let mut seen = None;
    for (number, line) in lines.enumerate() {
        for _ in 0..5 {
            serving.get("/search?q=ice");
        }
        let view: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if view["queries_per_s"].as_f64().unwrap() > 0.0 || number > 50 {
            seen = Some(view);
            break;
        }
    }
    watching.kill().unwrap();
    finished_or_killed(watching);
    let view = seen.unwrap();
    assert!(
        view["queries_per_s_by_client"]["json"].as_f64().unwrap() > 0.0,
        "{view}"
    );
    let total = view["phases"].as_array().unwrap().last().unwrap();
    assert_eq!(total["phase"], "total");
    assert!(total["count"].as_f64().unwrap() > 0.0, "{view}");
    assert!(
        total["mean_us"].as_f64() <= total["max_us_at_most"].as_f64(),
        "{view}"
    );
    assert_eq!(view["malformed_count"], 0, "{view}");
}

/// Waits for a child that may have been killed.
fn finished_or_killed(mut child: std::process::Child) {
    child.wait().unwrap();
}

#[test]
fn once_is_a_screen_of_plain_text() {
    let bench = Bench::indexed(&small_corpus());
    let serving = Serving::start(&bench);
    let run = top(&serving.admin, &["--once"]).ends(0);
    assert!(
        run.stdout
            .starts_with(&format!("http://{}  6 documents", serving.admin))
    );
    assert!(run.stdout.contains("queries   0.0/s") && run.stdout.contains("index_search"));
    assert!(!run.stdout.contains('\u{1b}'), "{run:#?}");
}

#[test]
fn it_ends_in_order_when_told_to() {
    let bench = Bench::indexed(&small_corpus());
    let serving = Serving::start(&bench);
    let mut watching = command(["top", &serving.admin, "--every", "100ms"])
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(watching.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    assert!(line.starts_with("queries "), "{line}");
    let kill = format!("kill -INT {}", watching.id());
    let killed = std::process::Command::new("sh")
        .args(["-c", &kill])
        .status();
    assert!(killed.unwrap().success());
    // The rest of the output is read, so that the process does not end with a broken pipe.
    std::io::copy(&mut stdout, &mut std::io::sink()).unwrap();
    finished(watching.wait_with_output().unwrap()).ends(0);
}

#[test]
fn servers_that_are_none() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = listener.local_addr().unwrap().to_string();
    drop(listener);
    top(&closed, &["--once"]).fails_saying(&[&closed, "is the server running?"]);
    top("https://127.0.0.1:1", &[]).fails_saying(&["https", "only http://"]);
    top("http://", &[]).fails_saying(&["http://127.0.0.1:7701"]);
    let bench = Bench::indexed(&small_corpus());
    let serving = Serving::start(&bench);
    let elsewhere = format!("{}/nothing/here", serving.admin);
    top(&elsewhere, &["--once"]).fails_saying(&["/nothing/here/metrics", "404"]);
    top(&serving.address, &["--once"]).fails_saying(&["404", "admin address"]);
}
