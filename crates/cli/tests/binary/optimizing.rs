//! Equal answers of an optimized index, and the summary of `optimize`.

use crate::support::{Bench, document, json_lines, small_corpus, urls};
use serde_json::Value;

/// Two commits, the second of which replaces a document.
fn bench_of_two_commits() -> Bench {
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
    bench.index(&more, &[]).ends(0);
    bench
}

/// The hits of some queries, with their scores explained.
fn answers(bench: &Bench) -> Vec<Value> {
    let options = ["--explain", "--per-site", "0"];
    [
        "ice",
        "tea",
        "milk OR sugar OR ice",
        "\"thin ice\"",
        "site:a.example",
    ]
    .map(|query| {
        let answer = bench.answer(query, &options);
        assert!(answer["total"]["value"].as_u64() > Some(0), "{answer}");
        answer["hits"].clone()
    })
    .to_vec()
}

#[test]
fn answers_stay_and_the_summary_says_what_was_done() {
    for order in ["arrival", "url", "bisection"] {
        let bench = bench_of_two_commits();
        let before = answers(&bench);
        let run = bench.run("optimize", &["--order", order]).ends(0);
        for part in [
            &format!("order      {order}\n"),
            "segments   2 → 1\n",
            "documents  7\n",
            "dropped    1\n",
            "bits each",
            "generation 3\n",
        ] {
            assert!(run.stdout.contains(part), "{part:?} is missing: {run:#?}");
        }
        assert_eq!(answers(&bench), before, "{order}");
        let check = bench.run::<&str>("check", &[]).ends(0).stdout;
        for part in [
            &format!("order      {order}\n"),
            "segments   1\n",
            "no damage found",
        ] {
            assert!(check.contains(part), "{part:?} is missing: {check}");
        }
    }
}

#[test]
fn the_summary_as_json() {
    let bench = bench_of_two_commits();
    let run = bench
        .run("optimize", &["--order", "url", "--json", "--threads", "2"])
        .ends(0);
    let summary = run.json_lines().pop().unwrap();
    for (name, expected) in [
        ("order", Value::from("url")),
        ("generation", 3.into()),
        ("chunks_rewritten", 1.into()),
        ("segments_before", 2.into()),
        ("segments_after", 1.into()),
        ("documents", 7.into()),
        ("documents_dropped", 1.into()),
        ("terms_left_out", 0.into()),
    ] {
        assert_eq!(summary[name], expected, "{name}: {summary}");
    }
    for name in [
        "index_bytes_before",
        "index_bytes_after",
        "store_bytes_before",
        "store_bytes_after",
    ] {
        assert!(
            summary[name].as_u64().is_some_and(|bytes| bytes > 0),
            "{name}: {summary}"
        );
    }
    for name in ["gap_bits_before", "gap_bits_after", "elapsed_s"] {
        assert!(summary[name].is_f64(), "{name}: {summary}");
    }
}

#[test]
fn chunks_are_laid_out_for_partitions() {
    let bench = Bench::indexed_in_chunks(&small_corpus(), 4);
    let before = answers(&bench);
    let check = || bench.run::<&str>("check", &[]).ends(0).stdout;
    assert!(check().contains("chunks     4\n"), "{}", check());
    for (partitions, laid_out) in [
        ("1", "4, laid out for 1 partition\n"),
        ("2", "4, laid out for 2 partitions\n"),
        ("4", "4\n"),
    ] {
        let run = bench.run("optimize", &["--partitions", partitions]).ends(0);
        let said = format!("partitions {partitions}\n");
        assert!(run.stdout.contains(&said), "{run:#?}");
        let chunks = format!("chunks     {laid_out}");
        assert!(check().contains(&chunks), "{}", check());
        assert_eq!(answers(&bench), before, "{partitions}");
    }
    bench
        .run("optimize", &["--partitions", "5"])
        .fails_saying(&["5 partitions", "choose 1 to 4"]);
}

