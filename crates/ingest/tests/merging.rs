//! Merges beside refreshes: what is put, replaced and deleted while one is under way counts, and a failure is retried.

use document::Document;
use index::{BuildOptions, Field, Index, Writer, check};
use ingest::{Change, ConditionalChange, LiveOptions, LiveWriter};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use vfs::{MemoryStorage, SharedStorage, Storage, StorageDelegation, StorageError, WriteFile};

const PATIENCE: Duration = Duration::from_secs(60);

fn document(number: u64, version: u64) -> Document {
    Document {
        url: format!("http://site-{}.test/{number}", number % 3),
        title: format!("title {number}"),
        body: format!("word{number} and version{version}"),
        fields: [("version".to_owned(), version.into())]
            .into_iter()
            .collect(),
        ..Document::default()
    }
}

/// Index with its writer, and what is in it.
struct Lived {
    storage: SharedStorage,
    writer: LiveWriter,
    live: BTreeMap<u64, u64>,
    version: u64,
    generations: Receiver<u64>,
}

impl Lived {
    /// Opens a writer over `storage`, which stands for `disk`, with an index of ten documents.
    fn open(disk: &SharedStorage, storage: SharedStorage, segments: usize) -> Lived {
        let live: BTreeMap<u64, u64> = (0..10).map(|number| (number, 1)).collect();
        build(disk, &live);
        let options = LiveOptions {
            refresh: Duration::from_secs(3600),
            segments,
            merge_percent: 100,
            ..LiveOptions::default()
        };
        let writer = LiveWriter::open(storage, options).unwrap();
        let (told, generations) = channel();
        writer.call_after_refresh(move |generation| {
            // Nobody listens at the end of a test.
            let _ = told.send(generation);
        });
        Lived {
            storage: disk.clone(),
            writer,
            live,
            version: 1,
            generations,
        }
    }

    fn new(segments: usize) -> Lived {
        let disk: SharedStorage = Arc::new(MemoryStorage::new());
        Lived::open(&disk, disk.clone(), segments)
    }

    /// Puts and deletes documents, and refreshes.
    fn change(&mut self, put: &[u64], deleted: &[u64]) {
        self.version += 1;
        let mut changes: Vec<ConditionalChange> = Vec::new();
        for number in deleted {
            self.live.remove(number);
            let url = document(*number, 0).url;
            changes.push(Change::Delete { url }.into());
        }
        for &number in put {
            self.live.insert(number, self.version);
            changes.push(Change::Put(document(number, self.version)).into());
        }
        self.writer.apply(changes).unwrap();
        self.writer.refresh().unwrap();
    }

    /// Waits until `count` merges are installed.
    fn wait_for_merges(&self, count: u64) {
        let until = Instant::now() + PATIENCE;
        while self.writer.status().merges < count {
            assert!(Instant::now() < until, "{:?}", self.writer.status());
            let _ = self.generations.recv_timeout(Duration::from_millis(20));
        }
    }

    fn segments(&self) -> usize {
        self.writer.status().segments
    }

    /// Compares the index with a fresh one of the same documents.
    fn check(&self) {
        let newest = || Index::newest_generation(&self.storage).unwrap();
        loop {
            let generation = newest();
            let (_, damages) = check(self.storage.clone(), 10).unwrap();
            // A check does not keep files of a generation that merges replace twice meanwhile.
            if damages.is_empty() || generation == newest() {
                assert!(damages.is_empty(), "{damages:?}");
                break;
            }
        }
        let fresh: SharedStorage = Arc::new(MemoryStorage::new());
        build(&fresh, &self.live);
        let [lived, fresh] =
            [&self.storage, &fresh].map(|storage| Index::open(storage.clone()).unwrap());
        assert_eq!(figures(&lived), figures(&fresh));
        for number in 0..60 {
            let url = document(number, 0).url;
            let [one, other] = [&lived, &fresh].map(|index| index.document(&url).unwrap());
            assert_eq!(one, other);
        }
    }
}

fn build(storage: &SharedStorage, documents: &BTreeMap<u64, u64>) {
    let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
    for (&number, &version) in documents {
        writer.add(document(number, version)).unwrap();
    }
    writer.commit().unwrap();
}

fn figures(index: &Index) -> Vec<u64> {
    let statistics = index.statistics();
    let words = (0..60).map(|number| format!("word{number}"));
    let words = words.chain((0..80).map(|version| format!("version{version}")));
    let words = words.chain(["and", "title"].map(String::from));
    let mut figures: Vec<u64> = words
        .map(|word| statistics.document_frequency(Field::Text, &word).unwrap())
        .collect();
    figures.push(statistics.documents_count());
    figures.push(statistics.average_length(Field::Text).to_bits());
    figures
}

