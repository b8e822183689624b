//! Output of figures: aligned tables and lines of JSON.

use console::figures::count;
use serde::Serialize;
use std::io::{self, Write};

/// Rows of cells under headings; the first column is aligned left, the others right.
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Returns a table with these headings and no rows.
    pub(crate) fn new<H: Into<String>>(headings: impl IntoIterator<Item = H>) -> Table {
        Table {
            rows: vec![headings.into_iter().map(Into::into).collect()],
        }
    }

    /// Adds a row of as many cells as there are headings.
    pub(crate) fn row<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        debug_assert_eq!(cells.len(), self.rows[0].len());
        self.rows.push(cells);
    }

    /// Writes the table, each column as wide as its widest cell.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let columns = self.rows[0].len();
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| row[column].chars().count());
            cells.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (idx, (cell, width)) in row.iter().zip(&widths).enumerate() {
                if idx == 0 {
                    line.push_str(&format!("{cell:<width$}"));
                } else {
                    line.push_str(&format!("  {cell:>width$}"));
                }
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Formats milliseconds with about four digits: `0.052 ms`, `130.7 ms`, `12,345 ms`.
pub(crate) fn ms(value: f64) -> String {
    format!("{} ms", number(value))
}

/// Formats a number with about four digits: `0.0521`, `1.234`, `130.7`, `12,345`.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        _ if !value.is_finite() => "-".to_owned(),
        small if small < 0.000_05 => "0".to_owned(),
        whole if whole >= 1.0 && whole.fract() == 0.0 => {
            format!("{}{}", sign(value), count(whole as u64))
        }
        small if small < 0.0995 => format!("{value:.4}"),
        some if some < 9.995 => format!("{value:.3}"),
        some if some < 99.95 => format!("{value:.2}"),
        some if some < 9_999.5 => format!("{value:.1}"),
        large => format!("{}{}", sign(value), count(large.round() as u64)),
    }
}

fn sign(value: f64) -> &'static str {
    if value < 0.0 { "-" } else { "" }
}

/// Formats a share as a percentage: `93.8 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Writes one line of JSON.
pub(crate) fn write_json(out: &mut impl Write, line: &impl Serialize) -> anyhow::Result<()> {
    writeln!(out, "{}", serde_json::to_string(line)?)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_their_headings() {
        let mut table = Table::new(["", "wait", "response"]);
        table.row(["a", "1 ms", "22 ms"]);
        table.row(["longer µ", "1,000 ms", "2 ms"]);
        let mut out = Vec::new();
        table.write(&mut out).unwrap();
        let expected = "              wait  response\na             1 ms     22 ms\nlonger µ  1,000 ms      2 ms\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn numbers_keep_about_four_digits() {
        let check = |value: f64, expected: &str| assert_eq!(number(value), expected);
        check(0.0, "0");
        check(0.052_14, "0.0521");
        check(1.2344, "1.234");
        check(-19.225, "-19.23");
        check(130.7252, "130.7");
        check(12_345.4, "12,345");
        check(150.0, "150");
        check(0.000_01, "0");
        check(f64::INFINITY, "-");
        assert_eq!(percent(0.9375), "93.8 %");
    }
}
