//! Files of measured search times, in ms by query and partition.
//!
//! Three kinds are read, recognized by their contents: folders of a load run, by `measured_run`; JSON lines, with `times_ms`
//! (one number a partition) or with `min_us`, as `shorttail bench --json` prints them; and lines of numbers in ms, separated
//! by commas, one number a partition, one line a query.

#[cfg(feature = "lab")]
use crate::measured_run::read_run;
use crate::search_times::{RunArguments, SearchTimes};
use anyhow::{Context, anyhow, bail};
use model::simulate::Searches;
use std::path::Path;

/// Reads the search times of a run folder or of a file.
pub(crate) fn read_search_times(
    path: &Path,
    arguments: &RunArguments,
) -> anyhow::Result<SearchTimes> {
    if path.is_dir() {
        return read_run(path, arguments);
    }
    let text = std::fs::read(path).with_context(|| format!("{}: cannot read", path.display()))?;
    let text = String::from_utf8_lossy(&text);
    let rows = parse(&text).with_context(|| path.display().to_string())?;
    let searches =
        Searches::new(rows).with_context(|| format!("{}: no search times", path.display()))?;
    Ok(SearchTimes {
        searches,
        run: None,
    })
}

#[cfg(not(feature = "lab"))]
fn read_run(folder: &Path, _: &RunArguments) -> anyhow::Result<SearchTimes> {
    bail!(
        "{}: runs are read by a program with the laboratory (feature `lab`); give a file of times",
        folder.display()
    )
}

fn parse(text: &str) -> anyhow::Result<Vec<Vec<f64>>> {
    let mut rows = Vec::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let row = if line.starts_with('{') {
            parse_json(line)
        } else {
            parse_numbers(line)
        };
        match row {
            Ok(Some(row)) => {
                let parts = rows.first().map_or(row.len(), Vec::len);
                if row.len() != parts {
                    bail!(
                        "line {number} has {} times and those before it {parts}",
                        row.len()
                    );
                }
                rows.push(row);
            }
            Ok(None) => {}
            // The first line may have the names of the columns.
            Err(_) if rows.is_empty() && number == 1 && !line.starts_with('{') => {}
            Err(error) => bail!("line {number}: {error}"),
        }
    }
    Ok(rows)
}

/// Parses the times of one JSON line; `None` for a line about the whole set.
fn parse_json(line: &str) -> anyhow::Result<Option<Vec<f64>>> {
    let value: serde_json::Value = serde_json::from_str(line).context("not JSON")?;
    if let Some(times) = value.get("times_ms") {
        let numbers = times
            .as_array()
            .map(|times| times.iter().map(|time| time.as_f64()).collect());
        return match numbers {
            Some(Some(row)) => checked(row).map(Some),
            _ => bail!("`times_ms` must be a list of numbers"),
        };
    }
    if let Some(time_us) = value.get("min_us") {
        let time_us = time_us.as_f64().context("`min_us` must be a number")?;
        return checked(vec![time_us / 1e3]).map(Some);
    }
    if value.get("queries").is_some() {
        return Ok(None);
    }
    bail!("neither `times_ms` nor `min_us`")
}

fn parse_numbers(line: &str) -> anyhow::Result<Option<Vec<f64>>> {
    let numbers = line.split([',', ';', '\t']).map(|number| {
        let number = number.trim();
        number
            .parse()
            .map_err(|_| anyhow!("`{}` is no number", console::terminal::printable(number)))
    });
    checked(numbers.collect::<anyhow::Result<_>>()?).map(Some)
}

fn checked(row: Vec<f64>) -> anyhow::Result<Vec<f64>> {
    match row.iter().find(|time| !(time.is_finite() && **time >= 0.0)) {
        Some(time) => bail!("{time} is no time in ms"),
        None => Ok(row),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_files() {
        let check = |text: &str, expected: &[&[f64]]| {
            assert_eq!(parse(text).unwrap(), expected, "{text}");
        };
        check("1.5\n\n2\n", &[&[1.5], &[2.0]]);
        check("a,b\n# remark\n1, 2\r\n3;4\n", &[&[1.0, 2.0], &[3.0, 4.0]]);
        check("{\"times_ms\":[1,2.5]}\n", &[&[1.0, 2.5]]);
        check(
            "{\"query\":\"x\",\"min_us\":1500.0,\"median_us\":9}\n{\"queries\":1,\"mean_us\":3}\n",
            &[&[1.5]],
        );
        check("", &[]);
    }

    #[test]
    fn bad_lines_are_named() {
        let check = |text: &str, said: &str| {
            let error = format!("{:#}", parse(text).unwrap_err());
            assert!(error.contains(said), "{text:?}: {error}");
        };
        check("1\nx\n", "line 2: `x` is no number");
        check("1,2\n3\n", "line 2 has 1 times");
        check("1\n-2\n", "line 2: -2 is no time");
        check("1\nNaN\n", "line 2: NaN is no time");
        check("{\"a\":1}\n", "line 1: neither");
        check("{\n", "line 1: not JSON");
        check("{\"times_ms\":[1,\"x\"]}", "list of numbers");
    }
}
