//! An index on a storage that cannot map: its answers are those of a mapped one, a small search reads a small part of it,
//! and reads that fail for now give no wrong answer and no lasting damage.

use document::Document;
use engine::{Engine, EngineError, SearchOptions};
use index::{
    BuildOptions, Index, IndexError, OptimizeOptions, Order, Pairs, PreloadParts, Writer, back_up,
    check, optimize, preload,
};
use proptest::prelude::*;
use std::ops::ControlFlow;
use std::sync::Arc;
use vfs::{MemoryStorage, Preload, PreloadOptions, ReadFault, SharedStorage, UnmappedStorage};

const QUERIES: [&str; 12] = [
    "w1",
    "w3 w5",
    "w2 OR w7 OR w11",
    "\"w4 w4\"",
    "\"w1 w2\"~3",
    "title:w6",
    "w1*",
    "w9 -w4",
    "site:site-2.test w8",
    "w1 n:<100",
    "own77",
    "nowhere",
];

fn document(number: u32, version: u32) -> Document {
    let mut state = number * 257 + version + 1;
    let mut word = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        format!("w{}", (state >> 24) % 13)
    };
    let words: Vec<String> = (0..20 + number % 30).map(|_| word()).collect();
    Document {
        url: format!("http://site-{}.test/{number}", number % 4),
        title: format!("{} {}", word(), word()),
        body: format!("{} own{number} version{version}", words.join(" ")),
        fields: serde_json::from_value(serde_json::json!({"n": number, "k": word()})).unwrap(),
        ..Document::default()
    }
}

fn options() -> BuildOptions {
    BuildOptions {
        chunks: Some(2),
        partitions: Some(2),
        pairs: Some(Pairs::All),
        small_terms_max: Some(0),
        ..BuildOptions::default()
    }
}

fn write(storage: &SharedStorage, added: &[(u32, u32)], deleted: &[u32]) -> Result<(), IndexError> {
    let mut writer = Writer::open(storage.clone(), options())?;
    deleted
        .iter()
        .for_each(|&number| writer.delete(&document(number, 0).url));
    for &(number, version) in added {
        writer.add(document(number, version))?;
    }
    writer.commit().map(drop)
}

/// Returns what a user sees of an answer.
fn answer(engine: &Engine, query: &str) -> Result<String, EngineError> {
    let options = SearchOptions {
        k: 20,
        facets: vec!["site".into(), "n:stats".into()],
        ..SearchOptions::default()
    };
    let answer = engine.search(query, &options)?;
    let hits = answer.hits.iter();
    let hits = hits.map(|hit| format!("{} {:?} {}", hit.url, hit.score, hit.summary));
    let hits: Vec<String> = hits.collect();
    Ok(format!(
        "{query}: {:?} {:?} {hits:#?}",
        answer.total, answer.facets
    ))
}

fn answers(storage: SharedStorage) -> Vec<String> {
    let engine = Engine::open_in(storage).unwrap();
    QUERIES
        .map(|query| answer(&engine, query).unwrap())
        .to_vec()
}

/// Returns a disk with an index of two generations, with deleted and replaced documents.
fn built(documents_count: u32) -> MemoryStorage {
    let disk = MemoryStorage::new();
    let storage: SharedStorage = Arc::new(disk.clone());
    let first: Vec<_> = (0..documents_count).map(|number| (number, 0)).collect();
    write(&storage, &first, &[]).unwrap();
    let second = (documents_count / 2..documents_count / 2 + 40).map(|number| (number, 1));
    write(&storage, &second.collect::<Vec<_>>(), &[1, 5, 9]).unwrap();
    disk
}

fn copy_of(disk: &MemoryStorage) -> MemoryStorage {
    let copy = MemoryStorage::new();
    for name in disk.files() {
        copy.write_raw(&name, disk.read_raw(&name).unwrap());
    }
    copy
}

fn bytes_of(disk: &MemoryStorage) -> u64 {
    disk.files()
        .iter()
        .map(|name| disk.read_raw(name).unwrap().len() as u64)
        .sum()
}

fn is_transient(error: &EngineError) -> bool {
    matches!(error, EngineError::Index(error) if error.is_transient())
}

