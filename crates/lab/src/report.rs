//! Report of results as one self-contained HTML file, without network or script; light, dark and print styles.
use crate::results::{ExperimentResult, Panel, Session, Table};
use crate::svg::{COLOURS, draw, escaped, number};
use std::fmt::Write;

const STYLE: &str = include_str!("report.css");

/// Returns the page. All external text is escaped.
pub fn report(session: &Session, results: &[ExperimentResult]) -> String {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Shorttail laboratory</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    );
    head(&mut html, session, results);
    for result in results {
        experiment(&mut html, result);
    }
    machine(&mut html, session);
    html.push_str("</body>\n</html>\n");
    html
}

// Writing to a String cannot fail, so the results of `write!` are ignored below.

fn head(html: &mut String, session: &Session, results: &[ExperimentResult]) {
    let measured = results
        .iter()
        .filter(|result| result.lacking.is_empty())
        .count();
    let runs: usize = results.iter().map(|result| result.runs_count).sum();
    let _ = write!(
        html,
        "<header>\n<h1>What this machine does to search latency</h1>\n\
         <p class=\"faint\">{measured} of {} experiments measured in {runs} runs ({}), Shorttail {}, {}, \
         index {} ({}), queries {} ({}).</p>\n",
        results.len(),
        escaped(&session.depth),
        escaped(&session.shorttail),
        date(session.started_unix_ms),
        escaped(&session.index),
        escaped(&session.index_checksum),
        escaped(&session.queries),
        escaped(&session.queries_checksum),
    );
    if session.depth == "quick" {
        html.push_str(
            "<p class=\"warning\">A quick run: it shows that everything works. For figures to rely \
             on, run with --full.</p>\n",
        );
    }
    html.push_str("<nav><ul>\n");
    for result in results {
        let _ = writeln!(
            html,
            "<li><a href=\"#{0}\">{0}</a>{1}</li>",
            escaped(&result.name),
            if result.lacking.is_empty() {
                ""
            } else {
                " (not measured here)"
            }
        );
    }
    html.push_str(
        "<li><a href=\"#machine\">machine and capabilities</a></li>\n</ul></nav>\n</header>\n",
    );
}

fn experiment(html: &mut String, result: &ExperimentResult) {
    let _ = write!(
        html,
        "<section id=\"{0}\">\n<h2>{1}</h2>\n<p class=\"faint\">{0} · after {2}</p>\n\
         <p class=\"reading\">{3}</p>\n<p class=\"faint\">Published: {4}.</p>\n",
        escaped(&result.name),
        escaped(&result.question),
        escaped(&result.figure),
        escaped(&result.reading),
        escaped(&result.published),
    );
    for warning in &result.warnings {
        let _ = writeln!(html, "<p class=\"warning\">{}</p>", escaped(warning));
    }
    html.push_str("<div class=\"grid-of\">\n");
    result.panels.iter().for_each(|panel| figure(html, panel));
    html.push_str("</div>\n");
    tables(html, &result.tables);
    comparisons(html, result);
    for missing in &result.missing {
        let _ = writeln!(
            html,
            "<p class=\"faint\">Not measured here: {}.</p>",
            escaped(missing)
        );
    }
    html.push_str("</section>\n");
}

fn figure(html: &mut String, panel: &Panel) {
    let Some(svg) = draw(panel) else {
        return;
    };
    let class = if panel.is_published {
        " class=\"published\""
    } else {
        ""
    };
    let _ = write!(
        html,
        "<figure{class}>\n<h3>{}</h3>\n",
        escaped(&panel.title)
    );
    if panel.series.len() > 1 {
        html.push_str("<p class=\"legend\">");
        for (idx, series) in panel.series.iter().enumerate() {
            let colour = idx % COLOURS;
            let name = escaped(&series.name);
            let _ = write!(
                html,
                "<span class=\"s{colour}\"><i></i><span>{name}</span></span>"
            );
        }
        html.push_str("</p>\n");
    }
    let _ = write!(html, "{svg}\n</figure>\n");
}

