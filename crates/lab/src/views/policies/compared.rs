//! Comparisons of policies with sequential search and with the best static degree.
use super::super::jackknife::{self, Jackknifed, jackknife};
use super::cells::merged;
use crate::policies::{Compared, Offered, ServedCell, ServedRound};
use crate::results::ComparisonRow;
use load::{Interval, p_of_mean};

/// Percentiles that verdicts are given on.
const JUDGED: [f64; 2] = [99.0, 99.9];
/// Lower limit on the rounds that both sides have valid.
const ROUNDS_MIN: usize = 3;

/// Returns whether an arm has a constant degree.
fn is_static(found: &Compared, arm: usize) -> bool {
    let policy = found.arms[arm].policy.as_deref().unwrap_or_default();
    arm == 0 || policy == "fifo" || policy.starts_with("fifo:")
}

fn of(found: &Compared, offered: Offered) -> impl Iterator<Item = &ServedCell> {
    found
        .served
        .iter()
        .filter(move |cell| cell.offered == offered)
}

/// Returns the cell with the lowest percentile among those of constant degree. It is chosen by the samples that it is
/// then compared by, so chance favours it.
pub(super) fn best_static(
    found: &Compared,
    offered: Offered,
    percentile: f64,
) -> Option<&ServedCell> {
    let us = |cell: &ServedCell| merged(cell, None).percentile_us(percentile);
    of(found, offered)
        .filter(|cell| is_static(found, cell.arm))
        .filter_map(|cell| Some((cell, us(cell)?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(cell, _)| cell)
}

/// Returns the cell of the first arm, sequential search, under a load.
pub(super) fn sequential(found: &Compared, offered: Offered) -> Option<&ServedCell> {
    of(found, offered).find(|first| first.arm == 0)
}

/// Returns the logarithm of a percentile of a cell over that of its baseline, of the rounds that are valid on both
/// sides; `None` for fewer than three, or too few samples.
pub(super) fn ratio(first: &ServedCell, cell: &ServedCell, percentile: f64) -> Option<Jackknifed> {
    let pairs = first.rounds.iter().zip(&cell.rounds);
    let valid = pairs.filter(|(a, b)| a.is_valid_at(percentile) && b.is_valid_at(percentile));
    let (first, second): (Vec<&ServedRound>, Vec<&ServedRound>) = valid.unzip();
    if first.len() < ROUNDS_MIN {
        return None;
    }
    jackknife(first.len(), |without| {
        let us = |rounds: &[&ServedRound]| {
            let times = rounds.iter().map(|round| &round.summary.response_of_all);
            jackknife::merged(times, without).percentile_us(percentile)
        };
        let ratio = us(&second)? / us(&first)?;
        (ratio.is_finite() && ratio > 0.0).then(|| ratio.ln())
    })
}

/// Returns the logarithm of the throughput of a cell over that of another, by rounds.
pub(super) fn throughput(first: &ServedCell, second: &ServedCell) -> Option<Jackknifed> {
    let pairs = first.rounds.iter().zip(&second.rounds);
    let pairs = pairs.filter(|(a, b)| a.is_whole && b.is_whole);
    let logarithm = |(a, b): (&ServedRound, &ServedRound)| {
        (b.summary.achieved_qps / a.summary.achieved_qps).ln()
    };
    let logarithms: Vec<f64> = pairs.map(logarithm).collect();
    let is_known = logarithms.len() >= ROUNDS_MIN && logarithms.iter().all(|one| one.is_finite());
    is_known.then(|| Jackknifed {
        figure: logarithms.iter().sum::<f64>() / logarithms.len() as f64,
        interval: Interval::of_mean(&logarithms),
        p_value: p_of_mean(&logarithms, 0.0),
    })
}

/// Compares every policy that adapts with both baselines, at every load, by percentile and throughput. All are one
/// family, whose p values are corrected together.
pub(super) fn comparisons(found: &Compared) -> Vec<ComparisonRow> {
    let mut rows = Vec::new();
    let adapting = found.served.iter();
    for cell in adapting.filter(|cell| !is_static(found, cell.arm)) {
        if cell.offered == Offered::Saturation {
            let Some(first) = sequential(found, cell.offered) else {
                continue;
            };
            let ratio = (throughput(first, cell), qps_of_all(first, cell));
            let names = ["higher", "lower"];
            rows.push(row(
                found,
                cell,
                first.arm,
                "throughput".into(),
                ratio,
                names,
            ));
            continue;
        }
        let is_burst = matches!(cell.offered, Offered::Burst(_));
        for percentile in JUDGED {
            let figure = match is_burst {
                true => format!("p{percentile} of the burst"),
                false => format!("p{percentile}"),
            };
            let best = best_static(found, cell.offered, percentile).filter(|best| best.arm != 0);
            for first in sequential(found, cell.offered).into_iter().chain(best) {
                let ratio = (
                    ratio(first, cell, percentile),
                    of_all(first, cell, percentile),
                );
                let names = ["slower", "faster"];
                rows.push(row(found, cell, first.arm, figure.clone(), ratio, names));
            }
        }
    }
    ComparisonRow::correct(&mut rows);
    rows
}

/// Makes a row of a ratio, of valid rounds and of all.
fn row(
    found: &Compared,
    cell: &ServedCell,
    baseline: usize,
    figure: String,
    (ratio, of_all): (Option<Jackknifed>, Option<f64>),
    [above, below]: [&str; 2],
) -> ComparisonRow {
    let verdict = match ratio.map(|ratio| ratio.interval) {
        Some(Some(Interval { low, .. })) if low > 0.0 => above,
        Some(Some(Interval { high, .. })) if high < 0.0 => below,
        Some(_) => ComparisonRow::NO_DIFFERENCE,
        None => ComparisonRow::INVALID,
    };
    ComparisonRow {
        arm: found.arms[cell.arm].name.clone(),
        baseline: found.arms[baseline].name.clone(),
        rate_qps: cell.rate_qps,
        figure,
        // Without valid rounds the ratio is that of all.
        ratio: ratio.map(|ratio| ratio.figure.exp()).or(of_all),
        interval: ratio
            .and_then(|ratio| ratio.interval)
            .map(|found| (found.low.exp(), found.high.exp())),
        p_value: ratio.and_then(|ratio| ratio.p_value),
        verdict: verdict.into(),
    }
}

/// Returns the ratio of a percentile of all rounds, valid or not; `None` without enough samples.
fn of_all(first: &ServedCell, cell: &ServedCell, percentile: f64) -> Option<f64> {
    let us = |cell: &ServedCell| merged(cell, None).percentile_us(percentile);
    Some(us(cell)? / us(first)?).filter(|ratio| ratio.is_finite())
}

/// Returns the ratio of the throughput of all rounds, valid or not.
fn qps_of_all(first: &ServedCell, cell: &ServedCell) -> Option<f64> {
    let qps = |cell: &ServedCell| -> f64 {
        let rounds = cell.rounds.iter();
        rounds.map(|round| round.summary.achieved_qps).sum()
    };
    Some(qps(cell) / qps(first)).filter(|ratio| ratio.is_finite())
}
