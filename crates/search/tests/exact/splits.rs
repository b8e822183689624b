//! Tests of searches that give parts away: the answer is that of one worker, for requests at any time.

use crate::tasks::segments;
use index::Index;
use search::{
    DocBits, Operator, Plan, Ranking, SearchTask, Split, Stop, Visitor, collect, parse,
    search_partition,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use testkit::{BuildPlan, MadeUp, build_index};

/// A query for each algorithm, and some for none of them.
const QUERIES: [&str; 20] = [
    "bada",
    "dada bada",
    "bada OR fada",
    "bada OR dada OR gada OR kada OR lada OR mada OR nada OR pada",
    "\"bada gada\"",
    "bada OR dada -fada",
    "bada -dada",
    "bada dada -fada",
    "\"bada gada\" -dada",
    "\"bada gada\" OR dada OR fada",
    "bada* OR dada",
    "b* d* f*",
    "b*",
    "dada -b*",
    "(bada dada) OR (fada gada)",
    "(bada OR \"bada gada\"~4) (dada OR f*)",
    "\"bada gada\"~4",
    "\"bada gada\"~4 OR dada",
    "dada (fada OR (bada gada))",
    "absent",
];
const DOCUMENTS: u64 = 16_000;
const K: usize = 10;

fn index() -> Index {
    let documents: Vec<_> = MadeUp::default().documents(DOCUMENTS as usize).collect();
    let batches: Vec<Vec<_>> = documents.chunks(12_000).map(<[_]>::to_vec).collect();
    build_index(&batches, BuildPlan::PLAIN).unwrap()
}

/// Weyl sequence and a multiplication (Steele et al. 2014), for several threads.
struct Chance(AtomicU64);

impl Chance {
    fn below(&self, below: u64) -> u64 {
        let state = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Relaxed);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 31) % below
    }
}

/// A worker that keeps, halves or gives away the rest of its range, and leaves or stays, by chance.
struct ByChance<'a>(&'a Chance);

impl Visitor for ByChance<'_> {
    fn opened(&mut self, _ranges_count: usize) {}

    fn on_range(&mut self, _live: usize) -> bool {
        self.0.below(3) > 0
    }

    fn split(&mut self, _searched: u64, _left: u64) -> Split {
        match self.0.below(4) {
            0 => Split::Keep,
            1 => Split::All,
            _ => Split::Half,
        }
    }
}

/// Works on a task with some threads, until nothing is left.
fn shares<S: Send>(
    task: &SearchTask,
    seed: u64,
    share: impl for<'s> Fn(&'s SearchTask, &'s Stop<'s>, &mut ByChance<'_>) -> S + Sync,
) -> Vec<S> {
    let chance = Chance(AtomicU64::new(seed));
    let asks_in = 1 + chance.below(6);
    let one = || {
        let is_asked = || chance.below(asks_in) == 0;
        let stop = Stop::default().asked_by(&is_asked);
        share(task, &stop, &mut ByChance(&chance))
    };
    // Whoever comes first begins, as on a board.
    let mut all = vec![one()];
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..1 + chance.below(3))
            .map(|_| {
                scope.spawn(|| {
                    let mut shares = Vec::new();
                    while !task.is_exhausted() {
                        shares.push(one());
                    }
                    shares
                })
            })
            .collect();
        all.extend(threads.into_iter().flat_map(|one| one.join().unwrap()));
    });
    // The last one that left may have given its rest away.
    while !task.is_exhausted() {
        all.push(one());
    }
    all
}

#[test]
fn parts_given_away_change_no_answer() {
    let index = index();
    let mut given_count = 0;
    for typed in QUERIES {
        let query = parse(typed, index.analyzer(), Operator::And).query;
        let plan = Plan::new(&query, Ranking::default(), index.statistics()).unwrap();
        let plan = Arc::new(plan);
        let (all, total) = search_partition(&plan, &segments(&index), usize::MAX).unwrap();
        for seed in 0..16 {
            let counted = seed % 2 == 0;
            let what = format!("{typed}, counted: {counted}, seed {seed}");
            let task = SearchTask::new(Arc::clone(&plan), segments(&index), K, counted);
            let whole = task.len();
            let shares = shares(&task, seed, |task, stop, visitor| {
                task.visit(stop, visitor).unwrap()
            });
            given_count += task.len() - whole;
            let found = task.merged(shares);
            assert_eq!(found.hits, all[..all.len().min(K)], "{what}");
            assert_eq!(found.documents_searched, DOCUMENTS, "{what}");
            assert_eq!(found.count_is_exact, counted, "{what}");
            if counted {
                assert_eq!(found.matches_count, total, "{what}");
            }
        }
    }
    assert!(given_count > 100, "{given_count} parts given away");
}

#[test]
fn parts_given_away_change_no_matches() {
    let index = index();
    let mut given_count = 0;
    for typed in QUERIES {
        let query = parse(typed, index.analyzer(), Operator::And).query;
        let plan = Plan::new(&query, Ranking::default(), index.statistics()).unwrap();
        let plan = Arc::new(plan);
        let segments = segments(&index);
        let mut all = search::Collectors::new((), DocBits::default());
        collect(&plan, &segments, &mut all).unwrap();
        for seed in 0..10 {
            let task = SearchTask::new(Arc::clone(&plan), segments.iter().cloned(), 0, true);
            let whole = task.len();
            let shares = shares(&task, seed, |task, stop, visitor| {
                task.gather(stop, visitor).unwrap()
            });
            given_count += task.len() - whole;
            let found = task.gathered(shares);
            assert_eq!(found.documents_searched, DOCUMENTS, "{typed}, seed {seed}");
            for segment in &segments {
                let of = |bits: &DocBits| bits.documents(segment.id()).collect::<Vec<_>>();
                assert_eq!(of(&found.matches), of(&all.matches), "{typed}, seed {seed}");
            }
        }
    }
    assert!(given_count > 100, "{given_count} parts given away");
}

/// What is given away when the time is up is not searched, and the answer says so.
#[test]
fn a_cancelled_search_says_what_it_gave_away() {
    let index = index();
    for typed in QUERIES {
        let query = parse(typed, index.analyzer(), Operator::And).query;
        let plan = Plan::new(&query, Ranking::default(), index.statistics()).unwrap();
        let plan = Arc::new(plan);
        let (all, total) = search_partition(&plan, &segments(&index), usize::MAX).unwrap();
        for moment in 0..20 {
            let what = format!("{typed}, {moment}");
            let task = SearchTask::new(Arc::clone(&plan), segments(&index), K, moment % 2 == 0);
            let chance = Chance(AtomicU64::new(moment));
            let asked = AtomicU64::new(0);
            let is_due = || asked.fetch_add(1, Relaxed) >= moment;
            let is_asked = || chance.below(3) == 0;
            let mut shares = Vec::new();
            for _ in 0..3 {
                let stop = Stop::when(&is_due).asked_by(&is_asked);
                shares.push(task.visit(&stop, &mut ByChance(&chance)).unwrap());
            }
            if moment % 3 == 0 {
                task.abandon();
            }
            let found = task.merged(shares);
            assert!(found.documents_searched <= DOCUMENTS, "{what}");
            let mut rest = all.iter();
            let is_part = found.hits.iter().all(|hit| rest.any(|one| one == hit));
            assert!(is_part, "{what}");
            assert!(found.matches_count <= total, "{what}");
            if found.documents_searched == DOCUMENTS {
                assert_eq!(found.hits, all[..all.len().min(K)], "{what}");
            }
            if found.count_is_exact {
                assert_eq!(found.matches_count, total, "{what}");
            }
        }
    }
}
