//! Comparisons of policies with sequential search and with the best static degree.
use super::super::jackknife::{Jackknifed, jackknife};
use super::cells::merged;
use crate::policies::{Compared, Offered, ServedCell, ServedRound};
use crate::results::ComparisonRow;
use load::{Interval, Times, p_of_mean};

/// Percentiles that verdicts are given on.
const JUDGED: [f64; 2] = [99.0, 99.9];
/// Lower limit on the rounds that both sides have valid.
const ROUNDS_MIN: usize = 3;

/// Baseline of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Against {
    /// The first arm.
    Sequential,
    /// The arm of a constant degree with the lowest percentile under the same load, the first one included.
    BestStatic,
}

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

/// Returns the logarithm of a percentile of a cell over that of its baseline, of the rounds that are valid on both
/// sides; `None` for fewer than three, or too few samples.
pub(super) fn ratio(
    found: &Compared,
    cell: &ServedCell,
    against: Against,
    percentile: f64,
) -> Option<Jackknifed> {
    let first = baseline(found, cell, against, percentile)?;
    let pairs = first.rounds.iter().zip(&cell.rounds);
    let valid = pairs.filter(|(a, b)| a.is_valid_at(percentile) && b.is_valid_at(percentile));
    let valid: Vec<(&ServedRound, &ServedRound)> = valid.collect();
    if valid.len() < ROUNDS_MIN {
        return None;
    }
    jackknife(valid.len(), |without| {
        let (mut first, mut second) = (Times::default(), Times::default());
        for (number, (a, b)) in valid.iter().enumerate() {
            if Some(number) != without {
                first.merge(&a.summary.response_of_all);
                second.merge(&b.summary.response_of_all);
            }
        }
        let ratio = second.percentile_us(percentile)? / first.percentile_us(percentile)?;
        (ratio.is_finite() && ratio > 0.0).then(|| ratio.ln())
    })
}

fn baseline<'a>(
    found: &'a Compared,
    cell: &ServedCell,
    against: Against,
    percentile: f64,
) -> Option<&'a ServedCell> {
    match against {
        Against::Sequential => of(found, cell.offered).find(|first| first.arm == 0),
        Against::BestStatic => best_static(found, cell.offered, percentile),
    }
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
            let first = of(found, cell.offered).find(|first| first.arm == 0);
            let ratio = first.and_then(|first| throughput(first, cell));
            let names = ["higher", "lower"];
            rows.push(row(found, cell, (0, "throughput".into()), ratio, names));
            continue;
        }
        let is_burst = matches!(cell.offered, Offered::Burst(_));
        for percentile in JUDGED {
            let figure = match is_burst {
                true => format!("p{percentile} of the burst"),
                false => format!("p{percentile}"),
            };
            let names = ["slower", "faster"];
            let sequential = ratio(found, cell, Against::Sequential, percentile);
            rows.push(row(found, cell, (0, figure.clone()), sequential, names));
            let best = best_static(found, cell.offered, percentile).filter(|best| best.arm != 0);
            if let Some(best) = best {
                let ratio = ratio(found, cell, Against::BestStatic, percentile);
                rows.push(row(found, cell, (best.arm, figure), ratio, names));
            }
        }
    }
    rows.retain(|row| row.ratio.is_finite());
    ComparisonRow::correct(&mut rows);
    rows
}

fn row(
    found: &Compared,
    cell: &ServedCell,
    (baseline, figure): (usize, String),
    ratio: Option<Jackknifed>,
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
        ratio: ratio.map_or_else(|| of_all(found, cell, baseline), |ratio| ratio.figure.exp()),
        interval: ratio
            .and_then(|ratio| ratio.interval)
            .map(|found| (found.low.exp(), found.high.exp())),
        p_value: ratio.and_then(|ratio| ratio.p_value),
        verdict: verdict.into(),
    }
}

/// Returns the ratio of the 99th percentiles of all rounds, valid or not; not a number without enough samples.
fn of_all(found: &Compared, cell: &ServedCell, baseline: usize) -> f64 {
    let first = of(found, cell.offered).find(|first| first.arm == baseline);
    let us = |cell: &ServedCell| merged(cell, None).percentile_us(99.0);
    let ratio = first.and_then(|first| Some(us(cell)? / us(first)?));
    ratio.unwrap_or(f64::NAN)
}
