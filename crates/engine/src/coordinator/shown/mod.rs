//! What the hits of a page show: details from index servers, and beside them summaries from document servers, and facets.
//!
//! ```text
//! page ─┬─► details ─► counts of sites ─┐
//!       ├─► summaries, by hash of URL ──┴─► checked against the URLs of the details
//!       └─► facets
//! ```
//!
//! Summaries do not wait for the details, so an answer across processes is two calls deep and not three.

mod facets;
mod texts;

use crate::calls::{
    Chunks, CountMatchesRequest, Counted, DetailsRequest, PartError, Query, TextSummary,
};
use crate::coordinator::call::{Call, Replied, Reply};
use crate::coordinator::coverage::{COUNT, DETAILS, FACETS, SUMMARIES, first_error};
use crate::coordinator::layout::Layout;
use crate::coordinator::proof::{CertainDetails, MadeSummary, certain_details};
use crate::coordinator::ranking::Found;
use crate::coordinator::scope::Scope;
use crate::details::{HitAddress, HitDetails};
use crate::options::SearchOptions;
use crate::returned::HitContents;
use crate::search_error::SearchError;
use crate::site_limit::{SiteCounts, has_more as has_more_of_site};
use facets::Counting;
use fields::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use text::summary::SummaryTerm;
use wire::{FacetAnswer, PhaseTimes};

/// Lower bound on the limit on details from one partition, in bytes: more than the details of any one hit.
const DETAILS_BYTES_MIN: usize = 256 << 10;

/// Details and summaries of the hits, in the order of the hits, and facets.
pub(crate) struct Shown {
    /// Details of each hit; `None` where its server is lost.
    pub(crate) details: Vec<Option<HitDetails>>,
    pub(crate) summaries: Vec<MadeSummary>,
    /// Whether a site, by hash, has more matches than the page may show.
    pub(crate) has_more: HashMap<u64, bool>,
    /// Number of matches that each hit hides; empty where they are not counted, or where it is not known.
    pub(crate) hidden: Vec<u64>,
    pub(crate) facets: Vec<FacetAnswer>,
    pub(crate) proof: Option<CertainDetails>,
}

/// Something that a part did not give.
pub(crate) type Loss = (&'static str, Chunks, PartError);
/// Hits of one part, by their places on the page.
type Places = Vec<usize>;
/// Text from a document server: `None` without a reply, `Some(None)` where the store has no text.
type Given = Option<Option<TextSummary>>;

/// State of the texts of the hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Texts {
    /// Summaries are requested by the hash of the URLs.
    Asked,
    /// Summaries have come, and are compared with the details once these are there.
    Came,
    /// Summaries of other URLs are requested again, by the URLs of the hits.
    AskedAgain,
    /// Each is the one of its hit, or lost.
    Checked,
}

/// Fetch phase: the requests for what the hits show, and their replies so far.
pub(crate) struct Showing {
    found: Found,
    begun: Instant,
    /// Partition and places of each request for details.
    asked_details: Vec<(usize, Places)>,
    details: Vec<Option<HitDetails>>,
    /// Time until the details came.
    details_took: Option<Duration>,
    /// Hashes of the sites whose matches are being counted.
    counted_sites: Vec<u64>,
    has_more: HashMap<u64, bool>,
    /// Whether it is known which sites have more.
    is_counted: bool,
    /// Numbers of matches in the group of each hit of the page that has one; `None` where they are lost.
    groups: Option<Vec<u64>>,
    /// Whether the groups are counted, or need not be.
    are_groups_counted: bool,
    terms: Arc<[SummaryTerm]>,
    /// Document part and places of each request for summaries.
    asked_texts: Vec<(usize, Places)>,
    given: Vec<Given>,
    texts: Texts,
    facets: Counting,
    losses: Vec<Loss>,
    /// Whether all but the facets was there, and is in the times of the phases.
    is_shown: Option<Instant>,
}

