//! Tests of the page: it shows the whole answer, and no document can inject markup.
use super::*;
use crate::addresses::AddressOptions;
use wire::DidYouMean;
use wire::{PhaseTimes, Total};

fn hit(title: &str, url: &str) -> Hit {
    Hit {
        id: url.into(),
        url: url.into(),
        title: title.into(),
        site: "s.example".into(),
        score: 1.5,
        summary: "a <mark>word</mark> &lt;b&gt;".into(),
        title_html: String::new(),
        fields: json::Map::new(),
        cut: Vec::new(),
        more_from_site: true,
        held_back: false,
        pinned: false,
        hidden: 0,
        lacks: Vec::new(),
        sort: Vec::new(),
        explanation: None,
    }
}

fn as_they_are() -> Addresses {
    Addresses::new(&AddressOptions::default(), &[])
}

/// Returns the options of a page whose address has none.
pub(super) fn page_options() -> SearchOptions {
    SearchOptions {
        collapse: crate::http::params::PAGE_COLLAPSE.to_owned(),
        counts_hidden: false,
        correct: true,
        ..SearchOptions::default()
    }
}

pub(super) fn answer(hits: Vec<Hit>) -> SearchAnswer {
    SearchAnswer {
        query: "word".into(),
        total: Total {
            value: 1_234_567,
            exact: true,
        },
        hits,
        numbers: Vec::new(),
        some_words_from: None,
        facets: Vec::new(),
        corrected: None,
        did_you_mean: None,
        more_hits: true,
        hides_some: false,
        after: None,
        moved: false,
        phases_us: PhaseTimes {
            parse: 7,
            index_search: 1_250,
            total: 1_300,
            ..Default::default()
        },
        warnings: Vec::new(),
        rules: Vec::new(),
        coverage: 1.0,
        timed_out: false,
        degraded: Vec::new(),
        trace: None,
        schedule: Vec::new(),
    }
}

fn page(hits: Vec<Hit>) -> String {
    results(&mut answer(hits), &page_options(), &[], &as_they_are())
}

#[test]
fn results_show_counts_times_and_links() {
    let html = page(vec![hit("T", "https://s.example/a/b")]);
    for part in [
        "<b>1,234,567</b> documents",
        "<a href=\"https://s.example/a/b\" rel=\"noreferrer\">T</a>",
        "<bdi>s.example</bdi>",
        "<mark>word</mark> &lt;b&gt;",
        "./?q=site%3As.example+word",
        "rel=\"next\" href=\"./?q=word&#38;start=10\"",
        "<dt>index search</dt> <dd>1.3 ms</dd>",
        "<dt>parse</dt> <dd>7 µs</dd>",
        "href=\"search?q=word&#38;collapse=text\"",
    ] {
        assert!(html.contains(part), "{part} is not in {html}");
    }
    assert!(!html.contains("rel=\"prev\""));
    assert!(!html.contains("style=\""));
}

#[test]
fn links_keep_how_the_query_is_read() {
    let options = SearchOptions {
        rules: false,
        correct: false,
        ..page_options()
    };
    let kept = settings(&options);
    for name in ["rules", "correct"] {
        assert!(kept.contains(&(name, "0".to_owned())), "{kept:?}");
    }
    assert!(settings(&page_options()).is_empty());
}

#[test]
fn hits_with_some_of_the_words_stand_apart() {
    let lacking = |url: &str| Hit {
        lacks: vec!["<steer>".into()],
        ..hit("S", url)
    };
    let hits = vec![
        hit("A", "http://a.e/1"),
        lacking("http://b.e/2"),
        lacking("http://c.e/3"),
    ];
    let page = |start: usize, from: Option<usize>, total: u64| {
        let mut answer = answer(hits.clone());
        answer.some_words_from = from;
        answer.total.value = total;
        let options = SearchOptions {
            start,
            ..page_options()
        };
        results(&mut answer, &options, &[], &as_they_are())
    };
    let html = page(10, Some(11), 11);
    let parts = [
        "<b>11</b> documents with all of the words",
        "<ol class=\"hits\" start=\"11\">",
        "Further matches",
        "<ol class=\"hits\" start=\"12\" aria-labelledby=\"from-12\">",
        "Lacks <s dir=\"auto\">&#60;steer&#62;</s>",
    ];
    let mut rest = html.as_str();
    for part in parts {
        let at = rest.find(part);
        assert!(at.is_some(), "{part} is not in {rest}");
        rest = &rest[at.unwrap_or(0)..];
    }
    // All of them on an earlier page.
    assert_eq!(
        page(20, Some(11), 11).matches("<ol class=\"hits\"").count(),
        1
    );
    assert!(!page(0, None, 3).contains("some of the words"));
    assert!(page(0, Some(0), 0).contains("No document has all of the words; these have some"));
}

