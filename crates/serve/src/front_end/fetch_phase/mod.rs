//! Fetch phase: details of the hits from index servers, and beside them summaries from document servers.
//!
//! ```text
//! page ─┬─► details ─► counts of sites ─┐
//!       └─► summaries, by hash of URL ──┴─► checked against the URLs of the details
//! ```
//!
//! Summaries do not wait for the details, so an answer across processes is two calls deep and not
//! three.

use crate::api::backend::DocumentServer;
use crate::api::chunks::Chunks;
use crate::api::chunks::part_of;
use crate::api::error::SearchError;
use crate::api::messages::{
    CountSitesRequest, DetailsRequest, HitDetails, SummariesOf, SummariesRequest, TextSummary,
};
use crate::api::options::SearchOptions;
use crate::api::server_error::ServerError;
use crate::cluster::replicas::{Call, Replicas};
use crate::cluster::{Cluster, Known};
use crate::front_end::coverage::{COUNT, Coverage, DETAILS, SUMMARIES, first_error};
use crate::front_end::fetch_proof::{CertainDetails, MadeSummary, certain};
use crate::front_end::query_phase::Found;
use crate::front_end::timeline::Timeline;
use engine::site_limit::has_more as has_more_of_site;
use futures_util::future::join_all;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use text::summary::SummaryTerm;
use tracing::{Instrument, debug_span};
use wire::PhaseTimes;

/// Hits of a page and the servers that hold them.
pub(crate) struct Page<'a> {
    pub(crate) cluster: &'a Cluster,
    pub(crate) known: Known,
    pub(crate) found: &'a Found,
    pub(crate) options: &'a SearchOptions,
    pub(crate) deadline: Instant,
    pub(crate) timeline: &'a Timeline,
    /// Upper limit on the answer, in bytes.
    pub(crate) bytes_max: usize,
}

/// Details and summaries of the hits, in the order of the hits.
pub(crate) struct Shown {
    /// Details of each hit; `None` where its server is lost.
    pub(crate) details: Vec<Option<HitDetails>>,
    pub(crate) summaries: Vec<MadeSummary>,
    /// Whether a site, by hash, has more matches than the page may show.
    pub(crate) has_more: HashMap<u64, bool>,
    pub(crate) proof: Option<CertainDetails>,
}

/// Least limit on the details from one partition, in bytes: more than those of any one hit.
const DETAILS_BYTES_MIN: usize = 256 << 10;

/// Chunks without an answer, each with its failure.
type Losses = Vec<(Chunks, ServerError)>;
/// Text from a document server: `None` without a reply, `Some(None)` where the store has no text.
type Given = Option<Option<TextSummary>>;

