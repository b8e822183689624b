//! A run of the crawl: visits that the frontier gives, until nothing is due.
//!
//! ```text
//! frontier.next ─► fetch, read, compress (beside) ─► archive: append, sync ─► frontier.finished ─► index
//!       ▲                                                                          │
//!       └── links, sitemaps ◄──────────────────────────────────────────────────────┘
//! every second: frontier.sync     every commit: archive, frontier, index, then the place up to which the index follows
//! ```
//!
//! Order of durability: an answer is in the archive before the frontier knows it, and in the frontier before the index has
//! it. After a crash the index catches up from the archive ([`catch_up`]).

mod catch_up;
mod outcome;
mod progress;
mod rules;
pub(crate) mod state;
mod visit;

pub use catch_up::{Replayed, configuration, replay};
pub use progress::CrawlProgress;

use crate::archive::Archive;
use crate::config::{CrawlConfig, Sites};
use crate::error::CrawlError;
use crate::fetch::{AddressGuard, FetchOptions, Fetcher, Limits, OriginHeaders, Resolve};
use crate::frontier::{
    Deletion, Discovery, Effect, Frontier, FrontierOptions, Next, Notice, Outcome, Parked,
    Permission, Refusal, RobotsAnswer, Source, Validators, Visit, VisitId, VisitKind, WarcPlace,
    url_hash,
};
use crate::indexing::{Ended, Indexing};
use crate::politeness::{Law, TimeMs};
use crate::reading::FoundLink;
use index::BuildOptions;
use jiff::Timestamp;
use outcome::{failure_of, outcome_of};
use rules::RulesCache;
use state::{CrawlState, LOCK_NAME, STOP_NAME};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use url::Url;
use vfs::{Lock, SharedStorage};
use visit::{
    AnswerKind, Answered, PageVisit, RobotsAnswered, RobotsVisited, VisitContext, Visited,
    visit_page, visit_robots,
};
use web::address::{CanonicalUrl, path_shape, trap};
use web::warc;
use xxhash_rust::xxh3::xxh3_64;

/// Longest wait for a visit that ends, before the clock is looked at again.
const TURN: Duration = Duration::from_millis(100);
/// Time between two syncs of the frontier, and visits after which one comes earlier.
const SYNC_EVERY: Duration = Duration::from_secs(1);
const SYNC_VISITS: u32 = 256;
/// A run ends where nothing is due for longer than this, in milliseconds.
const WAIT_MS_MAX: u64 = 600_000;
/// Time between two looks at counts, and at the request to stop.
const STATUS_EVERY: Duration = Duration::from_secs(1);
/// Longest time before the first commit of a new index.
const FIRST_COMMIT: Duration = Duration::from_secs(5);
/// Entries of runs merged in an idle turn.
const WORK_ENTRIES: usize = 20_000;

/// What a run needs beside its configuration. Tests replace parts.
#[derive(Clone)]
pub struct CrawlSetup {
    /// Storage of the frontier, the archive and the state.
    pub storage: SharedStorage,
    /// Storage of the index.
    pub index: SharedStorage,
    /// Options of the index.
    pub build: BuildOptions,
    /// Resolver of host names; `None`: the system's.
    pub resolver: Option<Arc<dyn Resolve>>,
    /// Goes on after everything was visited, and visits pages again when they are due.
    pub watch: bool,
}

/// Crawl that is open.
pub struct Crawl {
    config: CrawlConfig,
    sites: Arc<Sites>,
    storage: SharedStorage,
    frontier: Frontier,
    archive: Archive,
    indexing: Indexing,
    state: CrawlState,
    context: Arc<VisitContext>,
    rules: RulesCache,
    resolver: Arc<dyn Resolve>,
    /// Address of each origin at its last visit.
    addresses: HashMap<String, IpAddr>,
    waiting: HashMap<VisitId, Visit>,
    events: (Sender<Event>, Receiver<Event>),
    runtime: Runtime,
    progress: CrawlProgress,
    started: Instant,
    in_flight: usize,
    unsynced: u32,
    watch: bool,
    _lock: Lock,
}

