//! Facets of an answer, added up over the parts.
//!
//! ```text
//! each part: counts ─► added up ─► complete? ─► shown
//!              ▲                      │ no: values were not chosen before all parts had counted them
//!              └── chosen values ◄────┘ facets within them are counted in another call
//! ```
//!
//! Every level of terms with facets within them takes a call of its own where there are several parts.

use crate::calls::{Chunks, CountFacetsRequest, PartError};
use crate::coordinator::call::{Call, Replied};
use crate::coordinator::prepared::FacetCall;
use crate::coordinator::scope::Scope;
use crate::search_error::SearchError;
use fields::facet::WEIGHT_MAX;
use fields::{Facet, FacetCounts};
use std::sync::Arc;
use wire::FacetAnswer;

/// Counts of all facets so far.
pub(super) struct Counting {
    answers: Vec<FacetAnswer>,
    groups: Vec<Group>,
    /// Groups that are not counted.
    groups_left: usize,
    /// Weight of the facets within buckets that are counted.
    weight: u64,
}

/// Facets of one query whose counts are missing, or those within values that were chosen meanwhile.
struct Group {
    facets: Arc<[Facet]>,
    /// Places of the facets in the answer.
    places: Vec<usize>,
    /// Counts of each with the chosen values; empty before the first reply.
    chosen: Arc<[FacetCounts]>,
}

impl Counting {
    pub(super) fn new(groups: &[FacetCall]) -> Counting {
        let facets = groups.iter().map(|group| group.facets.len()).sum();
        let group = |group: &FacetCall| Group {
            facets: Arc::clone(&group.facets),
            places: group.places.clone(),
            chosen: Arc::default(),
        };
        Counting {
            answers: vec![FacetAnswer::default(); facets],
            groups: groups.iter().map(group).collect(),
            groups_left: groups.len(),
            weight: 0,
        }
    }

    /// Returns whether there are facets, and every group has its counts or will never have them.
    pub(super) fn is_done(&self) -> bool {
        self.groups_left == 0 && !self.answers.is_empty()
    }

    pub(super) fn into_answers(self) -> Vec<FacetAnswer> {
        self.answers
    }

    /// Returns the next call for a group.
    pub(super) fn call(&self, group: usize, generation: u64, scope: Scope<'_>) -> Option<Call> {
        let own = self.groups.get(group)?;
        Some(Call::CountFacets {
            group,
            query: Arc::clone(&scope.prepared.facets.get(group)?.query),
            request: CountFacetsRequest {
                facets: Arc::clone(&own.facets),
                is_whole: scope.layout.partitions_count() == 1,
                chosen: Arc::clone(&own.chosen),
                generation,
                deadline: scope.limits.deadline,
            },
        })
    }

    /// Adds up the counts of a group of facets. Returns whether it takes no further call, and the losses. A facet is whole or
    /// absent: where a partition does not answer, there are none.
    pub(super) fn take(
        &mut self,
        group: usize,
        replies: Vec<Replied<Vec<FacetCounts>>>,
        scope: Scope<'_>,
    ) -> Result<(bool, Vec<(Chunks, PartError)>), SearchError> {
        let Some(own) = self.groups.get_mut(group) else {
            return Ok((true, Vec::new()));
        };
        let mut sums = vec![FacetCounts::default(); own.facets.len()];
        let mut losses = Vec::new();
        for (partition, reply) in replies.into_iter().enumerate() {
            match reply {
                Ok(counted) => {
                    for (sum, counts) in sums.iter_mut().zip(counted) {
                        sum.join(counts);
                    }
                }
                Err(PartError::TooManyBuckets) => return Err(too_many()),
                Err(error) => losses.push((scope.layout.chunks_of(partition), error)),
            }
        }
        if !losses.is_empty() {
            self.groups_left = self.groups_left.saturating_sub(1);
            return Ok((true, losses));
        }
        let known = own.chosen.iter().cloned().map(Some);
        let known = known.chain(std::iter::repeat(None));
        let (mut left, mut chosen) = (Vec::new(), Vec::new());
        let mut weight = self.weight;
        for (at, (counted, known)) in sums.into_iter().zip(known).enumerate() {
            let facet = &own.facets[at];
            let mut counts = match known {
                None => counted,
                Some(mut known) => {
                    known.refine(facet, counted);
                    known
                }
            };
            weight += counts.weight_within();
            counts.choose(facet);
            match counts.is_complete(facet) {
                true => {
                    self.weight += counts.weight_within();
                    self.answers[own.places[at]] = facet.answer(&counts);
                }
                false => {
                    left.push((facet.clone(), own.places[at]));
                    chosen.push(counts);
                }
            }
        }
        if weight > WEIGHT_MAX {
            return Err(too_many());
        }
        let is_done = left.is_empty();
        let (facets, places): (Vec<_>, Vec<_>) = left.into_iter().unzip();
        *own = Group {
            facets: facets.into(),
            places,
            chosen: chosen.into(),
        };
        self.groups_left = self.groups_left.saturating_sub(usize::from(is_done));
        Ok((is_done, Vec::new()))
    }
}

fn too_many() -> SearchError {
    PartError::TooManyBuckets.into_search_error("")
}
