//! The queues beside a twin that is right by looking, through power losses, and over gRPC.
mod model;
mod power;
mod service;

use super::{Given, Put, Queues, QueuesOptions, Take, Taking};
use crate::frontier::{Discovery, Frontier, FrontierError, FrontierOptions, Source, StoreOptions};
use crate::politeness::TimeMs;
use std::sync::Arc;
use vfs::MemoryStorage;

const START: TimeMs = TimeMs(1_000_000_000_000);

fn small() -> QueuesOptions {
    QueuesOptions {
        store: StoreOptions {
            batch_keys_max: 12,
            block_bytes: 64,
            tier_runs: 2,
            ..StoreOptions::default()
        },
        window_urls: 2,
    }
}

fn open(disk: &MemoryStorage, options: QueuesOptions) -> Queues {
    let (queues, recovered) = Queues::open(Arc::new(disk.clone()), options).expect("opens");
    assert_eq!(recovered.damage, []);
    queues
}

fn found(key: &str, url: &str) -> Put {
    Put {
        url: url.to_owned(),
        key: key.to_owned(),
        ..Put::default()
    }
}

fn any() -> Take {
    Take {
        crawl: None,
        key: None,
        queues_max: usize::MAX,
        urls_per_queue_max: usize::MAX,
        hold_ms: 30_000,
    }
}

fn take_all(queues: &mut Queues, take: Take, now: TimeMs) -> Vec<Given> {
    let mut taking: Taking = queues.taking(take);
    let mut all = Vec::new();
    loop {
        let given = queues.take(&mut taking, now);
        if given.is_empty() {
            return all;
        }
        all.extend(given);
    }
}

#[test]
fn a_queue_gives_more_than_a_batch_in_order() {
    let mut queues = open(&MemoryStorage::new(), QueuesOptions::default());
    for number in 0..2_500u64 {
        let mut put = found("a", &format!("http://a/{number}"));
        put.due_s = Some(2_500 - number);
        queues.put(put, START).expect("puts");
    }
    let given = take_all(&mut queues, any(), START);
    let urls: Vec<&str> = given.iter().map(|given| &*given.url).collect();
    let expected: Vec<String> = (0..2_500).rev().map(|n| format!("http://a/{n}")).collect();
    assert_eq!(urls, expected);
    assert_eq!(take_all(&mut queues, any(), START.plus_ms(5_000)), []);
}

#[test]
fn a_crawls_frontier_is_no_place_for_queues() {
    let disk = MemoryStorage::new();
    let storage: vfs::SharedStorage = Arc::new(disk.clone());
    let (mut frontier, _) =
        Frontier::open(storage.clone(), FrontierOptions::default(), START).expect("opens");
    let link = Discovery {
        url: "http://a.example/",
        depth: 0,
        source: Source::Seed,
        from: None,
        importance: 1.0,
        modified: None,
    };
    frontier.discover(&link, START).expect("discovers");
    frontier.sync().expect("syncs");
    drop(frontier);
    let refused = Queues::open(storage, small()).expect_err("is of a crawl");
    assert!(matches!(refused, FrontierError::NotQueues(_)), "{refused}");
}

#[test]
fn queues_take_turns() {
    let mut queues = open(&MemoryStorage::new(), QueuesOptions::default());
    for key in ["a", "b", "c"] {
        for number in 0..4 {
            let put = found(key, &format!("http://{key}/{number}"));
            queues.put(put, START).expect("puts");
        }
    }
    let one = Take {
        queues_max: 1,
        urls_per_queue_max: 1,
        hold_ms: 1,
        ..any()
    };
    let mut keys = Vec::new();
    for round in 0..5 {
        let now = START.plus_ms(round * 2_000);
        let given = take_all(&mut queues, one.clone(), now);
        keys.extend(given.into_iter().map(|given| given.queue.key));
    }
    assert_eq!(keys, ["a", "b", "c", "a", "b"]);
}

#[test]
fn what_is_removed_leaves_the_disk() {
    let disk = MemoryStorage::new();
    let mut queues = open(&disk, small());
    for round in 0..40 {
        for number in 0..50 {
            let put = found("a", &format!("http://a/{round}/{number}"));
            queues.put(put, START).expect("puts");
        }
        queues.delete_crawl("DEFAULT").expect("deletes");
    }
    queues.checkpoint().expect("checkpoints");
    while queues.store.work(1_000).expect("merges") {}
    let written = 40 * 50 * 20;
    let kept = queues.store.disk_bytes();
    assert!(kept < written / 4, "{kept} bytes for no URL");
}
