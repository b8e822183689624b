//! Views of two recorded readings, and of unknown figures.

use super::*;
use crate::top::{line, screen};
use console::terminal::Style;
use proptest::prelude::*;

/// Two readings of one server, two seconds apart: 40 searches as JSON and one page between them.
const BEFORE: &str = include_str!("../recorded/before.txt");
const AFTER: &str = include_str!("../recorded/after.txt");
const TWO_S: Duration = Duration::from_secs(2);

/// Metrics of a server with index servers of its own.
fn servers(n: u32) -> String {
    let mut text = String::new();
    for partition in ["0-1", "2-9", "10-11"] {
        text += &format!(
            "shorttail_queue_length{{partition=\"{partition}\"}} {n}\n\
             shorttail_handlers{{partition=\"{partition}\"}} 4\n\
             shorttail_handlers_busy{{partition=\"{partition}\"}} 3\n\
             shorttail_refused_total{{partition=\"{partition}\"}} {n}\n\
             shorttail_expired_total{{partition=\"{partition}\"}} {n}\n\
             shorttail_ended_early_total{{partition=\"{partition}\"}} {n}\n"
        );
        for (bound, count) in [("0.001", n), ("0.01", 2 * n), ("+Inf", 3 * n)] {
            text += &format!(
                "shorttail_partition_seconds_bucket{{partition=\"{partition}\",\
                 phase=\"queueing\",le=\"{bound}\"}} {count}\n"
            );
        }
    }
    let counters = [
        "rejected_total{reason=\"queue_full\"}",
        "hedges_total",
        "hedges_won_total",
        "failovers_total",
        "cache_misses_total",
        "partial_answers_total",
    ];
    for counter in counters {
        text += &format!("shorttail_{counter} {n}\n");
    }
    text + &format!(
        "shorttail_cache_hits_total {}\nshorttail_calls_total {}\nshorttail_generation {n}\n",
        3 * n,
        50 * n
    )
}

fn view(before: &str, after: &str) -> View {
    let (before, after) = (Exposition::parse(before), Exposition::parse(after));
    View::of("http://x:1", &after, Some((&before, TWO_S)))
}

fn shown(view: &View) -> String {
    screen(view, Style::PLAIN).join("\n")
}

fn crawl(fetched: u32, known: u32) -> String {
    format!(
        "shorttail_crawl_running 1\n\
             shorttail_crawl_visits_total{{result=\"fetched\"}} {fetched}\n\
             shorttail_crawl_visits_total{{result=\"failed\"}} 3\n\
             shorttail_crawl_wire_bytes_total {}\n\
             shorttail_crawl_documents_added_total {fetched}\n\
             shorttail_crawl_urls_known {known}\n\
             shorttail_crawl_urls_queued 1200\n\
             shorttail_crawl_hosts 20\n\
             shorttail_crawl_hosts_waiting 18\n",
        u64::from(fetched) * 30_000
    )
}