#[test]
fn changes_beside_a_merge_count() {
    let mut lived = Lived::new(4);
    let percent = Arc::new(AtomicU32::new(0));
    let asked = Arc::clone(&percent);
    lived
        .writer
        .call_for_pace(move || asked.load(Ordering::Relaxed));
    for number in 0..5 {
        lived.change(&[20 + number, number], &[30 + number]);
    }
    // A merge of all is under way, and is paused. Refreshes go on.
    assert_eq!((lived.segments(), lived.writer.status().merges), (6, 0));
    lived.change(&[20, 40], &[0, 21]);
    lived.change(&[41], &[22, 5]);
    lived.change(&[22], &[40]);
    assert_eq!((lived.segments(), lived.writer.status().merges), (9, 0));
    lived.check();
    percent.store(100, Ordering::Relaxed);
    // It is installed without a change.
    lived.wait_for_merges(1);
    lived.check();
    lived.change(&[23], &[6]);
    lived.check();
    assert!(lived.segments() <= 6, "{}", lived.segments());
}

#[test]
fn an_end_gives_a_merge_up() {
    let mut lived = Lived::new(2);
    lived.writer.call_for_pace(|| 0);
    for number in 0..4 {
        lived.change(&[20 + number], &[number]);
    }
    lived.writer.close();
    assert_eq!(lived.writer.status().merges, 0);
    lived.check();
    let index = Index::open(lived.storage.clone()).unwrap();
    assert_eq!(index.unfinished(), None);
    assert_eq!(index.segments(..).count(), 5);
    let (report, _) = check(lived.storage.clone(), 10).unwrap();
    assert_eq!(report.strays, []);
}

#[test]
fn no_history_shows_with_merges_under_way() {
    for seed in 0..20u64 {
        let mut lived = Lived::new(1 + seed as usize % 4);
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = |below: u64| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        for at in 0..25 {
            let put: Vec<u64> = (0..next(4)).map(|_| next(50)).collect();
            let deleted: Vec<u64> = (0..next(3)).map(|_| next(50)).collect();
            lived.change(&put, &deleted);
            if at % 6 == 5 {
                lived.check();
            }
        }
        lived.wait_for_merges(1);
        lived.check();
        lived.writer.close();
        lived.check();
    }
}

/// Disk that fails the first files of merges.
#[derive(Debug)]
struct FailsMerges {
    inner: SharedStorage,
    left: AtomicU32,
}

impl StorageDelegation for FailsMerges {
    fn inner(&self) -> &dyn Storage {
        &*self.inner
    }

    fn create(&self, name: &str) -> Result<Box<dyn WriteFile>, StorageError> {
        let take = |left: u32| left.checked_sub(1);
        let left = &self.left;
        if std::thread::current().name() == Some("merge")
            && left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
                .is_ok()
        {
            let path = self.inner.location().join(name);
            let failure = std::io::Error::other("injected");
            return Err(StorageError::from_io("create", &path, failure));
        }
        self.inner.create(name)
    }
}

/// A merge that the disk fails is tried again, and the index serves and takes changes meanwhile.
#[test]
fn a_failed_merge_is_retried() {
    let disk: SharedStorage = Arc::new(MemoryStorage::new());
    let failing = FailsMerges {
        inner: disk.clone(),
        left: AtomicU32::new(1),
    };
    let mut lived = Lived::open(&disk, Arc::new(failing), 2);
    for number in 0..6 {
        lived.change(&[20 + number], &[number]);
    }
    let until = Instant::now() + PATIENCE;
    while lived.writer.status().merge_failure.is_none() {
        assert!(Instant::now() < until);
        let _ = lived.generations.recv_timeout(Duration::from_millis(5));
    }
    let failure = lived.writer.status().merge_failure.unwrap();
    assert!(failure.contains("injected"), "{failure}");
    lived.change(&[7], &[8]);
    lived.check();
    let mut number = 0;
    while lived.writer.status().merges == 0 {
        assert!(Instant::now() < until);
        number += 1;
        lived.change(&[30 + number % 20], &[]);
        let _ = lived.generations.recv_timeout(Duration::from_millis(50));
    }
    lived.check();
    assert_eq!(lived.writer.status().merge_failure, None);
}