#[test]
fn hits_that_a_limit_of_sites_held_back_stand_apart() {
    let held_back = |url: &str| Hit {
        held_back: true,
        ..hit("S", url)
    };
    let hits = vec![
        hit("A", "http://a.e/1"),
        held_back("http://a.e/2"),
        held_back("http://a.e/3"),
        hit("B", "http://b.e/1"),
    ];
    let mut answer = answer(hits);
    answer.some_words_from = Some(2);
    let html = results(&mut answer, &page_options(), &[], &as_they_are());
    let headings = [
        "id=\"from-2\">More of these sites</h2>",
        "id=\"from-3\">Further matches of these sites</h2>",
        "id=\"from-4\">Further matches</h2>",
    ];
    let places: Vec<_> = headings.iter().filter_map(|one| html.find(one)).collect();
    assert!(places.len() == 3 && places.is_sorted(), "{html}");
    assert_eq!(html.matches("<ol class=\"hits\"").count(), 4);
}

#[test]
fn what_a_rule_put_first_says_so() {
    let pinned = Hit {
        pinned: true,
        ..hit("A", "http://a.e/1")
    };
    let mut answer = answer(vec![pinned, hit("B", "http://b.e/1")]);
    let html = results(&mut answer, &page_options(), &[], &as_they_are());
    assert_eq!(html.matches("<span>Pinned</span>").count(), 1, "{html}");
    assert!(html.find("Pinned") < html.find("http://b.e/1"));
}

/// Returns a page without the one script that belongs to it.
fn without_own_script(html: &str) -> String {
    html.replacen("<script defer src=\"page.js", "", 1)
}

#[test]
fn what_documents_say_stays_text() {
    let script = "</h2><script>alert(1)</script>\"'><img src=x onerror=alert(1)>";
    let mut hostile = hit(script, "javascript:alert(1)//\"><script>");
    hostile.site = script.into();
    let mut answer = answer(vec![hostile]);
    answer.query = script.into();
    answer.warnings = vec![script.into()];
    let stored = index::StoredDocument {
        url: "javascript:alert(1)".into(),
        id: String::new(),
        title: script.into(),
        body: script.into(),
        fields: [("author".to_owned(), script.into())].into_iter().collect(),
    };
    // Words within tags are marked, too.
    let typed = format!("script img onerror {script}");
    let analyzer = text::Analyzer::default();
    let marking = Marking {
        typed: &typed,
        analyzer,
        query: search::parse(&typed, analyzer, Operator::default()).query,
    };
    let marked = document(&stored, Some(&marking), None);
    assert!(marked.contains("<mark>script</mark>"), "{marked}");
    for html in [
        results(&mut answer, &page_options(), &[], &as_they_are()),
        refusal(script, script, script),
        document(&stored, None, None),
        marked,
    ] {
        assert!(!without_own_script(&html).contains("<script"), "{html}");
        assert!(!html.contains("<img src=x"), "{html}");
        assert!(!html.contains("href=\"javascript"), "{html}");
    }
}

#[test]
fn titles_are_never_empty_or_endless() {
    assert_eq!(title(" \n", "http://e.org/a"), "http://e.org/a");
    assert_eq!(
        title(&"w".repeat(10_000), "u").chars().count(),
        TITLE_CHARS_MAX + 1
    );
    assert_eq!(title("nul\0in", "u"), "nul\u{fffd}in");
}

#[test]
fn the_bar_shows_whatever_took_time() {
    let views = phases(&answer(Vec::new()));
    assert_eq!(views[0].share, 1);
    assert_eq!(views[2].share, 97);
    assert_eq!(
        (views[9].name, views[9].time.as_str()),
        ("hand-overs", "43 µs")
    );
}

