//! Output of the figures of a run, as tables or JSON.

use super::repetition::Repetition;
use super::written;
use ::load::{
    Figure, Interval, PERCENTILES, Probe, ProbeVerdict, RateSearch, Times, highest_kept,
    is_client_the_limit, repetitions_needed,
};
use console::figures::{count, counted, microseconds};
use console::terminal::{Style, printable};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Relative width of a confidence interval for which the necessary repetitions are reported.
const WIDTH_WANTED: f64 = 0.05;

pub(super) fn write_table(to: &mut impl Write, runs: &[Repetition]) -> io::Result<()> {
    let Some(last) = runs.last() else {
        return Ok(());
    };
    let style = Style::of_stdout();
    let mut rows = vec![row_of(
        "response time",
        &merged(runs, |run| &run.summary.response),
    )];
    let of_all = merged(runs, |run| &run.summary.response_of_all);
    if of_all.max_us().is_none() {
        rows.push(row_of("response time, unanswered last", &of_all));
    }
    rows.push(row_of(
        "service time",
        &merged(runs, |run| &run.summary.service),
    ));
    rows.push(row_of(
        "schedule lag",
        &merged(runs, |run| &run.summary.lag),
    ));
    let server = merged(runs, |run| &run.summary.server);
    if server.count() > 0 {
        rows.push(row_of("server's own time", &server));
    }
    for (name, _) in &last.summary.phases {
        let mut phase = Times::default();
        let of_runs = runs.iter().flat_map(|run| &run.summary.phases);
        let same = of_runs.filter(|(of_run, _)| of_run == name);
        same.for_each(|(_, times)| phase.merge(times));
        rows.push(row_of(&format!("  {}", name.replace('_', " ")), &phase));
    }
    let written = written::times(runs).into_iter();
    let written = written.filter(|(_, times)| times.count() > 0);
    rows.extend(written.map(|(name, times)| row_of(name, &times)));
    let mut head = vec![String::new(), "mean".into()];
    head.extend(
        PERCENTILES
            .iter()
            .map(|percentile| format!("p{percentile}")),
    );
    head.push("max".into());
    // A percentile that no row has gets no column.
    let used: Vec<bool> = (0..head.len())
        .map(|column| column < 2 || rows.iter().any(|row| row[column] != NONE))
        .collect();
    let widths: Vec<usize> = (0..head.len())
        .map(|column| {
            let cells = rows
                .iter()
                .chain([&head])
                .map(|row| row[column].chars().count());
            cells.max().unwrap_or(0)
        })
        .collect();
    for (idx, row) in std::iter::once(&head).chain(&rows).enumerate() {
        let mut line = format!("{:<width$}", row[0], width = widths[0]);
        for column in (1..row.len()).filter(|&column| used[column]) {
            line.push_str(&format!(
                "  {:>width$}",
                row[column],
                width = widths[column]
            ));
        }
        writeln!(to, "{}", if idx == 0 { style.bold(&line) } else { line })?;
    }
    writeln!(to)?;
    write_counts(to, runs)?;
    if let Some(line) = written::line(runs) {
        writeln!(to, "{line}")?;
    }
    write_spread(to, runs)?;
    write_remarks(to, runs)
}

const NONE: &str = "–";

fn row_of(name: &str, times: &Times) -> Vec<String> {
    let cell = |us: Option<f64>| us.map_or(NONE.to_owned(), microseconds);
    let mut row = vec![name.to_owned(), cell(times.mean_us())];
    row.extend(
        PERCENTILES
            .iter()
            .map(|&percentile| cell(times.percentile_us(percentile))),
    );
    row.push(cell(times.max_us()));
    row
}

fn merged(runs: &[Repetition], of: impl Fn(&Repetition) -> &Times) -> Times {
    let mut all = Times::default();
    runs.iter().for_each(|run| all.merge(of(run)));
    all
}

fn mean(runs: &[Repetition], of: impl Fn(&Repetition) -> f64) -> f64 {
    runs.iter().map(of).sum::<f64>() / runs.len().max(1) as f64
}