impl Page<'_> {
    /// Fetches all of it; fails where no hit has details.
    pub(crate) async fn ask(
        &self,
        phases: &mut PhaseTimes,
        coverage: &mut Coverage,
    ) -> Result<Shown, SearchError> {
        let id = self.found.query.id;
        let begun = Instant::now();
        let details = async {
            let (details, losses) = self
                .details()
                .instrument(debug_span!("details", query = id))
                .await;
            let is_too_large =
                |(_, error): &(_, ServerError)| matches!(error, ServerError::TooLarge { .. });
            let (too_large, losses): (Losses, Losses) = losses.into_iter().partition(is_too_large);
            if !too_large.is_empty() {
                return Err(first_error(too_large));
            }
            if !losses.is_empty() && details.iter().all(Option::is_none) {
                return Err(first_error(losses));
            }
            let took = begun.elapsed();
            let counting = Instant::now();
            let counts = self.site_counts(&details).await;
            self.timeline.note("counts", String::new, counting);
            Ok((details, losses, counts, took))
        };
        let given = async {
            Ok(self
                .texts_by_hash()
                .instrument(debug_span!("summaries", query = id))
                .await)
        };
        let ((details, losses, counts, details_took), (given, mut lost_texts)) =
            tokio::try_join!(details, given)?;
        let summaries = self.checked(&details, given, &mut lost_texts).await;
        // The phase of summaries holds only the wait after the details; their work ran meanwhile.
        phases.details = details_took.as_micros() as u64;
        phases.summaries = (begun.elapsed() - details_took).as_micros() as u64;

        for (chunks, error) in losses {
            coverage.lacks(DETAILS, &chunks, &error);
        }
        for (chunks, error) in lost_texts {
            coverage.lacks(SUMMARIES, &chunks, &error);
        }
        let has_more = counts.unwrap_or_else(|(chunks, error)| {
            coverage.lacks(COUNT, &chunks, &error);
            HashMap::new()
        });
        let proof = certain(
            self.options,
            &self.found.page,
            &details,
            &summaries,
            &has_more,
        );
        Ok(Shown {
            details,
            summaries,
            has_more,
            proof,
        })
    }

    /// Fetches the details of the page's hits, in their order; `None` for hits whose server is lost.
    async fn details(&self) -> (Vec<Option<HitDetails>>, Losses) {
        let (found, page) = (self.found, &self.found.page);
        // Each score is explained by the query that it is of: hits with all words are asked for apart.
        let is_apart = |place: usize| self.options.explain && place < found.with_all_words;
        let part = |place: usize| 2 * page[place].partition + usize::from(is_apart(place));
        let asked = by_part(page.len(), 2 * self.cluster.partitions.len(), |place| {
            Some(part(place))
        });
        let answered = join_all(asked.iter().map(|(part, places)| async move {
            let (partition, is_apart) = (part / 2, part % 2 == 1);
            let query = match is_apart {
                true => &found.query_of_all_words,
                false => &found.query,
            };
            let address = |&place: &usize| (page[place].hit.segment, page[place].hit.doc);
            let request = DetailsRequest {
                hits: places.iter().map(address).collect(),
                explain: self.options.explain,
                lacks: found.some_words_from.is_some() && !is_apart,
                // A part with few of the hits may have long ones.
                bytes_max: (self.bytes_max * places.len() / page.len().max(1))
                    .max(self.bytes_max.min(DETAILS_BYTES_MIN)),
                generation: found.generation,
                deadline: self.deadline,
            };
            let group = &self.cluster.partitions[partition];
            let begun = Instant::now();
            let calls = &self.cluster.calls;
            let answer = group.call(Call::Details, calls, self.deadline, |server, reply| {
                server.details(query, request.clone(), reply);
            });
            let answer = answer.await;
            self.timeline
                .note("details", || part_of(&group.chunks), begun);
            answer
        }))
        .await;
        let mut details = vec![None; page.len()];
        let mut losses = Vec::new();
        for ((part, places), answer) in asked.into_iter().zip(answered) {
            match answer.and_then(|answered| as_many(answered, places.len(), "details")) {
                Ok(answered) => {
                    for (&place, mut answer) in places.iter().zip(answered) {
                        if place < found.with_all_words {
                            // A word of several forms, as `e-mail`, is held in any of them.
                            answer.lacks.clear();
                        }
                        details[place] = Some(answer);
                    }
                }
                Err(error) => {
                    losses.push((self.cluster.partitions[part / 2].chunks.clone(), error))
                }
            }
        }
        (details, losses)
    }

    /// Returns whether the sites of the page (by hash) have more matches than the limit. It calls the
    /// servers only for sites that the known ranking does not decide.
    async fn site_counts(
        &self,
        details: &[Option<HitDetails>],
    ) -> Result<HashMap<u64, bool>, (Chunks, ServerError)> {
        let (found, per_site) = (self.found, self.options.site_hits_max());
        let mut has_more = HashMap::with_capacity(found.page.len());
        let mut hashes = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for (candidate, detail) in found.page.iter().zip(details) {
            let site_hash = candidate.hit.site_hash;
            let Some(detail) = detail else { continue };
            if has_more.contains_key(&site_hash) || hashes.contains(&site_hash) {
                continue;
            }
            let (is_complete, site_count) =
                (found.ranking_is_complete, detail.site_documents_count);
            match has_more_of_site(&found.sites, per_site, is_complete, site_hash, site_count) {
                Some(more) => {
                    has_more.insert(site_hash, more);
                }
                None => {
                    hashes.push(site_hash);
                    names.push(detail.details.site.clone());
                }
            }
        }
        if names.is_empty() {
            return Ok(has_more);
        }
        let request = CountSitesRequest {
            sites: names.into(),
            limit: u64::from(per_site) + 1,
            generation: found.generation,
            deadline: self.deadline,
        };
        let mut sums = vec![0u64; hashes.len()];
        let asked = found.answered.iter().map(|&partition| {
            let request = &request;
            self.cluster.partitions[partition].call(
                Call::CountSites,
                &self.cluster.calls,
                self.deadline,
                move |server, reply| {
                    server.count_sites(&self.found.query_of_sites, request.clone(), reply)
                },
            )
        });
        for (&partition, counts) in found.answered.iter().zip(join_all(asked).await) {
            let chunks = || self.cluster.partitions[partition].chunks.clone();
            let counts = counts.map_err(|error| (chunks(), error))?;
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        for (&site_hash, &sum) in hashes.iter().zip(&sums) {
            has_more.insert(site_hash, sum > u64::from(per_site));
        }
        Ok(has_more)
    }

    /// Fetches a summary for the hash of each hit's URL; returns the failed document parts too.
    async fn texts_by_hash(&self) -> (Vec<Given>, Losses) {
        let page = &self.found.page;
        let places: Vec<usize> = (0..page.len()).collect();
        let hashes = |places: &[usize]| {
            let hash = |&place: &usize| page[place].hit.url_hash;
            SummariesOf::UrlHashes(places.iter().map(hash).collect())
        };
        self.texts(&places, hashes).await
    }

    /// Fetches the summaries of some hits, in the order of all hits; returns the failed document parts
    /// too.
    async fn texts(
        &self,
        wanted: &[usize],
        of: impl Fn(&[usize]) -> SummariesOf,
    ) -> (Vec<Given>, Losses) {
        let page = &self.found.page;
        let part = |at: usize| {
            let hash = page[wanted[at]].hit.url_hash;
            self.cluster.texts_of(self.known.chunk_of(hash))
        };
        let terms: Arc<[SummaryTerm]> = self.found.summary_terms.clone().into();
        let asked: Vec<(usize, Vec<usize>)> = by_part(wanted.len(), self.cluster.texts.len(), part)
            .into_iter()
            .map(|(part, places)| (part, places.into_iter().map(|at| wanted[at]).collect()))
            .collect();
        let answered = join_all(asked.iter().map(|(part, places)| {
            let request = SummariesRequest {
                query_id: self.found.query.id,
                of: of(places),
                fields: self.options.fields,
                terms: Arc::clone(&terms),
                generation: self.found.generation,
                deadline: self.deadline,
            };
            self.texts_of(&self.cluster.texts[*part], request)
        }))
        .await;
        let mut given = vec![None; page.len()];
        let mut losses = Vec::new();
        for ((part, places), answer) in asked.into_iter().zip(answered) {
            match answer.and_then(|answered| as_many(answered, places.len(), "summaries")) {
                Ok(summaries) => {
                    for (&place, summary) in places.iter().zip(summaries) {
                        given[place] = Some(summary);
                    }
                }
                Err(error) => losses.push((self.cluster.texts[part].chunks.clone(), error)),
            }
        }
        (given, losses)
    }

    async fn texts_of(
        &self,
        group: &Replicas<dyn DocumentServer>,
        request: SummariesRequest,
    ) -> Result<Vec<Option<TextSummary>>, ServerError> {
        let begun = Instant::now();
        let calls = &self.cluster.calls;
        let answer = group.call(Call::Summaries, calls, self.deadline, |server, reply| {
            server.summaries(request.clone(), reply);
        });
        let answer = answer.await;
        self.timeline
            .note("summaries", || part_of(&group.chunks), begun);
        answer
    }

    /// Keeps the texts fetched by hash that belong to the hits. Where another URL has the same hash,
    /// its text may have come; the right text is then fetched by URL.
    async fn checked(
        &self,
        details: &[Option<HitDetails>],
        mut given: Vec<Given>,
        losses: &mut Losses,
    ) -> Vec<MadeSummary> {
        let url = |place: usize| details[place].as_ref().map(|hit| hit.details.url.as_str());
        let is_other = |place: usize, given: &Given| match (given, url(place)) {
            (Some(Some(text)), Some(url)) => !text.url.is_empty() && text.url != url,
            _ => false,
        };
        let others: Vec<usize> = (0..given.len())
            .filter(|&place| is_other(place, &given[place]))
            .collect();
        if !others.is_empty() {
            let urls = |places: &[usize]| {
                let url = |&place: &usize| url(place).unwrap_or_default().to_owned();
                SummariesOf::Urls(places.iter().map(url).collect())
            };
            let (mut again, lost) = self.texts(&others, urls).await;
            losses.extend(lost);
            for &place in &others {
                given[place] = again[place].take();
            }
        }
        let made = |given: Given| match given {
            Some(Some(text)) => MadeSummary::Made(text),
            Some(None) => MadeSummary::NoText,
            None => MadeSummary::Lost,
        };
        given.into_iter().map(made).collect()
    }
}

/// Groups `count` items by their part, of `parts` parts; parts without items are left out.
fn by_part(
    count: usize,
    parts: usize,
    part_of: impl Fn(usize) -> Option<usize>,
) -> Vec<(usize, Vec<usize>)> {
    let mut asked: Vec<Vec<usize>> = vec![Vec::new(); parts];
    for at in 0..count {
        if let Some(part) = part_of(at) {
            asked[part].push(at);
        }
    }
    let asked = asked.into_iter().enumerate();
    asked.filter(|(_, places)| !places.is_empty()).collect()
}

/// Checks that an answer has `count` entries, one for each item of the request.
fn as_many<T>(answered: Vec<T>, count: usize, what: &str) -> Result<Vec<T>, ServerError> {
    match answered.len() == count {
        true => Ok(answered),
        false => Err(ServerError::Protocol {
            reason: format!("it answered with other {what} than it was asked for; update it"),
        }),
    }
}

#[cfg(test)]
mod tests;
