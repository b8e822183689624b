//! Crawls: of the synthetic web by its command, served meanwhile, and judged by its log.

use crate::serving::{Serving, get, post};
use crate::support::{Bench, Ended, command, shorttail};
use std::io::{BufRead, BufReader};
use std::process::Command;
use std::time::Duration;

/// Starts a synthetic web. Returns it and its seed URL.
fn synthetic_web(options: &[&str]) -> (Ended, String) {
    let mut web = Ended(
        command([&["crawl", "web"], options].concat())
            .spawn()
            .unwrap(),
    );
    let mut seed = String::new();
    let told = web.0.stdout.as_mut().unwrap();
    BufReader::new(told).read_line(&mut seed).unwrap();
    (web, seed.trim().to_owned())
}

/// Other crawlers find a listener, the directory is locked, and an interrupt ends it well.
#[cfg(unix)]
#[test]
fn a_frontier_serves_until_it_is_interrupted() {
    let bench = Bench::new();
    let directory = bench.path("urls");
    let directory = directory.to_str().unwrap();
    let arguments = ["crawl", "frontier", directory, "--listen", "127.0.0.1:0"];
    let mut frontier = Ended(command(arguments).spawn().unwrap());
    let mut address = String::new();
    let told = frontier.0.stdout.as_mut().unwrap();
    BufReader::new(told).read_line(&mut address).unwrap();
    std::net::TcpStream::connect(address.trim()).unwrap();
    let second = shorttail(arguments).ends(1);
    assert!(second.stderr.contains("frontier.lock"), "{}", second.stderr);
    let id = frontier.0.id().to_string();
    let interrupted = Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(interrupted.success());
    assert!(frontier.0.wait().unwrap().success());
    assert!(bench.path("urls/frontier.manifest").exists());
}

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
    let (_web, seed) = synthetic_web(&[&["--log", log], &options[..]].concat());
    let seed = seed.as_str();
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
    let pinged = shorttail(["crawl", "ping", into, seed]).ends(0);
    assert_eq!(pinged.stdout, "1 URL will be visited by the next run\n");
}

#[test]
fn a_crawl_that_gets_nothing_fails() {
    let bench = Bench::new();
    let into = bench.directory();
    let into = into.to_str().unwrap();
    let refused = shorttail(["crawl", into, "http://127.0.0.1:9/"]).ends(1);
    assert!(refused.stderr.contains("--allow-addresses"), "{refused:#?}");
    assert!(refused.stdout.contains("no document yet"), "{refused:#?}");
}

#[test]
fn a_submission_of_indexnow_makes_a_crawl_visit_its_url() {
    let bench = Bench::new();
    let (_web, seed) = synthetic_web(&["--hosts", "2", "--pages-mean", "2", "--plain"]);
    let key = "abcd-1234-EFGH";
    let config = bench.path("crawl.toml");
    let site = format!("[[site]]\nseeds = ['{seed}']\nowned = true\nindexnow_key = '{key}'\n");
    std::fs::write(
        &config,
        format!("allow_addresses = ['127.0.0.0/8']\n{site}"),
    )
    .unwrap();
    let into = bench.directory();
    let (config, into) = (config.to_str().unwrap(), into.to_str().unwrap());
    let crawl = ["crawl", config, "--into", into, "--indexnow", "127.0.0.1:0"];
    // Without --watch or --serve it would end before a submission comes.
    shorttail(crawl).ends(2);
    let mut running = Ended(
        command([&crawl[..], &["--watch"]].concat())
            .spawn()
            .unwrap(),
    );
    let told = BufReader::new(running.0.stderr.as_mut().unwrap());
    let mut lines = told.lines().map_while(Result::ok);
    let line = lines.find(|line| line.contains("IndexNow at")).unwrap();
    let (_, rest) = line.split_once("http://").unwrap();
    let address = rest.split('/').next().unwrap();
    let submit = |key: &str| get(address, &format!("/indexnow?url={seed}&key={key}"));
    let wait_for = |pings: u64, fetched: u64| {
        let mut told = serde_json::Value::Null;
        for _ in 0..600 {
            let status = shorttail(["crawl", "status", into, "--json"]).ends(0);
            told = status.json_lines()[0].clone();
            if told["pings"] == pings && told["fetched"] == fetched {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{pings} {fetched}: {told}");
    };
    wait_for(0, 1);
    assert!(submit("wrong-key").0.contains("403"));
    let (status, reply) = submit(key);
    assert!(status.contains("200"), "{status} {reply}");
    // The refused submission is no ping.
    wait_for(1, 2);
    shorttail(["crawl", "stop", into]).ends(0);
    assert!(running.0.wait().unwrap().success());
}
