//! Changes of an index: `add`, `delete`, `sync`, and a server that shows them.

use crate::serving::Serving;
use crate::support::{
    Bench, Ended, Run, command, document, json_lines, shorttail, shorttail_reading, small_corpus,
    urls,
};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};

/// Longer than a change takes to be seen, on a machine that has other work too.
const PATIENCE: Duration = Duration::from_secs(30);

fn directory(bench: &Bench) -> String {
    bench.directory().to_str().unwrap().to_owned()
}

#[track_caller]
fn summary(run: Run) -> Value {
    run.ends(0).json_lines().pop().unwrap()
}

fn total(bench: &Bench, query: &str) -> Value {
    bench.answer(query, &[])["total"]["value"].clone()
}

#[test]
fn documents_are_added_and_deleted_by_url_list_and_query() {
    let bench = Bench::indexed(&small_corpus());
    let more = bench.file(
        "more.jsonl",
        json_lines(&[document("http://d.example/1", "New", "milk of almonds")]),
    );
    assert_eq!(total(&bench, "milk"), 3);
    let added = bench.run("add", &[more.to_str().unwrap(), "--json"]);
    assert_eq!(summary(added)["documents_total"], 7);
    assert_eq!(total(&bench, "milk"), 4);

    let by_url = [
        "--url",
        "http://d.example/1",
        "--url",
        "http://none.example/",
        "--json",
    ];
    let deleted = summary(bench.run("delete", &by_url));
    assert_eq!(
        (&deleted["deleted"], &deleted["not_found"]),
        (&1.into(), &1.into())
    );
    assert_eq!(total(&bench, "milk"), 3);

    let by_list = shorttail_reading(
        ["delete", &directory(&bench), "--from", "-", "--json"],
        b"http://a.example/1\n\nhttp://a.example/2\n",
    );
    assert_eq!(summary(by_list)["deleted"], 2);
    assert_eq!(total(&bench, "milk"), 1);

    let by_query = |more: &[&str]| {
        let asked = ["--query", "ice site:b.example"];
        bench.run("delete", &[&asked[..], more].concat())
    };
    let tried = by_query(&["--dry-run"]).ends(0);
    assert_eq!(
        tried.stdout,
        "http://b.example/2\nwould delete 1 document, 0 not found; nothing was deleted\n"
    );
    assert_eq!(total(&bench, "ice"), 2);
    assert_eq!(summary(by_query(&["--json"]))["deleted"], 1);
    assert_eq!(total(&bench, "ice"), 1);
    bench.run::<&str>("check", &[]).ends(0);
}

#[test]
fn an_unclear_deletion_deletes_nothing() {
    let bench = Bench::indexed(&small_corpus());
    let delete = |arguments: &[&str]| bench.run("delete", arguments);
    delete(&["--query", " "]).fails_saying(&["empty query"]);
    delete(&["--query", "ice \"cream"]).fails_saying(&["nothing was deleted", "not clear"]);
    delete(&[]).ends(2);
    assert_eq!(total(&bench, "ice"), 4);
    let nowhere = bench.path("nowhere");
    shorttail([
        "delete",
        nowhere.to_str().unwrap(),
        "--url",
        "http://a.example/1",
    ])
    .fails_saying(&["no such directory"]);
    std::fs::create_dir(&nowhere).unwrap();
    shorttail(["add", nowhere.to_str().unwrap(), "-"])
        .fails_saying(&["no index here", "shorttail index INDEX SOURCE"]);
}

#[test]
fn sync_follows_a_folder_and_nothing_else() {
    let bench = Bench::indexed(&small_corpus());
    std::fs::create_dir(bench.path("notes")).unwrap();
    std::fs::create_dir(bench.path("notes-2")).unwrap();
    bench.file("notes/one.txt", "alpha one");
    bench.file("notes/two.md", "# Two\n\nalpha two");
    bench.file("notes-2/other.txt", "alpha other");
    let sync = |folders: &[&str]| {
        let folders = folders
            .iter()
            .map(|name| bench.path(name).display().to_string());
        let into = ["--into".to_owned(), directory(&bench), "--json".to_owned()];
        let sync = ["sync".to_owned()].into_iter();
        summary(shorttail(sync.chain(folders).chain(into)))
    };
    let first = sync(&["notes", "notes-2"]);
    assert_eq!(
        (&first["documents_total"], &first["unchanged"]),
        (&9.into(), &0.into())
    );
    assert_eq!(sync(&["notes"]), serde_json::json!({ "unchanged": 2 }));

    bench.file("notes/one.txt", "alpha one, changed");
    bench.file("notes/three.txt", "alpha three");
    std::fs::remove_file(bench.path("notes/two.md")).unwrap();
    std::fs::remove_dir_all(bench.path("notes-2")).unwrap();
    let second = sync(&["notes"]);
    for (name, count) in [
        ("replaced", 1),
        ("deleted", 1),
        ("documents_total", 9),
        ("unchanged", 0),
    ] {
        assert_eq!(second[name], count, "{name}: {second}");
    }
    // Only the named folder counts, however gone another one is.
    let answer = bench.answer("alpha", &["--per-site", "0"]);
    let mut names: Vec<_> = urls(&answer)
        .iter()
        .map(|url| url.rsplit('/').next().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["one.txt", "other.txt", "three.txt"]);
    assert_eq!(total(&bench, "changed"), 1);
    assert_eq!(total(&bench, "milk"), 3);

    // An empty folder may be one that is not mounted.
    std::fs::remove_dir_all(bench.path("notes")).unwrap();
    std::fs::create_dir(bench.path("notes")).unwrap();
    let notes = bench.path("notes").display().to_string();
    shorttail(["sync", &notes, "--into", &directory(&bench)])
        .fails_saying(&["no documents in this folder"]);
    assert_eq!(total(&bench, "alpha"), 3);
}

