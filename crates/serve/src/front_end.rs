//! The front-end: takes a query, asks index servers and the document server, gives an answer.
//!
//! ```text
//! parse ─► fan-out ─► merge, limit sites ─► details ─► summaries ─► answer
//!             ▲               │                 └─► counts of sites ──┘
//!             └── k doubled ◄─┘ too few admitted, and more may match ("optimization search")
//! ```
use crate::admission::{Candidate, KnownRanking, SiteCounts, admit, merge};
use crate::transport::{HitDetails, PartitionHits, Pending, ask};
use crate::{
    DocumentServer, InProcessIndexServer, IndexServer, SearchError, SearchOptions, ServeError,
    Topology,
};
use index::{Field, Index, IndexError, StoredDocument};
use search::Plan;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use text::summary::{SummaryOptions, SummaryQuery};
use wire::{Hit, PhaseTimes, SearchAnswer, Total};

/// The first fan-out asks for so many times the hits wanted when sites are limited: a larger k
/// costs little beside a second search.
const FIRST_K_FACTOR: usize = 2;
/// Repeats with k doubled before k grows faster. A query whose matches crowd on few sites has to
/// be searched to its end, and doubling all the way there would be a dozen searches.
const DOUBLINGS_MAX: u32 = 2;
/// The factor after that.
const LATER_GROWTH: usize = 8;

/// The front-end of an index. Searches from any number of threads at once.
pub struct FrontEnd {
    index: Arc<Index>,
    index_servers: Vec<Arc<dyn IndexServer>>,
    documents: DocumentServer,
}

impl FrontEnd {
    /// Starts index servers and a document server in this process.
    pub fn start(index: Arc<Index>, topology: &Topology) -> Result<FrontEnd, ServeError> {
        let mut index_servers: Vec<Arc<dyn IndexServer>> = Vec::new();
        for chunks in topology.partition_chunks(index.chunks_count())? {
            index_servers.push(Arc::new(InProcessIndexServer::start(
                &index, chunks, topology,
            )?));
        }
        FrontEnd::with_index_servers(index, index_servers)
    }

    /// A front-end before given index servers, one a partition.
    pub fn with_index_servers(
        index: Arc<Index>,
        index_servers: Vec<Arc<dyn IndexServer>>,
    ) -> Result<FrontEnd, ServeError> {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let documents = DocumentServer::start(Arc::clone(index.documents()), cores.min(4))?;
        Ok(FrontEnd {
            index,
            index_servers,
            documents,
        })
    }

    /// The index that is searched.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Whether the index keeps the texts of its documents.
    pub fn has_texts(&self) -> bool {
        self.documents.has_texts()
    }

    /// A document as stored.
    pub fn document(&self, url: &str) -> Result<Option<StoredDocument>, IndexError> {
        self.documents.document(url)
    }

    /// Answers a query. Blocks until the answer is there.
    pub fn search(
        &self,
        query: &str,
        options: &SearchOptions,
    ) -> Result<SearchAnswer, SearchError> {
        let arrived = Instant::now();
        options.validate()?;
        let mut phases = PhaseTimes::default();
        let mut clock = Stopwatch(arrived);

        let parsed = search::parse(query, self.index.analyzer(), options.operator);
        let plan = Plan::new(&parsed.query, options.ranking, self.index.statistics())?;
        let plan = Arc::new(plan);
        phases.parse = clock.lap_us();

        let found = self.find(&plan, options, &mut phases)?;
        clock.lap_us();

        let details = self.details(&plan, &found.page, options.explain)?;
        let counts = self.start_site_counts(&plan, &found, &details, options.per_site)?;
        phases.details = clock.lap_us();

        let summaries = self.summaries(&plan, &details)?;
        phases.summaries = clock.lap_us();

        // Handlers counted while summaries were made: what is left to wait belongs to details.
        let counts = counts.finish(options.per_site)?;
        phases.details += clock.lap_us();

        let mut warnings = parsed.warnings;
        let hits = assemble(&found, details, summaries, &counts, &mut warnings);
        phases.total = arrived.elapsed().as_micros() as u64;
        Ok(SearchAnswer {
            query: query.to_owned(),
            total: Total {
                value: found.matches_count,
                exact: true,
            },
            hits,
            more_hits: found.more_hits,
            phases_us: phases,
            warnings,
            coverage: 1.0,
            timed_out: false,
        })
    }

