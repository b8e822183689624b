//! Facets: counts of the values of a field over the matches of a query.
//!
//! ```text
//! facet  := field [: terms [: n] | : stats | : year | quarter | month | week | day | hour | : step : width
//!                  | : ranges : a..b ; c.. ; …]
//! width  := number                               of numbers; of dates: integer d (days) | integer h (hours)
//! ```
//!
//! Counts of parts of an index are merged without loss, so a facet is exact whatever the layout.

use crate::calendar::Period;
use crate::schema::{FieldType, Schema};
use crate::test::{BadTest, Test};
use crate::value::Value;
use std::fmt;

/// Values of a facet unless another number is asked for.
pub const TERMS_DEFAULT: usize = 10;
/// Upper limit on the values of a facet.
pub const TERMS_MAX: usize = 10_000;
/// Upper limit on the buckets of a histogram.
pub const BUCKETS_MAX: usize = 100_000;
/// Upper limit on the ranges of a facet.
pub const RANGES_MAX: usize = 100;
/// Name of the field of sites, which every index has.
pub const SITE: &str = "site";

/// Units of intervals and their microseconds, the longest first.
const UNITS: [(char, i64); 2] = [('d', 24 * HOUR), ('h', HOUR)];
/// Microseconds of an hour.
const HOUR: i64 = 3_600_000_000;

/// Facet of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Facet {
    /// Name of the field.
    pub field: String,
    /// Kind of the count.
    pub kind: FacetKind,
}

/// Kind of a facet's count.
#[derive(Debug, Clone, PartialEq)]
pub enum FacetKind {
    /// Documents of each of the `n` most frequent values.
    Terms {
        /// Number of values.
        n: usize,
    },
    /// Number, least, greatest, sum and mean of the values.
    Stats,
    /// Documents of each period of the calendar.
    Calendar(Period),
    /// Documents of each interval of a width.
    Step(f64),
    /// Documents of each interval of a number of microseconds, counted from 1970.
    Interval(i64),
    /// Documents of each of some ranges.
    Ranges(Vec<Range>),
}

/// Range of a facet.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    /// The range as it was written.
    pub text: String,
    /// Test of its values.
    pub test: Test,
}

impl Facet {
    /// Reads a facet of a field of `schema`, or of [`SITE`]. Without a kind, it is the most frequent values, and the
    /// statistics of numbers, and the years of dates.
    pub fn parse(text: &str, schema: &Schema) -> Result<Facet, BadTest> {
        let (field, rest) = match text.split_once(':') {
            Some((field, rest)) => (field.trim(), Some(rest.trim())),
            None => (text.trim(), None),
        };
        let kind = match field {
            SITE => FieldType::Keyword,
            field => schema.get(field).ok_or_else(|| unknown(field, schema))?,
        };
        if !kind.is_columnar() {
            return Err(bad(format!(
                "`{field}` holds long texts, which are not counted"
            )));
        }
        let (name, argument) = match rest.map(|rest| rest.split_once(':').unwrap_or((rest, ""))) {
            Some(both) => both,
            None => (default_of(kind), ""),
        };
        let is_number = matches!(kind, FieldType::Integer | FieldType::Float);
        let facet = match name {
            "terms" => FacetKind::Terms {
                n: terms_count(argument)?,
            },
            "stats" if is_number || kind == FieldType::Date => FacetKind::Stats,
            "step" if is_number => FacetKind::Step(width(argument)?),
            "step" if kind == FieldType::Date => FacetKind::Interval(interval(argument)?),
            "ranges" => FacetKind::Ranges(ranges(kind, argument)?),
            period if kind == FieldType::Date && Period::of_name(period).is_some() => {
                FacetKind::Calendar(Period::of_name(period).unwrap_or(Period::Year))
            }
            _ => {
                return Err(bad(format!(
                    "`{name}` is no facet of `{field}`, a field of {kind}: {}",
                    offered(kind)
                )));
            }
        };
        Ok(Facet {
            field: field.to_owned(),
            kind: facet,
        })
    }
}

fn unknown(field: &str, schema: &Schema) -> BadTest {
    let mut names: Vec<&str> = schema.columnar().map(|(name, _)| name).take(12).collect();
    names.push(SITE);
    bad(format!(
        "there is no field `{field}`; fields are {}",
        names.join(", ")
    ))
}

