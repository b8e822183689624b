//! Typed fields: `fields`, and filters, facets and orders of `search`, `delete` and `serve`.

use crate::serving::Serving;
use crate::support::{Bench, shorttail, urls};
use serde_json::Value;

const DOCUMENTS: &str = r#"{"url":"http://a.example/1","title":"Milk one","body":"fresh milk","lang":"en","date":"2024-01-05","price":1.5,"sold":true}
{"url":"http://a.example/2","title":"Milk two","body":"old milk","lang":["de","en"],"date":"2024-02-01","price":2.25}
{"url":"http://b.example/3","title":"Milk three","body":"milk of almonds","lang":"pt br","date":"2025-02-01T10:00:00Z"}
{"url":"http://b.example/4","title":"Tea","body":"green tea","lang":"de","date":"2023-12-31","price":4}
"#;

fn indexed() -> Bench {
    let bench = Bench::new();
    let corpus = bench.file("corpus.jsonl", DOCUMENTS);
    bench.index(&corpus, &[]).ends(0);
    bench
}

fn directory(bench: &Bench) -> String {
    bench.directory().to_str().unwrap().to_owned()
}

#[test]
fn fields_are_inferred_and_shown() {
    let bench = Bench::new();
    let misfit =
        "{\"url\":\"http://c.example/5\",\"title\":\"x\",\"body\":\"y\",\"price\":\"cheap\"}\n";
    let corpus = bench.file("corpus.jsonl", format!("{DOCUMENTS}{misfit}"));
    let run = bench.index(&corpus, &[]).ends(0);
    assert!(
        run.stdout
            .contains("date date, lang keyword, price f64, sold bool"),
        "{run:#?}"
    );
    assert!(
        run.stdout.contains("1 value of price fit no f64"),
        "{run:#?}"
    );
    let shown = shorttail(["fields", &directory(&bench)]).ends(0).stdout;
    let line = |name: &str| shown.lines().find(|line| line.starts_with(name)).unwrap();
    let lang: Vec<&str> = line("lang").split_whitespace().take(5).collect();
    assert_eq!(lang, ["lang", "keyword", "words", "4", "3"]);
    assert!(
        line("date").contains("2023-12-31 .. 2025-02-01T10:00:00Z"),
        "{shown}"
    );
    let json = shorttail(["fields", &directory(&bench), "--json"])
        .ends(0)
        .stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["fields"][2]["name"], "price");
    assert_eq!(json["fields"][2]["greatest"], 4.0);
}

#[test]
fn a_file_decides_types_and_types_stay() {
    let bench = Bench::new();
    let corpus = bench.file("corpus.jsonl", DOCUMENTS);
    let types = bench.file(
        "types.toml",
        "lang = \"text\"\nprice = \"keyword\"\n\"from.city\" = \"keyword\"\n",
    );
    let run = bench
        .index(&corpus, &["--fields", types.to_str().unwrap()])
        .ends(0);
    assert!(
        run.stdout
            .contains("date date, from.city keyword, lang text, price keyword"),
        "{run:#?}"
    );
    assert_eq!(bench.answer("price:2.25", &[])["total"]["value"], 1);
    let other = bench.file("other.toml", "date = \"i64\"\n");
    let more = ["--fields", other.to_str().unwrap()];
    bench
        .index(&corpus, &more)
        .fails_saying(&["date has the type date here, not i64", "another directory"]);
    let bad = bench.file("bad.toml", "a = \"i64\"\nb = \"number\"\n");
    let more = ["--fields", bad.to_str().unwrap()];
    bench
        .index(&corpus, &more)
        .fails_saying(&["bad.toml:2:", "number", "i64"]);
}

