//! Number, least, greatest, sum and mean of the values of a field.

use crate::dates;
use crate::facet::bytes::{Reader, Writer};
use crate::facet::coded::CodedValues;
use crate::facet::kind::{FigureKind, FigureState, Kind};
use crate::field_type::FieldType;
use crate::stats::Stats;
use crate::test::BadTest;
use crate::value::Value;
use wire::{FacetAnswer, FacetStats};

/// Statistics of the values.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueStats;

impl Kind for ValueStats {
    fn read(field: FieldType, name: &str, _: &str) -> Option<Result<ValueStats, BadTest>> {
        let is_own = name == "stats" && !ValueStats::offered(field).is_empty();
        is_own.then_some(Ok(ValueStats))
    }

    fn offered(field: FieldType) -> &'static str {
        match field {
            FieldType::Integer | FieldType::Float | FieldType::Date => "stats",
            FieldType::Keyword | FieldType::Bool | FieldType::Text => "",
        }
    }

    fn text(&self) -> String {
        "stats".to_owned()
    }
}

impl FigureKind for ValueStats {
    type State = Stats;

    fn of_codes(&self, counts: &[(u64, u64)], values: &dyn CodedValues) -> Stats {
        let mut stats = Stats::default();
        for &(code, count) in counts {
            if let Some(value) = values.value(code) {
                stats.add(&value, count);
            }
        }
        stats
    }

    fn show(&self, stats: &Stats, answer: &mut FacetAnswer) {
        answer.stats = shown(stats);
    }
}

fn shown(stats: &Stats) -> Option<FacetStats> {
    let (least, greatest) = (stats.least.as_ref()?, stats.greatest.as_ref()?);
    let (sum, mean) = match least {
        Value::Date(_) => {
            let mean = stats.mean().map(|micros| dates::text(micros as i64).into());
            (None, mean)
        }
        Value::Float(_) => (Some(stats.float_sum().into()), stats.mean().map(Into::into)),
        _ => {
            // Beyond 64 bits, too.
            let sum = json::Number::parse(&stats.integer_sum.to_string());
            (sum.map(Into::into), stats.mean().map(Into::into))
        }
    };
    Some(FacetStats {
        count: stats.values_count,
        min: least.to_json(),
        max: greatest.to_json(),
        sum,
        mean,
    })
}

impl FigureState for Stats {
    fn join(&mut self, other: Stats) {
        Stats::join(self, &other);
    }

    fn write(&self, writer: &mut Writer) {
        writer.number(self.values_count);
        writer.optional(self.least.as_ref());
        writer.optional(self.greatest.as_ref());
        writer.bytes(&self.integer_sum.to_le_bytes());
        for parts in [&self.float_parts, &self.large_parts] {
            writer.number(parts.len() as u64);
            parts
                .iter()
                .for_each(|part| writer.bytes(&part.to_le_bytes()));
        }
    }

    fn read(reader: &mut Reader<'_>) -> Option<Stats> {
        let values_count = reader.number()?;
        let (least, greatest) = (reader.optional()?, reader.optional()?);
        let integer_sum = i128::from_le_bytes(reader.bytes(16)?.try_into().ok()?);
        let mut parts = || -> Option<Vec<f64>> {
            let count = reader.count(8)?;
            (0..count).map(|_| reader.float()).collect()
        };
        Some(Stats {
            values_count,
            least,
            greatest,
            integer_sum,
            float_parts: parts()?,
            large_parts: parts()?,
        })
    }
}
