//! Contract of the output of `bench`.

use crate::support::{Bench, Run, command, finished, small_corpus};
use serde_json::Value;

const QUERIES: &[u8] = b"ice milk\n\n7\tice ice cream\nnowhere\n-title:ice\nthin ice\n";

fn run_bench(options: &[&str]) -> Run {
    let bench = Bench::indexed(&small_corpus());
    let queries = bench.file("queries.txt", QUERIES);
    let fixed = ["--queries", queries.to_str().unwrap(), "--passes", "2"];
    bench.run("bench", &[&fixed, options].concat()).ends(0)
}

fn column(lines: &[Value], key: &str) -> Vec<Value> {
    lines[..lines.len() - 1]
        .iter()
        .map(|line| line[key].clone())
        .collect()
}

#[test]
fn json_lines() {
    let lines = run_bench(&["--mode", "and", "--json"]).json_lines();
    assert_eq!(lines.len(), 6);
    let queries = [
        "ice milk",
        "ice ice cream",
        "nowhere",
        "-title:ice",
        "thin ice",
    ];
    assert_eq!(column(&lines, "query"), queries);
    assert_eq!(
        column(&lines, "hits"),
        [2, 1, 0, 0, 1],
        "words are plain, all are required"
    );
    assert_eq!(lines[4]["top"], "http://b.example/2");
    assert_eq!(lines[2]["top"], Value::Null);
    for line in &lines[..5] {
        let (min, median) = (
            line["min_us"].as_f64().unwrap(),
            line["median_us"].as_f64().unwrap(),
        );
        assert!(0.0 < min && min <= median, "{line}");
    }
    let keys = [
        "queries", "mean_us", "p50_us", "p90_us", "p99_us", "p999_us", "max_us",
    ];
    let set = &lines[5];
    let figures: Vec<f64> = keys.iter().map(|key| set[key].as_f64().unwrap()).collect();
    assert_eq!(figures[0], 5.0);
    assert!(figures[2..].is_sorted(), "{set}");
    assert_eq!(set["answered"]["queries"], 3);
    assert!(
        set["note"]
            .as_str()
            .unwrap()
            .starts_with("kernel measurement"),
        "{set}"
    );
}

/// All forms of the kernels give the same answers; the output names the forms.
#[test]
fn kernels_can_be_chosen_and_are_told() {
    let bench = Bench::indexed(&small_corpus());
    let queries = bench.file("queries.txt", QUERIES);
    let run = |kernels: &str, more: &[&str]| {
        let mut command = command([&["bench", bench.directory().to_str().unwrap()], more].concat());
        command.env("SHORTTAIL_KERNELS", kernels);
        command.args(["--mode", "or", "--queries", queries.to_str().unwrap()]);
        finished(command.output().unwrap())
    };
    let lines = |kernels: &str| run(kernels, &["--json"]).ends(0).json_lines();
    let (measured, newest, any) = (lines("measured"), lines("newest"), lines("any"));
    for other in [&newest, &any] {
        for key in ["hits", "top"] {
            assert_eq!(column(&measured, key), column(other, key));
        }
    }
    let older = |lines: &[Value]| lines[5]["kernels"]["older"].as_object().unwrap().clone();
    assert!(older(&newest).is_empty());
    let older = older(&any);
    assert!(older.values().all(|form| form == "any"));
    // Newer forms, if any, were not chosen.
    let newest = any[5]["kernels"]["newest"].as_str().unwrap();
    assert_eq!(older.contains_key("packed::unpack 7 bits"), newest != "any");
    assert!(run("any", &[]).ends(0).stdout.contains("\nkernels: "));
    run("fastest", &[]).fails_saying(&["SHORTTAIL_KERNELS", "fastest", "newest", "any"]);
}

#[test]
fn decoding_is_timed_alone() {
    let run = run_bench(&["--mode", "and", "--decoding", "--json"]);
    let lines = run.json_lines();
    // Lists of a few documents are tails: blocks all the same.
    assert_eq!(column(&lines, "postings_decoded")[2], 0, "nowhere");
    assert!(lines[0]["postings_decoded"].as_u64() > Some(0), "{lines:?}");
    for line in &lines[..5] {
        let decoding_us = line["decoding_median_us"].as_f64().unwrap();
        assert!(decoding_us > 0.0, "a reading of the clock at least: {line}");
    }
    assert!(lines[5]["decoding_share"].as_f64() > Some(0.0), "{run:#?}");
    let table = run_bench(&["--mode", "and", "--decoding"]).stdout;
    assert!(table.contains("decoding alone takes"), "{table}");
    let plain = run_bench(&["--mode", "and", "--json"]).json_lines();
    assert_eq!(plain[0].get("decoding_median_us"), None);
}

