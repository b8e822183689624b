//! Indexing of good, bad and repeated documents.

use crate::support::{
    Bench, document, json_lines, shorttail, shorttail_reading, small_corpus, urls,
};
use serde_json::Value;

fn json_summary(run: &crate::support::Run) -> Value {
    run.json_lines().pop().unwrap()
}

#[test]
fn the_summary_says_what_was_done() {
    let bench = Bench::new();
    let corpus = bench.file("corpus.jsonl", json_lines(&small_corpus()));
    let run = bench.index(&corpus, &[]).ends(0);
    for part in [
        "documents  6\n",
        "replaced   0\n",
        "bad        0\n",
        "MB/s",
        "% of the text",
    ] {
        assert!(run.stdout.contains(part), "{part:?} is missing: {run:#?}");
    }
    assert!(
        run.stdout.contains("now holds 6 documents (generation 1)"),
        "{run:#?}"
    );
}

#[test]
fn bad_lines_are_reported_and_the_rest_is_indexed() {
    let bench = Bench::new();
    let mut lines = json_lines(&small_corpus());
    for number in 0..12 {
        lines.push_str(&format!("{{\"url\": broken {number}\n"));
    }
    lines.push_str("{\"title\":\"no url\",\"body\":\"x\"}\n");
    lines.push_str(&json_lines(&[document(
        "http://d.example/",
        "Last",
        "the last one",
    )]));
    let corpus = bench.file("corpus.jsonl", lines);
    let run = bench.index(&corpus, &["--json"]).ends(1);
    let place = corpus.to_str().unwrap();
    for line in 7..=16 {
        assert!(
            run.stderr.contains(&format!("{place}:{line}: ")),
            "{run:#?}"
        );
    }
    assert!(
        !run.stderr.contains(&format!("{place}:17: ")),
        "only ten are shown: {run:#?}"
    );
    assert!(run.stderr.contains("and 3 more bad documents"), "{run:#?}");
    let summary = json_summary(&run);
    assert_eq!(
        (&summary["documents"], &summary["bad"]),
        (&7.into(), &13.into()),
        "{summary}"
    );
    assert_eq!(urls(&bench.answer("last", &[])), ["http://d.example/"]);
}

#[test]
fn strict_stops_at_the_first_bad_line_and_commits_nothing() {
    let bench = Bench::new();
    let corpus = json_lines(&small_corpus()) + "nonsense\n";
    let corpus = bench.file("corpus.jsonl", corpus);
    let place = format!("{}:7: ", corpus.display());
    bench.index(&corpus, &["--strict"]).fails_saying(&[&place]);
    bench
        .run("search", &["ice"])
        .fails_saying(&["no index here"]);
}

#[test]
fn nothing_but_bad_lines_is_a_failure() {
    let bench = Bench::new();
    let corpus = bench.file("corpus.jsonl", "1\n2\n");
    bench
        .index(&corpus, &[])
        .fails_saying(&["no good document"]);
    bench
        .run("search", &["ice"])
        .fails_saying(&["no index here"]);
}

#[test]
fn an_empty_source_makes_an_empty_index() {
    let bench = Bench::new();
    let corpus = bench.file("corpus.jsonl", "");
    let run = bench.index(&corpus, &[]).ends(0);
    assert!(run.stderr.contains("warning: "), "{run:#?}");
    let answer = bench.answer("ice", &[]);
    assert_eq!(answer["total"]["value"], 0);
    let run = bench.run("search", &["ice"]).ends(0);
    assert!(run.stdout.starts_with("0 documents match\n"), "{run:#?}");
    bench.run::<&str>("check", &[]).ends(0);
}