#[test]
fn a_crawl_is_told_of_where_there_is_one() {
    let view = view(&crawl(100, 4_000), &crawl(180, 5_344));
    let text = shown(&view);
    for line in [
        "crawl     runs    visits 40.0/s  (fetched 40.0/s)    received 1.2 MB/s",
        "          URLs 5,344 known, 1,200 to visit    hosts 20, 18 waiting    documents added 40.0/s, deleted –",
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert!(
        !shown(&super::View {
            crawl: None,
            ..view
        })
        .contains("crawl")
    );
}

#[test]
fn a_recorded_server() {
    let view = view(BEFORE, AFTER);
    assert_eq!((view.restarted, view.malformed_count), (false, 0));
    let expected = "\
http://x:1  3 documents  in the last 2.0 s

queries   20.5/s  (json 20.0/s, page 0.5/s)
errors    0.0/s
rejected  –    expired –    partial answers –
hedges    –    won –    failovers –    optimization searches 0.0/s
cache     hits –    misses –

";
    let text = shown(&view);
    assert!(text.starts_with(expected), "{text}");
    let phases: Vec<&str> = view
        .phases
        .iter()
        .map(|phase| phase.phase.as_str())
        .collect();
    let order = [
        "parse",
        "queueing",
        "index_search",
        "optimization_searches",
        "merge",
        "details",
        "summaries",
        "render",
        "total",
    ];
    assert_eq!(phases, order);
    assert!(view.phases.iter().all(|phase| phase.count == 41.0));
    // Counted by hand in the recorded buckets.
    let total = view.phases.last().unwrap();
    assert_eq!(total.p50_us_at_most, Some(AtMost(TOTAL_US[0])), "{total:?}");
    assert_eq!(total.p99_us_at_most, Some(AtMost(TOTAL_US[1])), "{total:?}");
    assert_eq!(total.max_us_at_most, Some(AtMost(TOTAL_US[2])), "{total:?}");
}
/// Median, 99th percentile and maximum of the whole: upper bounds of buckets.
const TOTAL_US: [f64; 3] = [200.0, 7_500.0, 7_500.0];

#[test]
fn everything_that_a_server_may_tell() {
    let view = view(
        &format!("{BEFORE}{}", servers(10)),
        &format!("{AFTER}{}", servers(14)),
    );
    let expected = "\
http://x:1  3 documents  generation 14  in the last 2.0 s

queries   20.5/s  (json 20.0/s, page 0.5/s)
errors    0.0/s
rejected  2.0/s  (queue_full 2.0/s)    expired 6.0/s    partial answers 2.0/s
hedges    2.0/s  (2.0 % of calls)    won 2.0/s    failovers 2.0/s    optimization searches 0.0/s
cache     hits 6.0/s  (75.0 % of all)    misses 2.0/s

partition  queue  busy  handlers  refused  expired  ended early  phase     mean  p50 ≤  p99 ≤  max ≤
0-1           14     3         4    2.0/s    2.0/s        2.0/s  queueing     –  10 ms   over   over
2-9           14     3         4    2.0/s    2.0/s        2.0/s  queueing     –  10 ms   over   over
10-11         14     3         4    2.0/s    2.0/s        2.0/s  queueing     –  10 ms   over   over

phase";
    let text = shown(&view);
    assert!(text.contains(expected), "{text}");
    let one = line(&view);
    assert!(
        one.contains("rejected 2.0/s  queue 42  busy 9/12  p50 ≤ "),
        "{one}"
    );
    let json = serde_json::to_value(&view).unwrap();
    assert_eq!(json["partitions"][2]["partition"], "10-11");
    let phase = &json["partitions"][0]["phases"][0];
    assert_eq!(phase["p50_us_at_most"], 10_000.0);
    assert_eq!(phase["p99_us_at_most"], "+Inf");
    assert_eq!(phase["mean_us"], serde_json::Value::Null);
}

#[test]
fn every_field_stands_in_the_document() {
    let document = include_str!("../../../../../docs/formats/top.md");
    let text = format!("{AFTER}{}{}", servers(14), crawl(1, 2));
    let json = serde_json::to_value(view("", &text)).unwrap();
    let partition = &json["partitions"][0];
    let objects = [&json, partition, &partition["phases"][0], &json["crawl"]];
    for object in objects {
        for name in object.as_object().unwrap().keys() {
            assert!(document.contains(&format!("`{name}`")), "{name}");
        }
    }
}

#[test]
fn what_is_not_told_is_unknown_and_never_0() {
    let json = serde_json::to_value(view("", "")).unwrap();
    for (name, value) in json.as_object().unwrap() {
        match name.as_str() {
            "url" | "interval_s" | "restarted" | "malformed_count" => {}
            "indexes" | "partitions" | "phases" => assert_eq!(value, &serde_json::json!([])),
            _ if name.contains("_by_") => assert_eq!(value, &serde_json::json!({})),
            _ => assert!(value.is_null(), "{name}: {value}"),
        }
    }
    let nothing = shown(&view("", ""));
    assert!(!nothing.contains("0.0/s"), "{nothing}");
    // Of one reading, rates are unknown, and queues are not.
    let first = Exposition::parse(&servers(7));
    let first = View::of("http://x:1", &first, None);
    assert_eq!((first.hedges_per_s, first.interval_s), (None, None));
    assert_eq!(first.partitions[0].queue_length, Some(7.0));
    assert_eq!(first.partitions[0].expired_per_s, None);
    // Nothing was timed: how long it took is unknown.
    let quiet = view(AFTER, AFTER);
    let total = quiet.phases.last().unwrap();
    assert_eq!(
        (total.count, total.mean_us, total.p50_us_at_most),
        (0.0, None, None)
    );
    assert_eq!(quiet.queries_per_s, Some(0.0));
}

#[test]
fn a_server_that_was_started_anew_is_told() {
    let view = view(AFTER, BEFORE);
    assert!(view.restarted);
    assert_eq!(view.queries_per_s, None);
    assert!(view.phases.is_empty());
    assert!(shown(&view).ends_with("the server was started anew meanwhile"));
}

#[test]
fn a_metric_that_appears_began_at_0() {
    let view = view("", "shorttail_queries_total{client=\"json\"} 8\n");
    assert_eq!(view.queries_per_s, Some(4.0));
}

#[test]
fn what_a_server_says_does_not_command_the_terminal() {
    let hostile = "shorttail_queue_length{partition=\"\u{1b}[2J\u{202e}\"} 1\n\
                   shorttail_errors_total{kind=\"\u{1b}]0;x\u{7}\"} 9\n???\n";
    let view = view("", hostile);
    let text = shown(&view) + &line(&view);
    assert!(
        !text.chars().any(|c| c.is_control() && c != '\n'),
        "{text:?}"
    );
    assert!(
        text.contains("1 line of its metrics not understood"),
        "{text}"
    );
}

/// Metrics of a server of many indexes, each by name, searches, documents and generation.
fn of_indexes(indexes: &[(&str, u32, u32, u32)]) -> String {
    let mut text = String::new();
    for (name, searches, documents, generation) in indexes {
        text += &format!(
            "shorttail_documents{{index=\"{name}\"}} {documents}\n\
             shorttail_generation{{index=\"{name}\"}} {generation}\n\
             shorttail_queries_total{{index=\"{name}\",client=\"json\"}} {searches}\n\
             shorttail_queries_total{{index=\"{name}\",client=\"page\"}} 0\n\
             shorttail_errors_total{{index=\"{name}\",kind=\"timed_out\"}} 0\n\
             shorttail_search_seconds_sum{{index=\"{name}\"}} {searches}\n"
        );
        for (bound, count) in [
            ("0.001", searches / 2),
            ("0.01", *searches),
            ("+Inf", *searches),
        ] {
            text += &format!(
                "shorttail_search_seconds_bucket{{index=\"{name}\",le=\"{bound}\"}} {count}\n"
            );
        }
    }
    text
}

#[test]
fn many_indexes_are_told_apart_and_added_up() {
    let before = of_indexes(&[("a", 10, 5, 1), ("gone", 1_000, 9, 4)]);
    let after = of_indexes(&[("a", 14, 5, 1), ("new", 40, 7, 2)]);
    let view = view(&before, &after);
    // An index that was dropped is no restart, and one that was opened began at 0.
    assert!(!view.restarted);
    assert_eq!((view.documents, view.generation), (Some(12.0), None));
    assert_eq!(view.queries_per_s, Some(22.0));
    let rates = view
        .indexes
        .iter()
        .map(|one| (one.index.as_str(), one.queries_per_s));
    assert_eq!(
        rates.collect::<Vec<_>>(),
        [("new", Some(20.0)), ("a", Some(2.0))]
    );
    let totals: Vec<_> = view
        .phases
        .iter()
        .filter(|phase| phase.phase == "total")
        .collect();
    assert_eq!((totals.len(), totals[0].count), (1, 44.0));
    let text = shown(&view);
    assert!(text.contains("12 documents  in the last"), "{text}");
    let row = text.lines().find(|line| line.starts_with("new ")).unwrap();
    assert!(row.contains("20.0/s"), "{row}");
    let names: Vec<String> = (0..20).map(|number| format!("i{number:02}")).collect();
    let many: Vec<_> = names.iter().map(|name| (name.as_str(), 1, 1, 1)).collect();
    let text = shown(&super::View::of(
        "http://x:1",
        &Exposition::parse(&of_indexes(&many)),
        None,
    ));
    assert!(text.contains("i11 ") && !text.contains("i12 "), "{text}");
    assert!(text.contains("and 8 more indexes"), "{text}");
}

proptest! {
    /// Any texts give a view without a panic.
    #[test]
    fn no_text_panics(
        cuts in proptest::collection::vec((0..20_000usize, "[ -~\n\u{1b}ä]{0,8}"), 0..12),
        both in any::<bool>(),
    ) {
        let mut text = format!("{AFTER}{}", servers(14));
        for (at, new) in cuts {
            // Characters may have been cut out before: the text is taken as bytes.
            let mut bytes = text.into_bytes();
            let start = at.min(bytes.len());
            let end = (start + new.len()).min(bytes.len());
            bytes.splice(start..end, new.bytes());
            text = String::from_utf8_lossy(&bytes).into_owned();
        }
        let view = if both { view(&text, &text) } else { view(BEFORE, &text) };
        for rate in [view.queries_per_s, view.errors_per_s, view.hedges_per_s] {
            prop_assert!(rate.is_none_or(|rate| rate >= 0.0 && rate.is_finite()));
        }
        prop_assert!(serde_json::to_string(&view).is_ok());
        prop_assert!(!shown(&view).is_empty() && !line(&view).is_empty());
    }
}