#[test]
fn modes() {
    let hits = |mode| column(&run_bench(&["--mode", mode, "--json"]).json_lines(), "hits");
    assert_eq!(hits("or"), [5, 5, 0, 4, 4]);
    assert_eq!(
        hits("phrase"),
        [0, 0, 0, 0, 1],
        "`ice ice cream` keeps its repeated word"
    );
}

#[test]
fn what_is_not_counted_is_not_printed() {
    let lines = run_bench(&["--mode", "or", "--count", "none", "--json"]).json_lines();
    assert!(column(&lines, "hits").iter().all(Value::is_null));
    assert!(lines[0]["top"].is_string());
    assert_eq!(lines[5]["answered"]["queries"], 4);
    let lines = run_bench(&["--mode", "or", "--count", "only", "--json"]).json_lines();
    assert!(column(&lines, "top").iter().all(Value::is_null));
    assert_eq!(lines[0]["hits"], 5);
}

#[test]
fn table() {
    let run = run_bench(&["--mode", "and"]);
    for part in [
        "p99.9",
        "all ",
        "with a hit",
        "1 word",
        "2 words",
        "kernel measurement: in process",
    ] {
        assert!(run.stdout.contains(part), "{part:?} is missing: {run:#?}");
    }
    let first = run.stdout.lines().nth(1).unwrap();
    assert!(
        first.trim_start().starts_with("2 ") && first.contains("ice milk"),
        "{run:#?}"
    );
}

#[test]
fn bad_query_files() {
    let bench = Bench::indexed(&small_corpus());
    let absent = bench.path("absent.txt");
    let arguments = ["--mode", "and", "--queries", absent.to_str().unwrap()];
    bench
        .run("bench", &arguments)
        .fails_saying(&["absent.txt", "cannot read"]);
    let odd = bench.file("odd.txt", b"ice\n\xff\xfe\xfd\n\0\n");
    let arguments = ["--mode", "or", "--json", "--queries", odd.to_str().unwrap()];
    let run = bench.run("bench", &arguments).ends(0);
    assert!(run.stderr.contains("odd.txt:2: not UTF-8"), "{run:#?}");
    assert_eq!(run.json_lines().len(), 4);
    let empty = bench.file("empty.txt", "");
    let arguments = [
        "--mode",
        "or",
        "--json",
        "--queries",
        empty.to_str().unwrap(),
    ];
    assert_eq!(
        bench.run("bench", &arguments).ends(0).json_lines()[0]["queries"],
        0
    );
}

/// Builds an index with lists of many blocks: one word is in all documents, one in every third, one in few.
fn many_blocks() -> Bench {
    let document = |number: u64| {
        // The best are in the first blocks.
        let often = match number {
            0..600 => "ice ".repeat(12),
            _ => "ice ".to_owned() + &"snow ".repeat(11),
        };
        let milk = if number.is_multiple_of(3) { "milk" } else { "" };
        let thin = if number.is_multiple_of(701) {
            "thin"
        } else {
            ""
        };
        serde_json::json!({
            "url": format!("http://a.example/{number}"),
            // Pairs may take a share of a segment's bytes, so it needs some.
            "title": format!("n{}", number * 7919),
            "body": format!("{often} {milk} {thin}"),
        })
    };
    Bench::indexed(&(0..5000).map(document).collect::<Vec<_>>())
}

