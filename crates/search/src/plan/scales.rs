//! Scales of the fields that a plan scores: ranking, average length and factors of lengths.

use crate::plan::norms::Factors;
use crate::plan::ranking::Ranking;
use index::{Field, Statistics};
use smallvec::SmallVec;
use std::sync::Arc;

/// Parameters that all scores of one field share.
#[derive(Debug)]
pub(crate) struct Scale {
    /// The ranking, with the field's own strength of length normalisation where it has one.
    pub(crate) ranking: Ranking,
    pub(crate) average_length: f64,
    pub(crate) factors: Arc<Factors>,
}

/// Scales of the fields that clauses are scored in.
#[derive(Debug, Default)]
pub(crate) struct Scales(SmallVec<[(Field, Scale); 2]>);

impl Scales {
    /// Returns the scale of a field; `None` for the site, which is not scored, and for fields that no clause is scored in.
    #[inline]
    pub(crate) fn get(&self, field: Field) -> Option<&Scale> {
        let mut scales = self.0.iter();
        scales.find_map(|(known, scale)| (*known == field).then_some(scale))
    }

    /// Adds the scale of a field in which a clause is scored, which has none yet; returns its ranking.
    #[cold]
    pub(crate) fn add(
        &mut self,
        field: Field,
        ranking: Ranking,
        statistics: &Statistics,
    ) -> Ranking {
        if field == Field::Site {
            return ranking;
        }
        let settings = statistics.text_fields().get(field.number());
        let ranking = match settings.and_then(|settings| settings.b) {
            Some(b) => ranking.with_parameter("b", b),
            None => ranking,
        };
        let average_length = statistics.average_length(field);
        let scale = Scale {
            ranking,
            average_length,
            factors: Factors::of_field(ranking, average_length),
        };
        self.0.push((field, scale));
        ranking
    }
}
