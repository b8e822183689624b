//! Driver of a coordinator on the calling thread, over a part that has all chunks of an index.

use crate::aggregation::Aggregated;
use crate::calls::{
    Chunks, CountFacetsRequest, Counted, DetailsRequest, PartError, PartitionHits, Query,
    SearchRequest, SummariesRequest, TextSummary,
};
use crate::coordinator::{
    Call, Coordinator, Corrected, Correction, IndexFacts, Layout, Limits, NextProbe, Outcome,
    PreparedQuery, QuerySource, Replied, Reply, Sample, Titles, shown_instead,
};
use crate::details::HitDetails;
use crate::error::{DetailsError, EngineError};
use crate::options::SearchOptions;
use crate::part::Part;
use crate::retried::retried;
use crate::shown_text::shown_text;
use fields::FacetCounts;
use index::{IndexError, ReadStart};
use search::{FacetError, Stop};
use std::time::{Duration, Instant};
use text::summary::{SummaryOptions, SummaryQuery};
use wire::{SearchAnswer, SuggestAnswer};

/// Time of a search without a limit: ten years.
const UNLIMITED: Duration = Duration::from_secs(10 * 365 * 24 * 3600);
/// Size of an answer without a limit, in bytes.
const ANSWER_BYTES_MAX: usize = 1 << 40;

/// Returns what queries to the index of a part are read with.
pub(crate) fn facts_of(part: &Part) -> IndexFacts<'_> {
    let index = part.index();
    IndexFacts {
        analyzer: index.analyzer(),
        fields: index.fields(),
        index_id: index.id(),
        rules: part.rules(),
    }
}

/// Test of the caller for cancellation, called every few dozen microseconds of a search.
pub(crate) type IsCancelled<'a> = &'a (dyn Fn() -> bool + Sync);

/// Answers a query, which was prepared, with one part, until it is cancelled. Files that change meanwhile are read once more.
pub(crate) fn answer(
    part: &Part,
    prepared: &PreparedQuery,
    query: QuerySource<'_>,
    options: &SearchOptions,
    is_cancelled: IsCancelled<'_>,
) -> Result<SearchAnswer, EngineError> {
    let mut found = outcome(part, prepared, is_cancelled)?;
    let Some(mut correction) = Correction::of(prepared, &found) else {
        return Ok(found.answer);
    };
    let corrected = corrected(part, &mut correction, is_cancelled)?;
    correction.end(&mut found)?;
    let mut answer = found.answer;
    match corrected {
        Some(Corrected::Instead(text)) => {
            let (facts, arrived) = (facts_of(part), prepared.arrived);
            let options = options.clone();
            let instead = PreparedQuery::corrected(0, query, &text, options, facts, arrived)?;
            let found = outcome(part, &instead, is_cancelled)?;
            Ok(shown_instead(answer, found.answer, arrived))
        }
        Some(Corrected::Offered(better)) => {
            answer.did_you_mean = Some(better);
            Ok(answer)
        }
        None => Ok(answer),
    }
}

/// Answers a search for titles with one part, until it is cancelled.
pub(crate) fn titles(
    part: &Part,
    mut titles: Titles,
    is_cancelled: IsCancelled<'_>,
) -> Result<SuggestAnswer, EngineError> {
    while let Some(prepared) = titles.next_search() {
        titles.answered(outcome(part, &prepared, is_cancelled)?.answer);
    }
    Ok(titles.finish())
}

fn outcome(
    part: &Part,
    prepared: &PreparedQuery,
    is_cancelled: IsCancelled<'_>,
) -> Result<Outcome, EngineError> {
    let timeout = prepared.options.timeout.unwrap_or(UNLIMITED);
    // The hits are known when the time is over, so their details are read all the same.
    let limits = Limits {
        cut_off: prepared.arrived + timeout.min(UNLIMITED),
        deadline: prepared.arrived + UNLIMITED,
        bytes_max: ANSWER_BYTES_MAX,
    };
    retried(|| {
        let since = part.index().read_start();
        let local = Local {
            part,
            since,
            cut_off: limits.cut_off,
            is_cancelled,
        };
        let outcome = local.run(Coordinator::new(prepared, &local, limits));
        // Errors are verified too: changed bytes may have caused them.
        part.verify(since)?;
        outcome
    })
}

fn corrected(
    part: &Part,
    correction: &mut Correction<'_>,
    is_cancelled: IsCancelled<'_>,
) -> Result<Option<Corrected>, EngineError> {
    let request = correction.near_words(Instant::now() + UNLIMITED);
    let typed = retried(|| {
        let since = part.index().read_start();
        let typed = part.near_words(&request);
        part.verify(since)?;
        Ok(typed?)
    })?;
    let mut next = correction.known(Ok(typed));
    loop {
        match next {
            NextProbe::Ask(probes) => {
                let answers: Result<Vec<Sample>, EngineError> = probes
                    .iter()
                    .map(|probe| Ok(outcome(part, probe, is_cancelled)?.into_sample()))
                    .collect();
                next = correction.answered(answers?);
            }
            NextProbe::Done(corrected) => return Ok(corrected),
        }
    }
}

/// The only part, from the start of its reading.
struct Local<'p> {
    part: &'p Part,
    since: ReadStart,
    cut_off: Instant,
    is_cancelled: IsCancelled<'p>,
}

impl Layout for Local<'_> {
    fn partitions_count(&self) -> usize {
        1
    }

    fn chunks_of(&self, _: usize) -> Chunks {
        0..=self.part.index().chunks_count().saturating_sub(1)
    }

    fn documents_of(&self, _: usize) -> u64 {
        self.part.index().statistics().documents_count()
    }

    fn texts_count(&self) -> usize {
        1
    }

    fn text_chunks_of(&self, part: usize) -> Chunks {
        self.chunks_of(part)
    }

    fn texts_of(&self, _: u64) -> Option<usize> {
        Some(0)
    }
}