impl Showing {
    /// Returns the fetch phase, and its first calls.
    pub(crate) fn new(found: Found, scope: Scope<'_>) -> (Showing, Vec<Call>) {
        let prepared = scope.prepared;
        let count = found.page.len();
        let mut showing = Showing {
            begun: Instant::now(),
            asked_details: Vec::new(),
            details: vec![None; count],
            details_took: None,
            counted_sites: Vec::new(),
            has_more: HashMap::with_capacity(count),
            is_counted: false,
            groups: Some(Vec::new()),
            are_groups_counted: true,
            terms: found.summary_terms.clone().into(),
            asked_texts: Vec::new(),
            given: vec![None; count],
            texts: Texts::Asked,
            facets: Counting::new(&prepared.facets),
            losses: Vec::new(),
            is_shown: None,
            found,
        };
        let mut calls = Vec::with_capacity(2 + prepared.facets.len());
        let contents = prepared.options.returned.hits;
        if count == 0 || contents == HitContents::Numbers {
            showing.details_took = Some(Duration::ZERO);
            showing.is_counted = true;
        } else {
            calls.push(showing.ask_details(scope));
            calls.extend(showing.ask_groups(scope));
        }
        // Further fields come with the texts.
        if count > 0 && (contents.has_summaries() || contents.has_fields()) {
            let places = (0..count).collect();
            calls.push(showing.ask_texts(places, scope));
        } else {
            showing.given = vec![Some(Some(TextSummary::default())); count];
            showing.texts = Texts::Checked;
        }
        for group in 0..prepared.facets.len() {
            calls.extend(showing.facets.call(group, showing.found.generation, scope));
        }
        (showing, calls)
    }

    /// Takes the reply to a call, and returns the calls that are due now. Fails where no hit has details.
    pub(crate) fn reply(
        &mut self,
        reply: Reply,
        scope: Scope<'_>,
        phases: &mut PhaseTimes,
    ) -> Result<Vec<Call>, SearchError> {
        let mut calls = Vec::new();
        match reply {
            Reply::Details(replies) => {
                self.take_details(replies, scope.layout)?;
                self.details_took = Some(self.begun.elapsed());
                calls.extend(self.ask_counts(scope));
            }
            Reply::MatchesCounted(Counted::Sites { .. }, replies) => {
                self.take_counts(replies, scope);
            }
            Reply::MatchesCounted(Counted::Groups { .. }, replies) => {
                self.take_groups(replies, scope);
            }
            Reply::Summaries(replies) => self.take_texts(replies, scope.layout),
            Reply::FacetsCounted(group, replies) => {
                let (counted, losses) = self.facets.take(group, replies, scope)?;
                let losses = losses.into_iter();
                self.losses
                    .extend(losses.map(|(chunks, error)| (FACETS, chunks, error)));
                if !counted {
                    calls.extend(self.facets.call(group, self.found.generation, scope));
                }
            }
            Reply::SearchedAll { .. } | Reply::Searched(_) => {}
        }
        if self.details_took.is_some() && self.texts == Texts::Came {
            calls.extend(self.check_texts(scope));
        }
        self.end_where_done(phases);
        Ok(calls)
    }

    /// Notes the times of the phases where everything is there. The phase of summaries holds only the wait after the
    /// details; their work ran meanwhile. Facets are searches; what they took longer is of the searches.
    pub(crate) fn end_where_done(&mut self, phases: &mut PhaseTimes) {
        let is_counted = self.is_counted && self.are_groups_counted;
        if self.is_shown.is_none() && is_counted && self.texts == Texts::Checked {
            let took = self.details_took.unwrap_or_default();
            phases.details = took.as_micros() as u64;
            phases.summaries = (self.begun.elapsed() - took).as_micros() as u64;
            self.is_shown = Some(Instant::now());
        }
        if let Some(shown) = self.is_shown
            && self.facets.is_done()
        {
            phases.index_search += shown.elapsed().as_micros() as u64;
        }
    }

    /// Returns whether a part had closed the generation of the hits.
    pub(crate) fn generation_is_gone(&self) -> bool {
        let mut losses = self.losses.iter();
        losses.any(|(_, _, error)| error.is_generation_gone())
    }

    /// Returns all that came, and what did not.
    pub(crate) fn finish(mut self, options: &SearchOptions) -> (Found, Shown, Vec<Loss>) {
        let made = |given: Given| match given {
            Some(Some(text)) => MadeSummary::Made(text),
            Some(None) => MadeSummary::NoText,
            None => MadeSummary::Lost,
        };
        let summaries: Vec<_> = self.given.into_iter().map(made).collect();
        let (page, details) = (&self.found.page, self.details);
        let hidden = self.groups.as_ref().map(|counts| {
            let mut counts = counts.iter();
            let groups = self.found.groups.iter();
            // The hit itself is one of its group.
            let hidden = groups.map(|group| match group {
                Some(_) => counts.next().map_or(0, |count| count.saturating_sub(1)),
                None => 0,
            });
            hidden.collect::<Vec<u64>>()
        });
        let has_more = &self.has_more;
        let proof = certain_details(
            options,
            page,
            &details,
            &summaries,
            has_more,
            hidden.as_deref(),
        );
        let is_whole = !self.losses.iter().any(|(lacks, ..)| *lacks == FACETS);
        // In the order of the way of an answer.
        self.losses.sort_by_key(|(lacks, ..)| match *lacks {
            DETAILS => 0,
            SUMMARIES => 1,
            COUNT => 2,
            _ => 3,
        });
        let shown = Shown {
            details,
            summaries,
            has_more: self.has_more,
            hidden: hidden.unwrap_or_default(),
            facets: match is_whole {
                true => self.facets.into_answers(),
                false => Vec::new(),
            },
            proof,
        };
        (self.found, shown, self.losses)
    }

