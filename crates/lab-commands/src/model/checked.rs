//! Output of what a load run says of the model: its labels, and the measured beside the predicted percentile.

use super::table::{ms, number};
use crate::search_times::{CONTRADICTED, MeasuredRun, RunArguments};
use anyhow::bail;
use model::plan::Checked;
use serde::Serialize;
use std::io::Write;
use std::process::ExitCode;

/// A load run in a line of JSON.
#[derive(Serialize)]
pub(crate) struct RunLine {
    /// Labels despite which the run is taken, with their reasons.
    despite: Vec<String>,
    rate_per_s: f64,
    /// Share of the compared percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
    measured_ms: Option<f64>,
    predicted_ms: Option<f64>,
    /// Whether they differ by more than a fifth; null where the run has too few answers.
    contradicted: Option<bool>,
}

impl RunLine {
    pub(crate) fn of(run: &MeasuredRun, checked: Option<Checked>) -> RunLine {
        RunLine {
            despite: run.despite.clone(),
            rate_per_s: run.rate_per_s,
            share: checked.map(|checked| checked.share),
            measured_ms: checked.map(|checked| checked.measured_ms),
            predicted_ms: checked.map(|checked| checked.predicted_ms),
            contradicted: checked.map(|checked| checked.is_contradiction()),
        }
    }
}

/// Writes the measured percentile of a run beside the predicted one for its rate.
pub(crate) fn write_checked(
    checked: Option<Checked>,
    wanted_share: f64,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let Some(checked) = checked else {
        writeln!(
            out,
            "\nthe run has too few answers to hold the model against them; measure longer"
        )?;
        return Ok(());
    };
    writeln!(
        out,
        "\nthe run itself, at its {} queries/s: {} measured {}, predicted {} ({}){}",
        number(checked.rate_per_s),
        percentile(checked.share),
        ms(checked.measured_ms),
        ms(checked.predicted_ms),
        difference(&checked),
        match checked.share < wanted_share {
            true => format!("; too few answers for {}", percentile(wanted_share)),
            false => String::new(),
        }
    )?;
    Ok(())
}

/// Returns success, or an error where the model contradicts the run that it is made of.
pub(crate) fn conclude(
    checked: Option<Checked>,
    arguments: &RunArguments,
) -> anyhow::Result<ExitCode> {
    let is_taken = arguments.despite.iter().any(|one| one == CONTRADICTED);
    match checked.filter(|checked| checked.is_contradiction() && !is_taken) {
        None => Ok(ExitCode::SUCCESS),
        Some(checked) => bail!(
            "this contradicts its own run: {} was {} at {} queries/s, and the model says {} ({}); look for what the \
             times leave out, or take it all the same with --despite {CONTRADICTED}",
            percentile(checked.share),
            ms(checked.measured_ms),
            number(checked.rate_per_s),
            ms(checked.predicted_ms),
            difference(&checked),
        ),
    }
}

fn percentile(share: f64) -> String {
    format!("p{}", console::figures::number_plain(100.0 * share))
}

fn difference(checked: &Checked) -> String {
    // The sum turns −0 into 0.
    let percent = (100.0 * (checked.ratio() - 1.0)).round() + 0.0;
    format!("{percent:+.0} %")
}
