//! Power losses at every operation: no acknowledged visit is lost, none is invented.
use super::driver::{Dice, START, fetched, link, next_page, open, small};
use crate::frontier::Frontier;
use std::collections::BTreeMap;
use std::sync::Arc;
use vfs::{MemoryStorage, Storage};

/// Visits and URLs acknowledged when the disk had seen a number of operations.
type Acknowledged = Vec<(usize, BTreeMap<String, u32>)>;

fn crawl(disk: &MemoryStorage) -> Acknowledged {
    let mut now = START;
    let mut frontier = open(disk, small(), now);
    let mut visits: BTreeMap<String, u32> = BTreeMap::new();
    let mut acknowledged = vec![(disk.operations(), visits.clone())];
    let mut dice = Dice(3);
    for round in 0..40u64 {
        for _ in 0..2 {
            let url = format!("http://h{}.example/{}", dice.below(2), dice.below(40));
            frontier.discover(&link(&url), now).expect("discovers");
            visits.entry(url).or_default();
        }
        if let Some(visit) = next_page(&mut frontier, &mut now) {
            frontier
                .finished(visit.id, &fetched(1, 10), now)
                .expect("finishes");
            *visits.entry(visit.url).or_default() += 1;
        }
        if round % 3 == 2 {
            frontier.sync().expect("syncs");
            acknowledged.push((disk.operations(), visits.clone()));
        }
    }
    frontier.sync().expect("syncs");
    acknowledged.push((disk.operations(), visits));
    acknowledged
}

fn judge(found: &MemoryStorage, least: &BTreeMap<String, u32>, most: &BTreeMap<String, u32>) {
    let opened = Frontier::open(Arc::new(found.clone()), small(), START);
    let (mut frontier, recovered) = opened.expect("opens");
    assert_eq!(recovered.damage, [], "a power loss is no damage");
    for (url, most) in most {
        let visits = frontier.explain(url).map(|found| found.record.visits);
        assert!(visits.unwrap_or(0) <= *most, "{url}: invented");
        if let Some(least) = least.get(url) {
            assert!(
                visits.is_some_and(|visits| visits >= *least),
                "{url}: {visits:?} of {least}"
            );
        }
    }
    assert_eq!(frontier.damage(), []);
    frontier.checkpoint().expect("checkpoints");
}

/// SHORTTAIL_POWER_SEEDS sets the number of images per operation.
#[test]
fn a_power_loss_loses_nothing_acknowledged() {
    let disk = MemoryStorage::recording();
    let acknowledged = crawl(&disk);
    let most = &acknowledged.last().expect("synced").1;
    let wanted = std::env::var("SHORTTAIL_POWER_SEEDS").ok();
    let seeds = wanted.and_then(|number| number.parse().ok()).unwrap_or(4);
    let none = BTreeMap::new();
    let mut images = 0;
    for operation in 0..=disk.operations() {
        let least = acknowledged.iter().rev().find(|(at, _)| *at <= operation);
        for seed in 0..seeds {
            let found = disk.power_loss_after(operation, seed);
            let again = found.clone();
            judge(&found, least.map_or(&none, |(_, visits)| visits), most);
            if seed == 2 {
                // A second loss while the first is being repaired.
                let middle = again.operations() / 2;
                judge(
                    &again.power_loss_after(middle, 0),
                    least.map_or(&none, |(_, visits)| visits),
                    most,
                );
            }
            images += 1;
        }
    }
    assert!(
        images > 400 && disk.list().is_ok_and(|files| files.len() > 3),
        "{images}"
    );
    println!("{images} images of {} operations", disk.operations());
}