#[test]
fn searches_are_filtered_counted_and_sorted() {
    let bench = indexed();
    let found = |query: &str, more: &[&str]| -> Vec<String> {
        let answer = bench.answer(query, more);
        urls(&answer).into_iter().map(str::to_owned).collect()
    };
    assert_eq!(found("milk lang:en price:<2", &[]), ["http://a.example/1"]);
    assert_eq!(
        found("milk", &["--filter", "date:2024", "--sort", "date:desc"]),
        ["http://a.example/2", "http://a.example/1"]
    );
    assert_eq!(found("lang:\"pt br\"", &[]), ["http://b.example/3"]);
    let answer = bench.answer(
        "milk",
        &[
            "--facet",
            "lang,date:year,price,site",
            "--sort",
            "price:desc",
        ],
    );
    let facets = answer["facets"].as_array().unwrap();
    assert_eq!(facets[0]["buckets"][0]["value"], "en");
    assert_eq!(facets[0]["buckets"][0]["count"], 2);
    assert_eq!(facets[1]["buckets"][1]["filter"], "date:2025");
    assert_eq!(facets[2]["stats"]["sum"], 3.75);
    assert_eq!(facets[3]["buckets"][0]["filter"], "site:\"a.example\"");
    assert_eq!(answer["hits"][2]["sort"], serde_json::json!([null]));
    let text = bench
        .run("search", &["milk", "--facet", "lang", "--sort", "date"])
        .ends(0)
        .stdout;
    assert!(
        text.contains("lang:terms:10") && text.contains("sorted by 2024-01-05"),
        "{text}"
    );
    // Filters may stand alone.
    let alone = shorttail([
        "search",
        &directory(&bench),
        "--filter",
        "lang:de",
        "--json",
    ])
    .ends(0);
    assert_eq!(alone.json_lines()[0]["total"]["value"], 2);
}

#[test]
fn what_cannot_be_filtered_or_counted_is_said() {
    let bench = indexed();
    for (more, said) in [
        (["--filter", "date:soon"], "`soon` is no date"),
        (["--filter", "colour:red"], "There is no field `colour`"),
        (["--facet", "colour"], "there is no field `colour`"),
        (["--facet", "lang:stats"], "`stats` is no facet"),
        (["--sort", "body"], "no field `body`"),
        (["--sort", "date:down"], "`down` is no order"),
    ] {
        let mut arguments = vec!["milk"];
        arguments.extend(more);
        bench
            .run::<&str>("search", &arguments)
            .fails_saying(&[said]);
    }
    let warned = bench.run("search", &["milk date:soon"]).ends(0);
    assert!(
        warned.stderr.contains("`date:soon` was left out"),
        "{warned:#?}"
    );
}

#[test]
fn documents_are_deleted_by_the_values_of_fields() {
    let bench = indexed();
    let run = bench
        .run("delete", &["--query", "lang:de date:<2024", "--json"])
        .ends(0);
    assert_eq!(run.json_lines()[0]["deleted"], 1);
    assert_eq!(bench.answer("lang:de", &[])["total"]["value"], 1);
}

#[test]
fn hostile_names_and_values_stay_text() {
    let bench = Bench::new();
    let hostile = r#"{"url":"http://a.example/1","title":"t","body":"milk","k\"><script>alert(1)</script>":"v","lang":"<script>alert(2)</script>"}"#;
    let corpus = bench.file("corpus.jsonl", hostile);
    bench.index(&corpus, &[]).ends(0);
    let serving = Serving::start(&bench);
    let (_, page) =
        serving.get("/?q=milk&filter=lang:%22%3Cscript%3Ealert(2)%3C/script%3E%22&sort=lang");
    assert!(page.contains("alert(2)"), "{page}");
    assert_eq!(page.matches("<script").count(), 1, "{page}");
    let shown = shorttail(["fields", &directory(&bench)]).ends(0).stdout;
    assert!(shown.contains("keyword"), "{shown}");
}

#[test]
fn the_page_and_the_api_refine() {
    let bench = indexed();
    let serving = Serving::start(&bench);
    let (_, page) = serving.get("/?q=milk&filter=lang%3Aen");
    let page = page.replace("&#38;", "&");
    for part in [
        "class=\"chips\"",
        "lang:en",
        "Newest first",
        "/?q=milk&filter=lang%3Ade",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    // All of these hits are of one year, which is no choice.
    assert!(!page.contains("filter=date"), "{page}");
    let all = serving.get("/?q=milk").1.replace("&#38;", "&");
    assert!(all.contains("/?q=milk&filter=date%3A2024"), "{all}");
    let (_, answer) =
        serving.get("/search?q=milk&facet=lang&filter=price:*&sort=price:desc&fields=price");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(urls(&answer), ["http://a.example/2", "http://a.example/1"]);
    assert_eq!(answer["hits"][0]["fields"]["price"], 2.25);
    assert_eq!(answer["facets"][0]["documents"], 2);
    let (_, refused) = serving.get("/search?q=milk&facet=nothing");
    assert!(refused.contains("there is no field `nothing`"), "{refused}");
}