fn default_of(kind: FieldType) -> &'static str {
    match kind {
        FieldType::Keyword | FieldType::Bool | FieldType::Text => "terms",
        FieldType::Integer | FieldType::Float => "stats",
        FieldType::Date => "year",
    }
}

fn offered(kind: FieldType) -> &'static str {
    match kind {
        FieldType::Keyword | FieldType::Bool | FieldType::Text => {
            "terms, terms:20, ranges:a..b;c..d"
        }
        FieldType::Integer | FieldType::Float => "stats, terms:20, step:10, ranges:..10;10..20",
        FieldType::Date => {
            "year, quarter, month, week, day, hour, step:10d, stats, terms:20, ranges:..2020;2021.."
        }
    }
}

fn terms_count(argument: &str) -> Result<usize, BadTest> {
    match argument {
        "" => Ok(TERMS_DEFAULT),
        number => {
            let n = number.parse().ok().filter(|n| (1..=TERMS_MAX).contains(n));
            n.ok_or_else(|| {
                bad(format!(
                    "`{number}` is no number of values, 1 to {TERMS_MAX}"
                ))
            })
        }
    }
}

fn width(argument: &str) -> Result<f64, BadTest> {
    let width = argument
        .parse()
        .ok()
        .filter(|width: &f64| width.is_finite() && *width > 0.0);
    width.ok_or_else(|| bad(format!("`{argument}` is no width above 0, as in step:10")))
}

/// Reads an interval of days or hours; returns its microseconds.
fn interval(argument: &str) -> Result<i64, BadTest> {
    let micros = |(unit, micros): (char, i64)| {
        let number: i64 = argument.strip_suffix(unit)?.parse().ok()?;
        number.checked_mul(micros).filter(|micros| *micros > 0)
    };
    let micros = UNITS.into_iter().find_map(micros);
    micros.ok_or_else(|| {
        bad(format!(
            "`{argument}` is no interval of days or hours, as in step:10d or step:12h"
        ))
    })
}

fn ranges(kind: FieldType, argument: &str) -> Result<Vec<Range>, BadTest> {
    let texts: Vec<&str> = argument
        .split(';')
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .collect();
    if texts.is_empty() || texts.len() > RANGES_MAX {
        return Err(bad(format!(
            "give 1 to {RANGES_MAX} ranges, as in ranges:..10;10..20"
        )));
    }
    let range = |text: &str| {
        Ok(Range {
            text: text.to_owned(),
            test: Test::parse(kind, text)?,
        })
    };
    texts.into_iter().map(range).collect()
}

fn bad(reason: impl Into<String>) -> BadTest {
    BadTest {
        reason: reason.into(),
    }
}

impl FacetKind {
    /// Returns the bucket of a value of a histogram: its first value. `None` for facets that are no histograms, and
    /// where the bucket is no value.
    pub fn bucket(&self, value: &Value) -> Option<Value> {
        match (self, value) {
            (FacetKind::Calendar(period), Value::Date(micros)) => {
                Some(Value::Date(period.start(*micros)))
            }
            (FacetKind::Interval(width), Value::Date(micros)) => {
                let start = micros.div_euclid(*width).checked_mul(*width);
                start.map(Value::Date)
            }
            (FacetKind::Step(width), Value::Integer(number))
                if width.fract() == 0.0 && *width < 2f64.powi(53) =>
            {
                let width = *width as i64;
                number
                    .div_euclid(width)
                    .checked_mul(width)
                    .map(Value::Integer)
            }
            (FacetKind::Step(width), Value::Integer(number)) => {
                Value::float((*number as f64 / width).floor() * width)
            }
            (FacetKind::Step(width), Value::Float(number)) => {
                Value::float((number / width).floor() * width)
            }
            _ => None,
        }
    }
}

