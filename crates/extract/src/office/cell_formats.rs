//! Numbers of cells as a sheet shows them: dates and times by the number format of the cell, other numbers with fifteen digits.
//!
//! ```text
//! cell     <c s="3"><v>40461.423726851797</v></c>     s: the place of its format in cellXfs
//! format   <xf numFmtId="22"/>                        a known one, or one of numFmts: <numFmt numFmtId="164" formatCode="d/m/yy"/>
//! shown    2010-10-10 10:10:10
//! ```
//!
//! Source: ECMA-376, part 1, 18.8.30 (numFmt), 18.17.4 (dates and times).

use super::package::Package;
use super::xml::{Node, walk};
use crate::fault::Fault;
use std::collections::HashMap;

/// Digits that a sheet shows of a number at most.
const DIGITS_MAX: usize = 15;
/// The day after 9999-12-31, the last date of a sheet.
const DAYS_END: f64 = 2_958_466.0;
/// Upper limit on the formats of a workbook; Excel's own is 65,490 cell styles.
const FORMATS_MAX: usize = 1 << 16;

/// Meaning of the number in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Kind {
    #[default]
    Number,
    Date,
    TimeOfDay,
    DateAndTime,
    /// Hours that go on beyond 24.
    Elapsed,
}

/// Formats of the cells of a workbook.
#[derive(Debug, Default)]
pub(super) struct CellFormats {
    kinds: Vec<Kind>,
    /// Days from 1970-01-01 to the day 0 of the workbook.
    epoch: i64,
}

