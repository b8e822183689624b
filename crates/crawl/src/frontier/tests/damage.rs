//! Damaged bytes: named, never a panic.
use super::driver::{Dice, START, fetched, link, next_page, open, small};
use crate::frontier::{Frontier, FrontierError};
use std::sync::Arc;
use vfs::MemoryStorage;

fn written() -> MemoryStorage {
    let disk = MemoryStorage::new();
    let mut now = START;
    let mut frontier = open(&disk, small(), now);
    for page in 0..50 {
        let url = format!("http://h{}.example/path/{page}", page % 3);
        frontier.discover(&link(&url), now).expect("discovers");
        if let Some(visit) = next_page(&mut frontier, &mut now) {
            frontier
                .finished(visit.id, &fetched(2, 10), now)
                .expect("finishes");
        }
        if page % 4 == 0 {
            frontier.sync().expect("syncs");
        }
    }
    // Without a merge under way: its file is no part of the frontier yet.
    for _ in 0..2 {
        frontier.checkpoint().expect("checkpoints");
        while frontier.work(1_000).expect("works") {}
    }
    frontier.checkpoint().expect("checkpoints");
    for page in 0..4 {
        let url = format!("http://late.example/{page}");
        frontier.discover(&link(&url), now).expect("discovers");
        frontier.sync().expect("syncs");
    }
    disk
}

/// Opens and reads everything. True if damage or a cut was named.
fn named(disk: &MemoryStorage) -> bool {
    let opened = Frontier::open(Arc::new(disk.clone()), small(), START);
    let (mut frontier, recovered) = match opened {
        Ok(opened) => opened,
        Err(FrontierError::Manifest { .. }) => return true,
        Err(error) => panic!("{error}"),
    };
    let origins: Vec<String> = frontier
        .origins()
        .map(|(origin, _)| origin.to_owned())
        .collect();
    for origin in origins {
        frontier.for_each_url(&origin, |_, record| record.visits < 1_000);
    }
    let _ = frontier.next(START.plus_ms(1 << 40)).expect("next");
    !frontier.damage().is_empty() || recovered.cut_bytes > 0
}

#[test]
fn each_changed_byte_is_named() {
    let disk = written();
    assert!(!named(&disk.power_loss(1)));
    let mut dice = Dice(1);
    let mut changed = 0;
    for name in disk.files() {
        let bytes = disk.read_raw(&name).expect("a file");
        for _ in 0..bytes.len().min(60) {
            let mut damaged = bytes.clone();
            let at = dice.below(bytes.len() as u64) as usize;
            damaged[at] ^= 1 + dice.below(255) as u8;
            let copy = disk.power_loss(1);
            copy.write_raw(&name, damaged);
            assert!(named(&copy), "{name}: byte {at} of {}", bytes.len());
            changed += 1;
        }
    }
    assert!(changed > 200, "{changed}");
}

#[test]
fn any_length_and_any_bytes_open_or_are_named() {
    let disk = written();
    let mut dice = Dice(2);
    for name in disk.files() {
        let bytes = disk.read_raw(&name).expect("a file");
        for _ in 0..20 {
            let copy = disk.power_loss(1);
            let mut damaged = bytes[..dice.below(bytes.len() as u64 + 1) as usize].to_vec();
            for _ in 0..dice.below(40) {
                damaged.push(dice.below(256) as u8);
            }
            copy.write_raw(&name, damaged);
            named(&copy);
        }
    }
}
