//! Merges beside commits: whatever commits do while a merge is under way, the index is that of its live documents.

use document::Document;
use index::{
    BuildOptions, Field, Index, IndexError, MergeJob, MergePolicy, MergedSegments, Merging, Texts,
    WriteLock, Writer, check,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use vfs::{Fault, FaultKind, FaultyStorage, MemoryStorage, SharedStorage};

const MEMORY_BYTES: u64 = 64 << 20;

fn document(number: u8, version: u16) -> Document {
    let words = (0..9).map(|word| {
        format!(
            "w{} ",
            (usize::from(number) * 7 + word * usize::from(version)) % 61
        )
    });
    Document {
        url: format!("http://site-{}.test/{number}", number % 5),
        title: format!("title {number} of{version}"),
        body: words.collect::<String>()
            + &format!("own{number} ")
            + &"title ".repeat(usize::from(version % 3))
            + &first_words(number, version),
        fields: [("version".to_owned(), version.into())]
            .into_iter()
            .collect(),
        ..Document::default()
    }
}

/// Words of the first version alone, so that later commits are small beside it.
fn first_words(number: u8, version: u16) -> String {
    let words = (0..40).map(|word| format!("first{number}x{word} "));
    words.take(if version == 1 { 40 } else { 0 }).collect()
}

/// Step of a history.
#[derive(Debug, Clone)]
enum Step {
    /// Documents put and deleted by one commit; a finished merge is installed with it.
    Commit(Vec<u8>, Vec<u8>),
    /// Plans a merge where none is under way.
    Plan,
    /// Runs the merge that is planned.
    Run,
    /// Gives up the merge under way, as the end of a process does.
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let numbers = |most| prop::collection::vec(0u8..60, 0..most);
    let step = prop_oneof![
        6 => (numbers(5), numbers(4)).prop_map(|(put, deleted)| Step::Commit(put, deleted)),
        1 => (numbers(40), numbers(30)).prop_map(|(put, deleted)| Step::Commit(put, deleted)),
        3 => Just(Step::Plan),
        3 => Just(Step::Run),
        1 => Just(Step::Restart),
    ];
    prop::collection::vec(step, 1..40)
}

/// Merge between its plan and its installation.
#[derive(Default)]
enum Merge {
    #[default]
    None,
    Planned(MergeJob),
    Finished(MergedSegments),
}

/// Index with the writer that a live one is.
struct Lived {
    storage: SharedStorage,
    lock: WriteLock,
    texts: Texts,
    merge: Merge,
    policy: MergePolicy,
    /// Terms up to which a commit writes the statistics of all segments anew.
    small_terms_max: u64,
    installed: usize,
    live: BTreeMap<u8, u16>,
    version: u16,
}

impl Lived {
    fn new(storage: SharedStorage, texts: Texts, segments: usize) -> Lived {
        let mut lived = Lived {
            lock: WriteLock::take(&storage).unwrap(),
            storage,
            texts,
            merge: Merge::None,
            policy: MergePolicy {
                segments,
                next_segment: 0,
            },
            small_terms_max: 0,
            installed: 0,
            live: BTreeMap::new(),
            version: 0,
        };
        let first: Vec<u8> = (0..50).collect();
        lived.commit(&first, &[]);
        lived
    }

    fn options(&self, merging: Merging) -> BuildOptions {
        BuildOptions {
            chunks: Some(4),
            partitions: Some(2),
            texts: Some(self.texts),
            small_terms_max: Some(self.small_terms_max),
            merging,
            ..BuildOptions::default()
        }
    }

    fn commit(&mut self, put: &[u8], deleted: &[u8]) {
        self.version += 1;
        let reservation = match &self.merge {
            Merge::None => None,
            Merge::Planned(job) => Some(job.reservation().clone()),
            Merge::Finished(merged) => Some(merged.reservation().clone()),
        };
        let options = self.options(Merging::Beside(reservation));
        let mut writer =
            Writer::open_locked(self.storage.clone(), self.lock.clone(), options).unwrap();
        match std::mem::take(&mut self.merge) {
            Merge::Finished(merged) => {
                assert!(writer.install(merged));
                self.installed += 1;
            }
            other => self.merge = other,
        }
        for number in deleted {
            self.live.remove(number);
            writer.delete(&document(*number, 0).url);
        }
        for &number in put {
            self.live.insert(number, self.version);
            writer.add(document(number, self.version)).unwrap();
        }
        writer.commit().unwrap();
    }

    fn apply(&mut self, step: &Step) {
        match step {
            Step::Commit(put, deleted) => self.commit(put, deleted),
            Step::Plan => {
                let index = Index::open(self.storage.clone()).unwrap();
                if matches!(self.merge, Merge::None)
                    && let Some(job) = MergeJob::plan(&index, &self.policy)
                {
                    self.policy.next_segment = job.reservation().next_segment();
                    self.merge = Merge::Planned(job);
                }
            }
            Step::Run => match std::mem::take(&mut self.merge) {
                Merge::Planned(job) => {
                    let merged = job.run(&self.storage, MEMORY_BYTES, &|| Ok(())).unwrap();
                    self.merge = Merge::Finished(merged);
                }
                other => self.merge = other,
            },
            Step::Restart => {
                self.merge = Merge::None;
                self.lock.remove_unneeded(&self.storage).unwrap();
            }
        }
    }

    /// Compares the index with a fresh one of its documents.
    fn check(&self) {
        let (_, damages) = check(self.storage.clone(), 10).unwrap();
        assert!(damages.is_empty(), "{damages:?}");
        let fresh: SharedStorage = Arc::new(MemoryStorage::new());
        let mut writer = Writer::open(fresh.clone(), self.options(Merging::Within)).unwrap();
        for (&number, &version) in &self.live {
            writer.add(document(number, version)).unwrap();
        }
        writer.commit().unwrap();
        let [lived, fresh] = [&self.storage, &fresh].map(|s| Index::open(s.clone()).unwrap());
        assert_eq!(counts(&lived), counts(&fresh));
        for number in 0..60 {
            let url = document(number, 0).url;
            let [one, other] = [&lived, &fresh].map(|index| index.document(&url).unwrap());
            assert_eq!(one, other);
        }
        if matches!(self.merge, Merge::None) {
            let names = self.storage.list().unwrap();
            self.lock.remove_unneeded(&self.storage).unwrap();
            assert_eq!(self.storage.list().unwrap(), names);
        }
    }
}

fn counts(index: &Index) -> Vec<u64> {
    let statistics = index.statistics();
    let words = (0..61).map(|word| format!("w{word}"));
    let own = (0..60).map(|number| format!("own{number}"));
    let versions = (0..40).map(|version| format!("of{version}"));
    let mut counts = vec![statistics.documents_count()];
    for word in words.chain(own).chain(versions).chain(["title".into()]) {
        for field in [Field::Text, Field::Title] {
            let found = statistics.term(field, &word).unwrap();
            let occurrences = |found: &_| statistics.occurrences(found).unwrap();
            counts.push(found.as_ref().map_or(0, occurrences));
            counts.push(found.map_or(0, |found| found.document_frequency));
        }
    }
    for site in 0..5 {
        let site = format!("site-{site}.test");
        counts.push(statistics.document_frequency(Field::Site, &site).unwrap());
    }
    for field in [Field::Text, Field::Title] {
        counts.push(statistics.average_length(field).to_bits());
    }
    counts
}

fn memory() -> SharedStorage {
    Arc::new(MemoryStorage::new())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::size(40, 1_000)))]

    #[test]
    fn the_index_is_that_of_its_documents(
        steps in steps(),
        has_texts in prop::bool::weighted(0.8),
        segments in 2usize..6,
        small_terms_max in prop::sample::select(&[0, 200, 1_000_000][..]),
    ) {
        let texts = if has_texts { Texts::Stored } else { Texts::None };
        let mut lived = Lived::new(memory(), texts, segments);
        lived.small_terms_max = small_terms_max;
        for (at, step) in steps.iter().enumerate() {
            lived.apply(step);
            if at % 8 == 7 {
                lived.check();
            }
        }
        lived.check();
    }
}

