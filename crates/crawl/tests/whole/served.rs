//! Synthetic web that is served until the drop, crawls of it, and what their index holds.

use crawl::config::Within;
use crawl::fetch::Resolve;
use crawl::synthetic::{
    JudgeOptions, LogRecord, SyntheticOptions, SyntheticResolver, SyntheticWeb, Verdict, judge,
    listen, read_log, serve,
};
use crawl::{Crawl, CrawlConfig, CrawlProgress, CrawlSetup};
use index::{BuildOptions, Index, StoredDocument};
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vfs::{MemoryStorage, SharedStorage};

/// Pause between two requests to a host.
pub(crate) const GAP_MS: u64 = 20;

/// Small options of a web that does not change.
pub(crate) fn plain(hosts: u32, pages_mean: f64) -> SyntheticOptions {
    SyntheticOptions {
        hosts,
        pages_mean,
        page_bytes_mean: 2_000,
        classes: false,
        by_address: true,
        change_gap_ms: u64::MAX,
        ..SyntheticOptions::default()
    }
}

/// Web that is served until the drop, with a log.
pub(crate) struct Served {
    pub(crate) web: Arc<SyntheticWeb>,
    log: tempfile::NamedTempFile,
    _runtime: tokio::runtime::Runtime,
}

impl Served {
    pub(crate) fn start(options: SyntheticOptions) -> Served {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let entered = runtime.enter();
        let listener = listen(0).unwrap();
        let web = Arc::new(SyntheticWeb::new(SyntheticOptions {
            port: listener.local_addr().unwrap().port(),
            ..options
        }));
        let log = tempfile::NamedTempFile::new().unwrap();
        let writer = Box::new(log.reopen().unwrap());
        runtime.spawn(serve(web.clone(), listener, writer));
        drop(entered);
        Served {
            web,
            log,
            _runtime: runtime,
        }
    }

    pub(crate) fn crawl(&self, storage: &SharedStorage, index: &SharedStorage) -> CrawlProgress {
        self.crawl_for(Duration::MAX, storage, index)
    }

    /// Crawls to the end, or for a time.
    pub(crate) fn crawl_for(
        &self,
        most: Duration,
        storage: &SharedStorage,
        index: &SharedStorage,
    ) -> CrawlProgress {
        let resolver = Arc::new(SyntheticResolver(self.web.clone()));
        let seed = self.web.seeds_url();
        let crawl = open_within(Within::Any, seed, (storage, index), Some(resolver), false);
        let started = Instant::now();
        let is_over = || started.elapsed() >= most;
        crawl.run(&is_over, &mut |_| {}).unwrap()
    }

    /// Requests so far.
    pub(crate) fn log(&self) -> Vec<LogRecord> {
        read_log(&*self.whole_lines()).unwrap()
    }

    /// Number of requests so far.
    pub(crate) fn requests_count(&self) -> usize {
        let lines = self.whole_lines();
        lines.iter().filter(|&&byte| byte == b'\n').count()
    }

    /// The log without a line that is being written.
    fn whole_lines(&self) -> Vec<u8> {
        let mut lines = std::fs::read(self.log.path()).unwrap();
        let end = lines.iter().rposition(|&byte| byte == b'\n');
        lines.truncate(end.map_or(0, |end| end + 1));
        lines
    }

    /// URLs of the pages that belong into the index, each text once.
    pub(crate) fn expected(&self) -> BTreeSet<String> {
        let pages = self
            .web
            .expected()
            .filter(|page| page.indexed && !page.duplicate);
        pages
            .map(|page| self.web.url(page.host, &page.path))
            .collect()
    }

    pub(crate) fn verdict(&self, options: JudgeOptions) -> Verdict {
        judge(&self.log(), &self.web, &options)
    }
}

/// What the judge demands of the crawls of these tests.
pub(crate) fn law() -> JudgeOptions {
    JudgeOptions {
        host_gap_ms: GAP_MS,
        address_gap_ms: GAP_MS,
        ..JudgeOptions::default()
    }
}

/// Returns a number that the environment asks for.
pub(crate) fn asked<T: FromStr>(name: &str, otherwise: T) -> T {
    let asked = std::env::var(name).ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(otherwise)
}

/// Crawls from a URL to the end.
pub(crate) fn crawl(seed: String, storage: &SharedStorage, index: &SharedStorage) -> CrawlProgress {
    crawl_within(Within::Any, seed, (storage, index), None, false)
}

/// Crawls the host of a URL until the crawl is asked to end.
pub(crate) fn crawl_watching(
    seed: String,
    storage: &SharedStorage,
    index: &SharedStorage,
) -> CrawlProgress {
    crawl_within(Within::Host, seed, (storage, index), None, true)
}

fn crawl_within(
    within: Within,
    seed: String,
    folders: (&SharedStorage, &SharedStorage),
    resolver: Option<Arc<dyn Resolve>>,
    watch: bool,
) -> CrawlProgress {
    let crawl = open_within(within, seed, folders, resolver, watch);
    crawl.run(&|| false, &mut |_| {}).unwrap()
}

fn open_within(
    within: Within,
    seed: String,
    (storage, index): (&SharedStorage, &SharedStorage),
    resolver: Option<Arc<dyn Resolve>>,
    watch: bool,
) -> Crawl {
    let mut config = CrawlConfig::of_seeds(vec![seed]);
    config.sites[0].within = within;
    config.allow_addresses = vec!["127.0.0.0/8".parse().unwrap()];
    config.gap_s = GAP_MS as f64 / 1000.0;
    let setup = CrawlSetup {
        storage: storage.clone(),
        index: index.clone(),
        build: BuildOptions::default(),
        resolver,
        watch,
        is_read_meanwhile: true,
        member: None,
    };
    Crawl::open(config, setup).unwrap()
}

pub(crate) fn new() -> SharedStorage {
    Arc::new(MemoryStorage::new())
}

/// Documents of an index by their URLs.
pub(crate) fn documents(
    index: &SharedStorage,
    urls: &BTreeSet<String>,
) -> BTreeMap<String, StoredDocument> {
    let index = Index::open(index.clone()).unwrap();
    let found = urls
        .iter()
        .filter_map(|url| Some((url.clone(), index.document(url).unwrap()?)));
    found.collect()
}

pub(crate) fn documents_count(index: &SharedStorage) -> u64 {
    let index = Index::open(index.clone()).unwrap();
    index.statistics().documents_count()
}

/// Waits for an event that is sure to come.
pub(crate) fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    for _ in 0..6_000 {
        if is_there() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{what}: not within a minute");
}
