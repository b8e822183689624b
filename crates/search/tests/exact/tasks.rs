//! Tests of the shares of a search task: complete together, and correct about their gaps if workers
//! leave or are cancelled.

use index::{DocId, Index, Segment};
use search::{
    Collectors, Cut, DocBits, Operator, Plan, Ranking, ScoredHit, SearchTask, Searched, Stop,
    Visitor, collect, parse, search_partition,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use testkit::{BuildPlan, MadeUp, build_index};

const QUERIES: [&str; 8] = [
    "bada",
    "dada bada",
    "bada OR fada OR gada",
    "\"bada gada\"",
    "bada dada -fada",
    "\"bada gada\" OR dada OR fada",
    "b* d*",
    "absent",
];

const K: usize = 10;

fn index() -> Index {
    let documents: Vec<_> = MadeUp::default().documents(12_000).collect();
    let batches: Vec<Vec<_>> = documents.chunks(5_000).map(<[_]>::to_vec).collect();
    build_index(&batches, BuildPlan::PLAIN).unwrap()
}

pub(crate) fn segments(index: &Index) -> Vec<Arc<Segment>> {
    index.segments(0..index.chunks_count()).cloned().collect()
}

fn plan(index: &Index, typed: &str) -> Arc<Plan> {
    let query = parse(typed, index.analyzer(), Operator::And).query;
    Arc::new(Plan::new(&query, Ranking::default(), index.statistics()).unwrap())
}

/// Returns tasks for one worker and for several.
fn tasks(plan: &Arc<Plan>, index: &Index, counted: bool) -> Vec<SearchTask> {
    let cut = Cut {
        ranges_max: 9,
        postings_min: 0,
    };
    let task = || SearchTask::new(Arc::clone(plan), segments(index), K, counted);
    vec![task(), task().cut(cut).unwrap(), task().cut_by_first(cut)]
}

/// Returns the best hits of all, every hit and the count.
fn expected(plan: &Plan, index: &Index) -> (Vec<ScoredHit>, u64) {
    search_partition(plan, &segments(index), usize::MAX).unwrap()
}

fn check_true(found: &Searched, all: &[ScoredHit], total: u64, what: &str) {
    assert!(found.documents_searched <= found.documents_count, "{what}");
    assert_eq!(found.documents_count, 12_000, "{what}");
    assert!(found.matches_count <= total, "{what}");
    let mut rest = all.iter();
    let is_part = found.hits.iter().all(|hit| rest.any(|one| one == hit));
    assert!(is_part, "{what}");
    if found.documents_searched == found.documents_count {
        assert_eq!(found.hits, all[..all.len().min(K)], "{what}");
    }
    if found.count_is_exact {
        assert_eq!(found.matches_count, total, "{what}");
    }
}

#[test]
fn a_task_may_move_to_any_thread() {
    fn moves<T: Send + Sync + 'static>(task: T) -> T {
        task
    }
    let index = index();
    let plan = plan(&index, "bada dada");
    let task = Arc::new(moves(
        SearchTask::new(Arc::clone(&plan), segments(&index), K, true)
            .cut(Cut::at_most(4))
            .unwrap(),
    ));
    let (all, total) = expected(&plan, &index);
    // The threads may outlive the borrows of this scope, because the task owns its data.
    drop(index);
    let workers: Vec<_> = (0..3)
        .map(|_| {
            let task = Arc::clone(&task);
            std::thread::spawn(move || task.work(&Stop::default(), || false).unwrap())
        })
        .collect();
    let shares = workers.into_iter().map(|worker| worker.join().unwrap());
    let found = task.merged(shares);
    assert_eq!(found.hits, all[..K]);
    assert_eq!((found.matches_count, found.count_is_exact), (total, true));
}

/// Visitor of a worker that leaves after each range, or never.
struct LeavesAfterOne(bool);

impl Visitor for LeavesAfterOne {
    fn opened(&mut self, _ranges_count: usize) {}

    fn on_range(&mut self, _live: usize) -> bool {
        !self.0
    }
}

