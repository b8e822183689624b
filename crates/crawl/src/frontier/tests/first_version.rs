//! Runs of the first version, which have no filter: read, and merged into new ones.
use super::driver::{START, fetched, link, next_page, open, small};
use crate::frontier::{Frontier, Record};
use std::collections::BTreeMap;
use vfs::MemoryStorage;
use xxhash_rust::xxh3::xxh3_64;

/// Returns the run as the first version wrote it.
fn without_filter(run: &[u8]) -> Vec<u8> {
    let footer_at = run.len() - 40;
    let number = |at: usize| u64::from_le_bytes(run[at..at + 8].try_into().expect("eight bytes"));
    let (filter_at, index_at) = (number(footer_at) as usize, number(footer_at + 8) as usize);
    let mut old = [b"STfront1", &run[8..filter_at]].concat();
    let mut end = run[index_at..footer_at].to_vec();
    end.extend_from_slice(&(filter_at as u64).to_le_bytes());
    end.extend_from_slice(&number(footer_at + 16).to_le_bytes());
    end.extend_from_slice(&xxh3_64(&end).to_le_bytes());
    old.extend_from_slice(&end);
    old.extend_from_slice(b"STfront1");
    old
}

fn records(frontier: &mut Frontier) -> BTreeMap<String, Record> {
    let origins: Vec<String> = frontier.origins().map(|(o, _)| o.to_owned()).collect();
    let mut records = BTreeMap::new();
    for origin in origins {
        frontier.for_each_url(&origin, |url, record| {
            records.insert(url.to_owned(), record.clone());
            true
        });
    }
    records
}

#[test]
fn runs_without_a_filter_are_read_and_merged() {
    let url = |page: u32| format!("http://h{}.example/path/{page}", page % 3);
    let disk = MemoryStorage::new();
    let mut now = START;
    let mut frontier = open(&disk, small(), now);
    for page in 0..50 {
        frontier
            .discover(&link(&url(page)), now)
            .expect("discovers");
        if let Some(visit) = next_page(&mut frontier, &mut now) {
            let outcome = fetched(page.into(), 10);
            frontier
                .finished(visit.id, &outcome, now)
                .expect("finishes");
        }
    }
    frontier.checkpoint().expect("checkpoints");
    let expected = records(&mut frontier);
    assert_eq!(expected.len(), 50);
    drop(frontier);
    let mut runs = 0;
    for name in disk.files() {
        let bytes = disk.read_raw(&name).expect("a file");
        // A merge under way has a file of its own, which is no run yet.
        if bytes.len() > 48 && bytes.ends_with(b"STfront2") {
            disk.write_raw(&name, without_filter(&bytes));
            runs += 1;
        }
    }
    assert!(runs > 1, "{runs}");

    let mut frontier = open(&disk, small(), now);
    assert_eq!(records(&mut frontier), expected);
    for page in 0..50 {
        frontier
            .discover(&link(&url(page)), now)
            .expect("discovers");
    }
    frontier.checkpoint().expect("checkpoints");
    while frontier.work(1_000).expect("works") {}
    assert_eq!(frontier.counts(now).known, 50, "none counts as new");
    assert_eq!(records(&mut frontier), expected);
    assert_eq!(frontier.damage(), []);
}
