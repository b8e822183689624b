//! Power losses at every operation: what was synced is there, with its date and its settings.
use super::super::{Put, PutStatus, Queues, UrlFilter};
use super::{START, found, open, small};
use std::collections::BTreeMap;
use std::sync::Arc;
use vfs::MemoryStorage;

/// URLs with the second at which they are due.
type Urls = BTreeMap<String, u64>;

fn urls_of(queues: &mut Queues) -> Urls {
    let filter = UrlFilter {
        crawl: "DEFAULT".to_owned(),
        ..UrlFilter::default()
    };
    let mut urls = Urls::new();
    queues.urls(&filter, |listed| {
        urls.insert(listed.url, listed.record.due_s);
        true
    });
    urls
}

#[test]
fn a_power_loss_loses_nothing_acknowledged() {
    let disk = MemoryStorage::recording();
    let mut queues = open(&disk, small());
    let mut acknowledged = vec![(disk.operations(), Urls::new())];
    let (mut urls, mut ever) = (Urls::new(), BTreeMap::new());
    for round in 0..30u64 {
        // A URL is always of the same queue.
        let url = format!("http://a/{}", round * 7 % 20);
        let due_s = (round % 3 > 0).then_some(round * 10 + 1);
        let put = Put {
            due_s,
            ..found(&format!("q{}", round % 2), &url)
        };
        if queues.put(put, START).expect("puts") == PutStatus::Ok {
            let due_s = due_s.unwrap_or(START.0 / 1000);
            urls.insert(url.clone(), due_s);
            ever.entry(url).or_insert_with(Vec::new).push(due_s);
        }
        if round % 2 == 1 {
            queues.sync().expect("syncs");
            acknowledged.push((disk.operations(), urls.clone()));
        }
    }
    let mut images = 0;
    for operation in 0..=disk.operations() {
        let least = acknowledged.iter().rev().find(|(at, _)| *at <= operation);
        for seed in 0..3 {
            let image = disk.power_loss_after(operation, seed);
            let opened = Queues::open(Arc::new(image), small());
            let (mut queues, recovered) = opened.expect("opens");
            assert_eq!(recovered.damage, [], "a power loss is no damage");
            let present = urls_of(&mut queues);
            for url in least.iter().flat_map(|(_, urls)| urls.keys()) {
                assert!(present.contains_key(url), "{url} was acknowledged");
            }
            for (url, due_s) in &present {
                let puts: &Vec<u64> = &ever[url];
                let earliest = least.and_then(|(_, urls)| urls.get(url));
                let from = puts.iter().position(|put| Some(put) == earliest);
                let later = &puts[from.unwrap_or(0)..];
                assert!(later.contains(due_s), "{url}: {due_s} of {later:?}");
            }
            let counts = queues.counts("DEFAULT", None, START);
            assert_eq!(counts.active + counts.completed, present.len() as u64);
            images += 1;
        }
    }
    assert!(images > 100, "{images} images");
}
