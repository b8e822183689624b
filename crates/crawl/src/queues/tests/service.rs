//! The service over gRPC, asked as a crawler asks it.
use super::super::service::{Patience, serve_patiently};
use super::{QueuesOptions, open, small};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tonic::Code;
use tonic::transport::Channel;
use vfs::MemoryStorage;
use wire::urlfrontier as api;
use wire::urlfrontier::url_frontier_client::UrlFrontierClient;

/// Time in which what must happen does, also on a busy machine.
const SOON: Duration = Duration::from_secs(120);

struct Running {
    address: SocketAddr,
    client: UrlFrontierClient<Channel>,
    end: oneshot::Sender<()>,
    server: tokio::task::JoinHandle<Result<(), super::super::ServeError>>,
}

async fn running(disk: &MemoryStorage) -> Running {
    running_with(disk, small(), Patience::default()).await
}

/// The same with the sizes of a real store, for many or large URLs.
async fn running_large(disk: &MemoryStorage) -> Running {
    running_with(disk, QueuesOptions::default(), Patience::default()).await
}

async fn running_with(disk: &MemoryStorage, options: QueuesOptions, patience: Patience) -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let address = listener.local_addr().expect("has an address");
    let (end, ending) = oneshot::channel();
    let ended = async {
        let _ = ending.await;
    };
    let server = serve_patiently(open(disk, options), listener, ended, patience);
    let server = tokio::spawn(server);
    Running {
        address,
        client: connected(address).await,
        end,
        server,
    }
}

async fn connected(address: SocketAddr) -> UrlFrontierClient<Channel> {
    let client = UrlFrontierClient::connect(format!("http://{address}")).await;
    client.expect("connects")
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
        ..
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

/// Sends URLs as a crawler does: a message a URL, as fast as the connection takes them.
#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_thousand_messages_of_one_url_pass_on_one_stream() {
    const URLS: usize = 100_000;
    let disk = MemoryStorage::new();
    let Running {
        mut client,
        end: _running,
        ..
    } = running_large(&disk).await;
    let items = (0..URLS).map(|number| {
        let url = format!("http://{}.example/{number}", number % 100);
        let info = Some(api::UrlInfo {
            url,
            ..api::UrlInfo::default()
        });
        api::UrlItem {
            item: Some(api::url_item::Item::Discovered(api::DiscoveredUrlItem {
                info,
            })),
            ..api::UrlItem::default()
        }
    });
    let answers = client.put_ur_ls(tonic::codegen::tokio_stream::iter(items));
    let mut answers = answers.await.expect("answers").into_inner();
    let mut acknowledged = 0;
    while let Some(answer) = answers.message().await.expect("acknowledges") {
        assert_eq!(answer.status(), api::ack_message::Status::Ok);
        acknowledged += 1;
    }
    assert_eq!(acknowledged, URLS);
}

/// Puts the URLs of some numbers, with metadata of `bytes` bytes.
async fn put_large(
    client: &mut UrlFrontierClient<Channel>,
    numbers: std::ops::Range<usize>,
    bytes: usize,
) {
    let count = numbers.len();
    let items = numbers.map(|number| {
        let mut item = found(&format!("http://a.example/{number:03}"));
        if let Some(api::url_item::Item::Discovered(found)) = &mut item.item
            && let Some(info) = &mut found.info
        {
            let values = vec!["x".repeat(bytes)];
            info.metadata
                .insert("large".to_owned(), api::StringList { values });
        }
        item
    });
    assert_eq!(put(client, items.collect()).await.len(), count);
}

async fn list(
    client: &mut UrlFrontierClient<Channel>,
    size: u32,
) -> tonic::Streaming<api::UrlItem> {
    let listed = client.list_ur_ls(api::ListUrlParams {
        size,
        ..api::ListUrlParams::default()
    });
    listed.await.expect("answers").into_inner()
}

async fn rest_of(mut listed: tonic::Streaming<api::UrlItem>) -> usize {
    let mut count = 0;
    while listed.message().await.expect("lists").is_some() {
        count += 1;
    }
    count
}

/// Asserts that a list of `whole` URLs ends early, with an error.
async fn assert_broken_off(mut listed: tonic::Streaming<api::UrlItem>, whole: usize) {
    let mut count = 0;
    let error = loop {
        match listed.message().await {
            Ok(Some(_)) => count += 1,
            Ok(None) => panic!("it ends as if it were whole"),
            Err(error) => break error,
        }
    };
    assert!(count < whole, "{count}: {error}");
}