/// End of something that ran beside the crawl.
enum Event {
    Resolved(VisitId, Option<IpAddr>),
    Robots(RobotsVisited),
    Page(Box<Visited>),
}

impl Crawl {
    /// Opens a crawl, or begins one. Brings the index up to date with the archive.
    pub fn open(config: CrawlConfig, setup: CrawlSetup) -> Result<Crawl, CrawlError> {
        let storage = setup.storage;
        let lock = storage.lock(LOCK_NAME)?;
        let sites = opened_sites(&config, &storage)?;
        let state = CrawlState::read(&storage)?.unwrap_or_default();
        let now = now();
        let options = frontier_options(&config, &sites);
        let (frontier, recovered) = Frontier::open(storage.clone(), options, now)?;
        let (archive, torn) = Archive::open(storage.clone(), config.warc_bytes_max)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .thread_name("crawl-fetch")
            .build()
            .map_err(CrawlError::Threads)?;
        let fetch = fetch_options(&config, &sites, setup.resolver);
        let mut crawl = Crawl {
            resolver: fetch.resolver.clone(),
            context: Arc::new(VisitContext {
                fetcher: Fetcher::new(fetch)?,
                product_token: config.product_token().to_owned(),
            }),
            indexing: Indexing::start(setup.index, setup.build).map_err(CrawlError::Threads)?,
            sites: Arc::new(sites),
            config,
            storage,
            frontier,
            archive,
            state,
            rules: RulesCache::default(),
            addresses: HashMap::new(),
            waiting: HashMap::new(),
            events: channel(),
            runtime,
            progress: CrawlProgress::default(),
            started: Instant::now(),
            in_flight: 0,
            unsynced: 0,
            watch: setup.watch,
            _lock: lock,
        };
        for damage in &recovered.damage {
            crawl.progress.notice(damage.to_string());
        }
        if torn.bytes > 0 {
            let cut = format!(
                "{} bytes of a record that was not complete were cut",
                torn.bytes
            );
            crawl.progress.notice(cut);
        }
        state::write_config(&crawl.storage, &crawl.config)?;
        state::remove(&crawl.storage, STOP_NAME)?;
        crawl.catch_up()?;
        crawl.begin(now)?;
        Ok(crawl)
    }

    /// Notes the seeds; after a complete run everything that is due at all is due now.
    fn begin(&mut self, now: TimeMs) -> Result<(), CrawlError> {
        if std::mem::take(&mut self.state.is_complete) && !self.watch {
            self.frontier.again(now)?;
        }
        self.state.write(&self.storage)?;
        let sites = self.sites.clone();
        for seed in sites.seeds() {
            self.discover(seed, 0, Source::Seed, None, None, now)?;
        }
        Ok(())
    }

    /// Visits until nothing is due, `is_stopped` says so, or another process asks for the end. Reports to `report` several
    /// times a second. Commits the index at the end.
    pub fn run(
        mut self,
        is_stopped: &dyn Fn() -> bool,
        report: &mut dyn FnMut(&CrawlProgress),
    ) -> Result<CrawlProgress, CrawlError> {
        let commit_every = Duration::from_secs_f64(self.config.commit_every_s);
        let (mut synced, mut committed, mut looked) =
            (Instant::now(), Instant::now(), Instant::now());
        self.count();
        loop {
            let wait = self.give_out()?;
            if is_stopped() {
                break;
            }
            let Some(wait) = wait else {
                self.state.is_complete = true;
                break;
            };
            self.take_events(wait)?;
            if self.unsynced > 0 && (synced.elapsed() >= SYNC_EVERY || self.unsynced >= SYNC_VISITS)
            {
                self.frontier.sync()?;
                (synced, self.unsynced) = (Instant::now(), 0);
            }
            // The first documents of a new index can be searched early.
            let is_first = self.progress.generation == 0 && self.progress.fetched > 0;
            let commit_after = if is_first {
                commit_every.min(FIRST_COMMIT)
            } else {
                commit_every
            };
            if committed.elapsed() >= commit_after {
                self.commit()?;
                committed = Instant::now();
            }
            if looked.elapsed() >= STATUS_EVERY {
                self.count();
                state::write_status(&self.storage, &self.progress)?;
                looked = Instant::now();
                if state::remove(&self.storage, STOP_NAME)? {
                    break;
                }
            }
            self.progress.elapsed_s = self.started.elapsed().as_secs_f64();
            self.progress.in_flight = self.in_flight as u64;
            report(&self.progress);
        }
        self.end(report)
    }

