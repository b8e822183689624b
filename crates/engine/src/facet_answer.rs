//! Facets as an answer shows them.

use fields::facet::SITE;
use fields::{Facet, FacetCounts, FacetKind, Period, SKETCH_METHOD, Value, Zone, dates};
use wire::{FacetAnswer, FacetBucket, FacetPercentile, FacetStats};

/// Returns the answer of a facet, given its counts over all matches.
pub fn facet_answer(facet: &Facet, counts: &FacetCounts) -> FacetAnswer {
    let mut answer = FacetAnswer {
        field: facet.field.clone(),
        facet: facet.to_string(),
        documents: counts.documents_count,
        missing: counts.matches_count.saturating_sub(counts.documents_count),
        ..FacetAnswer::default()
    };
    match &facet.kind {
        FacetKind::Terms { n } => {
            let most = counts.most_frequent(*n);
            let sum = |counts: &[(Value, u64)]| counts.iter().map(|(_, count)| count).sum::<u64>();
            answer.others = sum(&counts.counts) - sum(&most) + counts.further_count;
            answer.distinct = Some(counts.counts.len() as u64 + counts.further_values_count);
            let buckets = most.into_iter();
            answer.buckets = buckets
                .map(|(value, count)| FacetBucket {
                    filter: value_filter(&facet.field, &value),
                    value: value.to_json(),
                    count,
                })
                .collect();
        }
        FacetKind::Stats => answer.stats = stats(counts),
        FacetKind::Percentiles(percents) => {
            answer.percentiles = percentiles(percents, counts);
            answer.method = Some(SKETCH_METHOD.to_owned());
        }
        FacetKind::Distinct => {
            answer.distinct = Some(counts.distinct.count());
            answer.method = Some(counts.distinct.method().to_owned());
        }
        FacetKind::Calendar(..) | FacetKind::Step(_) | FacetKind::Interval(_) => {
            let buckets = counts.counts.iter();
            answer.buckets = buckets
                .map(|(start, count)| FacetBucket {
                    filter: bucket_filter(facet, start),
                    value: match (&facet.kind, start) {
                        (FacetKind::Calendar(period, zone), Value::Date(start)) => {
                            zone.text(*period, *start).into()
                        }
                        _ => start.to_json(),
                    },
                    count: *count,
                })
                .collect();
        }
        FacetKind::Ranges(ranges) => {
            let count_of = |number: usize| {
                let number = Value::Integer(number as i64);
                let own = counts.counts.iter().find(|(value, _)| *value == number);
                own.map_or(0, |(_, count)| *count)
            };
            let all = ranges.iter().enumerate();
            answer.buckets = all
                .map(|(number, range)| FacetBucket {
                    value: range.text.clone().into(),
                    count: count_of(number),
                    filter: clause(&facet.field, &range.text),
                })
                .collect();
        }
    }
    answer
}

fn percentiles(percents: &[f64], counts: &FacetCounts) -> Vec<FacetPercentile> {
    let (Some(least), Some(greatest)) = (&counts.stats.least, &counts.stats.greatest) else {
        return Vec::new();
    };
    let percentile = |&percent: &f64| {
        let value = counts.sketch.percentile(percent, least, greatest)?;
        Some(FacetPercentile {
            percent,
            value: value.to_json(),
        })
    };
    percents.iter().filter_map(percentile).collect()
}