/// Lists that nobody reads keep no thread: there are fewer threads here than lists.
#[test]
fn unread_lists_keep_nobody_from_an_answer() {
    const LISTS: usize = 200;
    const URLS: usize = 300;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(8)
        .enable_all()
        .build()
        .expect("starts");
    let all = async {
        let disk = MemoryStorage::new();
        let Running {
            address,
            mut client,
            end,
            server,
            ..
        } = running_large(&disk).await;
        put_large(&mut client, 0..URLS, 10_000).await;
        // More than the windows of their connection hold. It is not asked anything else: a client that does not read its
        // streams has no window left for other answers on the same connection (RFC 9113, section 5.2.1).
        let mut listing = connected(address).await;
        let mut lists = Vec::new();
        for _ in 0..LISTS {
            lists.push(list(&mut listing, URLS as u32).await);
        }
        for _ in 0..20 {
            let stats = client.get_stats(api::QueueWithinCrawlParams::default());
            let stats = stats.await.expect("answers").into_inner();
            assert_eq!(stats.size, URLS as u64);
        }
        // Nor from putting, getting and counting.
        assert_eq!(
            put(&mut client, vec![found("http://b.example/")])
                .await
                .len(),
            1
        );
        let count = client.count_ur_ls(api::CountUrlParams::default());
        let count = count.await.expect("answers").into_inner().value;
        assert_eq!(count, URLS as u64 + 1);
        // Who reads at last gets the whole list, once others are gone.
        let kept = lists.split_off(LISTS - 2);
        drop(lists);
        for listed in kept {
            assert_eq!(rest_of(listed).await, URLS);
        }
        // And the end is not waited for, with a list that nobody reads and a stream on which nothing comes.
        let unread = list(&mut client, URLS as u32).await;
        let (_quiet, items) = tokio::sync::mpsc::channel::<api::UrlItem>(1);
        let items = tokio_stream::wrappers::ReceiverStream::new(items);
        let _open = client.put_ur_ls(items).await.expect("answers");
        end.send(()).expect("runs");
        server.await.expect("ends").expect("ends well");
        // What was broken off does not look whole.
        assert_broken_off(unread, URLS).await;
    };
    let in_time = async { tokio::time::timeout(SOON, all).await };
    runtime.block_on(in_time).expect("no list is waited for");
    // A thread that waited for a client would keep this from returning.
    runtime.shutdown_timeout(SOON);
}

/// A client that takes nothing for too long loses its connection; another one has its whole list.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_stalls_is_left() {
    const URLS: usize = 700;
    let disk = MemoryStorage::new();
    let patience = Patience {
        // A busy machine, too, takes what is sent to it sooner.
        stall: Duration::from_secs(3),
        ..Patience::default()
    };
    let Running {
        address,
        mut client,
        end: _running,
        ..
    } = running_with(&disk, QueuesOptions::default(), patience).await;
    put_large(&mut client, 0..URLS, 10_000).await;
    let unread = list(&mut client, URLS as u32).await;
    // Another stream of the connection tells when it ends.
    let (_quiet, items) = tokio::sync::mpsc::channel::<api::UrlItem>(1);
    let items = tokio_stream::wrappers::ReceiverStream::new(items);
    let beside = client.put_ur_ls(items).await.expect("answers");
    let mut beside = beside.into_inner();
    let ended = tokio::time::timeout(SOON, beside.message()).await;
    let ended = ended.expect("is left");
    assert!(ended.is_err(), "{ended:?}");
    assert_broken_off(unread, URLS).await;
    // A channel may notice late that its connection is gone.
    let mut another = connected(address).await;
    assert_eq!(rest_of(list(&mut another, URLS as u32).await).await, URLS);
}

/// Steps of a list, whatever its start, size and sizes of URLs are, give what one walk gives.
#[tokio::test(flavor = "multi_thread")]
async fn lists_in_steps_are_whole_and_in_order() {
    let disk = MemoryStorage::new();
    let Running {
        mut client,
        end: _running,
        ..
    } = running_large(&disk).await;
    // Some are larger than a step, one by far.
    for (from, count, bytes) in [(0, 40, 500), (40, 20, 9_000), (60, 1, 400_000), (61, 9, 0)] {
        put_large(&mut client, from..from + count, bytes).await;
    }
    for (start, size) in [
        (0, 70),
        (0, 7),
        (35, 30),
        (59, 3),
        (60, 1),
        (69, 9),
        (70, 9),
        (3, 0),
    ] {
        let params = api::ListUrlParams {
            start,
            size,
            ..api::ListUrlParams::default()
        };
        let mut listed = client
            .list_ur_ls(params)
            .await
            .expect("answers")
            .into_inner();
        let mut urls = Vec::new();
        while let Some(item) = listed.message().await.expect("lists") {
            let Some(api::url_item::Item::Known(known)) = item.item else {
                panic!("{item:?}")
            };
            urls.push(known.info.expect("has a URL").url);
        }
        let size = if size == 0 { 100 } else { size };
        let expected: Vec<String> = (start..70.min(start + size))
            .map(|number| format!("http://a.example/{number:03}"))
            .collect();
        assert_eq!(urls, expected, "{start} {size}");
    }
    let any = api::GetParams::default();
    let mut answers = client.get_ur_ls(any).await.expect("answers").into_inner();
    let mut count = 0;
    while answers.message().await.expect("gives").is_some() {
        count += 1;
    }
    assert_eq!(count, 70);
}
