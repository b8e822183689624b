//! Facets over all matches: counted by every partition, added up here.

use crate::api::chunks::Chunks;
use crate::api::chunks::part_of;
use crate::api::messages::{CountFacetsRequest, Query};
use crate::api::server_error::ServerError;
use crate::cluster::Cluster;
use crate::cluster::replicas::Call;
use crate::front_end::query_phase::Found;
use crate::front_end::timeline::Timeline;
use engine::facet_answer;
use fields::{Facet, FacetCounts};
use futures_util::future::join_all;
use std::sync::Arc;
use std::time::Instant;
use wire::FacetAnswer;

/// Facets that are counted over the matches of one query.
pub(crate) struct AskedFacets {
    pub(crate) query: Arc<Query>,
    pub(crate) facets: Arc<[Facet]>,
    /// Places of the facets in the answer.
    pub(crate) places: Vec<usize>,
}

/// Facets of one search.
pub(crate) struct FacetPhase<'a> {
    pub(crate) cluster: &'a Cluster,
    pub(crate) groups: &'a [AskedFacets],
    pub(crate) deadline: Instant,
    pub(crate) timeline: &'a Timeline,
}

impl FacetPhase<'_> {
    /// Counts the facets in the generation of the hits. A facet is whole or absent: where a partition does not answer,
    /// there are none. Returns the parts that did not answer, too.
    pub(crate) async fn count(
        &self,
        found: &Found,
    ) -> (Vec<FacetAnswer>, Vec<(Chunks, ServerError)>) {
        let counted = join_all(
            self.groups
                .iter()
                .map(|group| self.count_group(group, found)),
        );
        let count = self.groups.iter().map(|group| group.facets.len()).sum();
        let mut answers = vec![FacetAnswer::default(); count];
        let mut all_losses = Vec::new();
        for (group, (own, losses)) in self.groups.iter().zip(counted.await) {
            all_losses.extend(losses);
            for (place, answer) in group.places.iter().zip(own) {
                answers[*place] = answer;
            }
        }
        match all_losses.is_empty() {
            true => (answers, all_losses),
            false => (Vec::new(), all_losses),
        }
    }

    /// Counts the facets of one group; none where a partition does not answer.
    async fn count_group(
        &self,
        group: &AskedFacets,
        found: &Found,
    ) -> (Vec<FacetAnswer>, Vec<(Chunks, ServerError)>) {
        let partitions = &self.cluster.partitions;
        let request = CountFacetsRequest {
            facets: Arc::clone(&group.facets),
            is_whole: partitions.len() == 1,
            generation: found.generation,
            deadline: self.deadline,
        };
        let calls = partitions.iter().map(|partition| {
            let request = &request;
            async move {
                let begun = Instant::now();
                let calls = &self.cluster.calls;
                let call =
                    partition.call(Call::CountFacets, calls, self.deadline, |server, reply| {
                        server.count_facets(&group.query, request.clone(), reply);
                    });
                let counted = call.await;
                self.timeline
                    .note("facets", || part_of(&partition.chunks), begun);
                counted
            }
        });
        let mut sums = vec![FacetCounts::default(); group.facets.len()];
        let mut losses = Vec::new();
        for (partition, counted) in partitions.iter().zip(join_all(calls).await) {
            match counted {
                Ok(counted) => {
                    for (sum, counts) in sums.iter_mut().zip(counted) {
                        sum.join(counts);
                    }
                }
                Err(error) => losses.push((partition.chunks.clone(), error)),
            }
        }
        let both = group.facets.iter().zip(&sums);
        let answers = both.map(|(facet, counts)| facet_answer(facet, counts));
        match losses.is_empty() {
            true => (answers.collect(), losses),
            false => (Vec::new(), losses),
        }
    }
}
