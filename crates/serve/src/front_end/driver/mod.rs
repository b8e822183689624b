//! Driver of coordinators: makes their calls to servers, all that are due at once, within the timeout of the query.

use crate::api::messages::{SearchRequest, SummariesRequest, TextSummary};
use crate::cluster::replicas::Call as CallKind;
use crate::cluster::{Cluster, Known};
use crate::front_end::FrontEnd;
use crate::front_end::fan_out::FanOut;
use engine::calls::{
    Chunks, CountFacetsRequest, CountMatchesRequest, DetailsRequest, NearWordsRequest, PartError,
    Query, TypedWord, part_of,
};
use engine::{
    Call, Coordinator, Corrected, Correction, HitDetails, Layout, Limits, NextProbe, Outcome,
    PreparedQuery, Replied, Reply, Sample, SearchError, Timeline, Titles,
};
use fields::FacetCounts;
use futures_util::future::join_all;
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::{Instrument, debug_span};
use wire::SuggestAnswer;

/// Lower limit of the time reserved for details and summaries: a tenth of the timeout, within two
/// bounds.
const RESERVE_MIN: Duration = Duration::from_millis(1);
const RESERVE_MAX: Duration = Duration::from_millis(50);

impl FrontEnd {
    /// Answers a query within its timeout. If a server closes the generation of the query, the query
    /// begins again with a newer one as often as time allows: no reload makes an answer fail or lack a
    /// part.
    pub(super) async fn search_prepared(
        &self,
        prepared: &PreparedQuery,
        known: &Known,
    ) -> Result<Outcome, SearchError> {
        let timeout = self.timeout_of(&prepared.options);
        let deadline = prepared.arrived + timeout;
        let reserve = (timeout / 10).clamp(RESERVE_MIN, RESERVE_MAX);
        let cut_off = deadline.checked_sub(reserve).unwrap_or(prepared.arrived);
        let limits = self.limits(cut_off, deadline);
        loop {
            let layout = Served::new(&self.cluster, known);
            let mut coordinator = Coordinator::new(prepared, &layout, limits);
            let searched = self.drive(&mut coordinator).await;
            let is_gone = match &searched {
                Err(SearchError::GenerationGone { .. }) => true,
                _ => coordinator.generation_is_gone(),
            };
            if !is_gone || Instant::now() >= cut_off {
                searched?;
                return coordinator.finish();
            }
        }
    }

    /// Answers a search for titles within the timeout of its searches.
    pub(super) async fn titles_found(
        &self,
        mut titles: Titles,
        known: &Known,
    ) -> Result<SuggestAnswer, SearchError> {
        while let Some(prepared) = titles.next_search() {
            titles.answered(self.search_prepared(&prepared, known).await?.answer);
        }
        Ok(titles.finish())
    }

    /// Returns the correction of a query; `None` where there is none.
    pub(super) async fn corrected(
        &self,
        correction: &mut Correction<'_>,
        prepared: &PreparedQuery,
        known: &Known,
    ) -> Option<Corrected> {
        let deadline = prepared.arrived + self.timeout_of(&prepared.options);
        let limits = self.limits(deadline, deadline);
        let request = correction.near_words(deadline);
        let typed = self.near_words(&prepared.query, &request).await;
        let mut next = correction.known(typed);
        loop {
            match next {
                NextProbe::Ask(probes) => {
                    let answers = probes
                        .iter()
                        .map(|probe| self.sampled(probe, known, limits));
                    next = correction.answered(join_all(answers).await);
                }
                NextProbe::Done(corrected) => return corrected,
            }
        }
    }