impl CellFormats {
    /// Reads the formats of a workbook; `starts_1904` tells on which day its dates begin.
    pub(super) fn read(
        package: &mut Package,
        part: &str,
        starts_1904: bool,
    ) -> Result<CellFormats, Fault> {
        let mut formats = CellFormats {
            kinds: Vec::new(),
            epoch: match starts_1904 {
                true => -24_107,
                // 1899-12-30: the first calendar of sheets has a day too many, 1900-02-29.
                false => -25_569,
            },
        };
        let Some(bytes) = package.part(part)? else {
            return Ok(formats);
        };
        let mut codes: HashMap<u32, Kind> = HashMap::new();
        let mut in_cell_formats = false;
        walk(part, &bytes, |node| {
            match node {
                Node::Start("numFmt", attributes) if codes.len() < FORMATS_MAX => {
                    let id = attributes.get("numFmtId").and_then(|id| id.parse().ok());
                    if let (Some(id), Some(code)) = (id, attributes.get("formatCode")) {
                        codes.insert(id, kind_of_code(&code));
                    }
                }
                Node::Start("cellXfs", _) => in_cell_formats = true,
                Node::End("cellXfs") => in_cell_formats = false,
                Node::Start("xf", attributes)
                    if in_cell_formats && formats.kinds.len() < FORMATS_MAX =>
                {
                    let id = attributes.get("numFmtId").and_then(|id| id.parse().ok());
                    let id = id.unwrap_or(0);
                    let kind = codes.get(&id).copied();
                    formats
                        .kinds
                        .push(kind.unwrap_or_else(|| kind_of_known(id)));
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(formats)
    }

    /// Returns a number as the sheet shows it, where that differs from how it is stored.
    pub(super) fn shown(&self, style: Option<usize>, stored: &str) -> Option<String> {
        let kind = style.and_then(|style| self.kinds.get(style));
        let kind = kind.copied().unwrap_or_default();
        let stored = stored.trim();
        if kind == Kind::Number && stored.len() <= DIGITS_MAX {
            return None;
        }
        let number: f64 = stored.parse().ok()?;
        if kind == Kind::Number {
            return rounded(number);
        }
        if !(0.0..DAYS_END).contains(&number) {
            return None;
        }
        let seconds = (number * 86_400.0).round() as i64;
        let (days, of_day) = (seconds / 86_400, seconds % 86_400);
        let clock = |hours: i64| format!("{hours:02}:{:02}:{:02}", of_day / 60 % 60, of_day % 60);
        Some(match kind {
            Kind::TimeOfDay => clock(of_day / 3600),
            Kind::Elapsed => clock(seconds / 3600),
            Kind::DateAndTime if of_day != 0 => {
                format!("{} {}", self.date(days), clock(of_day / 3600))
            }
            _ => self.date(days),
        })
    }

    fn date(&self, days: i64) -> String {
        // Before the day too many, the calendar begins a day later.
        let shift = i64::from(self.epoch == -25_569 && days < 60);
        document::iso_date(self.epoch + days + shift)
    }
}

/// Returns a number rounded to the digits that a sheet shows; `None` for one that it shows with an exponent.
fn rounded(number: f64) -> Option<String> {
    let size = number.abs();
    if size != 0.0 && !(1e-9..1e15).contains(&size) {
        return None;
    }
    let rounded: f64 = format!("{number:.*e}", DIGITS_MAX - 1).parse().ok()?;
    Some(rounded.to_string())
}

/// Returns the kind of a format that every workbook knows.
fn kind_of_known(id: u32) -> Kind {
    match id {
        14..=17 | 27..=31 | 36 | 50..=58 => Kind::Date,
        18..=21 | 32..=35 | 45 | 47 => Kind::TimeOfDay,
        22 => Kind::DateAndTime,
        46 => Kind::Elapsed,
        _ => Kind::Number,
    }
}

/// Returns the kind of a format by its code: `yyyy\-mm\-dd`, `[h]:mm:ss`, `"sum" 0.00`.
fn kind_of_code(code: &str) -> Kind {
    let (mut has_date, mut has_time, mut has_month, mut is_elapsed) = (false, false, false, false);
    let mut characters = code.chars();
    while let Some(character) = characters.next() {
        match character.to_ascii_lowercase() {
            // The first of up to four formats: that of positive numbers.
            ';' => break,
            '"' => drop(characters.by_ref().find(|&c| c == '"')),
            '\\' | '_' | '*' => drop(characters.next()),
            '[' => {
                let within: String = characters.by_ref().take_while(|&c| c != ']').collect();
                let within = within.to_ascii_lowercase();
                is_elapsed |= !within.is_empty() && within.trim_matches(['h', 'm', 's']).is_empty();
            }
            'y' | 'd' => has_date = true,
            'h' | 's' => has_time = true,
            'm' => has_month = true,
            // `General`, and `AM/PM` beside hours.
            'g' | 'a' => break,
            _ => {}
        }
    }
    match (has_date, has_time) {
        _ if is_elapsed => Kind::Elapsed,
        (true, true) => Kind::DateAndTime,
        (true, false) => Kind::Date,
        (false, true) => Kind::TimeOfDay,
        // A month alone; minutes stand beside hours or seconds.
        (false, false) if has_month => Kind::Date,
        (false, false) => Kind::Number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_kinds() {
        for (code, kind) in [
            ("General", Kind::Number),
            ("0.00E+00", Kind::Number),
            ("#,##0 \"days\"", Kind::Number),
            ("[Red]0.00;[Blue]d", Kind::Number),
            ("0\\d", Kind::Number),
            ("yyyy\\-mm\\-dd", Kind::Date),
            ("[$-409]d/m/yy", Kind::Date),
            ("mmm", Kind::Date),
            ("h:mm AM/PM", Kind::TimeOfDay),
            ("mm:ss.0", Kind::TimeOfDay),
            ("d/m/yyyy h:mm", Kind::DateAndTime),
            ("[h]:mm:ss", Kind::Elapsed),
        ] {
            assert_eq!(kind_of_code(code), kind, "{code}");
        }
    }

    #[test]
    fn numbers_are_shown_as_a_sheet_does() {
        use Kind::*;
        let formats = CellFormats {
            kinds: vec![Number, Date, TimeOfDay, DateAndTime, Elapsed],
            epoch: -25_569,
        };
        for (style, stored, shown) in [
            (0, "0.10299999999999999", Some("0.103")),
            (0, "1.1000000000000001", Some("1.1")),
            (0, "13.89", None),
            (0, "12345678901234567890", None),
            (0, "no number at all", None),
            (1, "41998", Some("2014-12-25")),
            (1, "1", Some("1900-01-01")),
            (1, "61", Some("1900-03-01")),
            (1, "-1", None),
            (1, "1e300", None),
            (1, "NaN", None),
            (2, "0.466099537037037", Some("11:11:11")),
            (3, "40461.423726851797", Some("2010-10-10 10:10:10")),
            (3, "40461", Some("2010-10-10")),
            (3, "40460.999999999", Some("2010-10-10")),
            (4, "10.6320601851852", Some("255:10:10")),
            (9, "41998", None),
        ] {
            let found = formats.shown(Some(style), stored);
            assert_eq!(found.as_deref(), shown, "{style} {stored}");
        }
        let formats = CellFormats {
            epoch: -24_107,
            ..formats
        };
        assert_eq!(formats.shown(Some(1), "0").as_deref(), Some("1904-01-01"));
    }
}
