//! Output of facets on a terminal.

use console::figures::count;
use console::terminal::{Style, printable};
use serde_json::Value;
use std::io::{self, Write};
use wire::{FacetAnswer, FacetStats};

/// Cells of the longest bar.
const BAR_CELLS: u64 = 24;
/// Characters of a value that are shown.
const VALUE_CHARS_MAX: usize = 40;

/// Writes facets as tables, each value with a bar as long as its share of the most frequent. Facets within a value follow it,
/// indented.
pub(crate) fn write_facets(
    out: &mut impl Write,
    facets: &[FacetAnswer],
    style: Style,
) -> io::Result<()> {
    for facet in facets {
        writeln!(out)?;
        write_facet(out, facet, "", style)?;
    }
    Ok(())
}

fn write_facet(
    out: &mut impl Write,
    facet: &FacetAnswer,
    indent: &str,
    style: Style,
) -> io::Result<()> {
    let missing = match facet.missing {
        0 => String::new(),
        missing => format!(" ({} without)", count(missing)),
    };
    // What is within its values is named there.
    let name = facet.facet.split('{').next().unwrap_or(&facet.facet);
    writeln!(out, "{indent}{}{missing}", style.bold(&printable(name)))?;
    if let Some(stats) = &facet.stats {
        write_stats(out, stats, indent)?;
    }
    for percentile in &facet.percentiles {
        let share = format!("{} %", percentile.percent);
        writeln!(out, "{indent}  {share:<8}  {}", shown(&percentile.value))?;
    }
    if let Some(method) = &facet.method {
        let label = facet
            .distinct
            .map(|values| format!("{} values, ", count(values)));
        let label = label.unwrap_or_default();
        writeln!(out, "{indent}  {label}{}", style.faint(method))?;
    }
    let values: Vec<String> = facet.buckets.iter().map(|one| shown(&one.value)).collect();
    let width = values
        .iter()
        .map(|value| value.chars().count())
        .max()
        .unwrap_or(0);
    let counts = facet.buckets.iter().map(|one| one.count);
    let most = counts.max().unwrap_or(0).max(1);
    let within = format!("{indent}    ");
    for (bucket, value) in facet.buckets.iter().zip(&values) {
        let cells = (bucket.count * BAR_CELLS).div_ceil(most) as usize;
        let line = format!(
            "{indent}  {value:width$}  {:>11}  {}",
            count(bucket.count),
            "█".repeat(cells)
        );
        writeln!(out, "{}", line.trim_end())?;
        for facet in &bucket.facets {
            write_facet(out, facet, &within, style)?;
        }
    }
    if facet.others > 0 {
        let further = facet.distinct.unwrap_or(0) - facet.buckets.len() as u64;
        let label = format!("{} further", count(further));
        writeln!(
            out,
            "{indent}  {}",
            style.faint(&format!("{label:width$}  {:>11}", count(facet.others)))
        )?;
    }
    Ok(())
}

fn write_stats(out: &mut impl Write, stats: &FacetStats, indent: &str) -> io::Result<()> {
    let rows = [
        ("values", Some(shown(&Value::from(stats.count)))),
        ("least", Some(shown(&stats.min))),
        ("greatest", Some(shown(&stats.max))),
        ("mean", stats.mean.as_ref().map(shown)),
        ("sum", stats.sum.as_ref().map(shown_sum)),
    ];
    for (name, value) in rows {
        if let Some(value) = value {
            writeln!(out, "{indent}  {name:<8}  {value}")?;
        }
    }
    Ok(())
}

/// Returns a sum as a person reads it: one of integers may have more than 64 bits.
fn shown_sum(sum: &json::Value) -> String {
    let text = sum.to_string();
    match sum.as_f64().filter(|_| text.contains(['.', 'e'])) {
        Some(float) => shown(&float.into()),
        None => text,
    }
}

/// Returns a value as a person reads it, shortened.
pub(crate) fn shown(value: &Value) -> String {
    let text = match value {
        Value::Null => "(none)".to_owned(),
        Value::String(text) if text.is_empty() => "(empty)".to_owned(),
        Value::String(text) => printable(text),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.abs() < 1e15 => {
                let text = format!("{float:.4}");
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            _ => number.to_string(),
        },
        other => other.to_string(),
    };
    match text.char_indices().nth(VALUE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use wire::FacetBucket;

    #[test]
    fn values_are_aligned_and_bars_are_shares() {
        let bucket = |value: Value, count| FacetBucket {
            value,
            count,
            ..FacetBucket::default()
        };
        let facet = FacetAnswer {
            field: "lang".into(),
            facet: "lang:terms:2".into(),
            buckets: vec![bucket(json!("en"), 24), bucket(json!("deutsch"), 1)],
            others: 3,
            distinct: Some(4),
            documents: 28,
            missing: 2,
            ..FacetAnswer::default()
        };
        let mut out = Vec::new();
        write_facets(&mut out, std::slice::from_ref(&facet), Style::PLAIN).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "lang:terms:2 (2 without)");
        assert_eq!(
            lines[2],
            format!("  en                24  {}", "█".repeat(24))
        );
        assert_eq!(lines[3], "  deutsch            1  █");
        assert!(lines[4].contains("2 further"), "{text}");
        assert_eq!(shown(&json!(2.5)), "2.5");
        assert_eq!(shown(&json!(3.0)), "3");
        assert_eq!(shown(&json!("")), "(empty)");
    }
    #[test]
    fn facets_within_a_value_follow_it_indented() {
        let inner = FacetAnswer {
            facet: "draft:terms:10".into(),
            buckets: vec![FacetBucket {
                value: json!(true),
                count: 2,
                ..FacetBucket::default()
            }],
            missing: 1,
            ..FacetAnswer::default()
        };
        let facet = FacetAnswer {
            facet: "lang:terms:2{draft:terms:10}".into(),
            buckets: vec![FacetBucket {
                value: json!("en"),
                count: 3,
                facets: vec![inner],
                ..FacetBucket::default()
            }],
            ..FacetAnswer::default()
        };
        let mut out = Vec::new();
        write_facets(&mut out, &[facet], Style::PLAIN).unwrap();
        let bar = "█".repeat(24);
        let lines = [
            String::new(),
            "lang:terms:2".into(),
            format!("  en            3  {bar}"),
            "    draft:terms:10 (1 without)".into(),
            format!("      true            2  {bar}"),
        ];
        assert_eq!(String::from_utf8(out).unwrap(), lines.join("\n") + "\n");
    }
}