fn write_counts(to: &mut impl Write, runs: &[Repetition]) -> io::Result<()> {
    let late: u64 = runs.iter().map(|run| run.summary.late_count).sum();
    writeln!(
        to,
        "{:.1} requests a second offered, {:.1} answered; {} sent over 1 ms late",
        mean(runs, |run| run.summary.offered_qps),
        mean(runs, |run| run.summary.achieved_qps),
        count(late),
    )?;
    let endings: Vec<String> = endings(runs)
        .into_iter()
        .map(|(name, number)| format!("{} {name}", count(number)))
        .collect();
    writeln!(to, "endings: {}", endings.join(", "))?;
    let sum = |of: fn(&Repetition) -> u64| runs.iter().map(of).sum::<u64>();
    let checksum = runs
        .last()
        .and_then(|run| run.record.answers_checksum.clone());
    writeln!(
        to,
        "answers: {} whole ({} without a hit), {} partial; checksum {}",
        count(sum(|run| run.summary.answers.whole_count)),
        count(sum(|run| run.summary.answers.empty_count)),
        count(sum(|run| run.summary.answers.partial_count)),
        checksum.as_deref().unwrap_or(NONE),
    )
}

fn endings(runs: &[Repetition]) -> Vec<(String, u64)> {
    let mut all = std::collections::BTreeMap::new();
    for (ending, number) in runs.iter().flat_map(|run| &run.summary.endings) {
        *all.entry(*ending).or_insert(0) += number;
    }
    all.into_iter()
        .map(|(ending, number)| (ending.name(), number))
        .collect()
}

/// Returns a figure of each repetition; `None` if one of them does not support it.
fn of_each(runs: &[Repetition], figure: Figure) -> Option<Vec<f64>> {
    runs.iter()
        .map(|run| figure.of(&run.summary.response))
        .collect()
}

fn write_spread(to: &mut impl Write, runs: &[Repetition]) -> io::Result<()> {
    if runs.len() < 2 {
        return Ok(());
    }
    for figure in [
        Figure::Mean,
        Figure::Percentile(50.0),
        Figure::Percentile(99.0),
    ] {
        let Some(values) = of_each(runs, figure) else {
            continue;
        };
        let Some(Interval { low, high }) = Interval::of_mean(&values) else {
            continue;
        };
        let needed = repetitions_needed(&values, WIDTH_WANTED);
        let needed = needed.map_or(NONE.to_owned(), |needed| count(needed as u64));
        writeln!(
            to,
            "{}: 95 % interval {} to {} over {} repetitions; ±5 % takes {needed}",
            figure.name(),
            microseconds(low),
            microseconds(high),
            runs.len(),
        )?;
    }
    Ok(())
}

fn write_remarks(to: &mut impl Write, runs: &[Repetition]) -> io::Result<()> {
    if let Some(check) = runs.last().and_then(|run| run.record.self_check) {
        let lag = check.lag_us_p99.map_or(NONE.to_owned(), microseconds);
        writeln!(
            to,
            "self-check: {:.0} of {:.0} requests a second at a server that does nothing, lag p99 {lag}",
            check.achieved_qps, check.offered_qps,
        )?;
    }
    for (idx, run) in runs.iter().enumerate() {
        for label in &run.summary.labels {
            let which = match runs.len() {
                1 => String::new(),
                _ => format!(" (repetition {})", idx + 1),
            };
            writeln!(to, "warning{which}: {}", printable(&label.to_string()))?;
        }
    }
    Ok(())
}

pub(super) fn write_json(to: &mut impl Write, runs: &[Repetition]) -> io::Result<()> {
    let repetitions: Result<Vec<Value>, serde_json::Error> = runs.iter().map(json_of).collect();
    let mut spread = Map::new();
    for figure in [
        Figure::Mean,
        Figure::Percentile(50.0),
        Figure::Percentile(99.0),
    ] {
        let interval = of_each(runs, figure).and_then(|values| Interval::of_mean(&values));
        spread.insert(format!("{}_us", figure.name()), json!(interval));
    }
    let all = json!({
        "response": json_of_times(&merged(runs, |run| &run.summary.response)),
        "response_95_percent": spread,
        "repetitions": repetitions?,
    });
    writeln!(to, "{all}")
}

