//! The service over gRPC, asked as a crawler asks it.
use super::super::serve;
use super::{open, small};
use std::collections::HashMap;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tonic::Code;
use tonic::transport::Channel;
use vfs::MemoryStorage;
use wire::urlfrontier as api;
use wire::urlfrontier::url_frontier_client::UrlFrontierClient;

struct Running {
    client: UrlFrontierClient<Channel>,
    end: oneshot::Sender<()>,
    server: tokio::task::JoinHandle<Result<(), super::super::ServeError>>,
}

async fn running(disk: &MemoryStorage) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let address = listener.local_addr().expect("has an address");
    let (end, ending) = oneshot::channel();
    let server = serve(open(disk, small()), listener, async {
        let _ = ending.await;
    });
    let server = tokio::spawn(server);
    let client = UrlFrontierClient::connect(format!("http://{address}")).await;
    Running {
        client: client.expect("connects"),
        end,
        server,
    }
}

fn info(url: &str) -> api::UrlInfo {
    api::UrlInfo {
        url: url.to_owned(),
        metadata: HashMap::from([(
            "source".to_owned(),
            api::StringList {
                values: vec!["seed".to_owned()],
            },
        )]),
        ..api::UrlInfo::default()
    }
}

fn found(url: &str) -> api::UrlItem {
    let info = Some(info(url));
    api::UrlItem {
        item: Some(api::url_item::Item::Discovered(api::DiscoveredUrlItem {
            info,
        })),
        ..api::UrlItem::default()
    }
}

fn known(url: &str, refetchable_from_date: u64) -> api::UrlItem {
    let info = Some(info(url));
    api::UrlItem {
        item: Some(api::url_item::Item::Known(api::KnownUrlItem {
            info,
            refetchable_from_date,
        })),
        id: "mine".to_owned(),
        ..api::UrlItem::default()
    }
}

async fn put(
    client: &mut UrlFrontierClient<Channel>,
    items: Vec<api::UrlItem>,
) -> Vec<(String, api::ack_message::Status)> {
    let answers = client.put_ur_ls(tonic::codegen::tokio_stream::iter(items));
    let mut answers = answers.await.expect("answers").into_inner();
    let mut acknowledged = Vec::new();
    while let Some(answer) = answers.message().await.expect("acknowledges") {
        acknowledged.push((answer.id.clone(), answer.status()));
    }
    acknowledged
}

async fn get(client: &mut UrlFrontierClient<Channel>) -> Vec<api::UrlInfo> {
    let any = api::GetParams {
        max_urls_per_queue: 2,
        ..api::GetParams::default()
    };
    let mut answers = client.get_ur_ls(any).await.expect("answers").into_inner();
    let mut urls = Vec::new();
    while let Some(info) = answers.message().await.expect("gives") {
        urls.push(info);
    }
    urls
}

/// A crawler's round, and what is left of it in the next process.
#[tokio::test(flavor = "multi_thread")]
async fn a_crawler_keeps_its_urls_here() {
    use api::ack_message::Status::{Ok, Skipped};
    let disk = MemoryStorage::new();
    let Running {
        mut client,
        end,
        server,
    } = running(&disk).await;
    let items = vec![
        found("http://a.example/1"),
        found("http://a.example/1"),
        found("http://a.example/2"),
        found("http://b.example/"),
        found(""),
        known("http://b.example/done", 0),
    ];
    let acknowledged = put(&mut client, items).await;
    let statuses: Vec<_> = acknowledged.iter().map(|(_, status)| *status).collect();
    assert_eq!(statuses, [Ok, Skipped, Ok, Ok, Skipped, Ok]);
    assert_eq!(acknowledged[0].0, "http://a.example/1");
    assert_eq!(acknowledged[5].0, "mine");

    let given = get(&mut client).await;
    let urls: Vec<&str> = given.iter().map(|info| &*info.url).collect();
    let expected = [
        "http://a.example/1",
        "http://a.example/2",
        "http://b.example/",
    ];
    assert_eq!(urls, expected);
    assert_eq!(given[0].key, "a.example");
    assert_eq!(given[0].crawl_id, "DEFAULT");
    assert_eq!(given[0].metadata, info("").metadata);
    assert_eq!(get(&mut client).await, [], "all are held");

    let batch = api::DiscoveredBatch {
        id: "links".to_owned(),
        items: vec![info("http://a.example/1"), info("http://a.example/3")],
    };
    let batches = tonic::codegen::tokio_stream::iter([batch]);
    let answers = client.put_discovered(batches).await.expect("answers");
    let answer = answers.into_inner().message().await.expect("acknowledges");
    let answer = answer.expect("has a batch");
    assert_eq!(answer.id, "links");
    assert_eq!(answer.statuses, [Skipped as i32, Ok as i32]);

    let stats = client.get_stats(api::QueueWithinCrawlParams::default());
    let stats = stats.await.expect("answers").into_inner();
    assert_eq!(
        (stats.size, stats.in_process, stats.number_of_queues),
        (4, 3, 2)
    );
    assert_eq!(stats.counts["completed"], 1);
    let level = client.set_log_level(api::LogLevelParams::default()).await;
    assert_eq!(level.expect_err("has no log").code(), Code::Unimplemented);
    let unknown = api::UrlStatusRequest {
        url: "http://c.example/".to_owned(),
        ..api::UrlStatusRequest::default()
    };
    let status = client.get_url_status(unknown).await;
    assert_eq!(status.expect_err("unknown").code(), Code::NotFound);

    end.send(()).expect("runs");
    drop(client);
    server.await.expect("ends").expect("ends well");
    let Running {
        mut client,
        end: _running,
        ..
    } = running(&disk).await;
    let count = client.count_ur_ls(api::CountUrlParams {
        filter: Some("A.EXAMPLE".to_owned()),
        ignore_case: Some(true),
        ..api::CountUrlParams::default()
    });
    assert_eq!(count.await.expect("answers").into_inner().value, 3);
    assert_eq!(
        get(&mut client).await.len(),
        3,
        "what was in flight is due again"
    );
    let mut listed = client
        .list_ur_ls(api::ListUrlParams {
            start: 1,
            size: 3,
            ..api::ListUrlParams::default()
        })
        .await
        .expect("answers")
        .into_inner();
    let mut count = 0;
    while let Some(item) = listed.message().await.expect("lists") {
        assert!(item.creation_date > 0);
        count += 1;
    }
    assert_eq!(count, 3);
    let deleted = client.delete_crawl(api::DeleteCrawlMessage::default());
    assert_eq!(deleted.await.expect("answers").into_inner().value, 5);
}