    /// Ends the run: visits under way are given up, and due again at the next one.
    fn end(mut self, report: &mut dyn FnMut(&CrawlProgress)) -> Result<CrawlProgress, CrawlError> {
        self.frontier.checkpoint()?;
        self.commit()?;
        self.archive.close()?;
        self.state.write(&self.storage)?;
        self.count();
        self.progress.is_ended = true;
        self.progress.in_flight = 0;
        self.progress.elapsed_s = self.started.elapsed().as_secs_f64();
        state::write_status(&self.storage, &self.progress)?;
        report(&self.progress);
        self.indexing.finish()?;
        Ok(self.progress)
    }

    /// Starts visits. Returns the longest wait for events; `None` where nothing is due.
    fn give_out(&mut self) -> Result<Option<Duration>, CrawlError> {
        while self.in_flight < self.config.fetches_max {
            if self.is_enough() {
                return Ok((self.in_flight > 0).then_some(TURN));
            }
            let now = now();
            match self.frontier.next(now)? {
                Next::Visit(visit) => self.start(*visit, now)?,
                Next::Idle => return Ok((self.in_flight > 0).then_some(TURN)),
                Next::Wait { until } => {
                    let wait_ms = until.since_ms(now);
                    if self.in_flight == 0 && wait_ms > WAIT_MS_MAX && !self.watch {
                        return Ok(None);
                    }
                    // An idle moment.
                    self.frontier.work(WORK_ENTRIES)?;
                    return Ok(Some(
                        Duration::from_millis(wait_ms).clamp(Duration::ZERO, TURN),
                    ));
                }
            }
        }
        Ok(Some(TURN))
    }

    fn is_enough(&self) -> bool {
        let visits = self.progress.answered() + self.progress.failed;
        self.config
            .pages_max
            .is_some_and(|max| visits + self.in_flight as u64 >= max)
    }

    /// Starts a visit, unless rules forbid it.
    fn start(&mut self, visit: Visit, now: TimeMs) -> Result<(), CrawlError> {
        if visit.kind == VisitKind::Page
            && let Some(outcome) = self.refusal(&visit)
        {
            let finished = self.frontier.finished(visit.id, &outcome, now)?;
            self.progress.refused += 1;
            self.unsynced += 1;
            if let Some(finished) = finished
                && let Effect::Delete(deletion) = finished.effect
            {
                self.delete_unfetched(&finished.url, deletion)?;
            }
            return Ok(());
        }
        let Some(host) = Url::parse(&visit.origin).ok() else {
            self.frontier
                .finished(visit.id, &Outcome::Parked(Parked::Shape), now)?;
            return Ok(());
        };
        let known = match host.host() {
            Some(url::Host::Ipv4(address)) => Some(IpAddr::V4(address)),
            Some(url::Host::Ipv6(address)) => Some(IpAddr::V6(address)),
            _ => self.addresses.get(&visit.origin).copied(),
        };
        match known {
            Some(address) => self.connect(visit, Some(address), now),
            None => {
                let (resolver, events) = (self.resolver.clone(), self.events.0.clone());
                let (id, host) = (visit.id, host.host_str().unwrap_or_default().to_owned());
                self.waiting.insert(id, visit);
                self.in_flight += 1;
                self.runtime.spawn(async move {
                    let found = resolver.resolve(&host).await.ok();
                    let address = found.and_then(|addresses| addresses.first().copied());
                    // The crawl may have ended.
                    let _ = events.send(Event::Resolved(id, address));
                });
                Ok(())
            }
        }
    }

