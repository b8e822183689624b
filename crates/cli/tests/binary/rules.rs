//! Rules of relevance at the command line: given with documents, replaced, shown, searched with and without.

use crate::support::{Bench, document, json_lines, shorttail, urls};

const RULES: &str = "\
# Words of our trade
stop_words = [\"the\"]
synonyms = [
    \"tv, telly\",
    \"big apple => new york\",
]
";

fn corpus() -> String {
    json_lines(&[
        document("http://a.example/1", "One", "a tv set"),
        document("http://a.example/2", "Two", "a telly of new york"),
    ])
}

#[test]
fn rules_are_given_shown_replaced_and_switched_off() {
    let bench = Bench::new();
    let (source, rules) = (
        bench.file("corpus.jsonl", corpus()),
        bench.file("rules.toml", RULES),
    );
    bench
        .index(&source, &["--rules", rules.to_str().unwrap()])
        .ends(0);
    let found = |query: &str, options: &[&str]| urls(&bench.answer(query, options)).len();
    assert_eq!(found("the tv", &[]), 2);
    assert_eq!(found("the tv", &["--all", "--no-rules"]), 0);
    assert_eq!(found("big apple", &[]), 1);
    let shown = bench.run::<&str>("rules", &[]).ends(0).stdout;
    assert_eq!(
        shown,
        "stop_words = [\n    \"the\",\n]\nsynonyms = [\n    \"tv, telly\",\n    \"big apple -> new york\",\n]\n"
    );
    let explained = bench.run("search", &["the tv", "--explain"]).ends(0);
    for rule in ["rule: synonym: tv -> telly", "rule: stop word: the"] {
        assert!(explained.stderr.contains(rule), "{}", explained.stderr);
    }
    assert!(
        explained.stdout.contains("tv -> telly"),
        "{}",
        explained.stdout
    );

    // What was shown is a file of rules.
    let again = bench.file("shown.toml", &shown);
    let told = bench
        .run("rules", &[again.to_str().unwrap()])
        .ends(0)
        .stdout;
    assert!(
        told.contains("now has 2 synonym rules and 1 stop word (generation 2)"),
        "{told}"
    );
    assert_eq!(bench.run::<&str>("rules", &[]).ends(0).stdout, shown);
    bench.run("add", &[source.to_str().unwrap()]).ends(0);
    assert_eq!(found("the tv", &[]), 2);
    let none = bench.file("none.toml", "");
    bench.run("rules", &[none.to_str().unwrap()]).ends(0);
    assert_eq!(
        bench.run::<&str>("rules", &[]).ends(0).stdout,
        "# no rules\n"
    );
    assert_eq!(found("tv", &[]), 1);
    bench.run::<&str>("check", &[]).ends(0);
}

#[test]
fn files_that_are_no_rules_change_nothing() {
    let bench = Bench::new();
    let source = bench.file("corpus.jsonl", corpus());
    bench.index(&source, &[]).ends(0);
    for (text, part) in [
        ("synonyms = \"tv\"", "bad.toml:1: "),
        ("stop_words = []\nsynonyms = [\"tv\"]", "bad.toml:2: "),
        ("stop_words = [\"two words\"]", "give one word in each"),
        ("title = \"text\"", "unknown field `title`"),
    ] {
        let bad = bench.file("bad.toml", text);
        let path = bad.to_str().unwrap();
        bench.run("rules", &[path]).fails_saying(&[part]);
        bench
            .index(&source, &["--rules", path])
            .fails_saying(&[part]);
    }
    assert_eq!(
        bench.run::<&str>("rules", &[]).ends(0).stdout,
        "# no rules\n"
    );
    let nowhere = bench.path("nowhere");
    let rules = bench.file("rules.toml", RULES);
    shorttail(["rules", nowhere.to_str().unwrap(), rules.to_str().unwrap()])
        .fails_saying(&["no such directory"]);
    assert!(!nowhere.exists());
}