#[test]
fn a_later_document_replaces_an_earlier_with_its_url() {
    let bench = Bench::new();
    let old = document("http://a.example/1", "Old", "outdated words");
    let new = document("http://a.example/1", "New", "fresh words");
    let corpus = bench.file("corpus.jsonl", json_lines(&[old, new]));
    let summary = json_summary(&bench.index(&corpus, &["--json"]).ends(0));
    assert_eq!(
        (&summary["documents"], &summary["replaced"]),
        (&2.into(), &1.into())
    );
    assert_eq!(summary["documents_total"], 1);
    assert_eq!(bench.answer("outdated", &[])["total"]["value"], 0);
    assert_eq!(bench.answer("words", &[])["total"]["value"], 1);
}

#[test]
fn a_second_run_adds_to_the_index() {
    let bench = Bench::indexed(&small_corpus());
    let more = [
        document(
            "http://a.example/1",
            "Ice tea",
            "replaced by a recipe of tea",
        ),
        document("http://d.example/1", "Ice age", "a long time ago"),
    ];
    let more = bench.file("more.jsonl", json_lines(&more));
    let summary = json_summary(&bench.index(&more, &["--json"]).ends(0));
    assert_eq!(summary["replaced"], 1);
    assert_eq!(summary["documents_total"], 7);
    assert_eq!(summary["generation"], 2);
    assert_eq!(
        bench.answer("make", &[])["total"]["value"],
        0,
        "the old text is gone"
    );
    assert_eq!(bench.answer("tea", &[])["total"]["value"], 2);
    bench.run::<&str>("check", &[]).ends(0);
    bench
        .index(&more, &["--chunks", "7"])
        .fails_saying(&["chunks"]);
    bench
        .index(&more, &["--analyzer", "english"])
        .fails_saying(&["nalyzer"]);
}

#[test]
fn an_index_without_texts_is_added_to_without() {
    let bench = Bench::new();
    let corpus = bench.file("corpus.jsonl", json_lines(&small_corpus()));
    bench.index(&corpus, &["--texts", "none"]).ends(0);
    let more = [document("http://a.example/1", "Ice tea", "of tea and ice")];
    let more = bench.file("more.jsonl", json_lines(&more));
    let summary = json_summary(&bench.index(&more, &["--json"]).ends(0));
    assert_eq!(
        (&summary["replaced"], &summary["store_bytes"]),
        (&1.into(), &0.into())
    );
    bench.run::<&str>("check", &[]).ends(0);
    bench
        .index(&more, &["--texts", "stored"])
        .fails_saying(&["--texts none", "leave the option out"]);
    let stored = Bench::indexed(&small_corpus());
    stored
        .index(&corpus, &["--texts", "none"])
        .fails_saying(&["--texts stored", "leave the option out"]);
}

#[test]
fn standard_input_and_options() {
    let bench = Bench::new();
    let directory = bench.directory();
    let directory = directory.to_str().unwrap();
    let options = [
        "--codec",
        "vint",
        "--analyzer",
        "english",
        "--memory",
        "16M",
        "--chunks",
        "3",
    ];
    let arguments = [
        &["index", "-", "--into", directory, "--threads", "2"],
        &options[..],
    ]
    .concat();
    shorttail_reading(arguments, json_lines(&small_corpus()).as_bytes()).ends(0);
    assert_eq!(
        bench.answer("skate", &[])["total"]["value"],
        1,
        "stems match"
    );
    bench.run::<&str>("check", &[]).ends(0);
}

#[test]
fn sources_that_cannot_be_read() {
    let bench = Bench::new();
    bench
        .index(&bench.path("absent.jsonl"), &[])
        .fails_saying(&["absent.jsonl"]);
    let picture = bench.file("picture.png", "\0x");
    bench
        .index(&picture, &[])
        .fails_saying(&["picture.png", ".jsonl"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_directory_that_cannot_be_made_says_why() {
    let bench = Bench::new();
    let corpus = bench.file("corpus.jsonl", json_lines(&small_corpus()));
    let corpus = corpus.to_str().unwrap();
    let run = shorttail(["index", corpus, "--into", "/proc/none/below"]).ends(1);
    for part in [
        "/proc/none/below: cannot create",
        "choose another directory",
    ] {
        assert!(run.stderr.contains(part), "{part:?} is missing: {run:#?}");
    }
}
