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

/// Facets of one query.
pub(crate) struct FacetPhase<'a> {
    pub(crate) cluster: &'a Cluster,
    pub(crate) query: &'a Arc<Query>,
    pub(crate) facets: &'a Arc<[Facet]>,
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
        if self.facets.is_empty() {
            return Default::default();
        }
        let partitions = &self.cluster.partitions;
        let request = CountFacetsRequest {
            facets: Arc::clone(self.facets),
            is_whole: partitions.len() == 1,
            generation: found.generation,
            deadline: self.deadline,
        };
        let calls = partitions.iter().map(|group| {
            let request = &request;
            async move {
                let begun = Instant::now();
                let calls = &self.cluster.calls;
                let call = group.call(Call::CountFacets, calls, self.deadline, |server, reply| {
                    server.count_facets(self.query, request.clone(), reply);
                });
                let counted = call.await;
                self.timeline
                    .note("facets", || part_of(&group.chunks), begun);
                counted
            }
        });
        let mut sums = vec![FacetCounts::default(); self.facets.len()];
        let mut losses = Vec::new();
        for (group, counted) in partitions.iter().zip(join_all(calls).await) {
            match counted {
                Ok(counted) => {
                    for (sum, counts) in sums.iter_mut().zip(counted) {
                        sum.join(counts);
                    }
                }
                Err(error) => losses.push((group.chunks.clone(), error)),
            }
        }
        let both = self.facets.iter().zip(&sums);
        let answers = both.map(|(facet, counts)| facet_answer(facet, counts));
        match losses.is_empty() {
            true => (answers.collect(), losses),
            false => (Vec::new(), losses),
        }
    }
}