#[derive(Debug, Clone)]
enum Step {
    Commit {
        added: Vec<(u32, u32)>,
        deleted: Vec<u32>,
    },
    Optimize(Order),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let commit = (
        prop::collection::vec((0u32..60, 0u32..9), 1..20),
        prop::collection::vec(0u32..60, 0..6),
    );
    let commit = commit.prop_map(|(added, deleted)| Step::Commit { added, deleted });
    let order = prop::sample::select(Order::ALL.to_vec());
    let step = prop_oneof![4 => commit.clone(), 1 => order.prop_map(Step::Optimize)];
    (commit, prop::collection::vec(step, 0..5)).prop_map(|(first, mut rest)| {
        rest.insert(0, first);
        rest
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::size(12, 300)))]

    #[test]
    fn answers_are_those_of_a_mapped_index(steps in steps()) {
        let mapped: SharedStorage = Arc::new(MemoryStorage::new());
        let unmapped: SharedStorage = Arc::new(UnmappedStorage::new(Arc::new(MemoryStorage::new())));
        for step in &steps {
            for storage in [&mapped, &unmapped] {
                match step {
                    Step::Commit { added, deleted } => write(storage, added, deleted).unwrap(),
                    Step::Optimize(order) => {
                        let options = OptimizeOptions {
                            order: Some(*order),
                            ..OptimizeOptions::default()
                        };
                        optimize(storage.clone(), &options, &|_| {}).unwrap();
                    }
                }
            }
            let (_, damages) = check(unmapped.clone(), 10).unwrap();
            prop_assert!(damages.is_empty(), "{damages:?}");
            prop_assert_eq!(answers(mapped.clone()), answers(unmapped.clone()));
        }
        let copy: SharedStorage = Arc::new(MemoryStorage::new());
        back_up(&unmapped, &copy, &|_| {}).unwrap();
        prop_assert_eq!(answers(mapped), answers(copy));
        let parts = PreloadParts {
            index: true,
            texts: true,
        };
        let options = PreloadOptions::new(Preload::Touch);
        let go_on = &mut |_| ControlFlow::Continue(());
        let loaded = preload(unmapped.clone(), 0..2, parts, &options, go_on).unwrap();
        prop_assert_eq!(answers(unmapped), answers(Arc::new(loaded)));
    }
}

#[test]
fn a_small_search_reads_a_small_part() {
    let disk = built(20_000);
    let bytes = bytes_of(&disk);
    let storage = UnmappedStorage::new(Arc::new(disk));
    let engine = Engine::open_in(Arc::new(storage.clone())).unwrap();
    let (opened_bytes, opened_reads) = (storage.bytes_read(), storage.reads());
    let found = engine.search("own777", &SearchOptions::default()).unwrap();
    assert_eq!(found.hits.len(), 1);
    let (read, reads) = (
        storage.bytes_read() - opened_bytes,
        storage.reads() - opened_reads,
    );
    println!(
        "{bytes} bytes; opening read {opened_bytes} in {opened_reads}, a search {read} in {reads}"
    );
    assert!(
        opened_bytes < bytes / 20,
        "opening read {opened_bytes} of {bytes} bytes"
    );
    assert!(
        read < bytes / 20 && reads < 60,
        "{read} of {bytes} bytes in {reads} reads"
    );
    engine.search("own777", &SearchOptions::default()).unwrap();
    assert_eq!(
        storage.bytes_read() - opened_bytes,
        read,
        "what is there is not read again"
    );
}

#[test]
fn failed_reads_of_an_open_index_give_no_wrong_answer_and_no_damage() {
    let disk = built(2500);
    let good = answers(Arc::new(disk.clone()));
    let mut refused = 0;
    let mut fails = |fail: &dyn Fn(&UnmappedStorage), name: &str| {
        let storage = UnmappedStorage::new(Arc::new(disk.clone()));
        let engine = Engine::open_in(Arc::new(storage.clone())).unwrap();
        fail(&storage);
        for _ in 0..3 {
            for (query, good) in QUERIES.iter().zip(&good) {
                match answer(&engine, query) {
                    Ok(found) => assert_eq!(&found, good, "{name}"),
                    Err(error) => {
                        assert!(is_transient(&error), "{name}: {error}");
                        refused += 1;
                    }
                }
            }
        }
        storage.mend();
        let found = QUERIES.map(|query| answer(&engine, query).unwrap());
        assert_eq!(found.to_vec(), good, "{name}");
        assert_eq!(engine.index().untrusted_files_count(), 0);
        engine.index().verify_whole().unwrap();
    };
    for fault in [ReadFault::Unavailable, ReadFault::Short] {
        for each in [1, 2, 3, 7, 31] {
            let name = format!("{fault:?} each {each}");
            fails(&|storage| storage.fail_each(each, fault), &name);
        }
    }
    // A copy that is damaged twice is damage, so only one is.
    for read in (0..60).step_by(testkit::size(3, 1)) {
        let fail = |storage: &UnmappedStorage| {
            storage.fail_once(storage.reads() + read, ReadFault::Damaged);
        };
        fails(&fail, &format!("damaged {read}"));
    }
    println!("{refused} refused");
    assert!(refused > 0);
}

