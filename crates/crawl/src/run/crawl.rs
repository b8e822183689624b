//! Crawl that is open: its parts, the loop of a run, commits.

use super::rate::RecentRate;
use super::rules::RulesCache;
use super::setup::{
    build_options, fetch_options, frontier_options, now, opened_sites, renderer, time_text,
};
use super::sharing::{MemberSetup, Rest, Sharing, ownership};
use super::state::{self, CrawlState, LOCK_NAME, STOP_NAME};
use super::visit::{Event, VisitContext};
use crate::archive::Archive;
use crate::collection::Collection;
use crate::config::{CrawlConfig, Sites};
use crate::error::CrawlError;
use crate::fetch::{Fetcher, Resolve};
use crate::frontier::{Frontier, Source, Visit, VisitId};
use crate::indexing::{Ended, Indexing};
use crate::politeness::TimeMs;
use index::BuildOptions;
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use vfs::{Lock, SharedStorage};
use wire::CrawlProgress;

/// Time between two syncs of the frontier, and visits after which one comes earlier.
const SYNC_EVERY: Duration = Duration::from_secs(1);
const SYNC_VISITS: u32 = 256;
/// Longest time before the first commit of a new index that is read meanwhile. Documents of an early commit are written
/// again, because later pages link to them.
const FIRST_COMMIT: Duration = Duration::from_secs(5);
/// Time between two looks at counts, and at the request to stop.
const STATUS_EVERY: Duration = Duration::from_secs(1);

/// Environment of a run, beside its configuration. Tests replace parts.
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
    /// Commits the first documents of a new index after 5 s, because a user waits to search them.
    pub is_read_meanwhile: bool,
    /// Which member of the configuration this process is, if it has members.
    pub member: Option<MemberSetup>,
}

/// Crawl that is open.
pub struct Crawl {
    pub(super) config: CrawlConfig,
    pub(super) sites: Arc<Sites>,
    pub(super) storage: SharedStorage,
    pub(super) frontier: Frontier,
    pub(super) archive: Archive,
    pub(super) collection: Collection,
    pub(super) indexing: Indexing,
    pub(super) state: CrawlState,
    pub(super) context: Arc<VisitContext>,
    pub(super) rules: RulesCache,
    pub(super) resolver: Arc<dyn Resolve>,
    /// Address of each origin at its last visit.
    pub(super) addresses: HashMap<String, IpAddr>,
    /// Origins whose probe was noted in this run.
    pub(super) probed: HashSet<String>,
    pub(super) waiting: HashMap<VisitId, Visit>,
    pub(super) events: (Sender<Event>, Receiver<Event>),
    pub(super) runtime: Runtime,
    pub(super) progress: CrawlProgress,
    pub(super) started: Instant,
    pub(super) rate: RecentRate,
    pub(super) in_flight: usize,
    pub(super) unsynced: u32,
    pub(super) watch: bool,
    pub(super) is_read_meanwhile: bool,
    /// State shared with other processes of the crawl, if any.
    pub(super) sharing: Option<Sharing>,
    _lock: Lock,
}

