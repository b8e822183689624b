//! Crawls: of the synthetic web by its command, served meanwhile, and judged by its log.

use crate::serving::{Serving, get, post};
use crate::support::{Bench, Ended, command, shorttail};
use std::io::{BufRead, BufReader};
use std::process::Command;
use std::time::Duration;

#[test]
fn a_synthetic_web_is_crawled_served_and_judged() {
    let bench = Bench::new();
    let log = bench.path("web.log");
    let log = log.to_str().unwrap();
    let options = [
        "--seed",
        "7",
        "--hosts",
        "4",
        "--pages-mean",
        "8",
        "--plain",
    ];
    let mut web = Ended(
        command([&["crawl", "web", "--log", log], &options[..]].concat())
            .spawn()
            .unwrap(),
    );
    let mut seed = String::new();
    let told = web.0.stdout.as_mut().unwrap();
    BufReader::new(told).read_line(&mut seed).unwrap();
    let seed = seed.trim();
    assert!(seed.starts_with("http://127.1.0.1:"), "{seed}");

    let directory = bench.directory();
    let into = directory.to_str().unwrap();
    let crawl = [
        "crawl",
        seed,
        "--within",
        "any",
        "--allow-addresses",
        "127.0.0.0/8",
        "--gap",
        "0.2",
        "--into",
        into,
    ];
    let serve = [
        "--commit-every",
        "0.5",
        "--watch",
        "--serve",
        "--listen",
        "127.0.0.1:0",
    ];
    let mut serving = Serving::of(command([&crawl[..], &serve].concat()));
    let mut found = String::new();
    for _ in 0..600 {
        found = serving.get("/search?q=page").1;
        if found.contains("127.1.0.") {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(found.contains("127.1.0."), "{found}");
    let status = shorttail(["crawl", "status", into, "--json"]).ends(0);
    assert_eq!(status.json_lines()[0]["is_running"], true, "{status:#?}");
    let (head, told) = get(&serving.admin, "/crawl");
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert!(head.contains("200") && told["is_running"] == true, "{told}");
    assert!(told["fetched"].as_u64() > Some(0), "{told}");
    let states = told["states"].as_array().unwrap();
    assert!(states.iter().any(|one| one["state"] == "fetched"), "{told}");
    let metrics = get(&serving.admin, "/metrics").1;
    assert!(metrics.contains("shorttail_crawl_running 1"), "{metrics}");

    // Ctrl-C ends the crawl and its server; the next one goes on to the end.
    let id = serving.id().to_string();
    let interrupted = Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(interrupted.success());
    serving.wait();
    // A server beside the crawl, which it ends.
    let beside = Serving::start(&bench);
    assert!(post(&beside.admin, "/crawl/stop").0.contains("409"));
    let mut running = Ended(
        command([&crawl[..], &["--watch"]].concat())
            .spawn()
            .unwrap(),
    );
    let (mut stopped, mut ended) = (false, None);
    for _ in 0..600 {
        stopped |= post(&beside.admin, "/crawl/stop").0.contains("202");
        ended = running.0.try_wait().unwrap();
        if ended.is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(
        stopped && ended.is_some_and(|ended| ended.success()),
        "{ended:?}"
    );
    let told = get(&beside.admin, "/crawl").1;
    assert!(told.contains("\"is_running\":false"), "{told}");
    shorttail(crawl).ends(0);
    let judged = |gap| {
        let judge = ["crawl", "web", "--judge", log, "--gap", gap];
        shorttail([&judge[..], &options].concat())
    };
    let kept = judged("0.2").ends(0);
    assert!(
        kept.stdout.contains("the crawler kept the rules"),
        "{kept:#?}"
    );
    // The judge finds a crawler that is faster than the law.
    assert!(judged("5").ends(1).stdout.contains("too short"));
    let explained = shorttail(["crawl", "explain", seed, "--in", into]).ends(0);
    assert!(explained.stdout.contains("fetched"), "{explained:#?}");
    shorttail(["crawl", "ping", "ftp://a.example/", "--in", into]).ends(1);
}