#[test]
fn lasting_damage_is_damage() {
    let disk = built(300);
    let storage = UnmappedStorage::new(Arc::new(disk));
    let engine = Engine::open_in(Arc::new(storage.clone())).unwrap();
    storage.fail_each(1, ReadFault::Damaged);
    let error = engine.index().verify_whole().unwrap_err();
    assert!(matches!(error, IndexError::Damaged { .. }), "{error}");
    storage.mend();
    assert!(
        engine.index().verify_whole().is_err(),
        "as of a mapped file"
    );
}

#[test]
fn an_opening_of_which_any_read_fails_is_right_or_fails_for_now() {
    let disk = built(300);
    let good = answers(Arc::new(disk.clone()));
    for fault in [ReadFault::Unavailable, ReadFault::Short, ReadFault::Damaged] {
        let mut failed = 0;
        for read in 0.. {
            let storage = UnmappedStorage::new(Arc::new(disk.clone()));
            storage.fail_once(read, fault);
            match Index::open(Arc::new(storage.clone())) {
                Ok(index) => {
                    let is_over = storage.reads() <= read;
                    assert_eq!(index.untrusted_files_count(), 0);
                    index
                        .verify_whole()
                        .or_else(|error| match error.is_transient() {
                            true => index.verify_whole(),
                            false => Err(error),
                        })
                        .unwrap();
                    if is_over {
                        break;
                    }
                }
                Err(error) => {
                    assert!(error.is_transient(), "{fault:?} read {read}: {error}");
                    failed += 1;
                }
            }
            if read % 5 == 0 {
                assert_eq!(answers(Arc::new(storage)), good);
            }
        }
        assert_eq!(
            failed > 10,
            fault != ReadFault::Damaged,
            "{fault:?}: {failed}"
        );
    }
}

/// A commit, a merge of segments and a rewrite, of which any one read fails, are done or not done.
#[test]
fn a_write_of_which_any_read_fails_is_done_or_fails_for_now() {
    let disk = built(120);
    let commit = |storage: &SharedStorage| write(storage, &[(7, 3), (500, 3)], &[20]);
    let merge = |storage: &SharedStorage| {
        let mut writer = Writer::open(
            storage.clone(),
            BuildOptions {
                segments_max: Some(1),
                ..options()
            },
        )?;
        writer.add(document(7, 3))?;
        writer.commit().map(drop)
    };
    let rewrite = |storage: &SharedStorage| {
        let options = OptimizeOptions {
            order: Some(Order::Bisection),
            ..OptimizeOptions::default()
        };
        optimize(storage.clone(), &options, &|_| {}).map(drop)
    };
    type Work<'a> = &'a dyn Fn(&SharedStorage) -> Result<(), IndexError>;
    let before = answers(Arc::new(disk.clone()));
    for (work, name) in [
        (&commit as Work<'_>, "commit"),
        (&merge, "merge"),
        (&rewrite, "rewrite"),
    ] {
        let whole = copy_of(&disk);
        work(&(Arc::new(whole.clone()) as SharedStorage)).unwrap();
        let after = answers(Arc::new(whole));
        let mut failed = 0;
        let mut read = 0;
        loop {
            let copy = copy_of(&disk);
            let storage = UnmappedStorage::new(Arc::new(copy.clone()));
            let fault = [ReadFault::Unavailable, ReadFault::Short, ReadFault::Damaged][read % 3];
            storage.fail_once(read, fault);
            let done = work(&(Arc::new(storage.clone()) as SharedStorage));
            let (_, damages) = check(Arc::new(copy.clone()), 10).unwrap();
            assert!(damages.is_empty(), "{name} read {read}: {damages:?}");
            let found = answers(Arc::new(copy));
            match done {
                Ok(()) => assert!(found == after, "{name} read {read}"),
                Err(error) => {
                    assert!(error.is_transient(), "{name} read {read}: {error}");
                    // The last steps of a commit, after its manifest, may fail.
                    assert!(found == before || found == after, "{name} read {read}");
                    failed += 1;
                }
            }
            if storage.reads() <= read {
                break;
            }
            read += testkit::size(3, 1) as usize * if read > 60 { 7 } else { 1 };
        }
        println!("{name}: {failed} of {read} reads failed it");
        assert!(failed > 10, "{name}: {failed}");
    }
}