    /// Searches until the page is certain.
    fn find(
        &self,
        plan: &Arc<Plan>,
        options: &SearchOptions,
        phases: &mut PhaseTimes,
    ) -> Result<Found, SearchError> {
        let page_end = options.start + options.k;
        // One more tells whether another page follows.
        let wanted = page_end + 1;
        let mut k = match options.per_site {
            0 => wanted,
            _ => wanted * FIRST_K_FACTOR,
        };
        let mut partitions = vec![PartitionHits::default(); self.index_servers.len()];
        self.fan_out(plan, k, 0..self.index_servers.len(), &mut partitions)?;
        phases.queueing = partitions
            .iter()
            .map(|found| found.queueing_us)
            .max()
            .unwrap_or(0);
        phases.index_search = partitions
            .iter()
            .map(|found| found.search_us)
            .max()
            .unwrap_or(0);

        let mut repeats = 0;
        loop {
            let mut clock = Stopwatch(Instant::now());
            let ranking = merge(&partitions);
            let (admitted, sites) = admit(&ranking, options.per_site, wanted);
            phases.merge += clock.lap_us();
            if admitted.len() >= wanted || ranking.is_complete {
                let start = options.start.min(admitted.len());
                let end = page_end.min(admitted.len());
                return Ok(Found {
                    page: admitted[start..end].to_vec(),
                    more_hits: admitted.len() > page_end,
                    matches_count: partitions.iter().map(|found| found.matches_count).sum(),
                    ranking,
                    sites,
                });
            }
            k = k.saturating_mul(if repeats < DOUBLINGS_MAX {
                2
            } else {
                LATER_GROWTH
            });
            repeats += 1;
            // Partitions that told everything are not asked again.
            let cut: Vec<usize> = (0..partitions.len())
                .filter(|&p| partitions[p].is_cut())
                .collect();
            let most = cut
                .iter()
                .map(|&p| partitions[p].matches_count)
                .max()
                .unwrap_or(0);
            k = k.min(usize::try_from(most).unwrap_or(usize::MAX));
            self.fan_out(plan, k, cut, &mut partitions)?;
            phases.optimization_searches += clock.lap_us();
        }
    }

    fn fan_out(
        &self,
        plan: &Arc<Plan>,
        k: usize,
        asked: impl IntoIterator<Item = usize>,
        partitions: &mut [PartitionHits],
    ) -> Result<(), SearchError> {
        ask(asked.into_iter(), |partition, reply| {
            self.index_servers[partition].search(plan, k, reply);
        })
        .collect(|partition, found| partitions[partition] = found)
    }

    /// Details of the page's hits, in their order.
    fn details(
        &self,
        plan: &Arc<Plan>,
        page: &[Candidate],
        explain: bool,
    ) -> Result<Vec<HitDetails>, SearchError> {
        let mut asked: Vec<Vec<usize>> = vec![Vec::new(); self.index_servers.len()];
        for (place, candidate) in page.iter().enumerate() {
            asked[candidate.partition].push(place);
        }
        let pending = ask(
            (0..asked.len()).filter(|&partition| !asked[partition].is_empty()),
            |partition, reply| {
                let address = |&place: &usize| (page[place].hit.segment, page[place].hit.doc);
                let hits = asked[partition].iter().map(address).collect();
                self.index_servers[partition].details(plan, hits, explain, reply);
            },
        );
        let mut details: Vec<Option<HitDetails>> = vec![None; page.len()];
        pending.collect(|partition, answered: Vec<HitDetails>| {
            for (&place, answer) in asked[partition].iter().zip(answered) {
                details[place] = Some(answer);
            }
        })?;
        let complete: Option<Vec<HitDetails>> = details.into_iter().collect();
        complete.ok_or_else(|| SearchError::Unavailable {
            part: "an index server".into(),
            reason: "it answered with fewer details than it was asked for; update it".into(),
        })
    }

