//! Most frequent values of a field.

use crate::facet::buckets::Buckets;
use crate::facet::clause::value_clause;
use crate::facet::coded::CodedValues;
use crate::facet::kind::{BucketKind, Kind, bad};
use crate::facet::spans::Spans;
use crate::field_type::FieldType;
use crate::test::BadTest;
use wire::{FacetAnswer, FacetBucket};

/// Values of a facet unless another number is asked for.
pub const TERMS_DEFAULT: usize = 10;
/// Upper limit on the values of a facet.
pub const TERMS_MAX: usize = 10_000;

/// Documents of each of the most frequent values.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms {
    /// Number of values.
    pub n: usize,
}

impl Kind for Terms {
    fn read(_: FieldType, name: &str, argument: &str) -> Option<Result<Terms, BadTest>> {
        if name != "terms" {
            return None;
        }
        let n = match argument {
            "" => Some(TERMS_DEFAULT),
            number => number.parse().ok(),
        };
        let n = n.filter(|n| (1..=TERMS_MAX).contains(n));
        Some(n.map(|n| Terms { n }).ok_or_else(|| {
            bad(format!(
                "`{argument}` is no number of values, 1 to {TERMS_MAX}"
            ))
        }))
    }

    fn offered(field: FieldType) -> &'static str {
        match field {
            FieldType::Keyword | FieldType::Bool | FieldType::Text => "terms, terms:20",
            FieldType::Integer | FieldType::Float | FieldType::Date => "terms:20",
        }
    }

    fn text(&self) -> String {
        format!("terms:{}", self.n)
    }
}

impl BucketKind for Terms {
    fn spans(&self, _: &dyn CodedValues, _: &[(u64, u64)]) -> Option<Spans> {
        None
    }

    fn chosen_max(&self) -> Option<usize> {
        Some(self.n)
    }

    fn show(&self, field: &str, buckets: &Buckets, answer: &mut FacetAnswer) -> Vec<Option<usize>> {
        let most = buckets.most_frequent(self.n);
        let all: u64 = buckets.counts.iter().map(|(_, count)| count).sum();
        let shown = most.iter().map(|&at| &buckets.counts[at]);
        let shown = shown.map(|(value, count)| FacetBucket {
            filter: value_clause(field, value),
            value: value.to_json(),
            count: *count,
            ..FacetBucket::default()
        });
        answer.buckets = shown.collect();
        let shown: u64 = answer.buckets.iter().map(|bucket| bucket.count).sum();
        answer.others = all - shown + buckets.further_count;
        answer.distinct = Some(buckets.counts.len() as u64 + buckets.further_values_count);
        most.into_iter().map(Some).collect()
    }
}
