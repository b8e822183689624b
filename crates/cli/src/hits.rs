//! Output of an answer on a terminal: hits, explanations and phases.

use console::figures::{count, whole_microseconds};
use console::terminal::{Style, printable, summary_text};
use serde_json::Value;
use std::io::{self, Write};
use wire::{Hit, PhaseTimes, SearchAnswer};

const BAR_CELLS: f64 = 24.0;

/// Writes the hits of an answer, numbered from `start` + 1, and the total.
pub(crate) fn write_hits(
    out: &mut impl Write,
    answer: &SearchAnswer,
    start: u64,
    style: Style,
) -> io::Result<()> {
    let before = usize::try_from(start).unwrap_or(usize::MAX);
    if let Some(corrected) = &answer.corrected {
        let query = style.bold(&printable(corrected));
        writeln!(
            out,
            "showing results for: {query}; for {} as written: --verbatim\n",
            printable(&answer.query)
        )?;
    }
    let mut heading = None;
    for (at, hit) in answer.hits.iter().enumerate() {
        let own = answer.heading(at, before);
        if own != heading {
            heading = own;
            writeln!(out, "{}\n", own.unwrap_or_default())?;
        }
        write_hit(out, start + 1 + at as u64, hit, style)?;
    }
    let has_some = answer.hits_with_all_words(before) < answer.hits.len();
    let at_least = if answer.total.exact { "" } else { "at least " };
    let total = console::figures::counted(answer.total.value, "document");
    let verb = match (answer.total.value == 1, has_some) {
        (true, true) => "has all words",
        (false, true) => "have all words",
        (true, false) => "matches",
        (false, false) => "match",
    };
    write!(out, "{at_least}{total} {verb}")?;
    if answer.hits.is_empty() && answer.total.value > 0 {
        write!(out, "; none from place {} on", count(start + 1))?;
    } else if !answer.hits.is_empty() {
        let last = start + answer.hits.len() as u64;
        write!(out, "; shown are {} to {}", count(start + 1), count(last))?;
    }
    if answer.more_hits {
        let next = start + answer.hits.len() as u64;
        write!(out, ", more with --start {next}")?;
    }
    writeln!(out)?;
    if let Some(better) = &answer.did_you_mean {
        let query = style.bold(&printable(&better.query));
        write!(out, "did you mean: {query}")?;
        match better.total.value {
            0 => writeln!(out)?,
            total => writeln!(out, " ({})", console::figures::counted(total, "document"))?,
        }
    }
    if answer.timed_out || answer.coverage < 1.0 {
        let percent = answer.coverage * 100.0;
        writeln!(
            out,
            "incomplete: {percent:.1} % of the documents were searched"
        )?;
    }
    Ok(())
}

