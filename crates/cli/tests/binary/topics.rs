//! Run files in the format of evaluation tools.

use crate::support::{Bench, Run, document, small_corpus};
use serde_json::json;

fn run_topics(bench: &Bench, topics: &[u8], options: &[&str]) -> Run {
    let topics = bench.file("topics.tsv", topics);
    let out = bench.path("out.run");
    let fixed = [
        "--topics",
        topics.to_str().unwrap(),
        "--run",
        out.to_str().unwrap(),
    ];
    bench.run("search", &[&fixed, options].concat())
}

#[test]
fn run_lines() {
    let bench = Bench::indexed(&small_corpus());
    run_topics(
        &bench,
        b"q1\tsugar (title:milk) -ice\nq2\tnowhere\nq3\tskating\n\n",
        &[],
    )
    .ends(0);
    let run = std::fs::read_to_string(bench.path("out.run")).unwrap();
    let rows: Vec<Vec<&str>> = run.lines().map(|line| line.split(' ').collect()).collect();
    assert!(
        rows.iter()
            .all(|row| row.len() == 6 && row[1] == "Q0" && row[5] == "shorttail")
    );
    let first: Vec<_> = rows.iter().filter(|row| row[0] == "q1").collect();
    // Any word matches, without syntax (`title` and `ice` are words) and without a limit of hits per site.
    assert_eq!(first.len(), 6, "{run}");
    assert!(first.iter().any(|row| row[2] == "sugar-page"), "{run}");
    for (rank, row) in first.iter().enumerate() {
        assert_eq!(row[3], (rank + 1).to_string());
    }
    let scores: Vec<f32> = first.iter().map(|row| row[4].parse().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    assert!(rows.iter().all(|row| row[0] != "q2"), "no hit, no line");
    assert_eq!(
        rows.last().unwrap()[..4],
        ["q3", "Q0", "http://b.example/2", "1"]
    );
    let left: Vec<_> = std::fs::read_dir(bench.path("."))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert!(
        left.iter()
            .all(|file| !file.file_name().to_string_lossy().contains("unfinished"))
    );
}

#[test]
fn k_and_ranking() {
    let bench = Bench::indexed(&small_corpus());
    run_topics(&bench, b"1\tice\n", &["-k", "2"]).ends(0);
    let bm25 = std::fs::read_to_string(bench.path("out.run")).unwrap();
    assert_eq!(bm25.lines().count(), 2);
    run_topics(
        &bench,
        b"1\tice\n",
        &["-k", "2", "--ranking", "tfidf", "--any"],
    )
    .ends(0);
    assert_ne!(
        bm25,
        std::fs::read_to_string(bench.path("out.run")).unwrap()
    );
}

#[test]
fn words_and_filters_are_those_that_are_asked_for() {
    let both = document("http://a.example/1", "A", "ice skating");
    let one = document("http://b.example/2", "B", "ice cream");
    let bench = Bench::indexed(&[both, one]);
    let found = |options: &[&str]| {
        run_topics(&bench, b"1\tice skating\n", options).ends(0);
        let run = std::fs::read_to_string(bench.path("out.run")).unwrap();
        run.lines().count()
    };
    assert_eq!(found(&[]), 2);
    assert_eq!(found(&["--all"]), 1);
    assert_eq!(found(&["--most", "2"]), 1);
    assert_eq!(found(&["--filter", "cream"]), 1);
    assert_eq!(found(&["--filter", "cream", "--all"]), 0);
}

#[test]
fn ids_with_spaces_stay_one_field() {
    let mut page = document("http://a.example/", "A", "word");
    page["id"] = json!("two words");
    let bench = Bench::indexed(&[page]);
    run_topics(&bench, b"1\tword\n", &[]).ends(0);
    let run = std::fs::read_to_string(bench.path("out.run")).unwrap();
    assert!(run.starts_with("1 Q0 two%20words 1 "), "{run}");
}

#[test]
fn bad_topic_files() {
    let bench = Bench::indexed(&small_corpus());
    run_topics(&bench, b"1\tice\nno tab\n", &[]).fails_saying(&["topics.tsv:2: ", "tab"]);
    run_topics(&bench, b"1\tice\n1\tmilk\n", &[]).fails_saying(&["topics.tsv:2: ", "twice"]);
    run_topics(&bench, b"a b\tice\n", &[]).fails_saying(&["topics.tsv:1: ", "one word"]);
    assert!(!bench.path("out.run").exists());
    let run = run_topics(&bench, b"1\tic\xffe\n", &[]).ends(0);
    assert!(run.stderr.contains("topics.tsv:1: not UTF-8"), "{run:#?}");
    let absent = bench.path("absent.tsv");
    let arguments = ["--topics", absent.to_str().unwrap(), "--run", "x"];
    bench
        .run("search", &arguments)
        .fails_saying(&["absent.tsv", "cannot read"]);
}
