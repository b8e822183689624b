//! Whole crawls of the synthetic web: the index holds exactly the pages that an obedient crawler reaches, the log of the
//! server keeps the law, a second crawl fetches no body, and a replay gives the same index.

use crawl::synthetic::{
    JudgeOptions, SyntheticOptions, SyntheticResolver, SyntheticWeb, judge, listen, read_log, serve,
};
use crawl::{Crawl, CrawlConfig, CrawlProgress, CrawlSetup, explain, replay};
use index::{BuildOptions, Index};
use std::collections::BTreeSet;
use std::io::BufReader;
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};

const GAP_MS: u64 = 40;

/// Web that is served until the drop, with a log.
struct Served {
    web: Arc<SyntheticWeb>,
    log: tempfile::NamedTempFile,
    _runtime: tokio::runtime::Runtime,
}

impl Served {
    fn start(hosts: u32, pages_mean: f64) -> Served {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let entered = runtime.enter();
        let listener = listen(0).unwrap();
        let web = Arc::new(SyntheticWeb::new(SyntheticOptions {
            hosts,
            pages_mean,
            page_bytes_mean: 2_000,
            classes: false,
            port: listener.local_addr().unwrap().port(),
            change_gap_ms: u64::MAX,
            ..SyntheticOptions::default()
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

    fn crawl(&self, storage: &SharedStorage, index: &SharedStorage) -> CrawlProgress {
        let mut config = CrawlConfig::of_seeds(vec![self.web.seeds_url()]);
        config.sites[0].within = crawl::config::Within::Any;
        config.allow_addresses = vec!["127.0.0.0/8".parse().unwrap()];
        config.gap_s = GAP_MS as f64 / 1000.0;
        let setup = CrawlSetup {
            storage: storage.clone(),
            index: index.clone(),
            build: BuildOptions::default(),
            resolver: Some(Arc::new(SyntheticResolver(self.web.clone()))),
            watch: false,
        };
        let crawl = Crawl::open(config, setup).unwrap();
        crawl.run(&|| false, &mut |_| {}).unwrap()
    }

    /// URLs of the pages that belong into the index.
    fn expected(&self) -> BTreeSet<String> {
        let pages = self.web.expected().filter(|page| page.indexed);
        pages
            .map(|page| self.web.url(page.host, &page.path))
            .collect()
    }
}

fn new() -> SharedStorage {
    Arc::new(MemoryStorage::new())
}

fn is_indexed(index: &SharedStorage, url: &str) -> bool {
    let index = Index::open(index.clone()).unwrap();
    index.document(url).unwrap().is_some()
}

fn documents_count(index: &SharedStorage) -> u64 {
    let index = Index::open(index.clone()).unwrap();
    index.statistics().documents_count()
}

#[test]
fn the_index_holds_what_an_obedient_crawler_reaches() {
    let served = Served::start(8, 6.0);
    let (storage, index) = (new(), new());
    let first = served.crawl(&storage, &index);
    let expected = served.expected();
    assert!(expected.len() > 20, "{}", expected.len());
    for url in &expected {
        assert!(is_indexed(&index, url), "{url} is missing: {first:?}");
    }
    assert_eq!(first.failed, 0, "{:?}", first.notices);
    let log = read_log(BufReader::new(served.log.reopen().unwrap())).unwrap();
    let options = JudgeOptions {
        host_gap_ms: GAP_MS,
        address_gap_ms: GAP_MS,
        ..JudgeOptions::default()
    };
    let verdict = judge(&log, &served.web, &options);
    assert!(verdict.passes(), "{verdict:?}");
    // What the judge finds, if the law is another one.
    let stricter = JudgeOptions {
        host_gap_ms: 100 * GAP_MS,
        ..options
    };
    assert!(!judge(&log, &served.web, &stricter).passes());

    let again = served.crawl(&storage, &index);
    assert_eq!((again.added, again.generation), (0, first.generation));
    assert!(again.not_modified as usize >= expected.len(), "{again:?}");

    let replayed = new();
    let (_, committed) = replay(
        &storage,
        replayed.clone(),
        BuildOptions::default(),
        &mut |_| {},
    )
    .unwrap();
    assert_eq!(committed.documents, documents_count(&index));
    assert!(expected.iter().all(|url| is_indexed(&replayed, url)));

    let url = expected.first().unwrap();
    let explained = explain(&storage, url).unwrap();
    assert!(explained.known.is_some_and(|known| known.record.indexed));
    assert!(explained.admitted.is_ok());
}
