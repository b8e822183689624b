//! Percentiles of the values of a field.

use crate::facet::bytes::{Reader, Writer};
use crate::facet::coded::CodedValues;
use crate::facet::kind::{FigureKind, FigureState, Kind, WEIGHT_BYTES, bad};
use crate::field_type::FieldType;
use crate::sketch::{QuantileSketch, SKETCH_METHOD};
use crate::test::BadTest;
use crate::value::Value;
use wire::{FacetAnswer, FacetPercentile};

/// Upper limit on the percentiles of a facet.
pub const PERCENTILES_MAX: usize = 100;
/// Percentiles of a facet unless others are asked for.
pub const PERCENTILES_DEFAULT: [f64; 7] = [1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0];

/// For each of some percents, the value that this share of the values does not exceed.
#[derive(Debug, Clone, PartialEq)]
pub struct Percentiles {
    /// The percents, 0 to 100.
    pub percents: Vec<f64>,
}

/// Distribution of the values of a part of the matches.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Distribution {
    /// Least and greatest value.
    pub ends: Option<(Value, Value)>,
    /// Numbers of values by interval.
    pub sketch: QuantileSketch,
}

impl Kind for Percentiles {
    fn read(field: FieldType, name: &str, argument: &str) -> Option<Result<Percentiles, BadTest>> {
        if name != "percentiles" || Percentiles::offered(field).is_empty() {
            return None;
        }
        let percent = |text: &str| {
            let percent = text.trim().parse().ok();
            percent.filter(|percent: &f64| (0.0..=100.0).contains(percent))
        };
        let percents: Option<Vec<f64>> = match argument {
            "" => Some(PERCENTILES_DEFAULT.to_vec()),
            listed => listed.split(',').map(percent).collect(),
        };
        let percents = percents.filter(|percents| percents.len() <= PERCENTILES_MAX);
        Some(percents.map(|percents| Percentiles { percents }).ok_or_else(|| {
            bad(format!(
                "`{argument}` are not 1 to {PERCENTILES_MAX} numbers from 0 to 100, as in percentiles:50,95,99"
            ))
        }))
    }

    fn offered(field: FieldType) -> &'static str {
        match field {
            FieldType::Integer | FieldType::Float => "percentiles, percentiles:50,99",
            _ => "",
        }
    }

    fn text(&self) -> String {
        let texts: Vec<String> = self.percents.iter().map(f64::to_string).collect();
        format!("percentiles:{}", texts.join(","))
    }
}

impl FigureKind for Percentiles {
    type State = Distribution;

    fn of_codes(&self, counts: &[(u64, u64)], values: &dyn CodedValues) -> Distribution {
        let value = |end: Option<&(u64, u64)>| values.value(end?.0);
        let named = counts.iter();
        let named = named.filter_map(|&(code, count)| Some((values.value(code)?, count)));
        Distribution {
            ends: value(counts.first()).zip(value(counts.last())),
            sketch: QuantileSketch::of_sorted(named),
        }
    }

    fn show(&self, figures: &Distribution, answer: &mut FacetAnswer) {
        answer.method = Some(SKETCH_METHOD.to_owned());
        let Some((least, greatest)) = &figures.ends else {
            return;
        };
        let percentile = |&percent: &f64| {
            let value = figures.sketch.percentile(percent, least, greatest)?;
            Some(FacetPercentile {
                percent,
                value: value.to_json(),
            })
        };
        answer.percentiles = self.percents.iter().filter_map(percentile).collect();
    }
}

impl FigureState for Distribution {
    fn join(&mut self, other: Distribution) {
        self.sketch.join(&other.sketch);
        self.ends = match (self.ends.take(), other.ends) {
            (Some(own), Some(others)) => {
                let least = if others.0.order(&own.0).is_lt() {
                    others.0
                } else {
                    own.0
                };
                let greatest = if others.1.order(&own.1).is_gt() {
                    others.1
                } else {
                    own.1
                };
                Some((least, greatest))
            }
            (own, others) => own.or(others),
        };
    }

    fn write(&self, writer: &mut Writer) {
        writer.optional(self.ends.as_ref().map(|(least, _)| least));
        writer.optional(self.ends.as_ref().map(|(_, greatest)| greatest));
        writer.number(self.sketch.intervals().len() as u64);
        let mut before = 0;
        for &(interval, count) in self.sketch.intervals() {
            writer.number((interval - before).into());
            writer.number(count);
            before = interval;
        }
    }

    fn read(reader: &mut Reader<'_>) -> Option<Distribution> {
        let ends = reader.optional()?.zip(reader.optional()?);
        let count = reader.count(2)?;
        let mut intervals = Vec::with_capacity(count);
        let mut before = 0u32;
        for _ in 0..count {
            before = before.checked_add(reader.number()?.try_into().ok()?)?;
            intervals.push((before, reader.number()?));
        }
        let sketch = QuantileSketch::of_intervals(intervals)?;
        Some(Distribution { ends, sketch })
    }

    fn weight(&self) -> u64 {
        self.sketch.intervals().len() as u64 * 16 / WEIGHT_BYTES
    }
}