impl Local<'_> {
    fn run(&self, mut coordinator: Coordinator<'_>) -> Result<Outcome, EngineError> {
        let mut due: Vec<Call> = coordinator.first_call().into_iter().collect();
        while let Some(call) = due.pop() {
            let reply = self.made(call)?;
            // What was found until then is no answer.
            if (self.is_cancelled)() {
                return Err(EngineError::Cancelled);
            }
            let mut next = coordinator.reply(reply, Instant::now())?;
            // In the order of the coordinator.
            next.reverse();
            due.extend(next);
        }
        Ok(coordinator.finish()?)
    }

    /// Makes a call. An index that cannot be read ends the search.
    fn made(&self, call: Call) -> Result<Reply, EngineError> {
        Ok(match call {
            Call::SearchAll { query, request } => {
                let found = self.search(&query, &request)?;
                Reply::SearchedAll {
                    generation: found.generation,
                    partitions: vec![Some(found)],
                    failures: Vec::new(),
                }
            }
            Call::Search { query, request, .. } => {
                Reply::Searched(vec![(0, Ok(self.search(&query, &request)?))])
            }
            Call::Details(requests) => {
                let requests = requests.iter();
                let read = requests.map(|(_, query, request)| self.details(query, request));
                Reply::Details(read.collect::<Result<_, _>>()?)
            }
            Call::CountMatches { query, request, .. } => {
                let counts = self.count_matches(&query, &request.counted)?;
                Reply::MatchesCounted(request.counted, vec![counts])
            }
            Call::CountFacets {
                group,
                query,
                request,
            } => Reply::FacetsCounted(group, vec![self.count_facets(&query, &request)?]),
            Call::Summaries(requests) => {
                let requests = requests.iter();
                let made = requests.map(|(_, request)| Ok(Ok(self.summaries(request)?)));
                Reply::Summaries(made.collect::<Result<_, IndexError>>()?)
            }
        })
    }

    fn is_due(&self) -> bool {
        (self.is_cancelled)() || Instant::now() >= self.cut_off
    }

    fn search(&self, query: &Query, request: &SearchRequest) -> Result<PartitionHits, IndexError> {
        let planned = query.planned(self.part.index())?;
        let begun = Instant::now();
        let is_due = || self.is_due();
        let stop = Stop::when(&is_due);
        let found = match request.sort.is_empty() {
            true => {
                let (k, is_later) = (request.k, request.after.is_some());
                let task = self.part.task(&planned.plan, k, request.counted);
                let task = task.after(request.after.as_deref().cloned());
                let share = task.work(&stop, || false)?;
                PartitionHits::of_scores(task.merged([share]), k, is_later)
            }
            false => {
                let aggregation = request.aggregation();
                match self.part.aggregate(&planned.plan, &aggregation, &stop) {
                    Ok(found) => PartitionHits::of_values(found),
                    Err(FacetError::Index(error)) => return Err(error),
                    // Only facets end so.
                    Err(FacetError::TooManyBuckets | FacetError::Cancelled) => {
                        PartitionHits::of_values(Aggregated::default())
                    }
                }
            }
        };
        let found = found.grouped(self.part, request.collapse.as_deref())?;
        Ok(PartitionHits {
            search_us: begun.elapsed().as_micros() as u64,
            ..found.planned_by(&planned)
        })
    }

    fn details(
        &self,
        query: &Query,
        request: &DetailsRequest,
    ) -> Result<Replied<Vec<HitDetails>>, IndexError> {
        let planned = query.planned(self.part.index())?;
        let read = request.read(Some(&planned.plan));
        match self.part.details(&read, &Stop::when(&self.is_cancelled)) {
            Ok(details) => Ok(Ok(details)),
            Err(DetailsError::Index(error)) => Err(error),
            Err(error) => Ok(Err(PartError::of_details(error, request.explain))),
        }
    }

    fn count_matches(
        &self,
        query: &Query,
        counted: &Counted,
    ) -> Result<Replied<Vec<u64>>, IndexError> {
        let planned = query.planned(self.part.index())?;
        let is_due = || self.is_due();
        let stop = Stop::when(&is_due);
        let counts = self.part.count_matches(&planned.plan, counted, &stop)?;
        Ok(match stop.is_due_now() {
            true => Err(PartError::Expired),
            false => Ok(counts),
        })
    }

    fn count_facets(
        &self,
        query: &Query,
        request: &CountFacetsRequest,
    ) -> Result<Replied<Vec<FacetCounts>>, IndexError> {
        let planned = query.planned(self.part.index())?;
        let is_due = || self.is_due();
        let stop = Stop::when(&is_due);
        let aggregation = request.aggregation();
        Ok(
            match self.part.aggregate(&planned.plan, &aggregation, &stop) {
                Ok(counted) if counted.is_complete() => Ok(counted.facets),
                Ok(_) => Err(PartError::Expired),
                Err(FacetError::Index(error)) => return Err(error),
                Err(error) => Err(error.into()),
            },
        )
    }

    fn summaries(
        &self,
        request: &SummariesRequest,
    ) -> Result<Vec<Option<TextSummary>>, IndexError> {
        let index = self.part.index();
        let terms = request.terms.to_vec();
        let query = SummaryQuery::new(index.analyzer(), terms, SummaryOptions::default());
        let mut buffer = Vec::new();
        let keys = || (0..request.of.count()).filter_map(|at| request.of.key(at));
        let made = keys().map(|key| shown_text(index, key, &query, &mut buffer, request.fields));
        let made = made.collect::<Result<_, _>>()?;
        index.verify_texts(keys(), self.since)?;
        Ok(made)
    }
}