    /// Asks for the details of the page's hits. Each score is explained by the query that it is of: hits with all words
    /// are asked for apart.
    fn ask_details(&mut self, scope: Scope<'_>) -> Call {
        let Scope {
            prepared,
            layout,
            limits,
        } = scope;
        let (found, page) = (&self.found, &self.found.page);
        let explain = prepared.options.explain;
        let ids_alone = prepared.options.returned.hits <= HitContents::Ids;
        let is_apart = |place: usize| explain && place < found.with_all_words;
        let part = |place: usize| Some(2 * page[place].partition + usize::from(is_apart(place)));
        let asked = by_part(0..page.len(), 2 * layout.partitions_count(), part);
        let request = |(part, places): &(usize, Places)| {
            let (partition, is_apart) = (part / 2, part % 2 == 1);
            let query = match is_apart {
                true => &prepared.query,
                false => &found.query,
            };
            let address = |&place: &usize| HitAddress::of(&page[place].hit);
            let bytes_max = limits.bytes_max;
            let request = DetailsRequest {
                hits: places.iter().map(address).collect(),
                explain,
                lacks: found.some_words_from.is_some() && !is_apart && !ids_alone,
                // A part with few of the hits may have long ones.
                bytes_max: (bytes_max.saturating_mul(places.len()) / page.len().max(1))
                    .max(bytes_max.min(DETAILS_BYTES_MIN)),
                generation: found.generation,
                deadline: limits.deadline,
            };
            (partition, Arc::clone(query), request)
        };
        let call = Call::Details(asked.iter().map(request).collect());
        let of_partition = asked.into_iter().map(|(part, places)| (part / 2, places));
        self.asked_details = of_partition.collect();
        call
    }

    /// Puts the details at their places. Fails where they are too large, and where there are none.
    fn take_details(
        &mut self,
        replies: Vec<Replied<Vec<HitDetails>>>,
        layout: &dyn Layout,
    ) -> Result<(), SearchError> {
        let mut losses = Vec::new();
        for ((partition, places), reply) in self.asked_details.iter().zip(replies) {
            match reply.and_then(|details| as_many(details, places.len(), "details")) {
                Ok(details) => {
                    for (&place, mut hit) in places.iter().zip(details) {
                        if place < self.found.with_all_words {
                            // A word of several forms, as `e-mail`, is held in any of them.
                            hit.lacks.clear();
                        }
                        self.details[place] = Some(hit);
                    }
                }
                Err(error) => losses.push((layout.chunks_of(*partition), error)),
            }
        }
        let (too_large, losses): (Vec<_>, Vec<_>) = losses
            .into_iter()
            .partition(|(_, error)| matches!(error, PartError::TooLarge { .. }));
        if !too_large.is_empty() {
            return Err(first_error(too_large));
        }
        if !losses.is_empty() && self.details.iter().all(Option::is_none) {
            return Err(first_error(losses));
        }
        let losses = losses.into_iter();
        self.losses
            .extend(losses.map(|(chunks, error)| (DETAILS, chunks, error)));
        Ok(())
    }