#[test]
fn plans_say_what_searches_did() {
    let bench = many_blocks();
    let queries = bench.file("queries.txt", b"ice\nice milk\nice thin nowhere\nnowhere\n");
    let run = |options: &[&str]| {
        let fixed = ["--queries", queries.to_str().unwrap(), "--explain-plan"];
        bench.run("bench", &[&fixed, options].concat()).ends(0)
    };
    let json = |mode, count| run(&["--mode", mode, "--count", count, "--json"]).json_lines();
    let number = |line: &Value, key: &str| line[key].as_u64().unwrap();
    let added_up = [
        "blocks",
        "blocks_decoded",
        "blocks_as_bits",
        "blocks_left",
        "frequencies_blocks_decoded",
        "postings_scored",
        "documents_offered",
        "pairs_read",
    ];
    for (mode, count) in [
        ("and", "none"),
        ("and", "exact"),
        ("or", "none"),
        ("or", "exact"),
        ("or", "only"),
        ("phrase", "exact"),
    ] {
        let lines = json(mode, count);
        let (sum, lines) = lines.split_last().unwrap();
        assert_eq!(number(sum, "queries"), 4);
        for key in added_up {
            let total: u64 = lines.iter().map(|line| number(line, key)).sum();
            assert_eq!(number(sum, key), total, "{key} of {mode} {count}");
        }
        for line in lines {
            let parts = ["blocks_decoded", "blocks_as_bits", "blocks_left"];
            let parts: u64 = parts.iter().map(|key| number(line, key)).sum();
            assert_eq!(parts, number(line, "blocks"), "{line}");
        }
        assert_eq!(
            (&lines[3]["algorithm"], number(&lines[3], "blocks")),
            (&"-".into(), 0)
        );
    }
    let lines = json("or", "none");
    assert_eq!(
        column(&lines, "algorithm"),
        ["single", "maxscore", "maxscore", "-"]
    );
    let single = &lines[0];
    assert_eq!(number(single, "blocks"), 20);
    assert!(number(single, "blocks_decoded") < 20, "{single}");
    assert!(number(single, "documents_offered") >= 10, "{single}");
    assert!(
        single["first_threshold"].as_f64().unwrap() > 0.0,
        "{single}"
    );
    assert_eq!(
        lines[2]["terms"],
        serde_json::json!([{"term": "ice", "documents": 5000}, {"term": "thin", "documents": 8}])
    );
    let algorithms = |mode, count| column(&json(mode, count), "algorithm");
    assert_eq!(algorithms("or", "exact")[1], "maxscore+union");
    assert_eq!(algorithms("or", "only")[1], "union");
    assert_eq!(algorithms("and", "none")[1], "conjunction");
    // Both words are frequent enough for the phrase to be a stored pair.
    let phrase = &json("phrase", "none")[1];
    assert_eq!(
        (&phrase["algorithm"], number(phrase, "pairs_read")),
        (&"single".into(), 1)
    );

    let table = run(&["--mode", "or", "--count", "none"]).stdout;
    for part in [
        "as bits",
        "ice thin nowhere: ice 5,000, thin 8",
        "4 queries: - 1, maxscore 2, single 1",
    ] {
        assert!(table.contains(part), "{part:?} is missing: {table}");
    }
    let lines: Vec<&str> = table.lines().take(6).collect();
    let at = lines[0].find("algorithm").unwrap();
    for (line, name) in
        lines
            .iter()
            .zip(["algorithm", "single", "maxscore", "maxscore", "-", "all"])
    {
        assert!(line[at..].starts_with(&format!("{name} ")), "{table}");
    }
}

#[test]
fn plans_have_no_passes() {
    let bench = Bench::indexed(&small_corpus());
    let queries = bench.file("queries.txt", QUERIES);
    let queries = queries.to_str().unwrap();
    let arguments = [
        "--mode",
        "or",
        "--queries",
        queries,
        "--explain-plan",
        "--passes",
        "3",
    ];
    let run = bench.run("bench", &arguments).ends(2);
    assert!(run.stderr.contains("cannot be used with"), "{run:#?}");
}

#[test]
#[cfg(target_os = "linux")]
fn where_the_index_is_changes_no_answer() {
    let tops = |options: &[&str]| {
        let run = run_bench(&[&["--mode", "or", "--json"], options].concat());
        (column(&run.json_lines(), "top"), run.stderr)
    };
    let (plain, said) = tops(&[]);
    assert!(!said.contains("preload"), "{said}");
    for preload in ["touch", "tmpfs", "hugepages"] {
        let (answers, said) = tops(&["--preload", preload]);
        assert_eq!(answers, plain, "{preload}");
        assert!(said.contains(&format!("preload {preload}: ")), "{said}");
        assert!(said.contains("; resident "), "{said}");
    }
}