/// Documents that go from the sources while they are merged are gone from the merged segment, also where the very commit
/// that installs it removes further ones.
#[test]
fn removals_beside_a_merge_count() {
    let mut lived = Lived::new(memory(), Texts::Stored, 2);
    for first in [50, 52, 54] {
        lived.apply(&Step::Commit(vec![first, first + 1], vec![]));
    }
    lived.apply(&Step::Commit(vec![], vec![0, 50]));
    lived.apply(&Step::Plan);
    lived.apply(&Step::Commit(vec![1, 52], vec![2, 51]));
    lived.apply(&Step::Run);
    lived.apply(&Step::Commit(vec![53], vec![54, 1]));
    lived.check();
    lived.apply(&Step::Commit(vec![3], vec![55, 4]));
    lived.check();
    assert_eq!(lived.installed, 1);
}

/// A merge of segments that the base of the statistics does not count leaves the base as it is.
#[test]
fn the_base_stays_where_it_counts_no_source() {
    let mut lived = Lived::new(memory(), Texts::Stored, 8);
    let bases = |lived: &Lived| {
        let names = lived.storage.list().unwrap();
        let statistics = names.into_iter().filter(|n| n.starts_with("statistics-"));
        statistics.collect::<Vec<_>>()
    };
    let base = bases(&lived)[0].clone();
    for number in 0..10 {
        lived.apply(&Step::Commit(vec![50, 51, 52, number % 2], vec![]));
    }
    for _ in 0..2 {
        lived.apply(&Step::Plan);
        lived.apply(&Step::Run);
        lived.apply(&Step::Commit(vec![], vec![]));
    }
    assert_eq!(lived.installed, 1);
    assert!(bases(&lived).contains(&base), "{:?}", bases(&lived));
    lived.check();
}

