//! Tests of summaries where two URLs have the same hash.
use super::*;
use crate::api::backend::DocumentServer;
use crate::api::backend::Server;
use crate::api::messages::{Status, StatusRequest};
use crate::api::options::SearchOptions;
use crate::api::reply::Reply;
use crate::cluster::Cluster;
use crate::cluster::replicas::Replica;
use crate::cluster::replicas::Replicas;
use crate::front_end::FrontEnd;
use crate::handlers::options::HandlerOptions;
use crate::in_process::partitioning::Topology;
use engine::Generations;
use engine::calls::{PartError, SummariesOf};
use index::StoredDocument;
use std::sync::atomic::{AtomicUsize, Ordering};
use vfs::MemoryStorage;

const URL: &str = "http://s1.example/";
const OTHER: &str = "http://other.example/";

/// Document server that returns the text of another URL for a hash, like a store with two URLs of one
/// hash.
struct Colliding {
    /// Number of requests by URL.
    by_url: Arc<AtomicUsize>,
    /// URL that the server returns for any hash.
    says: &'static str,
}

impl DocumentServer for Colliding {
    fn summaries(&self, request: SummariesRequest, reply: Reply<Vec<Option<TextSummary>>>) {
        let text = |url: &str| {
            Some(TextSummary {
                url: url.to_owned(),
                html: format!("text of {url}"),
                fields: String::new(),
                cut: Vec::new(),
            })
        };
        reply.send(Ok(match request.of {
            SummariesOf::Urls(urls) => {
                self.by_url.fetch_add(1, Ordering::Relaxed);
                urls.iter().map(|url| text(url)).collect()
            }
            SummariesOf::UrlHashes(hashes) => hashes.iter().map(|_| text(self.says)).collect(),
        }));
    }

    fn document(&self, _url: &str, reply: Reply<Option<StoredDocument>>) {
        reply.send(Ok(None));
    }
}

impl Server for Colliding {
    fn status(&self, _request: &StatusRequest, reply: Reply<Status>) {
        reply.send(Err(PartError::Expired));
    }

    fn reload(&self, reply: Reply<u64>) {
        reply.send(Ok(1));
    }
}

/// Returns the summary of the one hit, and the number of requests by URL.
async fn summary_where_a_hash_gives(says: &'static str) -> (String, usize) {
    let storage = Arc::new(MemoryStorage::new());
    let mut writer = index::Writer::open(storage.clone(), Default::default()).unwrap();
    let document = document::Document {
        url: URL.into(),
        body: "words of a document".into(),
        ..Default::default()
    };
    writer.add(document).unwrap();
    writer.commit().unwrap();
    let generations = Generations::fixed(Arc::new(index::Index::open(storage).unwrap()));
    let mut cluster = Cluster::in_process(
        &generations,
        &Topology::default(),
        &[],
        &HandlerOptions::default(),
    )
    .unwrap();
    let by_url = Arc::new(AtomicUsize::new(0));
    let server: Arc<dyn DocumentServer> = Arc::new(Colliding {
        by_url: Arc::clone(&by_url),
        says,
    });
    let chunks = cluster.texts[0].chunks.clone();
    cluster.texts = vec![Replicas::new(
        chunks,
        vec![Replica::new("texts".into(), server)],
    )];
    let front_end = FrontEnd::new(cluster, Default::default());
    let answer = front_end.search("words", &SearchOptions::default()).await;
    let answer = answer.unwrap();
    assert_eq!(answer.degraded, []);
    (
        answer.hits[0].summary.clone(),
        by_url.load(Ordering::Relaxed),
    )
}

#[tokio::test]
async fn the_text_of_another_url_with_the_same_hash_is_not_taken() {
    let (summary, by_url) = summary_where_a_hash_gives(OTHER).await;
    assert_eq!((summary, by_url), (format!("text of {URL}"), 1));
}

#[tokio::test]
async fn a_text_that_is_the_hits_is_asked_for_once() {
    let (summary, by_url) = summary_where_a_hash_gives(URL).await;
    assert_eq!((summary, by_url), (format!("text of {URL}"), 0));
}