    /// Returns the words near those typed, from the first index server that gives them: each knows those of the whole index.
    async fn near_words(
        &self,
        query: &Arc<Query>,
        request: &NearWordsRequest,
    ) -> Result<Vec<TypedWord>, PartError> {
        let (partitions, calls) = (&self.cluster.partitions, &self.cluster.calls);
        // Queries begin at different servers, so that none has more work than the others.
        let first = query.id as usize % partitions.len().max(1);
        let (before, from) = partitions.split_at(first.min(partitions.len()));
        let mut failure = PartError::Expired;
        for group in from.iter().chain(before) {
            let (kind, deadline) = (CallKind::NearWords, request.deadline);
            let call = group.call(kind, calls, deadline, |server, reply| {
                server.near_words(query, request.clone(), reply);
            });
            match call.await {
                Ok(typed) => return Ok(typed),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    /// Answers a search on behalf of another; `None` where a part of the index does not answer in time.
    async fn sampled(&self, probe: &PreparedQuery, known: &Known, limits: Limits) -> Sample {
        let layout = Served::new(&self.cluster, known);
        let mut coordinator = Coordinator::new(probe, &layout, limits);
        self.drive(&mut coordinator).await.ok()?;
        coordinator.finish().ok()?.into_sample()
    }

    fn limits(&self, cut_off: Instant, deadline: Instant) -> Limits {
        Limits {
            cut_off,
            deadline,
            bytes_max: self.answer_bytes_max(),
        }
    }

    /// Makes all calls of a coordinator, until none is due and none is under way.
    async fn drive(&self, coordinator: &mut Coordinator<'_>) -> Result<(), SearchError> {
        let prepared = coordinator.prepared();
        let calls = Calls {
            cluster: &self.cluster,
            query_id: prepared.query.id,
            timeline: &prepared.timeline,
        };
        let mut next = coordinator.first_call();
        // Until the hits are known, there is one call after another.
        let mut under_way = FuturesUnordered::new();
        while let Some(call) = next.take() {
            let mut due = coordinator.reply(calls.made(call).await, Instant::now())?;
            match due.len() {
                1 => next = due.pop(),
                _ => under_way.extend(due.into_iter().map(|call| calls.made(call))),
            }
        }
        while let Some(reply) = under_way.next().await {
            let due = coordinator.reply(reply, Instant::now())?;
            under_way.extend(due.into_iter().map(|call| calls.made(call)));
        }
        Ok(())
    }
}

/// Calls of one query to the servers of a cluster.
struct Calls<'a> {
    cluster: &'a Cluster,
    query_id: u64,
    timeline: &'a Timeline,
}

impl Calls<'_> {
    async fn made(&self, call: Call) -> Reply {
        let query = self.query_id;
        match call {
            Call::SearchAll { query, request } => {
                let fan_out = self.fan_out(&query, request);
                fan_out.of_one_generation().await
            }
            Call::Search {
                query,
                request,
                partitions,
            } => Reply::Searched(self.fan_out(&query, request).ask(&partitions).await),
            Call::Details(requests) => {
                let read = requests
                    .iter()
                    .map(|(partition, query, request)| self.details(*partition, query, request));
                let span = debug_span!("details", query);
                Reply::Details(join_all(read).instrument(span).await)
            }
            Call::CountMatches {
                query,
                request,
                partitions,
            } => {
                let begun = Instant::now();
                let counts = partitions
                    .iter()
                    .map(|&at| self.matches(at, &query, &request));
                let counts = join_all(counts).await;
                self.timeline.note("counts", String::new, begun);
                Reply::MatchesCounted(request.counted, counts)
            }
            Call::CountFacets {
                group,
                query,
                request,
            } => {
                let partitions = 0..self.cluster.partitions.len();
                let counts = partitions.map(|at| self.facets(at, &query, &request));
                Reply::FacetsCounted(group, join_all(counts).await)
            }
            Call::Summaries(requests) => {
                let made = requests
                    .iter()
                    .map(|(part, request)| self.summaries(*part, request));
                let span = debug_span!("summaries", query);
                Reply::Summaries(join_all(made).instrument(span).await)
            }
        }
    }

    fn fan_out<'q>(&'q self, query: &'q Arc<Query>, request: SearchRequest) -> FanOut<'q> {
        FanOut {
            cluster: self.cluster,
            query,
            timeline: self.timeline,
            request,
        }
    }

    async fn details(
        &self,
        partition: usize,
        query: &Arc<Query>,
        request: &DetailsRequest,
    ) -> Replied<Vec<HitDetails>> {
        let (group, calls) = (&self.cluster.partitions[partition], &self.cluster.calls);
        let (kind, deadline) = (CallKind::Details, request.deadline);
        let call = group.call(kind, calls, deadline, |server, reply| {
            server.details(query, request.clone(), reply);
        });
        self.noted("details", &group.chunks, call).await
    }

    async fn matches(
        &self,
        partition: usize,
        query: &Arc<Query>,
        request: &CountMatchesRequest,
    ) -> Replied<Vec<u64>> {
        let (group, calls) = (&self.cluster.partitions[partition], &self.cluster.calls);
        let (kind, deadline) = (CallKind::CountMatches, request.deadline);
        let call = group.call(kind, calls, deadline, |server, reply| {
            server.count_matches(query, request.clone(), reply);
        });
        call.await
    }

    async fn facets(
        &self,
        partition: usize,
        query: &Arc<Query>,
        request: &CountFacetsRequest,
    ) -> Replied<Vec<FacetCounts>> {
        let (group, calls) = (&self.cluster.partitions[partition], &self.cluster.calls);
        let (kind, deadline) = (CallKind::CountFacets, request.deadline);
        let call = group.call(kind, calls, deadline, |server, reply| {
            server.count_facets(query, request.clone(), reply);
        });
        self.noted("facets", &group.chunks, call).await
    }

    async fn summaries(
        &self,
        part: usize,
        request: &SummariesRequest,
    ) -> Replied<Vec<Option<TextSummary>>> {
        let (group, calls) = (&self.cluster.texts[part], &self.cluster.calls);
        let (kind, deadline) = (CallKind::Summaries, request.deadline);
        let call = group.call(kind, calls, deadline, |server, reply| {
            server.summaries(request.clone(), reply);
        });
        self.noted("summaries", &group.chunks, call).await
    }

    /// Makes a call, which is a step of the trace.
    async fn noted<T>(&self, step: &str, chunks: &Chunks, call: impl Future<Output = T>) -> T {
        let begun = Instant::now();
        let replied = call.await;
        self.timeline.note(step, || part_of(chunks), begun);
        replied
    }
}

/// Parts of a cluster, by the facts known of its index.
struct Served<'a> {
    cluster: &'a Cluster,
    known: &'a Known,
}

impl<'a> Served<'a> {
    fn new(cluster: &'a Cluster, known: &'a Known) -> Served<'a> {
        Served { cluster, known }
    }
}

impl Layout for Served<'_> {
    fn partitions_count(&self) -> usize {
        self.cluster.partitions.len()
    }

    fn chunks_of(&self, partition: usize) -> Chunks {
        self.cluster.partitions[partition].chunks.clone()
    }

    /// Returns the number that a server of the partition reported last, or else a guess by its number of chunks.
    fn documents_of(&self, partition: usize) -> u64 {
        let group = &self.cluster.partitions[partition];
        let known = self.cluster.known();
        let share = group.chunks.clone().count() as u64;
        let guess = known.documents_count * share / u64::from(known.chunks_count.max(1));
        let reported = group.status(|status| status.documents_here_count);
        reported.unwrap_or(guess.max(1))
    }

    fn texts_count(&self) -> usize {
        self.cluster.texts.len()
    }

    fn text_chunks_of(&self, part: usize) -> Chunks {
        self.cluster.texts[part].chunks.clone()
    }

    fn texts_of(&self, url_hash: u64) -> Option<usize> {
        self.cluster.texts_of(self.known.chunk_of(url_hash))
    }
}

#[cfg(test)]
mod tests;
