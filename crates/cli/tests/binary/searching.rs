//! Contract of the output of `search`.

use crate::support::{Bench, command, document, finished, golden, small_corpus, urls};
use serde_json::{Value, json};
use std::io::Read;

/// The answer with what differs from run to run set to 0.
fn masked(mut answer: Value) -> Value {
    for us in answer["phases_us"].as_object_mut().unwrap().values_mut() {
        *us = json!(0);
    }
    answer
}

#[test]
fn json_answer() {
    let bench = Bench::indexed(&small_corpus());
    let answer = masked(bench.answer("ice", &["-k", "3"]));
    golden(
        "search.json",
        &(serde_json::to_string_pretty(&answer).unwrap() + "\n"),
    );
    let run = bench.run("search", &["ice", "--json"]).ends(0);
    assert_eq!(run.stdout.lines().count(), 1, "{run:#?}");
    assert_eq!(run.stderr, "");
}

#[test]
fn text_answer() {
    let bench = Bench::indexed(&small_corpus());
    let run = bench.run("search", &["cream sugar"]).ends(0);
    for part in [
        "  1. ",
        "  2. ",
        "http://b.example/1",
        "site b.example",
        "milk & sugar",
        "2 documents match; shown are 1 to 2",
        "index search",
        "total",
        "µs",
    ] {
        assert!(run.stdout.contains(part), "{part:?} is missing: {run:#?}");
    }
    assert!(
        !run.stdout.contains("<mark>") && !run.stdout.contains('\x1b'),
        "{run:#?}"
    );
}

#[test]
fn no_color_and_pipes_are_plain() {
    let bench = Bench::indexed(&small_corpus());
    let directory = bench.directory();
    let mut command = command(["search".as_ref(), directory.as_os_str(), "ice".as_ref()]);
    let run = finished(command.env("NO_COLOR", "1").output().unwrap()).ends(0);
    assert!(!run.stdout.contains('\x1b'), "{run:#?}");
}

#[test]
fn syntax_options_and_warnings() {
    let bench = Bench::indexed(&small_corpus());
    let count =
        |query: &str, options: &[&str]| bench.answer(query, options)["total"]["value"].clone();
    assert_eq!(count("ice skating", &[]), 1);
    assert_eq!(count("ice skating", &["--any"]), 4);
    assert_eq!(count("ice OR tea", &[]), 5);
    assert_eq!(count("title:ice", &[]), 2);
    assert_eq!(count("\"thin ice\"", &[]), 1);
    assert_eq!(count("-ice milk", &[]), 1);
    assert_eq!(count("ska*", &[]), 1);
    assert_eq!(count("nowhere", &[]), 0);
    let run = bench.run("search", &["\"thin ice"]).ends(0);
    assert!(run.stderr.contains("note: "), "{run:#?}");
    let warnings = bench.answer("\"thin ice", &[])["warnings"].clone();
    assert!(!warnings.as_array().unwrap().is_empty());
    let tfidf = bench.answer("ice", &["--ranking", "tfidf"]);
    assert_ne!(
        tfidf["hits"][0]["score"],
        bench.answer("ice", &[])["hits"][0]["score"]
    );
}

#[test]
fn a_limit_of_hits_a_site_changes_the_order_alone() {
    let bench = Bench::indexed(&small_corpus());
    let all = bench.answer("ice", &[]);
    for per_site in ["0", "1", "2"] {
        let limited = bench.answer("ice", &["--per-site", per_site]);
        assert_eq!(limited["total"]["value"], 4);
        let sorted = |answer| {
            let mut urls: Vec<String> = urls(answer).into_iter().map(str::to_owned).collect();
            urls.sort();
            urls
        };
        assert_eq!(sorted(&limited), sorted(&all));
        let hits = limited["hits"].as_array().unwrap();
        let held_back = hits.iter().filter(|hit| hit["held_back"] == true).count();
        assert_eq!(
            held_back,
            match per_site {
                "0" => 0,
                "1" => 2,
                _ => 1,
            }
        );
    }
}

#[test]
fn pages_add_up() {
    let documents: Vec<Value> = (0..40)
        .map(|number| {
            let url = format!("http://site-{}.example/{number}", number % 7);
            document(&url, "Page", &"word ".repeat(1 + number % 5))
        })
        .collect();
    let bench = Bench::indexed(&documents);
    for per_site in ["0", "2", "3"] {
        let all = bench.answer("word", &["-k", "50", "--per-site", per_site]);
        let mut paged = Vec::new();
        for start in (0..50).step_by(4) {
            let start = start.to_string();
            let options = ["-k", "4", "--per-site", per_site, "--start", &start];
            let page = bench.answer("word", &options);
            paged.extend(urls(&page).into_iter().map(str::to_owned));
        }
        assert_eq!(paged, urls(&all), "at most {per_site} a site");
    }
    let run = bench
        .run(
            "search",
            &["word", "-k", "3", "--start", "5", "--per-site", "0"],
        )
        .ends(0);
    assert!(run.stdout.contains("  6. "), "ranks go on: {run:#?}");
    assert!(
        run.stdout.contains("shown are 6 to 8, more with --start 8"),
        "{run:#?}"
    );
    let run = bench.run("search", &["word", "--start", "500"]).ends(0);
    assert!(
        run.stdout
            .contains("40 documents match; none from place 501 on"),
        "{run:#?}"
    );
    // A process has no limit of depth; servers have one.
    let run = bench.run("search", &["word", "--start", "1000000"]).ends(0);
    assert!(
        run.stdout.contains("none from place 1,000,001 on"),
        "{run:#?}"
    );
}

