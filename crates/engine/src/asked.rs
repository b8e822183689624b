//! One query on the calling thread: search, page, details, summaries, answer.

use crate::cursor::{Epoch, PageStart};
use crate::details::{HitDetails, HitsRead, shown};
use crate::error::EngineError;
use crate::lacks::as_typed;
use crate::options::{ANSWER_BYTES_MAX, SearchOptions};
use crate::part::Part;
use crate::refinement::Refinement;
use crate::shown_text::shown_text;
use crate::site_limit::{
    Candidate, KnownRanking, PartRanking, SiteCounts, admit, first_k, has_more, join, merge, next_k,
};
use crate::sort_values::sort_json;
use fields::Value;
use index::{ReadStart, TextKey};
use search::{Parsed, Plan, Searched, Stop};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use text::summary::{SummaryOptions, SummaryQuery};
use wire::answer::Degraded;
use wire::{Hit, PhaseTimes, SearchAnswer, Total};

/// Query with its options.
pub(crate) struct Asked<'a> {
    pub(crate) text: &'a str,
    pub(crate) parsed: &'a Parsed,
    pub(crate) options: &'a SearchOptions,
    pub(crate) refinement: &'a Refinement,
    /// Where the page begins.
    pub(crate) start: PageStart,
    pub(crate) arrived: Instant,
}

/// Hits of a page, and the known properties of their sites.
pub(crate) struct Page {
    pub(crate) hits: Vec<Candidate>,
    pub(crate) more_hits: bool,
    pub(crate) sites: SiteCounts,
    pub(crate) ranking_is_complete: bool,
    /// Plan by which the last of the hits were found.
    pub(crate) plan: Arc<Plan>,
    /// Plan by which hits with all of the words were found.
    pub(crate) plan_of_all_words: Arc<Plan>,
    /// Rank of the first hit that holds only some of the words.
    pub(crate) some_words_from: Option<usize>,
    /// Values by which the hits are sorted, by hit; empty for the order of scores.
    pub(crate) sort_values: Vec<Vec<Option<Value>>>,
    pub(crate) found: Searched,
}

/// Ranking that holds the hits wanted, or all there are, or all that there was time for.
pub(crate) struct Settled {
    pub(crate) ranking: KnownRanking,
    pub(crate) admitted: Vec<Candidate>,
    pub(crate) sites: SiteCounts,
    pub(crate) found: Searched,
}