#[test]
fn nothing_found_suggests() {
    let mut none = answer(Vec::new());
    none.total.value = 0;
    none.more_hits = false;
    none.query = "\"two words\"".into();
    let shown = |none: &mut SearchAnswer, options: SearchOptions| {
        let suggestions = suggestions(&none.query, &options);
        results(none, &options, &suggestions, &as_they_are())
    };
    let html = shown(&mut none, page_options());
    assert!(html.contains("No document matches"));
    assert!(html.contains("./?q=two+words\""), "{html}");
    assert!(!html.contains("words=any"), "{html}");
    let strict = SearchOptions {
        operator: Operator::And,
        ..page_options()
    };
    let html = shown(&mut none, strict);
    assert!(html.contains("./?q=two+words&#38;words=all\""), "{html}");
    assert!(html.contains("words=any"), "{html}");
    none.did_you_mean = Some(DidYouMean {
        query: "to words".into(),
        total: Total {
            value: 1_200,
            exact: true,
        },
    });
    let html = shown(&mut none, page_options());
    let link = "Did you mean <a href=\"./?q=to+words\"><b dir=\"auto\">to words</b></a>?";
    assert!(html.contains(link), "{html}");
    assert!(html.contains("1,200 documents"), "{html}");
    assert!(!html.contains("Check the spelling"), "{html}");
}

#[test]
fn a_corrected_query_is_named_and_the_one_typed_is_linked() {
    let mut corrected = answer(Vec::new());
    corrected.query = "<i>aplha".into();
    corrected.corrected = Some("<i>alpha".into());
    let html = results(&mut corrected, &page_options(), &[], &as_they_are());
    assert!(
        html.contains(
            "Showing results for <b dir=\"auto\">&#60;i&#62;alpha</b>. Search instead for <a \
             href=\"./?q=%3Ci%3Eaplha&#38;correct=0\"><bdi>&#60;i&#62;aplha</bdi></a>"
        ),
        "{html}"
    );
    let as_typed = SearchOptions {
        correct: false,
        ..page_options()
    };
    corrected.corrected = None;
    let html = results(&mut corrected, &as_typed, &[], &as_they_are());
    assert!(html.contains("name=\"correct\" value=\"0\""), "{html}");
    assert!(!html.contains("Search instead"), "{html}");
}

#[test]
fn numbers() {
    assert_eq!(thousands(0), "0");
    assert_eq!(thousands(1_000), "1,000");
    assert_eq!(thousands(u64::MAX), "18,446,744,073,709,551,615");
    for (us, shown) in [
        (0, "0 µs"),
        (99, "99 µs"),
        (994, "990 µs"),
        (995, "1.0 ms"),
        (1_049, "1.0 ms"),
        (1_250, "1.3 ms"),
        (9_960, "10 ms"),
        (43_210, "43 ms"),
        (994_999, "990 ms"),
        (1_260_000, "1.3 s"),
        (75_000_000, "75 s"),
        (u64::MAX / 2, "9200000000000 s"),
    ] {
        assert_eq!(duration(us), shown, "{us}");
    }
}

#[test]
fn clauses_are_named_in_explanations() {
    let why = |name: &str| {
        serde_json::json!({
            "value": 1.5,
            "description": "sum",
            "details": [{ "value": 0.0, "name": name, "description": "a filter adds nothing", "details": [] }],
        })
    };
    let explained = |name: &str| {
        let hit = hit("title", "https://s.example/");
        let explanation = Some(why(name));
        page(vec![Hit { explanation, ..hit }])
    };
    let html = explained("lang:<b>en");
    assert!(
        html.contains("<i>lang:&#60;b&#62;en</i> <span>a filter"),
        "{html}"
    );
    assert!(!explained("").contains("<i>"));
}

#[test]
fn a_page_is_no_shorter_than_its_lower_bound() {
    let hits = vec![
        hit("A", "http://a.e/1"),
        hit("B", "javascript:alert(1)"),
        hit("C", "http://c.e/1"),
    ];
    let mut answer = answer(hits);
    answer.query = "x".repeat(10_000);
    answer.hits[0].more_from_site = false;
    let least = bytes_min(&answer);
    assert!(least > 50_000, "{least}");
    assert!(results(&mut answer, &page_options(), &[], &as_they_are()).len() >= least);
}
