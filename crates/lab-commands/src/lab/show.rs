//! Output of capabilities, experiments and comparisons, as text or JSON.

use ::lab::{Capability, Experiment};
use ::load::{Basis, Comparison, Outcome, RunRecord, Verdict};
use console::figures::{count, counted, microseconds};
use console::terminal::Style;
use serde::Serialize;
use serde_json::json;
use std::io::{self, Write};

pub(super) fn write_lines(to: &mut impl Write, found: &[impl Serialize]) -> io::Result<()> {
    for one in found {
        writeln!(to, "{}", serde_json::to_string(one)?)?;
    }
    Ok(())
}

pub(super) fn write_capabilities(to: &mut impl Write, found: &[Capability]) -> io::Result<()> {
    let style = Style::of_stdout();
    for capability in found {
        let line = format!(
            "{:<18} {:<12} {}",
            capability.id,
            capability.state.name(),
            capability.reason
        );
        writeln!(to, "{}", style.bold(&line))?;
        for evidence in &capability.evidence {
            let short: String = evidence.chars().take(110).collect();
            writeln!(to, "{}", style.faint(&format!("{:32}{short}", "")))?;
        }
        if !capability.remedy.is_empty() {
            writeln!(to, "{:32}→ {}", "", capability.remedy)?;
        }
    }
    Ok(())
}

pub(super) fn write_experiment(
    to: &mut impl Write,
    experiment: &Experiment,
    lacking: &[String],
) -> io::Result<()> {
    let style = Style::of_stdout();
    writeln!(to, "{}", style.bold(&experiment.name))?;
    writeln!(to, "    {}", experiment.question)?;
    writeln!(
        to,
        "    {}",
        style.faint(&format!("{}: {}", experiment.figure, experiment.published))
    )?;
    for lack in lacking {
        writeln!(to, "    cannot be run here: {lack}")?;
    }
    Ok(())
}

pub(super) fn write_experiment_json(
    to: &mut impl Write,
    experiment: &Experiment,
    lacking: &[String],
) -> io::Result<()> {
    let line = json!({
        "name": experiment.name,
        "question": experiment.question,
        "figure": experiment.figure,
        "published": experiment.published,
        "lacking": lacking,
    });
    writeln!(to, "{line}")
}

/// Returns remarks on differences between two runs that weaken their comparison.
pub(super) fn remarks(
    first: &[(RunRecord, Outcome)],
    second: &[(RunRecord, Outcome)],
) -> Vec<String> {
    let mut remarks = Vec::new();
    let (Some((a, _)), Some((b, _))) = (first.first(), second.first()) else {
        return remarks;
    };
    let mut differ = |what: &str, is: bool| {
        if is {
            remarks.push(format!("the runs differ in {what}"));
        }
    };
    differ(
        "the queries or their order",
        a.queries_checksum != b.queries_checksum,
    );
    differ("the load or its seed, so chance does not cancel out", {
        (&a.load, a.seed, a.duration_s.to_bits()) != (&b.load, b.seed, b.duration_s.to_bits())
    });
    differ("the machine", a.machine != b.machine);
    let same_queries = a.queries_checksum == b.queries_checksum;
    if same_queries && a.answers_checksum != b.answers_checksum {
        remarks.push("the answers differ: perhaps not the same work was done".to_owned());
    }
    if first.len() != second.len() {
        remarks.push(
            "one side has more repetitions; those without a partner count only for the point"
                .to_owned(),
        );
    }
    for (side, runs) in [("first", first), ("second", second)] {
        let mut labels: Vec<&str> = runs
            .iter()
            .flat_map(|(record, _)| &record.labels)
            .map(String::as_str)
            .collect();
        labels.sort_unstable();
        labels.dedup();
        if !labels.is_empty() {
            remarks.push(format!("the {side} side is marked {}", labels.join(", ")));
        }
        let samples = || runs.iter().flat_map(|(_, outcome)| outcome.measured());
        let unanswered = samples().filter(|one| !one.ending.is_answer()).count();
        if unanswered > 0 {
            remarks.push(format!(
                "{} of {} requests of the {side} side have no answer: they count as slowest, and no mean is compared",
                count(unanswered as u64),
                count(samples().count() as u64)
            ));
        }
    }
    remarks
}

fn verdict(comparison: &Comparison) -> &'static str {
    match comparison.verdict {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::NoDifference => "no difference",
        Verdict::Invalid => "none: invalid runs",
    }
}

pub(super) fn write_comparison(
    to: &mut impl Write,
    found: &[Comparison],
    remarks: &[String],
) -> io::Result<()> {
    let style = Style::of_stdout();
    let head = format!(
        "{:6} {:>10} {:>10} {:>7}  {:<16} verdict",
        "", "first", "second", "ratio", "95 %"
    );
    writeln!(to, "{}", style.bold(&head))?;
    for comparison in found {
        let interval = comparison
            .interval
            .map_or("too few samples".to_owned(), |interval| {
                format!("{:.3} to {:.3}", interval.low, interval.high)
            });
        writeln!(
            to,
            "{:6} {:>10} {:>10} {:>7.3}  {interval:<16} {}",
            comparison.figure.name(),
            microseconds(comparison.first_us),
            microseconds(comparison.second_us),
            comparison.ratio,
            verdict(comparison),
        )?;
    }
    if found
        .iter()
        .any(|comparison| comparison.basis == Basis::Blocks)
    {
        writeln!(
            to,
            "\nThe interval knows the noise within these runs, not that between runs; repeat each \
             side three times or more (--repeat) to know that too."
        )?;
    }
    if let Some(left_out) = found
        .iter()
        .map(|one| one.left_out_count)
        .max()
        .filter(|&n| n > 0)
    {
        let pairs = counted(left_out as u64, "pair");
        writeln!(
            to,
            "\n{pairs} of runs left out: the client, other guests or a stop decided their times."
        )?;
    }
    for remark in remarks {
        writeln!(to, "warning: {remark}")?;
    }
    Ok(())
}

pub(super) fn write_comparison_json(
    to: &mut impl Write,
    found: &[Comparison],
    remarks: &[String],
) -> io::Result<()> {
    writeln!(
        to,
        "{}",
        json!({ "comparisons": found, "warnings": remarks })
    )
}