#[test]
fn explanations_equal_scores() {
    let bench = Bench::indexed(&small_corpus());
    let answer = bench.answer("ice \"ice cream\"", &["--explain"]);
    for hit in answer["hits"].as_array().unwrap() {
        let explained = hit["explanation"]["value"].as_f64().unwrap() as f32;
        assert_eq!(explained, hit["score"].as_f64().unwrap() as f32, "{hit:#}");
    }
    let run = bench
        .run("search", &["ice", "--explain", "-k", "1"])
        .ends(0);
    assert!(run.stdout.contains(" = "), "{run:#?}");
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let documents: Vec<Value> = (0..900)
        .map(|number| {
            let url = format!("http://site-{number}.example/");
            document(
                &url,
                "A page like many others",
                &"some words to fill lines ".repeat(20),
            )
        })
        .collect();
    let bench = Bench::indexed(&documents);
    let directory = bench.directory();
    let directory = directory.to_str().unwrap();
    let all = ["search", directory, "words", "-k", "900"];
    for arguments in [&all[..], &["--help"], &["index", "--help"]] {
        let mut child = command(arguments).spawn().unwrap();
        let mut first = [0];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let run = finished(child.wait_with_output().unwrap()).ends(0);
        assert_eq!(run.stderr, "", "{arguments:?}");
    }
}

#[test]
fn documents_keep_their_ids() {
    let bench = Bench::indexed(&small_corpus());
    let answer = bench.answer("sweet", &[]);
    assert_eq!(answer["hits"][0]["id"], "sugar-page");
    assert_eq!(
        bench.answer("tea", &[])["hits"][0]["id"],
        "http://c.example/1"
    );
}

#[test]
fn negative_parameters_are_refused_by_their_range() {
    let bench = Bench::indexed(&small_corpus());
    for (option, range) in [("--k1", "0 to 1000"), ("--b", "0 to 1")] {
        let run = bench.run("search", &["ice", option, "-1"]).ends(2);
        assert!(run.stderr.contains(range), "{run:#?}");
    }
}

#[test]
fn hits_show_the_fields_asked_for() {
    let mut with_fields = document("http://a.example/1", "Ice", "cold ice");
    with_fields["author"] = "N. N.".into();
    with_fields["tags"] = serde_json::json!(["cold", { "deep": 1.5 }]);
    let bench = Bench::indexed(&[with_fields, document("http://b.example/1", "More", "ice")]);
    let answer = bench.answer("ice", &["--fields", "tags,none"]);
    let tags = serde_json::json!({ "tags": ["cold", { "deep": 1.5 }] });
    let fields: Vec<_> = answer["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit.get("fields"))
        .collect();
    assert!(
        fields.contains(&Some(&tags)) && fields.contains(&None),
        "{answer}"
    );
    let shown = bench
        .run("search", &["ice", "--fields", "*"])
        .ends(0)
        .stdout;
    assert!(
        shown.contains("     author: N. N.\n     tags: [\"cold\",{\"deep\":1.5}]\n"),
        "{shown}"
    );
    assert!(bench.answer("ice", &[])["hits"][0].get("fields").is_none());

    let server = crate::serving::Serving::start(&bench);
    let (_, body) = server.get("/search?q=cold&fields=author");
    let served: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        served["hits"][0]["fields"],
        serde_json::json!({ "author": "N. N." })
    );
}

#[test]
fn a_site_is_meant_with_its_subdomains() {
    let sites = ["x.example", "en.x.example", "de.en.x.example", "ax.example"];
    let documents = sites.map(|site| document(&format!("http://{site}/1"), site, "ice"));
    let bench = Bench::indexed(&documents);
    let found = |query: &str| bench.answer(query, &[])["total"]["value"].clone();
    assert_eq!(found("ice site:\"x.example\""), 1);
    assert_eq!(found("ice site:x.example"), 3);
    assert_eq!(found("ice site:*.x.example"), 3);
    assert_eq!(found("ice -site:*.x.example"), 1);
    assert_eq!(found("site:*.EN.x.example"), 2);
}

#[test]
fn a_typo_is_corrected_and_titles_are_marked() {
    let bench = Bench::indexed(&small_corpus());
    let answer = bench.answer("suger", &[]);
    assert_eq!(answer["query"], "suger");
    assert_eq!(answer["corrected"], "sugar");
    assert_eq!(answer["total"]["value"], 2);
    let shown = bench.run("search", &["suger"]).ends(0).stdout;
    assert!(
        shown.starts_with("showing results for: sugar; for suger as written: --verbatim\n"),
        "{shown}"
    );
    assert!(shown.contains("\nspelling "), "{shown}");
    let answer = bench.answer("suger", &["--verbatim"]);
    assert_eq!(answer["did_you_mean"]["query"], "sugar");
    assert_eq!(answer["did_you_mean"]["total"]["value"], 2);
    let shown = bench.run("search", &["suger", "--verbatim"]).ends(0).stdout;
    assert!(
        shown.contains("did you mean: sugar (2 documents)"),
        "{shown}"
    );
    let near = bench.answer("suger~", &[]);
    assert_eq!(near["total"]["value"], 2);
    assert_eq!(near["hits"][0]["title_html"], "<mark>Sugar</mark>");
}