#[test]
fn an_index_is_served_as_it_is_laid_out() {
    let bench = Bench::new();
    let corpus = bench.file("corpus.jsonl", json_lines(&small_corpus()));
    // By default for one partition.
    bench.index(&corpus, &["--chunks", "4"]).ends(0);
    let check = bench.run::<&str>("check", &[]).ends(0).stdout;
    assert!(check.contains("segments   1\n"), "{check}");
    for option in ["--partitions", "--index-servers"] {
        bench
            .run("serve", &[option, "2", "--listen", "127.0.0.1:0"])
            .fails_saying(&["chunks 0 to 3 are one segment", " --partitions 2"]);
    }
    bench
        .index(&corpus, &["--partitions", "2"])
        .fails_saying(&["laid out for 1 partition", "--partitions 2"]);
}

#[test]
fn what_is_in_order_is_left_alone() {
    let bench = bench_of_two_commits();
    bench.run("optimize", &["--order", "url"]).ends(0);
    for arguments in [&[][..], &["--order", "url"], &["--order", "arrival"]] {
        let run = bench.run("optimize", arguments).ends(0);
        assert!(
            run.stdout
                .starts_with("nothing to do: 7 documents in 1 segment"),
            "{run:#?}"
        );
    }
    // Later documents come last, until the index is optimized again.
    let more = [document("http://a.example/0", "Ice", "once more")];
    let more = bench.file("more.jsonl", json_lines(&more));
    bench.index(&more, &[]).ends(0);
    let check = bench.run::<&str>("check", &[]).ends(0).stdout;
    assert!(
        check.contains("order      arrival (1 segment), url (1 segment)\n"),
        "{check}"
    );
    bench.run::<&str>("optimize", &[]).ends(0);
    let check = bench.run::<&str>("check", &[]).ends(0).stdout;
    assert!(check.contains("order      url\n"), "{check}");
}

#[test]
fn an_index_is_built_in_order() {
    let bench = Bench::new();
    let corpus = bench.file("corpus.jsonl", json_lines(&small_corpus()));
    let run = bench
        .index(&corpus, &["--chunks", "1", "--order", "bisection"])
        .ends(0);
    assert!(
        run.stdout.contains("now holds 6 documents (generation 1)"),
        "{run:#?}"
    );
    let check = bench.run::<&str>("check", &[]).ends(0).stdout;
    assert!(check.contains("order      bisection\n"), "{check}");
    assert_eq!(urls(&bench.answer("skating", &[])), ["http://b.example/2"]);
    bench.index(&corpus, &["--order", "size"]).ends(2);
}

#[test]
fn a_damaged_index_is_refused_and_left_as_it_is() {
    let bench = bench_of_two_commits();
    let name = "segment-00000001.index";
    let path = bench.directory().join(name);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[100] ^= 1;
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, &bytes).unwrap();
    bench
        .run::<&str>("optimize", &[])
        .fails_saying(&[name, "byte"]);
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[test]
fn nothing_to_do_is_only_said_of_a_whole_index() {
    let bench = bench_of_two_commits();
    bench.run::<&str>("optimize", &[]).ends(0);
    let again = bench.run::<&str>("optimize", &[]).ends(0);
    assert!(again.stdout.contains("nothing to do"), "{again:#?}");
    let files = std::fs::read_dir(bench.directory()).unwrap();
    let segments = files.map(|file| file.unwrap().path());
    let mut segments: Vec<_> = segments
        .filter(|path| path.extension().is_some_and(|kind| kind == "index"))
        .collect();
    segments.sort();
    let newest = segments.pop().unwrap();
    let mut bytes = std::fs::read(&newest).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::remove_file(&newest).unwrap();
    std::fs::write(&newest, &bytes).unwrap();
    let name = newest.file_name().unwrap().to_str().unwrap();
    bench
        .run::<&str>("optimize", &[])
        .fails_saying(&[name, "byte"]);
}
