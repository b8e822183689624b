//! Facets and sorted pages of a search on the calling thread.

use crate::aggregation::Aggregation;
use crate::asked::{Asked, Clock, Page, Settled};
use crate::error::EngineError;
use crate::facet_answer::facet_answer;
use crate::part::Part;
use crate::site_limit::{Candidate, K_SEARCHED_MAX, KnownRanking, admit, first_k};
use crate::sort_values::sort_values;
use search::{Plan, Searched, SortedHit, Stop};
use std::sync::Arc;
use std::time::Instant;
use wire::{FacetAnswer, PhaseTimes};

/// Factor of the number of hits sorted, where the per-site limit leaves too few.
const GROWTH: usize = 8;

impl Asked<'_> {
    /// Sorts all matches by the values of fields, until the per-site limit leaves as many hits as wanted.
    pub(crate) fn sorted_page(
        &self,
        part: &Part,
        plan: Arc<Plan>,
        phases: &mut PhaseTimes,
    ) -> Result<Page, EngineError> {
        let (options, wanted) = (self.options, self.wanted());
        let mut clock = Clock(Instant::now());
        let mut k = first_k(wanted, options.site_hits_max());
        loop {
            let aggregation = Aggregation {
                sort: self.refinement.sort.clone(),
                k,
                after: self.start.after.clone(),
                is_whole: true,
                ..Aggregation::default()
            };
            let is_due = || self.is_due();
            let found = part.aggregate(&plan, &aggregation, &Stop::when(&is_due))?;
            if !found.is_complete() {
                return Err(EngineError::TimedOut);
            }
            let ranking = KnownRanking {
                is_complete: !found.is_cut,
                candidates: candidates(&found.hits),
            };
            let (admitted, sites) = admit(&ranking, options.site_hits_max(), wanted);
            phases.index_search += clock.lap_us();
            if admitted.len() < wanted && !ranking.is_complete && k < K_SEARCHED_MAX {
                k = k.saturating_mul(GROWTH).min(K_SEARCHED_MAX);
                continue;
            }
            let searched = Searched {
                hits: Vec::new(),
                matches_count: found.matches_count,
                count_is_exact: true,
                documents_searched: found.documents_searched,
                documents_count: found.documents_count,
            };
            let settled = Settled {
                ranking,
                admitted,
                sites,
                found: searched,
            };
            let mut page = self.page_of(settled, plan, None);
            page.sort_values = sort_values(&page.hits, &found.hits);
            return Ok(page);
        }
    }

    /// Counts the facets over all matches; none where the time does not suffice.
    pub(crate) fn facets(
        &self,
        part: &Part,
        plan: &Arc<Plan>,
        phases: &mut PhaseTimes,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<FacetAnswer>, EngineError> {
        let mut clock = Clock(Instant::now());
        let groups = &self.refinement.facets;
        let count = groups.iter().map(|group| group.facets.len()).sum();
        let mut answers = vec![FacetAnswer::default(); count];
        for group in groups {
            let own = match &group.query {
                Some(query) => {
                    let statistics = part.index().statistics();
                    Some(Arc::new(Plan::new(
                        query,
                        self.options.ranking,
                        statistics,
                    )?))
                }
                None => None,
            };
            let aggregation = Aggregation {
                facets: group.facets.clone(),
                is_whole: true,
                ..Aggregation::default()
            };
            let is_due = || self.is_due();
            let plan = own.as_ref().unwrap_or(plan);
            let counted = part.aggregate(plan, &aggregation, &Stop::when(&is_due))?;
            if !counted.is_complete() {
                warnings.push("There was no time to count the facets.".to_owned());
                return Ok(Vec::new());
            }
            let facets = group.facets.iter().zip(&counted.facets);
            for (place, (facet, counts)) in group.places.iter().zip(facets) {
                answers[*place] = facet_answer(facet, counts);
            }
        }
        phases.index_search += clock.lap_us();
        Ok(answers)
    }
}

/// Returns sorted hits as candidates of the only partition.
fn candidates(hits: &[SortedHit]) -> Vec<Candidate> {
    let candidate = |hit: &SortedHit| Candidate {
        hit: hit.hit,
        partition: 0,
    };
    hits.iter().map(candidate).collect()
}