impl fmt::Display for Facet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = &self.field;
        match &self.kind {
            FacetKind::Terms { n } => write!(f, "{field}:terms:{n}"),
            FacetKind::Stats => write!(f, "{field}:stats"),
            FacetKind::Calendar(period) => write!(f, "{field}:{}", period.name()),
            FacetKind::Step(width) => write!(f, "{field}:step:{width}"),
            FacetKind::Interval(micros) => {
                let is_whole = |(_, unit): &(char, i64)| micros % unit == 0;
                match UNITS.into_iter().find(is_whole) {
                    Some((name, unit)) => write!(f, "{field}:step:{}{name}", micros / unit),
                    // No text makes it.
                    None => write!(f, "{field}:step:{micros}"),
                }
            }
            FacetKind::Ranges(ranges) => {
                let texts: Vec<&str> = ranges.iter().map(|range| range.text.as_str()).collect();
                write!(f, "{field}:ranges:{}", texts.join(";"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dates;

    fn schema() -> Schema {
        let fields = FieldType::ALL.map(|kind| (kind.name().to_owned(), kind));
        fields.into_iter().collect()
    }

    #[test]
    fn facets_are_read_and_shown_as_they_are_written() {
        for (text, shown) in [
            ("keyword", "keyword:terms:10"),
            ("keyword:terms:3", "keyword:terms:3"),
            ("site", "site:terms:10"),
            ("bool", "bool:terms:10"),
            ("i64", "i64:stats"),
            ("i64:step:10", "i64:step:10"),
            ("f64:step:0.5", "f64:step:0.5"),
            ("f64:ranges: ..1 ; 1..2;>2", "f64:ranges:..1;1..2;>2"),
            ("date", "date:year"),
            ("date:month", "date:month"),
            ("date:step:365d", "date:step:365d"),
            ("date:step:12h", "date:step:12h"),
            ("date:step:48h", "date:step:2d"),
            ("date:stats", "date:stats"),
            ("date:ranges:..2020;2021..", "date:ranges:..2020;2021.."),
        ] {
            let facet = Facet::parse(text, &schema()).unwrap();
            assert_eq!(facet.to_string(), shown, "{text}");
            assert_eq!(Facet::parse(shown, &schema()), Ok(facet));
        }
    }

    #[test]
    fn what_is_no_facet_is_explained() {
        for (text, said) in [
            ("none", "there is no field `none`"),
            ("text", "long texts"),
            ("keyword:stats", "`stats` is no facet"),
            ("keyword:month", "`month` is no facet"),
            ("i64:step:0", "no width"),
            ("i64:step:x", "no width"),
            ("date:step:", "no interval"),
            ("date:step:10", "no interval"),
            ("date:step:0d", "no interval"),
            ("date:step:-1h", "no interval"),
            ("date:step:1.5d", "no interval"),
            ("date:step:9999999999999999d", "no interval"),
            ("bool:step:1d", "`step` is no facet"),
            ("i64:ranges:", "give 1 to"),
            ("i64:ranges:a..b", "no whole number"),
            ("keyword:terms:0", "no number of values"),
            ("keyword:terms:99999999", "no number of values"),
        ] {
            let error = Facet::parse(text, &schema()).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn buckets_begin_at_multiples_of_the_width() {
        let bucket =
            |facet: &str, value: Value| Facet::parse(facet, &schema()).unwrap().kind.bucket(&value);
        assert_eq!(
            bucket("i64:step:10", Value::Integer(-1)),
            Some(Value::Integer(-10))
        );
        assert_eq!(
            bucket("i64:step:10", Value::Integer(19)),
            Some(Value::Integer(10))
        );
        assert_eq!(bucket("i64:step:10", Value::Integer(i64::MIN)), None);
        assert_eq!(
            bucket("i64:step:0.5", Value::Integer(3)),
            Some(Value::Float(3.0))
        );
        assert_eq!(
            bucket("f64:step:0.5", Value::Float(-0.25)),
            Some(Value::Float(-0.5))
        );
        let date = |text: &str| Value::Date(dates::parse(text).unwrap());
        for (facet, text, start) in [
            ("date:step:365d", "1970-12-31", "1970-01-01"),
            ("date:step:365d", "1972-12-31", "1972-12-31"),
            ("date:step:365d", "1972-12-30", "1972-01-01"),
            ("date:step:30d", "1969-12-31T23:59:59Z", "1969-12-02"),
            (
                "date:step:12h",
                "2024-05-06T12:00:00Z",
                "2024-05-06T12:00:00Z",
            ),
            ("date:step:12h", "2024-05-06T11:59:59Z", "2024-05-06"),
        ] {
            assert_eq!(bucket(facet, date(text)), Some(date(start)), "{text}");
        }
        assert_eq!(bucket("date:step:365d", Value::Date(i64::MIN)), None);
        assert_eq!(bucket("date:step:365d", Value::Integer(3)), None);
        assert_eq!(bucket("keyword", Value::Integer(3)), None);
    }
}