    /// Returns the outcome of a page that may not be visited.
    fn refusal(&mut self, visit: &Visit) -> Option<Outcome> {
        let Ok(url) = CanonicalUrl::parse(&visit.url) else {
            return Some(Outcome::Parked(Parked::Shape));
        };
        if self.sites.admit(&url).is_err() {
            return Some(Outcome::Refused(Refusal::Rule));
        }
        let token = &self.context.product_token;
        let rules = self.rules.rules(&mut self.frontier, &visit.origin, token);
        let is_allowed = rules.allows(url.path_and_query()).allowed;
        (!is_allowed).then_some(Outcome::Refused(Refusal::Robots))
    }

    /// Sends the request of a visit whose address is known, unless the address is in use.
    fn connect(
        &mut self,
        visit: Visit,
        address: Option<IpAddr>,
        now: TimeMs,
    ) -> Result<(), CrawlError> {
        // Without an address the fetch says why.
        if let Some(address) = address
            && self.frontier.resolved(visit.id, address, now) == Permission::Later
        {
            return Ok(());
        }
        self.in_flight += 1;
        let (context, events) = (self.context.clone(), self.events.0.clone());
        if visit.kind == VisitKind::Robots {
            let visited = visit_robots(context, visit.id, visit.origin);
            self.runtime.spawn(async move {
                let _ = events.send(Event::Robots(visited.await));
            });
            return Ok(());
        }
        let Ok(url) = CanonicalUrl::parse(&visit.url) else {
            return Ok(());
        };
        let record = visit.record.as_ref();
        let is_indexed = record.is_some_and(|record| record.indexed);
        let visited = visit_page(
            context,
            PageVisit {
                id: visit.id,
                url,
                depth: record.map_or(0, |record| record.depth),
                // What the index does not hold is fetched whole.
                validators: match record {
                    Some(record) if is_indexed => record.validators.clone(),
                    _ => Validators::default(),
                },
                sites: self.sites.clone(),
            },
        );
        self.runtime.spawn(async move {
            let _ = events.send(Event::Page(Box::new(visited.await)));
        });
        Ok(())
    }

    /// Takes what ended, waiting for the first event up to `wait`.
    fn take_events(&mut self, wait: Duration) -> Result<(), CrawlError> {
        let mut pages = Vec::new();
        let mut next = self.events.1.recv_timeout(wait).ok();
        while let Some(event) = next {
            self.in_flight -= 1;
            let now = now();
            match event {
                Event::Resolved(id, address) => {
                    if let Some(visit) = self.waiting.remove(&id) {
                        self.connect(visit, address, now)?;
                    }
                }
                Event::Robots(visited) => self.robots(visited, now)?,
                Event::Page(visited) => pages.push(*visited),
            }
            next = self.events.1.try_recv().ok();
        }
        self.finish(pages)
    }