#[test]
fn gathered_matches_are_those_of_one_worker() {
    let index = index();
    for typed in QUERIES {
        let plan = plan(&index, typed);
        let segments = segments(&index);
        let mut all = Collectors::new((), DocBits::default());
        collect(&plan, &segments, &mut all).unwrap();
        let documents = |bits: &DocBits| -> Vec<Vec<DocId>> {
            let of = |segment: &Arc<Segment>| bits.documents(segment.id()).collect();
            segments.iter().map(of).collect()
        };
        let expected = documents(&all.matches);
        let cut = Cut {
            ranges_max: 9,
            postings_min: 0,
        };
        let task = || SearchTask::new(Arc::clone(&plan), segments.iter().cloned(), 0, true);
        for task in [task(), task().cut(cut).unwrap(), task().cut_by_first(cut)] {
            let stop = Stop::default();
            let gather = |leaves| task.gather(&stop, &mut LeavesAfterOne(leaves)).unwrap();
            let mut shares = vec![gather(true), gather(true)];
            if !task.is_exhausted() {
                let early = task.gathered(shares.clone());
                assert!(early.documents_searched < early.documents_count, "{typed}");
            }
            shares.extend([gather(false), gather(false)]);
            let found = task.gathered(shares);
            assert_eq!(found.documents_searched, 12_000, "{typed}");
            assert_eq!(documents(&found.matches), expected, "{typed}");
            assert_eq!(found.matches.count(), all.matches.count(), "{typed}");
        }
        // A worker without time.
        let task = task().cut(cut).unwrap();
        let is_due = || true;
        let stop = Stop::when(&is_due);
        let share = task.gather(&stop, &mut LeavesAfterOne(false)).unwrap();
        let found = task.gathered([share]);
        if !task.is_empty() {
            assert!(found.documents_searched < found.documents_count, "{typed}");
        }
    }
}

#[test]
fn workers_that_leave_leave_the_rest_to_others() {
    let index = index();
    for typed in QUERIES {
        let plan = plan(&index, typed);
        let (all, total) = expected(&plan, &index);
        for counted in [true, false] {
            for task in tasks(&plan, &index, counted) {
                let what = format!("{typed}, counted: {counted}, {} ranges", task.len());
                let first = task.work(&Stop::default(), || true).unwrap();
                assert!(first.ranges_count <= 1, "{what}");
                let rest = task.len() - first.ranges_count;
                let early = task.merged([first.clone()]);
                check_true(&early, &all, total, &what);
                if rest > 0 {
                    assert!(early.documents_searched < early.documents_count, "{what}");
                    assert!(!early.count_is_exact, "{what}");
                }
                let second = task.work(&Stop::default(), || false).unwrap();
                assert_eq!(second.ranges_count, rest, "{what}");
                let found = task.merged([first, second]);
                check_true(&found, &all, total, &what);
                assert_eq!(found.documents_searched, 12_000, "{what}");
                assert_eq!(found.count_is_exact, counted, "{what}");
            }
        }
    }
}

#[test]
fn a_cancelled_worker_says_what_it_lacks() {
    let index = index();
    for typed in QUERIES {
        let plan = plan(&index, typed);
        let (all, total) = expected(&plan, &index);
        for counted in [true, false] {
            for moment in (0..40).chain([60, 100, 1_000_000]) {
                for task in tasks(&plan, &index, counted) {
                    let what = format!("{typed}, {moment}, {} ranges", task.len());
                    let asked = AtomicU64::new(0);
                    let is_due = || asked.fetch_add(1, Relaxed) >= moment;
                    let stop = Stop::when(&is_due);
                    let first = task.work(&Stop::default(), || true).unwrap();
                    let second = task.work(&stop, || false).unwrap();
                    if second.documents_searched < second.documents_count {
                        assert!(!second.count_is_exact, "{what}");
                        assert!(stop.is_cancelled(), "{what}");
                    }
                    let found = task.merged([first, second]);
                    check_true(&found, &all, total, &what);
                    if !stop.is_cancelled() {
                        assert_eq!(found.documents_searched, 12_000, "{what}");
                        assert_eq!(found.count_is_exact, counted, "{what}");
                    }
                }
            }
        }
    }
}