/// The commit that installs a merge may write statistics anew, and then removes those of the merge.
#[test]
fn statistics_of_a_merge_that_are_replaced_at_once_are_removed() {
    let mut lived = Lived::new(memory(), Texts::Stored, 2);
    for number in 50..54 {
        lived.apply(&Step::Commit(vec![number], vec![]));
    }
    lived.apply(&Step::Plan);
    lived.apply(&Step::Run);
    lived.small_terms_max = 1_000_000;
    lived.apply(&Step::Commit(vec![54], vec![]));
    assert_eq!(lived.installed, 1);
    lived.check();
}

/// The statistics of a merge are counts of many terms, most of them not written: the merge ends between two of them.
#[test]
fn a_step_that_fails_ends_a_merge_without_a_write() {
    let mut lived = Lived::new(memory(), Texts::Stored, 1);
    // Words of the first version, so that the segments have thousands of terms.
    lived.version = 0;
    lived.apply(&Step::Commit((50..60).collect(), vec![3]));
    lived.apply(&Step::Plan);
    let Merge::Planned(job) = std::mem::take(&mut lived.merge) else {
        panic!("no merge is due");
    };
    let given_up = || {
        Err(IndexError::Mismatch {
            path: PathBuf::new(),
            reason: "given up".to_owned(),
        })
    };
    let ended = job.run(&lived.storage, MEMORY_BYTES, &given_up);
    assert_eq!(ended.unwrap_err().to_string(), ": given up");
    lived.apply(&Step::Plan);
    lived.apply(&Step::Run);
    lived.apply(&Step::Commit(vec![], vec![41]));
    assert_eq!(lived.installed, 1);
    lived.check();
}

/// A disk that fails during a merge leaves the index as it is, and another merge succeeds.
#[test]
fn a_failing_disk_leaves_the_index_as_it_is() {
    let prepared = || {
        let mut lived = Lived::new(memory(), Texts::Stored, 2);
        for number in 0..4 {
            lived.apply(&Step::Commit(vec![number, number + 30], vec![number + 10]));
        }
        lived
    };
    let mut failures = 0;
    for operation in 0.. {
        let mut lived = prepared();
        lived.apply(&Step::Plan);
        let Merge::Planned(job) = std::mem::take(&mut lived.merge) else {
            panic!("no merge is due");
        };
        let fault = Fault::once(operation, FaultKind::NoSpace);
        let faulty: SharedStorage = Arc::new(FaultyStorage::new(lived.storage.clone(), fault));
        match job.run(&faulty, MEMORY_BYTES, &|| Ok(())) {
            Err(_) => failures += 1,
            Ok(_) => break,
        }
        lived.apply(&Step::Commit(vec![5], vec![40]));
        lived.apply(&Step::Plan);
        lived.apply(&Step::Run);
        lived.apply(&Step::Commit(vec![], vec![41]));
        assert_eq!(lived.installed, 1);
        if operation % 4 == 0 {
            lived.check();
        }
    }
    assert!(failures > 10, "{failures}");
}