fn stats(counts: &FacetCounts) -> Option<FacetStats> {
    let stats = &counts.stats;
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

/// Returns the clause that selects the documents of a bucket.
fn bucket_filter(facet: &Facet, start: &Value) -> String {
    let field = &facet.field;
    match (&facet.kind, start) {
        (
            FacetKind::Calendar(period @ (Period::Year | Period::Month | Period::Day), zone),
            Value::Date(start),
        ) if *zone == Zone::UTC => clause(field, &zone.text(*period, *start)),
        (FacetKind::Calendar(period, zone), Value::Date(start)) => {
            clause(field, &dates_between(*start, zone.end(*period, *start)))
        }
        (FacetKind::Interval(micros), Value::Date(start)) => {
            clause(field, &dates_between(*start, start.checked_add(*micros)))
        }
        (FacetKind::Step(width), Value::Integer(start)) => {
            clause(field, &format!("(>={start} <{})", *start as f64 + width))
        }
        (FacetKind::Step(width), Value::Float(start)) => {
            clause(field, &format!("(>={start} <{})", start + width))
        }
        _ => String::new(),
    }
}

/// Returns the test for dates from `start` on that are before `end`. What is beyond the calendar has no text, and no value.
fn dates_between(start: i64, end: Option<i64>) -> String {
    let from = dates::text(start);
    match end.filter(|&end| end < dates::END) {
        Some(end) => format!("(>={from} <{})", dates::text(end)),
        None => format!(">={from}"),
    }
}

/// Returns the clause that selects the documents with a value; empty where no query can be written for it.
fn value_filter(field: &str, value: &Value) -> String {
    let text = value.to_string();
    let Value::Keyword(_) = value else {
        return clause(field, &text);
    };
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/');
    let is_plain =
        !text.is_empty() && text.chars().all(|c| is_plain(c) || c == '.') && !text.contains("..");
    match is_plain {
        // A site without quotation marks has its subdomains, which are values of their own.
        true if field != SITE => clause(field, &text),
        _ if !text.contains(['"', '“', '”', '„', '‟']) => {
            clause(field, &format!("\"{text}\""))
        }
        _ => String::new(),
    }
}

fn clause(field: &str, test: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    match field.chars().all(is_name) {
        true => format!("{field}:{test}"),
        false => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fields::{DistinctValues, FieldType, QuantileSketch, Schema, Stats};

    fn schema() -> Schema {
        let fields = FieldType::ALL.map(|kind| (kind.name().to_owned(), kind));
        fields.into_iter().collect()
    }

    fn answered(facet: &str, counts: Vec<(Value, u64)>) -> FacetAnswer {
        let counts = FacetCounts {
            counts,
            documents_count: 7,
            matches_count: 10,
            ..FacetCounts::default()
        };
        facet_answer(&Facet::parse(facet, &schema()).unwrap(), &counts)
    }

    #[test]
    fn buckets_name_their_values_and_clauses() {
        let word = |word: &str| Value::Keyword(word.into());
        let counts = vec![
            (word("a b"), 2),
            (word("cs.LG"), 9),
            (word("x\"y"), 1),
            (word("z"), 1),
        ];
        let answer = answered("keyword:terms:3", counts);
        let shown: Vec<_> = answer
            .buckets
            .iter()
            .map(|one| (one.count, one.filter.as_str()))
            .collect();
        assert_eq!(
            shown,
            [(9, "keyword:cs.LG"), (2, "keyword:\"a b\""), (1, "")]
        );
        assert_eq!(
            (answer.others, answer.distinct, answer.missing),
            (1, Some(4), 3)
        );
        let day = Value::Date(dates::parse("2024-02-01").unwrap());
        for (facet, value, filter) in [
            ("date:year", "2024", "date:2024"),
            ("date:month", "2024-02", "date:2024-02"),
            ("date:day", "2024-02-01", "date:2024-02-01"),
            ("date:week", "2024-02-01", "date:(>=2024-02-01 <2024-02-05)"),
            (
                "date:day:Asia/Tokyo",
                "2024-02-01",
                "date:(>=2024-02-01 <2024-02-01T15:00:00Z)",
            ),
            (
                "date:hour:Asia/Kolkata",
                "2024-02-01T05:30:00+05:30",
                "date:(>=2024-02-01 <2024-02-01T00:30:00Z)",
            ),
            (
                "date:step:12h",
                "2024-02-01",
                "date:(>=2024-02-01 <2024-02-01T12:00:00Z)",
            ),
        ] {
            let answer = answered(facet, vec![(day.clone(), 3)]);
            assert_eq!(answer.buckets[0].value, value);
            assert_eq!(answer.buckets[0].filter, filter);
        }
        let answer = answered("i64:step:10", vec![(Value::Integer(-10), 3)]);
        assert_eq!(answer.buckets[0].filter, "i64:(>=-10 <0)");
        let answer = answered("i64:ranges:..5;6..", vec![(Value::Integer(1), 3)]);
        let shown: Vec<_> = answer
            .buckets
            .iter()
            .map(|one| (one.count, one.filter.as_str()))
            .collect();
        assert_eq!(shown, [(0, "i64:..5"), (3, "i64:6..")]);
    }

    #[test]
    fn every_clause_of_a_bucket_is_read_back() {
        for filter in [
            "keyword:cs.LG",
            "keyword:\"a b\"",
            "date:2024-02",
            "date:(>=2024-02-01 <2024-02-08)",
            "date:(>=2024-02-01 <2024-02-01T12:00:00Z)",
            "i64:(>=-10 <0)",
        ] {
            let parsed = search::parse_filter(filter, text::Analyzer::Plain, &schema());
            assert!(parsed.is_ok(), "{filter}: {parsed:?}");
        }
    }

    #[test]
    fn estimates_name_their_method() {
        let sorted = (0..100).map(|number| (Value::Integer(number), 1));
        let mut counts = FacetCounts {
            sketch: QuantileSketch::of_sorted(sorted),
            distinct: DistinctValues::of([Value::Bool(true), Value::Bool(true)]),
            ..FacetCounts::default()
        };
        let asked = |text: &str, counts: &FacetCounts| {
            facet_answer(&Facet::parse(text, &schema()).unwrap(), counts)
        };
        assert_eq!(asked("i64:percentiles", &counts).percentiles, []);
        counts.stats.add(&Value::Integer(0), 1);
        counts.stats.add(&Value::Integer(99), 1);
        let answer = asked("i64:percentiles:50,100", &counts);
        let shown: Vec<_> = answer
            .percentiles
            .iter()
            .map(|one| (one.percent, one.value.clone()))
            .collect();
        assert_eq!(shown, [(50.0, 49.into()), (100.0, 99.into())]);
        assert!(
            answer
                .method
                .is_some_and(|method| method.contains("DDSketch"))
        );
        let answer = asked("bool:distinct", &counts);
        assert_eq!(
            (answer.distinct, answer.method.as_deref()),
            (Some(1), Some("exact"))
        );
    }

    #[test]
    fn statistics_have_the_types_of_their_fields() {
        let with = |value: Value| {
            let mut stats = Stats::default();
            stats.add(&value, 2);
            let counts = FacetCounts {
                stats,
                ..FacetCounts::default()
            };
            facet_answer(&Facet::parse("i64:stats", &schema()).unwrap(), &counts)
                .stats
                .unwrap()
        };
        let integer = with(Value::Integer(i64::MAX));
        assert_eq!(integer.sum, Some((2 * i64::MAX as u64).into()));
        assert_eq!(with(Value::Float(0.5)).sum, Some(1.0.into()));
        let date = with(Value::Date(0));
        assert_eq!((date.mean, date.sum), (Some("1970-01-01".into()), None));
    }
}