    /// Starts counting the matches of the page's sites where the ranking known so far does not
    /// decide whether a site has more than the limit.
    fn start_site_counts(
        &self,
        plan: &Arc<Plan>,
        found: &Found,
        details: &[HitDetails],
        per_site: u32,
    ) -> Result<PendingSiteCounts, SearchError> {
        let mut has_more = HashMap::with_capacity(found.page.len());
        let mut hashes = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for (candidate, detail) in found.page.iter().zip(details) {
            let site_hash = candidate.hit.site_hash;
            if has_more.contains_key(&site_hash) || hashes.contains(&site_hash) {
                continue;
            }
            let site = &detail.details.site;
            if per_site == 0 {
                has_more.insert(site_hash, false);
            } else if found.sites.count(site_hash) > per_site {
                has_more.insert(site_hash, true);
            } else if found.ranking.is_complete || self.site_is_small(site, per_site)? {
                has_more.insert(site_hash, false);
            } else {
                hashes.push(site_hash);
                names.push(site.clone());
            }
        }
        let names: Arc<[String]> = names.into();
        let partitions = if names.is_empty() {
            0
        } else {
            self.index_servers.len()
        };
        let pending = ask(0..partitions, |partition, reply| {
            let limit = u64::from(per_site) + 1;
            self.index_servers[partition].count_sites(plan, &names, limit, reply);
        });
        Ok(PendingSiteCounts {
            has_more,
            hashes,
            pending,
        })
    }

    /// Whether the whole site has no more documents than the limit, whatever the query.
    fn site_is_small(&self, site: &str, per_site: u32) -> Result<bool, IndexError> {
        // A name that long may have been cut in the index, where this look-up would miss it.
        if site.len() >= text::TERM_BYTES_MAX {
            return Ok(false);
        }
        let documents = self
            .index
            .statistics()
            .document_frequency(Field::Site, site)?;
        // A site that the statistics do not know cannot have hits: trust the count instead.
        Ok((1..=u64::from(per_site)).contains(&documents))
    }

    fn summaries(
        &self,
        plan: &Plan,
        details: &[HitDetails],
    ) -> Result<Vec<Option<String>>, SearchError> {
        if details.is_empty() {
            return Ok(Vec::new());
        }
        let query = SummaryQuery::new(
            self.index.analyzer(),
            plan.summary_terms(),
            SummaryOptions::default(),
        );
        let urls = details.iter().map(|hit| hit.details.url.clone()).collect();
        self.documents.summaries(urls, query)
    }
}

/// What the index servers gave.
struct Found {
    page: Vec<Candidate>,
    more_hits: bool,
    matches_count: u64,
    ranking: KnownRanking,
    sites: SiteCounts,
}

/// Whether sites (by hash) have more than the limit: decided, or being counted.
struct PendingSiteCounts {
    has_more: HashMap<u64, bool>,
    hashes: Vec<u64>,
    pending: Pending<Vec<u64>>,
}

impl PendingSiteCounts {
    fn finish(mut self, per_site: u32) -> Result<HashMap<u64, bool>, SearchError> {
        let mut sums = vec![0u64; self.hashes.len()];
        self.pending.collect(|_, counts: Vec<u64>| {
            for (sum, count) in sums.iter_mut().zip(counts) {
                *sum += count;
            }
        })?;
        for (&site_hash, &sum) in self.hashes.iter().zip(&sums) {
            self.has_more.insert(site_hash, sum > u64::from(per_site));
        }
        Ok(self.has_more)
    }
}

fn assemble(
    found: &Found,
    details: Vec<HitDetails>,
    summaries: Vec<Option<String>>,
    has_more: &HashMap<u64, bool>,
    warnings: &mut Vec<String>,
) -> Vec<Hit> {
    let mut hits = Vec::with_capacity(details.len());
    for ((candidate, hit), summary) in found.page.iter().zip(details).zip(summaries) {
        let HitDetails {
            details,
            explanation,
        } = hit;
        if summary.is_none() {
            warnings.push(format!(
                "the document store has no text of {}; index the document again",
                details.url
            ));
        }
        hits.push(Hit {
            id: details.id,
            url: details.url,
            title: details.title,
            site: details.site,
            score: candidate.hit.score,
            summary: summary.unwrap_or_default(),
            more_from_site: has_more
                .get(&candidate.hit.site_hash)
                .copied()
                .unwrap_or(false),
            // An explanation is plain data: turning it into JSON cannot fail.
            explanation: explanation.and_then(|why| serde_json::to_value(why).ok()),
        });
    }
    hits
}

/// Measures one phase after another.
struct Stopwatch(Instant);

impl Stopwatch {
    /// Microseconds since the last lap.
    fn lap_us(&mut self) -> u64 {
        let now = Instant::now();
        let lap = now - self.0;
        self.0 = now;
        lap.as_micros() as u64
    }
}
