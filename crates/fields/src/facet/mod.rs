//! Facets: counts of the values of a field over the matches of a query.
//!
//! ```text
//! facet  := field [: terms [: n] | : distinct | : stats | : percentiles [: p , …] | : step : width
//!                  | : period [: zone] | : ranges : a..b ; c.. ; …]
//! period := year | quarter | month | week | day | hour
//! zone   := the name of a time zone, as Europe/Berlin; UTC without one
//! width  := number                               of numbers; of dates: integer d (days) | integer h (hours)
//! ```
//!
//! Counts of parts of an index are merged without loss, so a facet is exact whatever the layout.

mod list;
mod parse;
#[cfg(test)]
mod tests;

pub use list::split_list;

use crate::calendar::Period;
use crate::test::Test;
use crate::value::Value;
use crate::zone::Zone;
use std::fmt;

/// Values of a facet unless another number is asked for.
pub const TERMS_DEFAULT: usize = 10;
/// Upper limit on the values of a facet.
pub const TERMS_MAX: usize = 10_000;
/// Upper limit on the buckets of a histogram.
pub const BUCKETS_MAX: usize = 100_000;
/// Upper limit on the ranges of a facet.
pub const RANGES_MAX: usize = 100;
/// Upper limit on the percentiles of a facet.
pub const PERCENTILES_MAX: usize = 100;
/// Percentiles of a facet unless others are asked for.
pub const PERCENTILES_DEFAULT: [f64; 7] = [1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0];
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
    /// Percentiles: for each of some percents, the value that this share of the values does not exceed.
    Percentiles(Vec<f64>),
    /// Number of distinct values.
    Distinct,
    /// Documents of each period of the calendar of a time zone.
    Calendar(Period, Zone),
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

impl FacetKind {
    /// Returns the bucket of a value of a histogram: its first value. `None` for facets that are no histograms, and
    /// where the bucket is no value.
    pub fn bucket(&self, value: &Value) -> Option<Value> {
        match (self, value) {
            (FacetKind::Calendar(period, zone), Value::Date(micros)) => {
                Some(Value::Date(zone.start(*period, *micros)))
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
            FacetKind::Percentiles(percents) => {
                let texts: Vec<String> = percents.iter().map(f64::to_string).collect();
                write!(f, "{field}:percentiles:{}", texts.join(","))
            }
            FacetKind::Distinct => write!(f, "{field}:distinct"),
            FacetKind::Calendar(period, zone) => match zone.name() {
                None => write!(f, "{field}:{}", period.name()),
                Some(name) => write!(f, "{field}:{}:{name}", period.name()),
            },
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