    /// Finds out which sites of the page have more matches than the limit. Asks for the counts of those that the known
    /// ranking does not decide.
    fn ask_counts(&mut self, scope: Scope<'_>) -> Option<Call> {
        let prepared = scope.prepared;
        if prepared.options.returned.hits <= HitContents::Ids {
            self.is_counted = true;
            return None;
        }
        let (found, per_site) = (&self.found, prepared.options.per_site);
        let mut names: Vec<String> = Vec::new();
        for (candidate, detail) in found.page.iter().zip(&self.details) {
            let site_hash = candidate.hit.site_hash;
            let Some(detail) = detail else { continue };
            if self.has_more.contains_key(&site_hash) || self.counted_sites.contains(&site_hash) {
                continue;
            }
            let is_collapsed = !prepared.options.collapse.is_empty();
            let is_complete = found.ranking_is_complete && !is_collapsed;
            let site_count = detail.site_documents_count;
            let sites = match is_collapsed {
                // The ranking lacks the hits that are hidden.
                true => &SiteCounts::default(),
                false => &found.sites,
            };
            match has_more_of_site(sites, per_site, is_complete, site_hash, site_count) {
                Some(more) => {
                    self.has_more.insert(site_hash, more);
                }
                None => {
                    self.counted_sites.push(site_hash);
                    names.push(detail.details.site.clone());
                }
            }
        }
        if names.is_empty() {
            self.is_counted = true;
            return None;
        }
        let counted = Counted::Sites {
            names: names.into(),
            limit: u64::from(per_site) + 1,
        };
        Some(self.count(counted, scope))
    }

    /// Asks how many matches are in the groups of the hits, where these are counted.
    fn ask_groups(&mut self, scope: Scope<'_>) -> Option<Call> {
        let values: Vec<Value> = self.found.groups.iter().flatten().cloned().collect();
        if values.is_empty() {
            return None;
        }
        self.are_groups_counted = false;
        let counted = Counted::Groups {
            field: scope.prepared.options.collapse.as_str().into(),
            values: values.into(),
        };
        Some(self.count(counted, scope))
    }

    /// Returns the call that counts matches in the partitions that answered: of the query whose matches the pages list.
    fn count(&self, counted: Counted, scope: Scope<'_>) -> Call {
        let query: &Arc<Query> = &scope.prepared.all_matches;
        Call::CountMatches {
            query: Arc::clone(query),
            request: CountMatchesRequest {
                counted,
                generation: self.found.generation,
                deadline: scope.limits.deadline,
            },
            partitions: self.found.answered.clone(),
        }
    }

    /// Adds up the counts of groups. Where a partition did not count, no count is known.
    fn take_groups(&mut self, replies: Vec<Replied<Vec<u64>>>, scope: Scope<'_>) {
        self.are_groups_counted = true;
        self.groups = self.sums(replies, scope);
    }

    /// Adds up the counts of the partitions that answered; `None` where one did not count.
    fn sums(&mut self, replies: Vec<Replied<Vec<u64>>>, scope: Scope<'_>) -> Option<Vec<u64>> {
        let mut sums: Vec<u64> = Vec::new();
        for (&partition, counts) in self.found.answered.iter().zip(replies) {
            match counts {
                Ok(counts) => {
                    sums.resize(sums.len().max(counts.len()), 0);
                    for (sum, count) in sums.iter_mut().zip(counts) {
                        *sum += count;
                    }
                }
                Err(error) => {
                    let chunks = scope.layout.chunks_of(partition);
                    self.losses.push((COUNT, chunks, error));
                    return None;
                }
            }
        }
        Some(sums)
    }

    /// Adds up the counts of sites. Where a partition did not count, no site is known to have more.
    fn take_counts(&mut self, replies: Vec<Replied<Vec<u64>>>, scope: Scope<'_>) {
        self.is_counted = true;
        let Some(sums) = self.sums(replies, scope) else {
            self.has_more.clear();
            return;
        };
        let per_site = u64::from(scope.prepared.options.per_site);
        for (&site_hash, &sum) in self.counted_sites.iter().zip(&sums) {
            self.has_more.insert(site_hash, sum > per_site);
        }
    }
}

/// Groups items by their part, of `parts` parts; parts without items are left out.
fn by_part(
    items: impl IntoIterator<Item = usize>,
    parts: usize,
    part_of: impl Fn(usize) -> Option<usize>,
) -> Vec<(usize, Places)> {
    let mut asked: Vec<Places> = vec![Vec::new(); parts];
    for item in items {
        if let Some(part) = part_of(item) {
            asked[part].push(item);
        }
    }
    let asked = asked.into_iter().enumerate();
    asked.filter(|(_, places)| !places.is_empty()).collect()
}

/// Checks that a reply has `count` entries, one for each item of the request.
fn as_many<T>(replied: Vec<T>, count: usize, what: &str) -> Result<Vec<T>, PartError> {
    match replied.len() == count {
        true => Ok(replied),
        false => Err(PartError::Protocol {
            reason: format!("it answered with other {what} than it was asked for; update it"),
        }),
    }
}
