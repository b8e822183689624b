//! Tests of the chart: each step has its row, under the step that contains it.
use super::*;
use crate::http::page::tests::answer;
use proptest::prelude::*;

fn span(name: &str, part: &str, start_us: u64, duration_us: u64) -> Span {
    Span {
        name: name.into(),
        part: part.into(),
        start_us,
        duration_us,
        filters: Vec::new(),
    }
}

fn chart(spans: Vec<Span>) -> Gantt {
    let mut answer = answer(Vec::new());
    answer.phases_us.total = 1_000;
    answer.phases_us.render = 50;
    answer.trace = Some(spans);
    gantt(&answer).unwrap()
}

#[test]
fn without_a_timeline_there_is_no_chart() {
    assert!(gantt(&answer(Vec::new())).is_none());
}

#[test]
fn steps_stand_under_the_call_that_they_are_of() {
    let chart = chart(vec![
        span("search call", "chunks 0", 10, 500),
        span("search call", "chunks 1", 11, 300),
        span("parse", "chunks 0", 20, 0),
        span("queueing", "chunks 1", 30, 20),
        span("search", "chunks 1", 50, 262),
        span("search", "chunks 0", 60, 400),
        span("merge", "", 511, 1),
        span("optimization search", "", 520, 300),
        span("search call", "chunks 0", 521, 290),
        span("search", "chunks 0", 530, 250),
        span("summaries", "chunks 0-1", 850, 100),
    ]);
    let rows: Vec<_> = chart
        .rows
        .iter()
        .map(|row| (row.depth, row.name.as_str(), row.part.as_str()))
        .collect();
    assert_eq!(
        rows,
        [
            (0, "search call", "chunks 0"),
            (1, "parse", "chunks 0"),
            (1, "search", "chunks 0"),
            (0, "search call", "chunks 1"),
            (1, "queueing", "chunks 1"),
            (1, "search", "chunks 1"),
            (0, "merge", ""),
            (0, "optimization search", ""),
            (1, "search call", "chunks 0"),
            (2, "search", "chunks 0"),
            (0, "summaries", "chunks 0-1"),
            (0, "render", ""),
        ]
    );
    let search = &chart.rows[2];
    assert_eq!(search.class, "index_search");
    assert_eq!(
        (search.at.as_str(), search.width.as_str()),
        ("6.000%", "40.000%")
    );
    assert_eq!((search.began.as_str(), search.took.as_str()), ("60", "400"));
    let render = chart.rows.last().unwrap();
    assert_eq!(
        (render.at.as_str(), render.width.as_str()),
        ("95.000%", "5.000%")
    );
    let labels: Vec<_> = chart.ticks.iter().map(|tick| tick.label.as_str()).collect();
    assert_eq!(labels, ["0", "500 µs", "1 ms"]);
    assert_eq!(chart.ticks[2].anchor, "end");
}

#[test]
fn stays_of_handlers_stand_under_their_search() {
    let mut answer = answer(Vec::new());
    answer.trace = Some(vec![
        span("search call", "chunks 0", 10, 500),
        span("search", "chunks 0", 60, 400),
        span("handler 0 begins", "chunks 0", 60, 399),
        span("handler 1 helps", "chunks 0", 90, 300),
        span("handler 1 helps", "chunks 1", 90, 300),
    ]);
    answer.schedule = vec![wire::Schedule {
        part: "chunks 0".into(),
        policy: "boost".into(),
        handlers: 2,
        ranges_cut: 9,
        ..wire::Schedule::default()
    }];
    let chart = gantt(&answer).unwrap();
    let rows = chart.rows.iter().map(|row| (row.depth, row.name.as_str()));
    assert_eq!(
        rows.collect::<Vec<_>>(),
        [
            (0, "search call"),
            (1, "search"),
            (2, "handler 0 begins"),
            (2, "handler 1 helps"),
            // Of another part: not under this search.
            (0, "handler 1 helps"),
            (0, "render"),
        ]
    );
    assert!(chart.rows.iter().any(|row| row.class == "index_search"));
    assert!(
        chart.schedules[0]
            .summary
            .contains("boost, 2 handlers: 9 ranges")
    );
}

#[test]
fn of_very_many_steps_the_longest_are_shown() {
    let spans = (0..1000).map(|n| span("search call", &format!("chunks {n}"), 0, n));
    let chart = chart(spans.collect());
    assert_eq!(chart.left_out, 1000 - ROWS_MAX);
    // The row of the rendering comes last.
    assert_eq!(chart.rows.len(), ROWS_MAX + 1);
    assert!(chart.rows.iter().any(|row| row.took == "999"));
}

#[test]
fn scales_are_round() {
    for (whole_us, expected) in [
        (1, 1),
        (4, 1),
        (5, 2),
        (99, 20),
        (1_000, 500),
        (1_234, 500),
        (9_999, 2_000),
    ] {
        assert_eq!(tick_us(whole_us), expected, "{whole_us}");
    }
    assert_eq!(label(2_500), "2.5 ms");
    assert_eq!(label(3_000_000), "3 s");
}

proptest! {
    /// Every step has one row inside the chart, for any times that servers report.
    #[test]
    fn every_step_has_a_row(
        steps in prop::collection::vec((0..5usize, 0..3u64, 0..2_000u64, 0..2_000u64), 0..80),
    ) {
        const NAMES: [&str; 5] = ["search call", "search", "optimization search", "merge", "details"];
        let spans = steps.iter().map(|&(name, part, start, took)| {
            let part = if part == 0 { String::new() } else { format!("chunks {part}") };
            span(NAMES[name], &part, start, took)
        });
        let chart = chart(spans.collect());
        prop_assert_eq!(chart.rows.len(), steps.len() + 1);
        let percent = |text: &str| text.trim_end_matches('%').parse::<f64>().unwrap();
        for row in &chart.rows {
            prop_assert!(percent(&row.at) + percent(&row.width) <= 100.01, "{row:?}");
        }
        for tick in &chart.ticks {
            prop_assert!(percent(&tick.at) <= 100.0);
        }
    }
}