/// Visitor that leaves at the ends of some ranges, by a sequence of its own.
struct ByChance {
    state: u64,
    leaves_in: u64,
}

impl ByChance {
    /// Returns a number below `below`.
    fn below(&mut self, below: u64) -> u64 {
        // Weyl sequence and a multiplication (Steele et al. 2014).
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ mixed >> 31) % below
    }
}

impl Visitor for ByChance {
    fn opened(&mut self, ranges_count: usize) {
        assert!(ranges_count > 0);
    }

    fn on_range(&mut self, _live: usize) -> bool {
        self.below(self.leaves_in) != 0
    }
}

/// After an error in cutting nobody may try again.
#[test]
fn an_abandoned_task_has_nothing_left_to_take() {
    let index = index();
    let plan = plan(&index, QUERIES[0]);
    let cut = Cut::at_most(9);
    let task = SearchTask::new(plan, segments(&index), K, false).cut_by_first(cut);
    assert!(!task.is_exhausted());
    task.abandon();
    assert!(task.is_exhausted());
    let share = task.work(&Stop::default(), || false).unwrap();
    assert_eq!(share.ranges_count, 0);
    let found = task.merged([share]);
    assert!(found.documents_searched < found.documents_count);
}

/// Workers that begin, leave and come back at any end of a range, any number of them, whatever the cut.
#[test]
fn joins_and_leaves_change_no_answer() {
    let index = index();
    let mut chance = ByChance {
        state: 7,
        leaves_in: 2,
    };
    for typed in QUERIES {
        let plan = plan(&index, typed);
        let (all, total) = expected(&plan, &index);
        for case in 0..24 {
            let counted = case % 2 == 0;
            let degree = 1 + chance.below(8);
            let cut = Cut {
                ranges_max: 1 + chance.below(100) as usize,
                postings_min: [0, 100, 10_000][chance.below(3) as usize],
            };
            let what = format!("{typed}, counted: {counted}, degree {degree}, {cut:?}");
            let task = SearchTask::new(Arc::clone(&plan), segments(&index), K, counted);
            let task = task.cut_by_first(cut);
            let seeds: Vec<_> = (0..degree).map(|_| chance.below(u64::MAX)).collect();
            let visit = |visitor: &mut ByChance| task.visit(&Stop::default(), visitor).unwrap();
            let mut shares = vec![visit(&mut ByChance {
                state: seeds[0],
                leaves_in: 1,
            })];
            std::thread::scope(|scope| {
                let workers: Vec<_> = (seeds.iter())
                    .map(|&state| {
                        let (task, visit) = (&task, &visit);
                        scope.spawn(move || {
                            let leaves_in = 1 + state % 5;
                            let mut visitor = ByChance { state, leaves_in };
                            let mut shares = Vec::new();
                            let stop = Stop::default();
                            // Half of them come back with their lists open.
                            let mut worker = (state % 2 == 0).then(|| task.worker(&stop));
                            while !task.is_exhausted() {
                                shares.push(match &mut worker {
                                    Some(worker) => worker.visit(&mut visitor).unwrap(),
                                    None => visit(&mut visitor),
                                });
                            }
                            shares
                        })
                    })
                    .collect();
                for worker in workers {
                    shares.extend(worker.join().unwrap());
                }
            });
            let found = task.merged(shares);
            assert_eq!(found.hits, all[..all.len().min(K)], "{what}");
            assert_eq!(found.documents_searched, 12_000, "{what}");
            assert_eq!(found.count_is_exact, counted, "{what}");
            if counted {
                assert_eq!(found.matches_count, total, "{what}");
            }
        }
    }
}

#[test]
fn ranges_of_more_lists_are_longer() {
    let cut = Cut {
        ranges_max: 100,
        postings_min: 1 << 16,
    };
    assert_eq!(cut.for_lists(3).postings_min, 1 << 16);
    assert_eq!(cut.for_lists(64).postings_min, 64 << 13);
    let of_any_length = Cut {
        postings_min: 0,
        ..cut
    };
    assert_eq!(of_any_length.for_lists(64).postings_min, 0);
}
