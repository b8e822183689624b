//! Tests of the metrics: each has a description, each partition its times.
use super::process::ServerMetrics;
use super::served::{Client, IndexMetrics};
use crate::api::draining::Draining;
use crate::api::options::SearchOptions;
use crate::api::reply::Reply;
use crate::document_server::InProcessDocumentServer;
use crate::front_end::FrontEnd;
use crate::handlers::options::HandlerOptions;
use crate::http::app::App;
use crate::in_process::partitioning::Topology;
use crate::index_server::InProcessIndexServer;
use engine::Generations;
use std::collections::BTreeSet;
use std::sync::Arc;
use vfs::MemoryStorage;
use wire::{CrawlProgress, CrawlStatus, UrlsInState};

fn index() -> Arc<index::Index> {
    let storage = Arc::new(MemoryStorage::new());
    let options = index::BuildOptions {
        chunks: Some(4),
        partitions: Some(4),
        ..Default::default()
    };
    let mut writer = index::Writer::open(storage.clone(), options).unwrap();
    for number in 0..100 {
        let document = document::Document {
            url: format!("http://s{number}.example/"),
            body: "words of a document".into(),
            ..Default::default()
        };
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    Arc::new(index::Index::open(storage).unwrap())
}

/// Checks that the samples and the descriptions have the same names.
fn check_help(text: &str) {
    let described: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# HELP ")?.split_once(' '))
        .map(|(name, sentence)| {
            assert!(sentence.len() > 3, "{name} is not explained");
            name
        })
        .collect();
    let samples = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    for line in samples {
        let name = line.split(['{', ' ']).next().unwrap();
        let family = ["_bucket", "_sum", "_count"]
            .iter()
            .find_map(|suffix| described.get(name.strip_suffix(suffix)?));
        assert!(
            described.contains(name) || family.is_some(),
            "{name} has no HELP"
        );
    }
}

fn value(text: &str, sample: &str) -> f64 {
    let found = text.lines().find_map(|line| line.strip_prefix(sample));
    let found = found.unwrap_or_else(|| panic!("{sample} is not in\n{text}"));
    found.trim().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_front_end_times_every_partition() {
    let topology = Topology {
        partitions: 2,
        handlers: 1,
        queue_length: 0,
    };
    let front_end = FrontEnd::start(index(), &topology).unwrap();
    let app = App::only(front_end);
    for _ in 0..3 {
        let options = SearchOptions::default();
        let answer = app.front_end.search("words", &options).await;
        app.answered(Client::Json, &answer.unwrap());
    }
    let text = app.render_all();
    check_help(&text);
    for partition in ["0-1", "2-3"] {
        for phase in ["parse", "queueing", "search", "call"] {
            let sample = format!(
                "shorttail_partition_seconds_count{{partition=\"{partition}\",phase=\"{phase}\"}}"
            );
            assert!(value(&text, &sample) >= 3.0, "{text}");
        }
        let handlers = format!("shorttail_handlers{{partition=\"{partition}\"}}");
        assert_eq!(value(&text, &handlers), 1.0);
    }
    assert_eq!(
        value(&text, "shorttail_queries_total{client=\"json\"}"),
        3.0
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_tell_the_same_names() {
    let generations = Generations::fixed(index());
    let options = HandlerOptions {
        handlers: 2,
        ..HandlerOptions::default()
    };
    let draining = Draining::default();
    let searches =
        InProcessIndexServer::start(generations.clone(), 0..=1, &options, draining.clone());
    let searches = searches.unwrap();
    let texts =
        InProcessDocumentServer::start(generations, 0..=3, 3, &Default::default(), draining)
            .unwrap();
    let of_searches = ServerMetrics::of_index_server(&searches);
    let of_texts = ServerMetrics::of_document_server(&texts);
    ask(&searches, &texts).await;

    let text = of_searches.render();
    check_help(&text);
    assert_eq!(value(&text, "shorttail_handlers{partition=\"0-1\"}"), 2.0);
    assert_eq!(value(&text, "shorttail_documents "), 100.0);
    for phase in ["parse", "queueing", "search"] {
        let sample =
            format!("shorttail_partition_seconds_count{{partition=\"0-1\",phase=\"{phase}\"}}");
        assert_eq!(value(&text, &sample), 1.0);
    }
    for counter in ["refused", "expired", "ended_early"] {
        let sample = format!("shorttail_{counter}_total{{partition=\"0-1\"}}");
        assert_eq!(value(&text, &sample), 0.0);
    }

    let text = of_texts.render();
    check_help(&text);
    assert_eq!(value(&text, "shorttail_handlers{partition=\"0-3\"}"), 3.0);
    assert_eq!(
        value(&text, "shorttail_summaries_total{partition=\"0-3\"}"),
        2.0
    );
    assert_eq!(
        value(&text, "shorttail_expired_total{partition=\"0-3\"}"),
        1.0
    );
    let sample = "shorttail_partition_seconds_count{partition=\"0-3\",phase=\"summaries\"}";
    assert_eq!(value(&text, sample), 1.0);
}

/// Makes one search, one page of summaries, and one request that is too late.
async fn ask(searches: &InProcessIndexServer, texts: &InProcessDocumentServer) {
    use crate::api::backend::{DocumentServer, IndexServer};
    use crate::api::messages::{Query, SearchRequest, SummariesOf, SummariesRequest};
    use std::time::{Duration, Instant};
    let tree = search::parse("words", text::Analyzer::Plain, search::Operator::And).query;
    let query = Query::new(1, "words".into(), tree, Default::default());
    let deadline = Instant::now() + Duration::from_secs(60);
    let request = SearchRequest {
        sort: Default::default(),
        collapse: None,
        after: None,
        trace: false,
        k: 10,
        counted: true,
        generation: 0,
        deadline,
        caller_waits: true,
    };
    let (reply, answer) = Reply::channel();
    searches.search(&Arc::new(query), request, reply);
    assert!(!answer.await.unwrap().unwrap().hits.is_empty());
    let page = SummariesRequest {
        fields: false,
        query_id: 1,
        of: SummariesOf::Urls(vec![
            "http://s1.example/".into(),
            "http://s2.example/".into(),
        ]),
        terms: Vec::new().into(),
        generation: 0,
        deadline,
    };
    let late = SummariesRequest {
        deadline: Instant::now(),
        ..page.clone()
    };
    let (reply, answer) = Reply::channel();
    texts.summaries(page, reply);
    assert_eq!(answer.await.unwrap().unwrap().len(), 2);
    let (reply, answer) = Reply::channel();
    texts.summaries(late, reply);
    assert!(answer.await.unwrap().is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn counters_of_a_crawl_grow_over_its_runs() {
    let topology = Topology {
        partitions: 1,
        handlers: 1,
        queue_length: 0,
    };
    let front_end = FrontEnd::start(index(), &topology).unwrap();
    let metrics = IndexMetrics::new(None, &front_end.cluster);
    let none = metrics.render(&front_end.cluster, None, None);
    assert!(!none.contains("shorttail_crawl"), "{none}");
    let told = |run: &str, fetched, dns, state: &str| CrawlStatus {
        progress: CrawlProgress {
            started: run.into(),
            fetched,
            known: 7,
            failures: [("dns".to_owned(), dns)].into(),
            states: vec![UrlsInState {
                state: state.into(),
                urls: 7,
                ..UrlsInState::default()
            }],
            ..CrawlProgress::default()
        },
        is_running: true,
    };
    let fetched = "shorttail_crawl_visits_total{result=\"fetched\"}";
    let failures = "shorttail_crawl_failures_total{cause=\"dns\"}";
    let urls = |state: &str| format!("shorttail_crawl_urls{{state=\"{state}\",reason=\"\"}}");
    // The second run has more pages than the first one at once.
    for (status, fetched_sum, dns_sum) in [
        (told("a", 3, 1, "queued"), 3.0, 1.0),
        (told("a", 5, 1, "queued"), 5.0, 1.0),
        (told("b", 6, 2, "fetched"), 11.0, 3.0),
    ] {
        let text = metrics.render(&front_end.cluster, None, Some(&status));
        check_help(&text);
        assert_eq!(value(&text, fetched), fetched_sum);
        assert_eq!(value(&text, failures), dns_sum);
        assert_eq!(value(&text, "shorttail_crawl_running "), 1.0);
        assert_eq!(value(&text, "shorttail_crawl_urls_known "), 7.0);
    }
    let text = metrics.render(&front_end.cluster, None, Some(&told("b", 6, 2, "fetched")));
    assert_eq!(
        (
            value(&text, &urls("queued")),
            value(&text, &urls("fetched"))
        ),
        (0.0, 7.0)
    );
}