impl Crawl {
    /// Opens a crawl, or begins one. Brings the index up to date with the archive.
    pub fn open(config: CrawlConfig, setup: CrawlSetup) -> Result<Crawl, CrawlError> {
        let storage = setup.storage;
        let lock = storage.lock(LOCK_NAME)?;
        // At once: a later request is one to this run.
        state::remove(&storage, STOP_NAME)?;
        let sites = opened_sites(&config, &storage)?;
        let mut state = CrawlState::read(&storage)?.unwrap_or_default();
        let now = now();
        let options = frontier_options(&config, &sites);
        let (frontier, recovered) = Frontier::open(storage.clone(), options, now)?;
        let is_new = frontier.origins().next().is_none();
        let name = setup.member.as_ref().map(|member| member.name.as_str());
        let ownership = ownership(&config, name, &storage, &mut state, is_new)?;
        let (archive, torn) = Archive::open(storage.clone(), config.warc_bytes_max)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .thread_name("crawl-fetch")
            .build()
            .map_err(CrawlError::Threads)?;
        let facts_end = (state.facts_file, state.facts_bytes);
        let (collection, is_whole) = Collection::open(storage.clone(), facts_end)?;
        let fetch = fetch_options(&config, &sites, setup.resolver)?;
        let resolver = fetch.resolver.clone();
        let fetcher = Arc::new(Fetcher::new(fetch)?);
        let renderer = renderer(&config, &sites, &fetcher)?;
        let build = build_options(&config, setup.build);
        let mut crawl = Crawl {
            resolver,
            context: Arc::new(VisitContext {
                fetcher,
                renderer,
                product_token: config.product_token().to_owned(),
            }),
            indexing: Indexing::start(setup.index, build)?,
            sites: Arc::new(sites),
            config,
            storage,
            frontier,
            archive,
            collection,
            state,
            rules: RulesCache::default(),
            addresses: HashMap::new(),
            probed: HashSet::new(),
            waiting: HashMap::new(),
            events: channel(),
            runtime,
            progress: CrawlProgress {
                started: time_text(now),
                ..CrawlProgress::default()
            },
            rate: RecentRate::default(),
            started: Instant::now(),
            in_flight: 0,
            unsynced: 0,
            watch: setup.watch,
            is_read_meanwhile: setup.is_read_meanwhile,
            sharing: None,
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
        crawl.catch_up(is_whole)?;
        if let (Some(ownership), Some(member)) = (ownership, setup.member) {
            crawl.join_members(ownership, &member.listener)?;
        }
        crawl.begin(now)?;
        Ok(crawl)
    }

    /// Notes the seeds. After a complete run, makes all URLs due now that would be due at some time.
    pub(super) fn begin(&mut self, now: TimeMs) -> Result<(), CrawlError> {
        if std::mem::take(&mut self.state.is_complete) && !self.watch {
            self.frontier.again(now)?;
        }
        self.state.write(&self.storage)?;
        let sites = self.sites.clone();
        for seed in sites.seeds() {
            self.discover(seed, 0, Source::Seed, None, None, now)?;
        }
        self.take_pings(now)
    }

    /// Visits until nothing is due, `is_stopped` says so, or another process asks for the end. Reports to `report`
    /// several times a second. Commits the index at the end.
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
            let wait = match self.rest(wait) {
                Rest::Until(wait) => wait,
                Rest::Over { is_complete } => {
                    self.state.is_complete = is_complete;
                    break;
                }
            };
            self.take_events(wait)?;
            if self.unsynced > 0 && (synced.elapsed() >= SYNC_EVERY || self.unsynced >= SYNC_VISITS)
            {
                self.frontier.sync()?;
                (synced, self.unsynced) = (Instant::now(), 0);
            }
            let is_first = self.progress.generation == 0 && self.progress.fetched > 0;
            let commit_after = if is_first && self.is_read_meanwhile {
                commit_every.min(FIRST_COMMIT)
            } else {
                commit_every
            };
            if committed.elapsed() >= commit_after {
                let settles = self.collection.is_settling_due();
                self.commit(settles)?;
                committed = Instant::now();
            }
            if looked.elapsed() >= STATUS_EVERY {
                self.count();
                state::write_status(&self.storage, &self.progress)?;
                looked = Instant::now();
                if state::remove(&self.storage, STOP_NAME)? {
                    break;
                }
                self.take_pings(now())?;
            }
            self.progress.elapsed_s = self.started.elapsed().as_secs_f64();
            self.progress.in_flight = self.in_flight as u64;
            report(&self.progress);
        }
        self.end(report)
    }

    /// Ends the run: visits under way are given up, and due again at the next one.
    pub(super) fn end(
        mut self,
        report: &mut dyn FnMut(&CrawlProgress),
    ) -> Result<CrawlProgress, CrawlError> {
        self.leave_members();
        self.frontier.checkpoint()?;
        let settles = self.collection.has_changed();
        self.commit(settles)?;
        self.archive.close()?;
        self.collection.close()?;
        self.state.write(&self.storage)?;
        self.count();
        self.progress.pages_per_s = 0.0;
        self.progress.is_ended = true;
        self.progress.in_flight = 0;
        self.progress.elapsed_s = self.started.elapsed().as_secs_f64();
        state::write_status(&self.storage, &self.progress)?;
        report(&self.progress);
        self.indexing.finish()?;
        Ok(self.progress)
    }

    pub(super) fn index(
        &mut self,
        change: impl FnOnce(&Indexing) -> Result<(), Ended>,
    ) -> Result<(), CrawlError> {
        match change(&self.indexing) {
            Ok(()) => Ok(()),
            Err(Ended) => Err(self.index_error()),
        }
    }

    /// Returns why the thread of the index ended.
    pub(super) fn index_error(&mut self) -> CrawlError {
        match self.indexing.take_error() {
            Some(error) => error.into(),
            None => CrawlError::Threads(std::io::Error::other("the index thread ended")),
        }
    }

    /// Commits the index, after what all pages together say of each if `settles`, and notes how far it follows the
    /// archive.
    pub(super) fn commit(&mut self, settles: bool) -> Result<(), CrawlError> {
        self.archive.sync()?;
        self.frontier.sync()?;
        self.collect(settles)?;
        let facts = self.collection.sync()?;
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
        self.collection.committed()?;
        self.collection.sync()?;
        let before = self.state.clone();
        (self.state.indexed_file, self.state.indexed_bytes) = (file, bytes);
        if facts.1 > 0 {
            (self.state.facts_file, self.state.facts_bytes) = facts;
        }
        self.state.is_unsettled = self.collection.has_changed();
        if self.state != before {
            self.state.write(&self.storage)?;
        }
        Ok(())
    }
}