fn json_of(run: &Repetition) -> Result<Value, serde_json::Error> {
    let summary = &run.summary;
    let endings: Map<String, Value> = summary
        .endings
        .iter()
        .map(|(ending, number)| (ending.name(), json!(number)))
        .collect();
    let phases: Map<String, Value> = summary
        .phases
        .iter()
        .map(|(name, times)| ((*name).to_owned(), json_of_times(times)))
        .collect();
    Ok(json!({
        "run": serde_json::to_value(&run.record)?,
        "offered_qps": summary.offered_qps,
        "achieved_qps": summary.achieved_qps,
        "late": summary.late_count,
        "unanswered": summary.response_of_all.never_count(),
        "endings": endings,
        "response": json_of_times(&summary.response),
        "response_of_all": json_of_times(&summary.response_of_all),
        "service": json_of_times(&summary.service),
        "lag": json_of_times(&summary.lag),
        "server": json_of_times(&summary.server),
        "phases": phases,
        "written": run.written.as_ref().map(|one| written::json_of(one, json_of_times)),
        "answers": serde_json::to_value(&summary.answers)?,
    }))
}

/// Returns times as JSON; percentiles that the sample does not support are null.
fn json_of_times(times: &Times) -> Value {
    let mut figures = Map::new();
    figures.insert("count".into(), json!(times.count()));
    figures.insert("mean_us".into(), json!(times.mean_us()));
    for percentile in PERCENTILES {
        let value = json!(times.percentile_us(percentile));
        figures.insert(format!("p{percentile}_us"), value);
    }
    figures.insert("max_us".into(), json!(times.max_us()));
    Value::Object(figures)
}

pub(super) fn write_probe_head(to: &mut impl Write, search: &RateSearch) -> io::Result<()> {
    let percentile = format!("p{}", search.percentile);
    writeln!(
        to,
        "{:>9}  {percentile:>9}  {:>9}  answered",
        "rate", "median"
    )
}

pub(super) fn write_probe(to: &mut impl Write, probe: &Probe) -> io::Result<()> {
    let cell = |us: Option<f64>| us.map_or(NONE.to_owned(), microseconds);
    let summary = &probe.summary;
    let answered = summary.response.count() as f64 / summary.response_of_all.count().max(1) as f64;
    let labels: Vec<&str> = summary.labels.iter().map(load::Label::name).collect();
    writeln!(
        to,
        "{:>7.1}/s  {:>9}  {:>9}  {:>6.1} %  {} {}",
        probe.rate_qps,
        cell(probe.percentile_us),
        cell(summary.response.percentile_us(50.0)),
        answered * 100.0,
        probe.verdict.name(),
        labels.join(" "),
    )
}

pub(super) fn write_search_end(
    to: &mut impl Write,
    search: &RateSearch,
    probes: &[Probe],
) -> io::Result<()> {
    let target = microseconds(search.target.as_secs_f64() * 1e6);
    let percentile = search.percentile;
    match highest_kept(probes) {
        Some(probe) => writeln!(
            to,
            "\np{percentile} stays within {target} up to {:.0} requests a second ({} tried)",
            probe.rate_qps,
            counted(probes.len() as u64, "rate"),
        ),
        None => writeln!(
            to,
            "\nno rate was found at which p{percentile} stays within {target}"
        ),
    }?;
    if is_client_the_limit(probes) {
        writeln!(
            to,
            "beyond it this client was late, not the server: give it a core or more --connections"
        )?;
    }
    Ok(())
}

/// Returns a search and its probes as JSON.
pub(super) fn search_json(search: &RateSearch, probes: &[Probe]) -> Value {
    let tried: Vec<Value> = probes
        .iter()
        .map(|probe| {
            let labels: Vec<&str> = probe.summary.labels.iter().map(load::Label::name).collect();
            json!({
                "rate_qps": probe.rate_qps,
                "percentile_us": probe.percentile_us,
                "kept": probe.verdict == ProbeVerdict::Kept,
                "verdict": probe.verdict.name(),
                "response": json_of_times(&probe.summary.response),
                "response_of_all": json_of_times(&probe.summary.response_of_all),
                "labels": labels,
            })
        })
        .collect();
    json!({
        "percentile": search.percentile,
        "target_us": search.target.as_secs_f64() * 1e6,
        "is_client_the_limit": is_client_the_limit(probes),
        "highest_qps": highest_kept(probes).map(|probe| probe.rate_qps),
        "probes": tried,
    })
}