    /// Archives answers, and tells them to the frontier when they are durable.
    fn finish(&mut self, pages: Vec<Visited>) -> Result<(), CrawlError> {
        let mut places = Vec::with_capacity(pages.len());
        for page in &pages {
            let place = match &page.answer {
                Ok(answered) => {
                    let records = &answered.records;
                    self.archive.append(
                        &records.members,
                        records.response_at,
                        records.response_bytes,
                    )?
                }
                Err(_) => WarcPlace::default(),
            };
            places.push(place);
        }
        self.archive.sync()?;
        let now = now();
        for (page, place) in pages.into_iter().zip(places) {
            match page.answer {
                Ok(answered) => {
                    self.answered(
                        page.id,
                        &page.url,
                        page.depth,
                        page.took_ms,
                        answered,
                        place,
                        now,
                    )?;
                }
                Err(error) => {
                    let outcome = failure_of(&error, page.took_ms);
                    self.progress.failed += 1;
                    self.progress.notice(error.to_string());
                    self.frontier.finished(page.id, &outcome, now)?;
                    self.unsynced += 1;
                }
            }
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one visit")]
    fn answered(
        &mut self,
        id: VisitId,
        url: &CanonicalUrl,
        depth: u16,
        took_ms: u64,
        answered: Answered,
        place: WarcPlace,
        now: TimeMs,
    ) -> Result<(), CrawlError> {
        let outcome = outcome_of(&answered, url, took_ms, place);
        self.progress.wire_bytes += answered.wire_bytes;
        self.progress.cut += u64::from(answered.is_cut);
        let counter = match &outcome {
            Outcome::Fetched { .. } => &mut self.progress.fetched,
            Outcome::NotModified { .. } => &mut self.progress.not_modified,
            Outcome::Redirected { .. } => &mut self.progress.redirects,
            Outcome::Gone { .. } => &mut self.progress.missing,
            Outcome::Parked(_) => &mut self.progress.refused,
            _ => &mut self.progress.failed,
        };
        *counter += 1;
        let mut document = None;
        match answered.kind {
            AnswerKind::Page(reading) => {
                let is_list = reading.kind == crate::reading::ReadKind::List;
                let source = if is_list {
                    Source::Sitemap
                } else {
                    Source::Link
                };
                self.discover_links(url, depth, source, &reading.links, now)?;
                if let Some(canonical) = &reading.canonical {
                    self.discover(canonical, depth, Source::Link, Some(url), None, now)?;
                }
                document = reading.document;
            }
            AnswerKind::Redirect(Some(to)) if &to != url => {
                self.follow_seed(url, &to)?;
                let depth = depth.saturating_add(1);
                self.discover(&to, depth, Source::Redirect, Some(url), None, now)?;
            }
            _ => {}
        }
        let finished = self.frontier.finished(id, &outcome, now)?;
        self.unsynced += 1;
        let Some(finished) = finished else {
            return Ok(());
        };
        match (finished.effect, document) {
            (Effect::Index, Some(document)) => self.index(|indexing| indexing.add(document))?,
            // The page became a sitemap, or what its text was is gone.
            (Effect::Index, None) | (Effect::Delete(_), _) => {
                self.index(|indexing| indexing.delete(finished.url))?;
            }
            (Effect::Keep, _) => {}
        }
        if let Some(notice) = finished.notice {
            self.notice(notice);
        }
        Ok(())
    }

    /// A seed that redirects within its domain extends its site.
    fn follow_seed(&mut self, from: &CanonicalUrl, to: &CanonicalUrl) -> Result<(), CrawlError> {
        let mut sites = (*self.sites).clone();
        if sites.follow_seed(from, to)? {
            self.sites = Arc::new(sites);
            let pair = (from.to_string(), to.to_string());
            self.state.followed_seeds.push(pair);
            self.state.write(&self.storage)?;
        }
        Ok(())
    }

    fn discover_links(
        &mut self,
        from: &CanonicalUrl,
        depth: u16,
        source: Source,
        links: &[FoundLink],
        now: TimeMs,
    ) -> Result<(), CrawlError> {
        let depth = depth.saturating_add(1);
        for link in links {
            self.discover(&link.url, depth, source, Some(from), link.modified_ms, now)?;
        }
        Ok(())
    }

    /// Notes a URL, if it is within the crawl.
    fn discover(
        &mut self,
        url: &CanonicalUrl,
        depth: u16,
        source: Source,
        from: Option<&CanonicalUrl>,
        modified_ms: Option<u64>,
        now: TimeMs,
    ) -> Result<(), CrawlError> {
        if self.sites.admit(url).is_err() {
            self.progress.links_out_of_scope += 1;
            return Ok(());
        }
        if depth > self.config.depth_max || trap(url).is_some() {
            self.progress.links_trapped += 1;
            return Ok(());
        }
        let found = Discovery {
            url: url.as_str(),
            depth,
            source,
            from: from.map(|from| url_hash(from.as_str())),
            importance: 1.0,
            modified: modified_ms.map(TimeMs),
        };
        self.frontier.discover(&found, now)?;
        Ok(())
    }

    fn robots(&mut self, visited: RobotsVisited, now: TimeMs) -> Result<(), CrawlError> {
        let RobotsVisited {
            id,
            origin,
            took_ms,
            outcome,
        } = visited;
        let mut source = Vec::new();
        let mut sitemaps = Vec::new();
        let mut throttled = None;
        let outcome = match outcome {
            RobotsAnswered::Answered {
                status,
                body,
                retry_after_s,
            } => {
                if matches!(status, 429 | 503) {
                    throttled = Some(retry_after_s);
                }
                let token = &self.context.product_token;
                let read = self.rules.read(&origin, status, &body, token, now);
                sitemaps = read.sitemaps;
                match read.outcome {
                    crate::frontier::RobotsOutcome::WaitUntil(_) => {
                        let told = format!("{origin}/robots.txt: status {status}; its pages wait");
                        self.progress.notice(told);
                        rules::wait(now, retry_after_s)
                    }
                    rules @ crate::frontier::RobotsOutcome::Rules { .. } => {
                        source = body;
                        rules
                    }
                    free => free,
                }
            }
            RobotsAnswered::Failed(error) => {
                let told = format!("{origin}/robots.txt: {error}; its pages wait");
                self.progress.notice(told);
                rules::wait(now, None)
            }
        };
        source.truncate(web::robots::ROBOTS_BYTES_MAX);
        let answer = RobotsAnswer {
            outcome,
            throttled,
            took_ms,
            source: &source,
        };
        let notice = self.frontier.robots(id, &answer, now)?;
        self.unsynced += 1;
        if let Some(notice) = notice {
            self.notice(notice);
        }
        let base = CanonicalUrl::parse(&format!("{origin}/robots.txt"));
        for sitemap in sitemaps {
            let url = base.as_ref().ok().and_then(|base| base.join(&sitemap).ok());
            if let Some(url) = url {
                self.discover(&url, 0, Source::Sitemap, None, None, now)?;
            }
        }
        Ok(())
    }

    fn notice(&mut self, notice: Notice) {
        let text = match notice {
            Notice::ShapeParked { origin, .. } => {
                format!(
                    "{origin}: a kind of page has hardly any new text; no more of them are visited"
                )
            }
            Notice::HostParked { origin, .. } => {
                format!("{origin}: its Crawl-delay is over 5 minutes; it is not visited")
            }
        };
        self.progress.notice(text);
    }

    /// Deletes a page that was not fetched, with a record that tells it to whoever reads the archive.
    fn delete_unfetched(&mut self, url: &str, deletion: Deletion) -> Result<(), CrawlError> {
        let date = Timestamp::now();
        let seed = xxh3_64(url.as_bytes()) ^ date.as_microsecond() as u64;
        let mut writer = warc::Writer::new(Vec::new(), 0, seed);
        let about = warc::About {
            uri: url,
            date,
            ip: None,
        };
        let reason = format!("{deletion:?}").to_lowercase();
        // A `Vec` takes every write.
        let _ = writer.metadata(&about, &[("shorttail-deleted", &reason)], None);
        self.archive.append(&writer.into_inner(), 0, 0)?;
        self.index(|indexing| indexing.delete(url.to_owned()))
    }

    fn index(
        &mut self,
        change: impl FnOnce(&Indexing) -> Result<(), Ended>,
    ) -> Result<(), CrawlError> {
        match change(&self.indexing) {
            Ok(()) => Ok(()),
            Err(Ended) => Err(self.index_error()),
        }
    }

    /// Returns why the thread of the index ended.
    fn index_error(&mut self) -> CrawlError {
        match self.indexing.take_error() {
            Some(error) => error.into(),
            None => CrawlError::Threads(std::io::Error::other("the index thread ended")),
        }
    }

    /// Commits the index, and notes how far it follows the archive.
    fn commit(&mut self) -> Result<(), CrawlError> {
        self.archive.sync()?;
        self.frontier.sync()?;
        let committed = match self.indexing.commit() {
            Ok(committed) => committed,
            Err(Ended) => return Err(self.index_error()),
        };
        let (file, bytes) = self.archive.end();
        self.progress.added += committed.added;
        self.progress.deleted += committed.deleted;
        self.progress.generation = committed.generation;
        if committed.documents > 0 {
            self.progress.documents = committed.documents;
        }
        let is_new = (self.state.indexed_file, self.state.indexed_bytes) != (file, bytes);
        if is_new {
            (self.state.indexed_file, self.state.indexed_bytes) = (file, bytes);
            self.state.write(&self.storage)?;
        }
        Ok(())
    }

    fn count(&mut self) {
        let counts = self.frontier.counts(now());
        self.progress.known = counts.known + counts.unchecked;
        self.progress.queued = counts.queued + counts.unchecked;
        self.progress.hosts = counts.hosts;
        self.progress.hosts_waiting = counts.hosts_waiting;
    }
}

/// Compiles the sites of a configuration, extended by the redirects of seeds that earlier runs followed.
pub(crate) fn opened_sites(
    config: &CrawlConfig,
    storage: &SharedStorage,
) -> Result<Sites, CrawlError> {
    let mut sites = config.compile()?;
    let state = CrawlState::read(storage)?.unwrap_or_default();
    for (from, to) in &state.followed_seeds {
        if let (Ok(from), Ok(to)) = (CanonicalUrl::parse(from), CanonicalUrl::parse(to)) {
            sites.follow_seed(&from, &to)?;
        }
    }
    Ok(sites)
}

/// Returns the figures that the last run wrote, which may be running.
pub fn progress_of(storage: &SharedStorage) -> Result<Option<CrawlProgress>, CrawlError> {
    state::read_status(storage)
}

/// Whether a crawl runs in `storage`.
pub fn is_running(storage: &SharedStorage) -> Result<bool, CrawlError> {
    Ok(storage.is_locked(LOCK_NAME)?)
}

/// Asks the running crawl to end. It commits the index, and the next run goes on.
pub fn request_stop(storage: &SharedStorage) -> Result<(), CrawlError> {
    match storage.create(STOP_NAME) {
        Ok(file) => Ok(file.finish()?),
        // Asked already.
        Err(_) if storage.open(STOP_NAME).is_ok() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Returns an instant as RFC 3339, in seconds.
pub fn time_text(at: TimeMs) -> String {
    let seconds = i64::try_from(at.0 / 1000).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).map_or_else(|_| "never".to_owned(), |at| at.to_string())
}

/// Returns the time of the system's clock.
pub(crate) fn now() -> TimeMs {
    TimeMs(u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0))
}

fn shape_of(url: &str) -> u64 {
    CanonicalUrl::parse(url).map_or(0, |url| xxh3_64(path_shape(&url).as_bytes()))
}

fn frontier_options(config: &CrawlConfig, sites: &Sites) -> FrontierOptions {
    FrontierOptions {
        law: Law {
            gap_ms_min: (config.gap_s * 1000.0) as u64,
            ..Law::default()
        },
        shape: shape_of,
        owned: sites.owned_origins().map(str::to_owned).collect(),
        ..FrontierOptions::default()
    }
}

fn fetch_options(
    config: &CrawlConfig,
    sites: &Sites,
    resolver: Option<Arc<dyn Resolve>>,
) -> FetchOptions {
    let defaults = FetchOptions::default();
    let headers = sites
        .origins_with_headers()
        .filter_map(|(origin, headers)| {
            let parsed = headers
                .iter()
                .filter_map(|(name, value)| Some((name.parse().ok()?, value.parse().ok()?)));
            Some(OriginHeaders {
                origin: Url::parse(origin).ok()?,
                headers: parsed.collect(),
            })
        });
    FetchOptions {
        user_agent: config.user_agent.clone(),
        limits: Limits {
            body_bytes_max: config.body_bytes_max,
            ..Limits::default()
        },
        guard: AddressGuard::new(config.allow_addresses.clone()),
        resolver: resolver.unwrap_or(defaults.resolver.clone()),
        headers: headers.collect(),
        ..defaults
    }
}
