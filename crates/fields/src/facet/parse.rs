//! Reading of facets.

use super::{
    Facet, FacetKind, PERCENTILES_DEFAULT, PERCENTILES_MAX, RANGES_MAX, Range, SITE, TERMS_DEFAULT,
    TERMS_MAX, UNITS,
};
use crate::calendar::Period;
use crate::schema::{FieldType, Schema};
use crate::test::{BadTest, Test};
use crate::zone::Zone;

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
            "distinct" if argument.is_empty() => FacetKind::Distinct,
            "percentiles" if is_number => FacetKind::Percentiles(percentiles(argument)?),
            "stats" if is_number || kind == FieldType::Date => FacetKind::Stats,
            "step" if is_number => FacetKind::Step(width(argument)?),
            "step" if kind == FieldType::Date => FacetKind::Interval(interval(argument)?),
            "ranges" => FacetKind::Ranges(ranges(kind, argument)?),
            name if kind == FieldType::Date
                && let Some(period) = Period::of_name(name) =>
            {
                FacetKind::Calendar(period, Zone::named(argument)?)
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
            "terms, terms:20, distinct, ranges:a..b;c..d"
        }
        FieldType::Integer | FieldType::Float => {
            "stats, percentiles, percentiles:50,99, terms:20, distinct, step:10, ranges:..10;10..20"
        }
        FieldType::Date => {
            "year, quarter, month, week, day, hour, each with a time zone as in month:Europe/Berlin; step:10d, stats, terms:20, distinct, ranges:..2020;2021.."
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

fn percentiles(argument: &str) -> Result<Vec<f64>, BadTest> {
    if argument.is_empty() {
        return Ok(PERCENTILES_DEFAULT.to_vec());
    }
    let percent = |text: &str| {
        let percent = text.trim().parse().ok();
        percent.filter(|percent: &f64| (0.0..=100.0).contains(percent))
    };
    let percents: Option<Vec<f64>> = argument.split(',').map(percent).collect();
    let percents = percents.filter(|percents| percents.len() <= PERCENTILES_MAX);
    percents.ok_or_else(|| {
        bad(format!(
            "`{argument}` are not 1 to {PERCENTILES_MAX} numbers from 0 to 100, as in percentiles:50,95,99"
        ))
    })
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