fn tables(html: &mut String, tables: &[Table]) {
    let class = |idx: usize| if idx > 0 { " class=\"n\"" } else { "" };
    for table in tables {
        let title = escaped(&table.title);
        let _ = write!(
            html,
            "<div class=\"card\">\n<h3>{title}</h3>\n<table>\n<tr>"
        );
        for (idx, heading) in table.headings.iter().enumerate() {
            let _ = write!(html, "<th{}>{}</th>", class(idx), escaped(heading));
        }
        html.push_str("</tr>\n");
        for row in &table.rows {
            html.push_str("<tr>");
            for (idx, cell) in row.iter().enumerate() {
                let _ = write!(html, "<td{}>{}</td>", class(idx), escaped(cell));
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</table>\n</div>\n");
    }
}

fn comparisons(html: &mut String, result: &ExperimentResult) {
    if result.comparisons.is_empty() {
        return;
    }
    html.push_str(
        "<div class=\"card\">\n<table>\n<tr><th>arm</th><th>against</th><th class=\"n\">queries a second</th>\
         <th>figure</th><th class=\"n\">ratio</th><th class=\"n\">95 %</th><th class=\"n\">p (Holm)</th><th>verdict</th></tr>\n",
    );
    for row in &result.comparisons {
        let interval = row
            .interval
            .map_or("too few samples".to_owned(), |(low, high)| {
                format!("{low:.2} to {high:.2}")
            });
        let p_value = match row.p_value {
            Some(p_value) if p_value < 0.001 => "&lt; 0.001".to_owned(),
            Some(p_value) => format!("{p_value:.3}"),
            None => String::new(),
        };
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td>{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{interval}</td><td class=\"n\">{p_value}</td><td class=\"{verdict}\">{verdict}</td></tr>",
            escaped(&row.arm),
            escaped(&row.baseline),
            number(row.rate_qps),
            escaped(&row.figure),
            row.ratio_text(),
            verdict = escaped(&row.verdict),
        );
    }
    html.push_str("</table>\n</div>\n");
}

fn machine(html: &mut String, session: &Session) {
    let machine = &session.machine;
    let unknown = || "not known".to_owned();
    let rows = [
        (
            "processor",
            machine.processor.clone().unwrap_or_else(unknown),
        ),
        (
            "cores",
            machine
                .cores_count
                .map_or_else(unknown, |count| count.to_string()),
        ),
        (
            "memory",
            machine
                .memory_bytes
                .map_or_else(unknown, |b| format!("{:.1} GB", b as f64 / 1e9)),
        ),
        ("kernel", machine.kernel.clone().unwrap_or_else(unknown)),
        (
            "virtual",
            machine
                .is_virtual
                .map_or_else(unknown, |is| if is { "yes" } else { "no" }.into()),
        ),
        (
            "closed loop",
            session.capacity_qps.map_or_else(
                || "not measured".into(),
                |qps| format!("{} queries a second, what rates are shares of", number(qps)),
            ),
        ),
    ];
    let check = session.self_check.map_or_else(
        || "not measured".into(),
        |check| {
            format!(
                "{} of {} requests a second, 99 % sent within {} µs",
                number(check.achieved_qps),
                number(check.offered_qps),
                check.lag_us_p99.map_or("?".into(), number),
            )
        },
    );
    html.push_str("<section id=\"machine\">\n<h2>Machine and capabilities</h2>\n<div class=\"card\"><table>\n");
    for (name, value) in rows {
        let _ = writeln!(html, "<tr><th>{name}</th><td>{}</td></tr>", escaped(&value));
    }
    let queries = session.search_time.clone();
    for (name, value) in [
        ("client alone", check),
        ("queries", queries.unwrap_or_else(|| "as given".into())),
    ] {
        let _ = writeln!(html, "<tr><th>{name}</th><td>{}</td></tr>", escaped(&value));
    }
    html.push_str("</table></div>\n<div class=\"card\"><table>\n<tr><th>capability</th><th>state</th><th>why</th><th>seen</th><th>remedy</th></tr>\n");
    for found in &session.capabilities {
        let state = found.state.name();
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td class=\"{state}\">{state}</td><td>{}</td><td class=\"faint\">{}</td><td>{}</td></tr>",
            escaped(&found.id),
            escaped(&found.reason),
            escaped(&found.evidence.join("; ")),
            escaped(&found.remedy),
        );
    }
    html.push_str("</table></div>\n</section>\n");
}

/// Returns the UTC date of a time since 1970.
fn date(unix_ms: u64) -> String {
    document::iso_date((unix_ms / 86_400_000) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Axis, ComparisonRow, Point, Series};

    #[test]
    fn a_page_needs_nothing_else_and_believes_nothing() {
        let experiment = &crate::experiment::chosen(&["arrival-rate".into()]).unwrap()[0];
        let mut result = ExperimentResult::of(experiment);
        result.reading = "<script>alert(1)</script>".into();
        result.panels.push(Panel {
            title: "ours".into(),
            x: Axis::linear("x"),
            y: Axis::log("y"),
            series: vec![Series {
                name: "a".into(),
                points: vec![Point::at(1.0, 2.0)],
            }],
            is_published: false,
        });
        result.add_published(experiment);
        result.tables.push(Table {
            title: "<b>".into(),
            headings: vec!["which".into(), "much".into()],
            rows: vec![vec!["<img src=y>".into(), "12".into()]],
        });
        result.comparisons.push(ComparisonRow {
            arm: "b".into(),
            baseline: "a".into(),
            rate_qps: 10.0,
            figure: "p99".into(),
            ratio: Some(1.5),
            interval: Some((1.2, 1.8)),
            p_value: Some(0.0001),
            verdict: "slower".into(),
        });
        result
            .missing
            .push("energy (unavailable, no <img> counter)".into());
        let session = Session {
            shorttail: "0".into(),
            started_unix_ms: 951_782_400_000,
            depth: "quick".into(),
            machine: load::Machine::default(),
            capabilities: crate::examine(&crate::Tree::here()),
            index: "\"><img src=x>".into(),
            index_checksum: "0".into(),
            queries: "q".into(),
            queries_checksum: "0".into(),
            capacity_qps: None,
            search_time: Some("<i>".into()),
            self_check: None,
        };
        let html = report(&session, &[result]);
        assert_eq!(html.matches("<svg").count(), 2);
        assert!(html.contains("&lt;b&gt;") && html.contains("<td class=\"n\">12</td>"));
        assert!(html.contains("Not measured here: energy (unavailable"));
        assert!(html.contains("2000-02-29") && html.contains("1.20 to 1.80"));
        assert!(html.contains("&lt; 0.001") && html.contains("&lt;i&gt;"));
        for outside in ["<script", "http:", "https:", "url(", "<img", "@import"] {
            assert!(!html.contains(outside), "{outside}");
        }
    }

    #[test]
    fn days_are_counted_as_the_calendar_does() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(1_795_274_476_875), "2026-11-21");
        assert_eq!(date(4_107_542_400_000), "2100-03-01");
    }
}
