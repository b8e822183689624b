//! Facets as an answer shows them.

use super::Facet;
use super::clause::both;
use super::counts::FacetCounts;
use wire::FacetAnswer;

impl Facet {
    /// Returns the answer of the facet, given its counts over all matches.
    pub fn answer(&self, counts: &FacetCounts) -> FacetAnswer {
        let mut answer = FacetAnswer {
            field: self.field.clone(),
            facet: self.to_string(),
            documents: counts.documents_count,
            missing: counts.matches_count.saturating_sub(counts.documents_count),
            ..FacetAnswer::default()
        };
        let (buckets, figures) = (&counts.buckets, &counts.figures);
        let places = self.kind.show(&self.field, buckets, figures, &mut answer);
        if self.within.is_empty() {
            return answer;
        }
        let none = FacetCounts::default();
        for (bucket, place) in answer.buckets.iter_mut().zip(places) {
            let own = place.and_then(|place| counts.within.get(place));
            let own = |at: usize| own.and_then(|own| own.get(at)).unwrap_or(&none);
            let within = self.within.iter().enumerate();
            let within = within.map(|(at, facet)| facet.answer(own(at)));
            bucket.facets = within.collect();
            within_filter(&mut bucket.facets, &bucket.filter);
        }
        answer
    }
}

/// Narrows the clauses of facets to those of the documents of their bucket.
fn within_filter(facets: &mut [FacetAnswer], filter: &str) {
    for bucket in facets.iter_mut().flat_map(|facet| &mut facet.buckets) {
        bucket.filter = both(filter, &bucket.filter);
        within_filter(&mut bucket.facets, filter);
    }
}