fn write_hit(out: &mut impl Write, rank: u64, hit: &Hit, style: Style) -> io::Result<()> {
    let title = if hit.title.trim().is_empty() {
        &hit.url
    } else {
        &hit.title
    };
    // A hit sorted by values has no score.
    let score = match hit.sort.is_empty() {
        true if hit.pinned => style.faint("(pinned)"),
        true => style.faint(&format!("({:.3})", hit.score)),
        false => String::new(),
    };
    writeln!(
        out,
        "{}",
        format!(
            "{rank:>3}. {} {score}",
            style.bold(&printable(title.trim()))
        )
        .trim_end()
    )?;
    writeln!(out, "     {}", style.faint(&printable(&hit.url)))?;
    let summary = summary_text(&hit.summary, style);
    if !summary.trim().is_empty() {
        writeln!(out, "     {}", summary.trim())?;
    }
    if !hit.lacks.is_empty() {
        let words: Vec<String> = hit.lacks.iter().map(|word| printable(word)).collect();
        writeln!(out, "     lacks {}", words.join(", "))?;
    }
    if !hit.sort.is_empty() {
        let values: Vec<String> = hit.sort.iter().map(crate::facets::shown).collect();
        writeln!(out, "     sorted by {}", values.join(", "))?;
    }
    for (name, value) in &hit.fields {
        let value = match value {
            json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        writeln!(out, "     {}: {}", printable(name), printable(&value))?;
    }
    if hit.hidden > 0 {
        writeln!(out, "     hides {} more", hit.hidden)?;
    }
    let more = if hit.more_from_site {
        " (more from this site)"
    } else {
        ""
    };
    writeln!(
        out,
        "     {}",
        style.faint(&format!("site {}{more}", printable(&hit.site)))
    )?;
    if let Some(explanation) = &hit.explanation {
        write_explanation(out, explanation, 5)?;
    }
    writeln!(out)
}

/// Writes a tree of values, each above the values from which it is calculated, with the name of its clause in brackets.
/// The parser bounds the depth of the query, and so that of the tree.
fn write_explanation(out: &mut impl Write, explanation: &Value, indent: usize) -> io::Result<()> {
    let description = explanation["description"].as_str().unwrap_or_default();
    // Scores have single precision, in which they print with the fewest digits that identify them.
    let value = explanation["value"].as_f64().unwrap_or_default() as f32;
    write!(out, "{:indent$}{value} = ", "")?;
    if let Some(name) = explanation["name"].as_str() {
        write!(out, "[{}] ", printable(name))?;
    }
    writeln!(out, "{}", printable(description))?;
    for detail in explanation["details"].as_array().into_iter().flatten() {
        write_explanation(out, detail, indent + 2)?;
    }
    Ok(())
}

/// Writes the phases as a table, each with a bar proportional to its share.
pub(crate) fn write_phases(out: &mut impl Write, phases: &PhaseTimes) -> io::Result<()> {
    let named = phases.named();
    let width = named
        .iter()
        .map(|(name, _)| name.len())
        .max()
        .unwrap_or_default();
    let total_us = phases.total.max(named.iter().map(|(_, us)| us).sum());
    for (name, us) in named {
        let bar = bar(us as f64 / total_us.max(1) as f64);
        let line = format!(
            "{:width$}  {:>10}  {bar}",
            spaced(name),
            whole_microseconds(us)
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(
        out,
        "{:width$}  {:>10}",
        "total",
        whole_microseconds(total_us)
    )
}

/// Formats the total and the phases in one line, without phases that took no time.
pub(crate) fn phases_line(phases: &PhaseTimes) -> String {
    let taken = phases.named().into_iter().filter(|&(_, us)| us > 0);
    let named = taken.map(|(name, us)| format!("{} {}", spaced(name), whole_microseconds(us)));
    let named = named.collect::<Vec<_>>().join(", ");
    format!("{} in all: {named}", whole_microseconds(phases.total))
}

fn spaced(name: &str) -> String {
    name.replace('_', " ")
}

/// Returns a bar in steps of an eighth of a cell; never empty for a share above 0.
fn bar(share: f64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * BAR_CELLS * 8.0).ceil() as usize;
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_are_named_in_explanations() {
        let why = serde_json::json!({
            "value": 1.5,
            "description": "sum",
            "details": [{ "value": 0.0, "name": "lang:en", "description": "adds nothing", "details": [] }],
        });
        let mut text = Vec::new();
        write_explanation(&mut text, &why, 2).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text, "  1.5 = sum\n    0 = [lang:en] adds nothing\n");
    }

    #[test]
    fn bars_are_as_long_as_their_share() {
        assert_eq!(bar(0.0), "");
        assert_eq!(bar(0.0001), "▏");
        assert_eq!(bar(0.5), "█".repeat(12));
        assert_eq!(bar(1.0), "█".repeat(24));
    }

    #[test]
    fn phases_in_a_table_and_in_a_line() {
        let phases = PhaseTimes {
            parse: 10,
            index_search: 80,
            total: 100,
            ..PhaseTimes::default()
        };
        let mut table = Vec::new();
        write_phases(&mut table, &phases).unwrap();
        let table = String::from_utf8(table).unwrap();
        assert_eq!(table.lines().count(), 10, "{table}");
        let line = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap();
        let index_search: Vec<&str> = line("index search").split_whitespace().collect();
        assert_eq!(index_search, ["index", "search", "80", "µs", &bar(0.8)]);
        assert!(line("total").ends_with(" 100 µs"), "{table}");
        assert_eq!(
            phases_line(&phases),
            "100 µs in all: parse 10 µs, index search 80 µs"
        );
    }
}