impl Asked<'_> {
    pub(crate) fn is_due(&self) -> bool {
        let timeout = self.options.timeout;
        timeout.is_some_and(|timeout| self.arrived.elapsed() >= timeout)
    }

    pub(crate) fn answer(
        &self,
        part: &Part,
        since: ReadStart,
    ) -> Result<SearchAnswer, EngineError> {
        let mut phases = PhaseTimes::default();
        let statistics = part.index().statistics();
        let plan = Arc::new(Plan::new(
            &self.parsed.query,
            self.options.ranking,
            statistics,
        )?);
        let mut clock = Clock(self.arrived);
        phases.parse = clock.lap_us();
        let mut warnings = self.parsed.warnings.clone();
        let facets = self.facets(part, &plan, &mut phases, &mut warnings)?;
        let page = match self.refinement.sort.is_empty() {
            true => self.page(part, plan, &mut phases)?,
            false => self.sorted_page(part, plan, &mut phases)?,
        };
        let plan = Arc::clone(&page.plan);
        clock.lap_us();
        let details = self.details(part, &page)?;
        let has_more = self.sites(part, &plan, &page, &details)?;
        phases.details = clock.lap_us();
        let (after, moved) = self.cursors(part, &page);
        let hits = self.hits(part, &plan, since, &page, details, &has_more, &mut warnings)?;
        phases.summaries = clock.lap_us();
        phases.total = self.arrived.elapsed().as_micros() as u64;
        Ok(SearchAnswer {
            facets,
            after,
            moved,
            ..self.put_together(page, hits, phases, warnings)
        })
    }

    /// Returns the number of hits to look for: one more than the page has shows whether another page follows.
    pub(crate) fn wanted(&self) -> usize {
        self.start.start + self.options.k + 1
    }

    /// Returns the cursor of the page's last hit, and whether the page is not exactly the one after the page before.
    fn cursors(&self, part: &Part, page: &Page) -> (Option<String>, bool) {
        let Some(cursors) = &self.refinement.cursors else {
            return (None, false);
        };
        let epoch = Epoch {
            index_id: part.index().id(),
            generation: part.index().generation(),
        };
        let after = page.hits.last().map(|last| {
            let values = page.sort_values.last().cloned().unwrap_or_default();
            cursors.next(&last.hit, values, page.hits.len(), epoch)
        });
        (after, cursors.is_moved(epoch, &self.start))
    }

    /// Searches until the page is certain, k is at its largest, or the timeout has passed. Where fewer documents than
    /// wanted match, those that hold some of the words follow them.
    fn page(
        &self,
        part: &Part,
        plan: Arc<Plan>,
        phases: &mut PhaseTimes,
    ) -> Result<Page, EngineError> {
        let first = self.settle(part, &plan, &[], self.options.counted, phases)?;
        let is_short = first.ranking.is_complete && first.admitted.len() < self.wanted();
        let some_words = self.parsed.some_words.as_ref();
        let Some(some_words) = some_words
            .filter(|_| is_short && self.options.k > 0 && !self.is_due() && is_whole(&first.found))
        else {
            return Ok(self.page_of(first, plan, None));
        };
        let statistics = part.index().statistics();
        let plan_of_all_words = plan;
        let plan = Plan::new(some_words, self.options.ranking, statistics)?;
        let plan = Arc::new(plan);
        let before = &first.ranking.candidates;
        let mut all = self.settle(part, &plan, before, false, phases)?;
        let some_words_from = Some(first.admitted.len());
        // The total is that of the documents with all words.
        all.found = Searched {
            documents_searched: all.found.documents_searched,
            ..first.found
        };
        Ok(Page {
            plan_of_all_words,
            ..self.page_of(all, plan, some_words_from)
        })
    }

    /// Searches for further hits after those of `before` until as many as wanted are certain.
    fn settle(
        &self,
        part: &Part,
        plan: &Arc<Plan>,
        before: &[Candidate],
        counted: bool,
        phases: &mut PhaseTimes,
    ) -> Result<Settled, EngineError> {
        let (options, wanted) = (self.options, self.wanted());
        let mut k = first_k(wanted, options.site_hits_max());
        let mut repeats = 0;
        loop {
            let mut clock = Clock(Instant::now());
            let is_due = || self.is_due();
            let task = part.task(plan, k, counted).after(self.start.after.clone());
            let share = task.work(&Stop::when(&is_due), || false)?;
            let found = task.merged([share]);
            let searched_us = clock.lap_us();
            match repeats {
                0 => phases.index_search += searched_us,
                _ => phases.optimization_searches += searched_us,
            }
            if found.documents_searched == 0 && found.documents_count > 0 {
                return Err(EngineError::TimedOut);
            }
            let ranking = [Some(PartRanking {
                hits: &found.hits,
                is_cut: is_cut(&found, k, self.start.after.is_some()),
                matches_count: found.count_is_exact.then_some(found.matches_count),
            })];
            let next = next_k(&ranking, k, repeats);
            let ranking = join(before, merge(&ranking));
            let (admitted, sites) = admit(&ranking, options.site_hits_max(), wanted);
            phases.merge += clock.lap_us();
            let is_settled = admitted.len() >= wanted || ranking.is_complete || self.is_due();
            match next {
                Some(next) if !is_settled => k = next,
                _ => {
                    return Ok(Settled {
                        ranking,
                        admitted,
                        sites,
                        found,
                    });
                }
            }
            repeats += 1;
        }
    }

    pub(crate) fn page_of(
        &self,
        settled: Settled,
        plan: Arc<Plan>,
        some_words_from: Option<usize>,
    ) -> Page {
        let Settled {
            ranking,
            admitted,
            sites,
            found,
        } = settled;
        let page_end = self.start.start + self.options.k;
        let start = self.start.start.min(admitted.len());
        let end = page_end.min(admitted.len());
        Page {
            hits: admitted[start..end].to_vec(),
            more_hits: admitted.len() > page_end,
            sites,
            ranking_is_complete: ranking.is_complete,
            plan_of_all_words: Arc::clone(&plan),
            plan,
            some_words_from,
            sort_values: Vec::new(),
            found,
        }
    }

    fn details(&self, part: &Part, page: &Page) -> Result<Vec<HitDetails>, EngineError> {
        let addresses = page.hits.iter().map(|one| (one.hit.segment, one.hit.doc));
        let addresses: Vec<_> = addresses.collect();
        let from = page.some_words_from.unwrap_or(usize::MAX);
        let with_all_words = from.saturating_sub(self.start.start).min(addresses.len());
        let (with_all_words, with_some_words) = addresses.split_at(with_all_words);
        // The hits are known, so their details are read without cancellation.
        let never = || false;
        let stop = Stop::when(&never);
        // Each score is explained by the plan that it is of.
        let read = |hits: &[_], plan, lacks_of| {
            let request = HitsRead {
                hits,
                explained_by: self.options.explain.then_some(plan),
                lacks_of,
                bytes_max: ANSWER_BYTES_MAX,
            };
            part.details(&request, &stop)
        };
        let mut details = read(with_all_words, &*page.plan_of_all_words, None)?;
        if !with_some_words.is_empty() {
            let plan = &*page.plan;
            details.extend(read(with_some_words, plan, Some(plan))?);
        }
        Ok(details)
    }

    /// Returns whether the sites of the page, by hash, have more matches than the limit.
    fn sites(
        &self,
        part: &Part,
        plan: &Plan,
        page: &Page,
        details: &[HitDetails],
    ) -> Result<HashMap<u64, bool>, EngineError> {
        let per_site = self.options.site_hits_max();
        let is_due = || self.is_due();
        let mut known = HashMap::with_capacity(page.hits.len());
        // Those with some of the words are further matches, also where this page needs none of them.
        let unseen = match page.some_words_from {
            Some(_) => None,
            None => self.parsed.some_words.as_ref(),
        };
        let mut plan_of_all = None;
        for (candidate, details) in page.hits.iter().zip(details) {
            let site_hash = candidate.hit.site_hash;
            if known.contains_key(&site_hash) {
                continue;
            }
            let complete = page.ranking_is_complete && unseen.is_none();
            let site_count = details.site_documents_count;
            let more = match has_more(&page.sites, per_site, complete, site_hash, site_count) {
                Some(more) => more,
                None => {
                    let (site, limit) = (&details.details.site, u64::from(per_site) + 1);
                    let stop = Stop::when(&is_due);
                    if let (Some(query), None) = (unseen, &plan_of_all) {
                        let statistics = part.index().statistics();
                        plan_of_all = Some(Plan::new(query, self.options.ranking, statistics)?);
                    }
                    let plan = plan_of_all.as_ref().unwrap_or(plan);
                    part.count_site(plan, site, limit, &stop)? > u64::from(per_site)
                }
            };
            known.insert(site_hash, more);
        }
        Ok(known)
    }

    #[allow(clippy::too_many_arguments)]
    fn hits(
        &self,
        part: &Part,
        plan: &Plan,
        since: ReadStart,
        page: &Page,
        details: Vec<HitDetails>,
        has_more: &HashMap<u64, bool>,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Hit>, EngineError> {
        let (index, options) = (part.index(), SummaryOptions::default());
        let analyzer = index.analyzer();
        let query = SummaryQuery::new(analyzer, plan.summary_terms(), options);
        let urls = details.iter().map(|hit| TextKey::Url(&hit.details.url));
        let mut summaries = Vec::with_capacity(details.len());
        let mut buffer = Vec::new();
        for key in urls.clone() {
            summaries.push(shown_text(
                index,
                key,
                &query,
                &mut buffer,
                self.options.fields,
            )?);
        }
        index.verify_texts(urls, since)?;
        let hits = page.hits.iter().zip(details).zip(summaries);
        let mut sort_values = page.sort_values.iter().map(|values| sort_json(values));
        Ok(hits
            .map(|((candidate, hit), text)| {
                if text.is_none() {
                    warnings.push(format!(
                        "the document store has no text of {}; index the document again",
                        hit.details.url
                    ));
                }
                let (summary, fields, cut_fields) = text.unwrap_or_default();
                let (details, mut cut) = shown(hit.details);
                cut.extend(cut_fields);
                Hit {
                    id: details.id,
                    url: details.url,
                    title_html: query.highlight(&details.title).unwrap_or_default(),
                    title: details.title,
                    site: details.site,
                    score: candidate.hit.score,
                    summary,
                    fields,
                    cut,
                    more_from_site: has_more.get(&candidate.hit.site_hash) == Some(&true),
                    lacks: as_typed(self.text, analyzer, &hit.lacks),
                    explanation: hit.explanation,
                    sort: sort_values.next().unwrap_or_default(),
                }
            })
            .collect())
    }

    fn put_together(
        &self,
        page: Page,
        hits: Vec<Hit>,
        phases_us: PhaseTimes,
        warnings: Vec<String>,
    ) -> SearchAnswer {
        let found = &page.found;
        let is_whole = found.documents_searched == found.documents_count
            && (found.count_is_exact || !self.options.counted);
        let degraded = (!is_whole).then(|| Degraded {
            lacks: match found.documents_searched < found.documents_count {
                true => "search".into(),
                false => "count".into(),
            },
            chunks: String::new(),
            reason: "deadline".into(),
            message: "the timeout ended the search".into(),
            documents_searched: found.documents_searched,
            documents_count: found.documents_count,
        });
        SearchAnswer {
            query: self.text.to_owned(),
            total: Total {
                value: found.matches_count,
                exact: found.count_is_exact && is_whole,
            },
            hits,
            some_words_from: page.some_words_from,
            facets: Vec::new(),
            did_you_mean: None,
            more_hits: page.more_hits,
            after: None,
            moved: false,
            phases_us,
            warnings,
            coverage: match found.documents_count {
                0 => 1.0,
                count => found.documents_searched as f64 / count as f64,
            },
            timed_out: degraded.is_some(),
            degraded: degraded.into_iter().collect(),
            trace: None,
            schedule: Vec::new(),
        }
    }
}

/// Returns whether all documents were searched.
fn is_whole(found: &Searched) -> bool {
    found.documents_searched == found.documents_count
}

/// Returns whether matches beyond the hits may exist; with `is_later`, matches before them are counted too.
fn is_cut(found: &Searched, k: usize, is_later: bool) -> bool {
    match found.count_is_exact && !is_later {
        true => found.matches_count > found.hits.len() as u64,
        false => found.hits.len() >= k,
    }
}

/// Clock that measures one phase after another.
pub(crate) struct Clock(pub(crate) Instant);

impl Clock {
    /// Returns the microseconds since the last lap and begins the next.
    pub(crate) fn lap_us(&mut self) -> u64 {
        let now = Instant::now();
        let lap = now - self.0;
        self.0 = now;
        lap.as_micros() as u64
    }
}
