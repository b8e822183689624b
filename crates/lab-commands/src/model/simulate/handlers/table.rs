//! Table of policies by load.

use super::arguments::Asked;
use crate::model::simulate::machine::write_energies;
use crate::model::table::{Table, ms, number};
use console::figures::count;
use model::energy::Energy;
use model::handlers::{HandlersSettings, HandlersSummary};
use schedule::board::Policy;
use serde::Serialize;
use std::io::Write;
use std::sync::Arc;

/// A policy, its figures by load, and its energy by rate.
pub(super) type Row = (String, Vec<Line>, Vec<(f64, Option<Energy>)>);

/// Figures of a policy at one rate.
#[derive(Serialize)]
pub(super) struct Line {
    handlers: usize,
    policy: String,
    pub(super) rate_per_s: f64,
    load: f64,
    pub(super) overloaded: bool,
    utilisation: f64,
    counted: u64,
    expired: u64,
    response_ms: f64,
    quantiles: Vec<Quantile>,
    helps_per_query: f64,
    parked_per_query: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    watts_estimated: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    joules_per_query_estimated: Option<f64>,
}

/// A quantile of the response time, and half the width of its 95 % interval.
#[derive(Serialize)]
struct Quantile {
    share: f64,
    ms: Option<f64>,
    ms_ci95: Option<f64>,
}

impl Quantile {
    fn cell(&self, is_overloaded: bool) -> String {
        match (self.ms, self.ms_ci95) {
            _ if is_overloaded => "overloaded".to_owned(),
            (Some(ms), Some(ci)) => format!("{} ± {}", number(ms), number(ci)),
            _ => "-".to_owned(),
        }
    }
}

/// Returns the figures of a policy at one rate.
pub(super) fn line_of(
    asked: &Asked<'_>,
    settings: &HandlersSettings,
    policy: &Arc<dyn Policy>,
    summary: &HandlersSummary,
    energy: Option<Energy>,
) -> Line {
    let rate_per_s = settings.arrivals.rate_per_s();
    let load = rate_per_s * settings.times.work_ms() / 1e3 / settings.capacity();
    // Helpers work less than owners in the same time: a server may be full below a load of 1.
    let is_full = load >= 1.0 || summary.utilisation() >= 0.995;
    let quantile = |&share: &f64| {
        let ms = summary.quantile_ms(share);
        let spread = summary.spread_ms(share).filter(|_| ms.is_some());
        Quantile {
            share,
            ms,
            ms_ci95: spread.map(|spread| spread.half_width(0.95)),
        }
    };
    Line {
        handlers: settings.speeds.len(),
        policy: policy.name(),
        rate_per_s,
        load,
        overloaded: is_full && settings.deadline_ms.is_none(),
        utilisation: summary.utilisation(),
        counted: summary.counted(),
        expired: summary.expired,
        response_ms: summary.mean_ms(),
        quantiles: asked.given.quantile.iter().map(quantile).collect(),
        helps_per_query: summary.helps_per_query(),
        parked_per_query: summary.parked_per_query(),
        watts_estimated: energy.map(|energy| energy.watts),
        joules_per_query_estimated: energy.map(|energy| energy.joules_per_query),
    }
}

/// Writes a table for each quantile: a row a policy, a column a load.
pub(super) fn write_tables(
    asked: &Asked<'_>,
    handlers: usize,
    cells: &[HandlersSettings],
    rows: &[Row],
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let unit = if handlers == 1 { "handler" } else { "handlers" };
    for (idx, share) in asked.given.quantile.iter().enumerate() {
        let percentile = (100.0 * share * 1e6).round() / 1e6;
        let title = format!("{handlers} {unit}, p{percentile} in ms");
        let Some((_, first, _)) = rows.first() else {
            return Ok(());
        };
        let is_by_rate = asked.given.loads.is_none() && !asked.arrivals.is_default();
        let heading = |line: &Line| match is_by_rate {
            true => format!("{}/s", number(line.rate_per_s)),
            false => format!("load {:.2}", line.load),
        };
        let mut headings = vec![title];
        headings.extend(first.iter().map(heading));
        let mut table = Table::new(headings);
        for (name, lines, _) in rows {
            let mut row = vec![name.clone()];
            row.extend((lines.iter()).map(|line| line.quantiles[idx].cell(line.overloaded)));
            table.row(row);
        }
        table.write(out)?;
        writeln!(out)?;
    }
    if cells.iter().any(|one| one.deadline_ms.is_some()) {
        for (name, lines, _) in rows {
            let shares = lines
                .iter()
                .map(|line| format!("{:.2} %", 100.0 * line.expired as f64 / line.counted as f64));
            let shares: Vec<String> = shares.collect();
            writeln!(out, "{name}: answered in part {}", shares.join(", "))?;
        }
        writeln!(out)?;
    }
    for (name, _, energies) in rows {
        if energies.iter().any(|(_, energy)| energy.is_some()) {
            writeln!(out, "{name}:")?;
            write_energies(energies, out)?;
            writeln!(out)?;
        }
    }
    Ok(())
}

/// Writes what the figures assume.
pub(super) fn write_assumptions(
    asked: &Asked<'_>,
    queries: usize,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let given = &asked.given;
    let max = given.max.map_or(String::new(), |max_ms| {
        format!(", longer than {} take that time", ms(max_ms))
    });
    let ranges = match given.range {
        Some(range_us) => format!("of {} µs", number(range_us)),
        None => "as the policy wants them, cut by predicted time".to_owned(),
    };
    writeln!(
        out,
        "{} of one handler a query on average{max}; {} runs of {} queries a cell, ± is the 95 % interval\n\
         assumed: ranges {ranges}; predictions with σ {}; a wake-up takes {} µs, joining {} µs, a further range {} µs,\n\
         a helper does {} of the first handler's work; nothing but the search takes time",
        ms(asked.times.work_ms()),
        asked.runs,
        count(queries as u64),
        number(given.prediction),
        number(given.wake),
        number(given.join),
        number(given.further_range),
        number(given.efficiency),
    )?;
    Ok(())
}