#[test]
fn sync_follows_the_records_of_a_table() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("notes")).unwrap();
    let notes = bench.path("notes").display().to_string();
    let index = directory(&bench);
    let sync = || summary(shorttail(["sync", &index, &notes, "--json"]));
    let check = |rows: &str, replaced: u64, deleted: u64, total: u64| {
        bench.file("notes/people.csv", format!("id,name\n{rows}"));
        let summary = sync();
        for (name, count) in [
            ("replaced", replaced),
            ("deleted", deleted),
            ("documents_total", total),
        ] {
            assert_eq!(summary[name], count, "{rows}: {name}: {summary}");
        }
    };
    bench.file("notes/one.txt", "alpha one");
    check("ann,alpha\nbo,beta\n", 0, 0, 3);
    check("new,gamma\nann,alpha\nbo,delta\n", 1, 0, 4);
    check("bo,delta\n", 0, 2, 2);
    check("", 0, 1, 1);
    // A row that cannot be read is not gone.
    check("bo,delta\n", 0, 0, 2);
    bench.file("notes/people.csv", "id,name\nbo,delta,more\n");
    assert_eq!(sync(), serde_json::json!({ "unchanged": 1 }));
    std::fs::remove_file(bench.path("notes/people.csv")).unwrap();
    assert_eq!(sync()["deleted"], 1);
}

#[test]
fn a_server_shows_what_a_watching_sync_commits() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("notes")).unwrap();
    bench.file("notes/one.txt", "alpha one");
    let notes = bench.path("notes").display().to_string();
    let arguments = [
        "sync",
        &notes,
        "--into",
        &directory(&bench),
        "--watch",
        "--every",
        "1",
        "--json",
    ];
    let mut watching = Ended(command(arguments).spawn().unwrap());
    let mut said = BufReader::new(watching.0.stdout.take().unwrap()).lines();
    said.next().unwrap().unwrap();

    let server = Serving::start_with(&bench, &["--refresh", "0.1"]);
    let asks_no_more = Serving::start_with(&bench, &["--refresh", "0"]);
    let count = |server: &Serving| {
        let (_, body) = server.get("/search?q=alpha");
        serde_json::from_str::<Value>(&body).unwrap()["total"]["value"].clone()
    };
    assert_eq!(count(&server), 1);
    bench.file("notes/two.txt", "alpha two");
    let begun = Instant::now();
    while count(&server) != 2 {
        assert!(
            begun.elapsed() < PATIENCE,
            "the new document does not appear"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(count(&asks_no_more), 1);
}

#[test]
fn a_watching_sync_says_once_what_it_notices_again_and_again() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("notes")).unwrap();
    bench.file("notes/one.txt", "alpha one");
    bench.file("notes/broken.docx", "no archive");
    let notes = bench.path("notes").display().to_string();
    let index = directory(&bench);
    let arguments = ["sync", &index, &notes, "--watch", "--every", "1s", "--json"];
    let mut watching = Ended(command(arguments).spawn().unwrap());
    let mut said = BufReader::new(watching.0.stdout.take().unwrap()).lines();
    let noticed = BufReader::new(watching.0.stderr.take().unwrap());
    said.next().unwrap().unwrap();
    // Further looks, of which the last commits.
    std::thread::sleep(Duration::from_millis(2_500));
    bench.file("notes/two.txt", "alpha two");
    said.next().unwrap().unwrap();
    drop(watching);
    let told = noticed.lines().map(Result::unwrap);
    let told: Vec<String> = told.filter(|line| line.contains("broken.docx")).collect();
    assert_eq!(told.len(), 1, "{told:?}");
}

#[test]
fn segments_stay_few_over_many_commits() {
    let bench = Bench::indexed(&small_corpus());
    let mut merged = 0;
    for number in 0..40 {
        let url = format!("http://m.example/{}", number % 30);
        let lines = json_lines(&[document(&url, "Many", &format!("often number{number}"))]);
        let more = bench.file("more.jsonl", lines);
        let added = summary(bench.run("add", &[more.to_str().unwrap(), "--json"]));
        merged += added["segments_merged"].as_u64().unwrap();
    }
    assert!(merged >= 24, "{merged}");
    assert_eq!(total(&bench, "often"), 30);
    assert_eq!(total(&bench, "number3"), 0);
    assert_eq!(total(&bench, "number33"), 1);
    let checked = shorttail(["check", &directory(&bench)]).ends(0).stdout;
    let segments = checked
        .lines()
        .find_map(|line| line.strip_prefix("segments"));
    let segments: u64 = segments.unwrap().trim().parse().unwrap();
    assert!(segments <= 24, "{checked}");
}
