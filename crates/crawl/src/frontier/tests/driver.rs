//! Small frontiers and their visits.
use crate::frontier::{
    Discovery, Frontier, FrontierOptions, Next, Outcome, RobotsAnswer, RobotsOutcome, Source,
    StoreOptions, Validators, Visit, VisitId, VisitKind, WarcPlace,
};
use crate::politeness::TimeMs;
use vfs::MemoryStorage;

pub(super) const START: TimeMs = TimeMs(1_790_000_000_000);
pub(super) const HOUR: u64 = 3_600_000;

/// Small, so that blocks, merges, refills and checkpoints are ordinary.
pub(super) fn small() -> FrontierOptions {
    FrontierOptions {
        store: StoreOptions {
            batch_keys_max: 12,
            batch_bytes_max: 1 << 20,
            block_bytes: 200,
            tier_runs: 3,
            ..StoreOptions::default()
        },
        queue_urls_max: 4,
        refill_records_max: 7,
        recent_urls_max: 8,
        ..FrontierOptions::default()
    }
}

pub(super) fn open(disk: &MemoryStorage, options: FrontierOptions, now: TimeMs) -> Frontier {
    let (frontier, found) =
        Frontier::open(std::sync::Arc::new(disk.clone()), options, now).expect("opens");
    assert_eq!(found.damage, []);
    frontier
}

pub(super) fn link(url: &str) -> Discovery<'_> {
    Discovery {
        url,
        depth: 1,
        source: Source::Link,
        from: Some(77),
        importance: 1.0,
        modified: None,
    }
}

pub(super) fn fetched(text_hash: u128, took_ms: u64) -> Outcome {
    Outcome::Fetched {
        status: 200,
        took_ms,
        text_hash,
        duplicate: false,
        noindex: false,
        repeats: false,
        validators: Validators {
            etag: Some(format!("\"{text_hash}\"")),
            last_modified: None,
        },
        place: WarcPlace {
            file: 1,
            offset_bytes: 40,
            length_bytes: 9,
        },
    }
}

pub(super) fn free(frontier: &mut Frontier, visit: VisitId, now: TimeMs) {
    let answer = RobotsAnswer {
        outcome: RobotsOutcome::Free {
            valid_until: now.plus_ms(24 * HOUR),
        },
        throttled: None,
        took_ms: 20,
        source: b"",
    };
    frontier.robots(visit, &answer, now).expect("robots");
}

/// Returns the next page, with robots.txt read and gaps waited for on the way; `None` when nothing will be due.
pub(super) fn next_page(frontier: &mut Frontier, now: &mut TimeMs) -> Option<Visit> {
    loop {
        match frontier.next(*now).expect("next") {
            Next::Visit(visit) if visit.kind == VisitKind::Robots => free(frontier, visit.id, *now),
            Next::Visit(visit) => return Some(*visit),
            Next::Wait { until } => {
                assert!(until > *now && until != TimeMs::NEVER);
                *now = until;
            }
            Next::Idle => return None,
        }
    }
}

/// SplitMix64.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % limit
    }
}
