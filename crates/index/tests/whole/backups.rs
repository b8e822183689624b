//! Backups: they contain what was acknowledged, survive power loss at any operation, and refuse damage and other
//! histories.

use document::Document;
use index::{
    BackupSummary, BuildOptions, Index, IndexError, LogBatch, LogWriter, OptimizeOptions, Writer,
    back_up, check, optimize, recover, restore,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};

fn document(number: usize) -> Document {
    Document {
        url: format!("http://site.test/{number}"),
        title: format!("title {number}"),
        body: "a word of all documents, and another ".repeat(number + 1) + &format!("own{number}"),
        fields: [("number".to_owned(), number.into())].into_iter().collect(),
        ..Document::default()
    }
}

fn new() -> SharedStorage {
    Arc::new(MemoryStorage::new())
}

/// Commits documents to add and to delete.
fn commit(storage: &SharedStorage, added: std::ops::Range<usize>, deleted: &[usize]) {
    let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
    for number in added {
        writer.add(document(number)).unwrap();
    }
    for &number in deleted {
        writer.delete(&document(number).url);
    }
    writer.commit().unwrap();
}

/// Writes documents to a new log, which stays open.
fn log(storage: &SharedStorage, numbers: std::ops::Range<usize>) -> LogWriter {
    let id = Index::open(storage.clone()).unwrap().id().to_owned();
    let number = LogWriter::next_number(storage).unwrap();
    let mut log = LogWriter::create(storage, &id, number).unwrap();
    for number in numbers {
        let mut batch = LogBatch::default();
        batch.put(&document(number));
        log.write(&batch).unwrap();
    }
    log
}

/// Numbers of the documents of an undamaged index, changes in logs included.
fn contents(storage: &SharedStorage) -> BTreeSet<usize> {
    let (_, damages) = check(storage.clone(), 10).unwrap();
    assert!(damages.is_empty(), "{damages:?}");
    recover(storage, &BuildOptions::default(), false).unwrap();
    let index = Index::open(storage.clone()).unwrap();
    let is_there = |number: &usize| index.document(&document(*number).url).unwrap().is_some();
    let found: BTreeSet<usize> = (0..100).filter(is_there).collect();
    assert_eq!(index.statistics().documents_count(), found.len() as u64);
    found
}

fn backed_up(source: &SharedStorage, target: &SharedStorage) -> Result<BackupSummary, IndexError> {
    back_up(source, target, &|_| {})
}

#[test]
fn a_restored_backup_has_what_was_acknowledged() {
    let (source, backup, restored) = (new(), new(), new());
    commit(&source, 0..10, &[]);
    commit(&source, 10..15, &[3]);
    let log = log(&source, 15..18);
    let summary = backed_up(&source, &backup).unwrap();
    assert_eq!((summary.generation, summary.logged_changes), (2, 3));
    assert_eq!(
        (summary.documents, summary.files),
        (14, summary.files_copied)
    );
    drop(log);
    let copied = std::cell::Cell::new(0);
    let copy = |storage: &SharedStorage| {
        restore(&backup, storage, &|progress| {
            assert!(progress.bytes <= progress.bytes_total);
            copied.set(progress.bytes);
        })
    };
    assert_eq!(copy(&restored).unwrap().bytes, copied.get());
    let expected: BTreeSet<usize> = (0..18).filter(|&number| number != 3).collect();
    assert_eq!(contents(&restored), expected);
    // The backup is an index as well, and the source is as it was.
    assert_eq!(contents(&backup), expected);
    assert_eq!(contents(&source), expected);
    let refused = copy(&restored).unwrap_err().to_string();
    assert!(refused.contains("does not overwrite"), "{refused}");
}

#[test]
fn a_later_backup_copies_what_the_earlier_lacks() {
    let (source, backup) = (new(), new());
    commit(&source, 0..20, &[]);
    let whole = backed_up(&source, &backup).unwrap();
    let again = backed_up(&source, &backup).unwrap();
    assert_eq!((again.files_copied, again.bytes_copied), (0, 0));
    commit(&source, 20..21, &[5]);
    let later = backed_up(&source, &backup).unwrap();
    assert!(later.files_copied > 0 && later.files_copied < later.files);
    assert!(later.bytes_copied < whole.bytes);
    let merged = optimize(source.clone(), &OptimizeOptions::default(), &|_| {}).unwrap();
    assert_eq!(
        backed_up(&source, &backup).unwrap().generation,
        merged.generation
    );
    assert_eq!(contents(&backup), contents(&source));
    // The backup was written to by its recovery only if it had a log.
    commit(&source, 30..31, &[]);
    let log = log(&source, 31..33);
    assert_eq!(backed_up(&source, &backup).unwrap().logged_changes, 2);
    log.end().unwrap();
    commit(&source, 33..34, &[]);
    assert_eq!(backed_up(&source, &backup).unwrap().logged_changes, 0);
    let names = backup.list().unwrap();
    assert!(
        !names.iter().any(|name| name.starts_with("log-")),
        "{names:?}"
    );
    assert_eq!(contents(&backup), contents(&source));
}

#[test]
fn other_indexes_and_histories_are_refused() {
    let (source, backup, other) = (new(), new(), new());
    commit(&source, 0..5, &[]);
    commit(&other, 0..5, &[]);
    backed_up(&source, &backup).unwrap();
    let refusal = |source: &SharedStorage| backed_up(source, &backup).unwrap_err().to_string();
    assert!(refusal(&other).contains("another index"));
    // A restored copy that goes its own way.
    let branch = new();
    restore(&backup, &branch, &|_| {}).unwrap();
    commit(&branch, 5..6, &[]);
    commit(&source, 6..9, &[]);
    backed_up(&source, &backup).unwrap();
    assert!(
        refusal(&branch).contains("another history"),
        "{}",
        refusal(&branch)
    );
    commit(&branch, 10..11, &[]);
    assert!(refusal(&branch).contains("another history"));
    commit(&source, 20..21, &[]);
    commit(&source, 21..22, &[]);
    backed_up(&source, &backup).unwrap();
    assert!(refusal(&branch).contains("newer generation"));
    assert_eq!(contents(&backup), contents(&source));
    let empty = backed_up(&new(), &backup).unwrap_err();
    assert!(matches!(empty, IndexError::NoIndex { .. }), "{empty}");
}

#[test]
fn damage_of_the_source_is_not_copied_and_damage_of_the_backup_is_mended() {
    let disk = MemoryStorage::new();
    let (source, backup): (SharedStorage, _) = (Arc::new(disk.clone()), new());
    commit(&source, 0..10, &[]);
    backed_up(&source, &backup).unwrap();
    commit(&source, 10..12, &[2]);
    for name in disk.files() {
        let whole = disk.read_raw(&name).unwrap();
        if whole.is_empty() || !name.contains('-') {
            continue;
        }
        for at in [whole.len() / 3, whole.len() / 2, whole.len() - 1] {
            let mut damaged = whole.clone();
            damaged[at] ^= 4;
            let image = disk.power_loss(0);
            image.write_raw(&name, damaged);
            let target = MemoryStorage::new();
            let copy: SharedStorage = Arc::new(target.clone());
            restore(&backup, &copy, &|_| {}).unwrap();
            if backed_up(&(Arc::new(image) as SharedStorage), &copy).is_err() {
                let (_, damages) = check(copy.clone(), 10).unwrap();
                assert!(damages.is_empty(), "{name}: {damages:?}");
            } else {
                // Files of the generation before are not part of the backup.
                assert_eq!(contents(&copy), contents(&source), "{name}");
            }
        }
    }
    let mended = MemoryStorage::new();
    let target: SharedStorage = Arc::new(mended.clone());
    backed_up(&source, &target).unwrap();
    let names = mended.files().into_iter();
    let damaged = names.filter(|name| name.ends_with(".index") || name.ends_with(".documents"));
    for name in damaged {
        let mut bytes = mended.read_raw(&name).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        mended.write_raw(&name, bytes);
    }
    assert!(backed_up(&source, &target).unwrap().files_copied >= 2);
    assert_eq!(contents(&target), contents(&source));
}

#[test]
fn power_may_fail_during_a_backup() {
    let source = new();
    commit(&source, 0..6, &[]);
    let disk = MemoryStorage::recording();
    let backup: SharedStorage = Arc::new(disk.clone());
    let first = log(&source, 6..8);
    backed_up(&source, &backup).unwrap();
    first.end().unwrap();
    let begin = disk.operations();
    commit(&source, 10..14, &[1]);
    let _second = log(&source, 14..17);
    backed_up(&source, &backup).unwrap();
    let earlier: BTreeSet<usize> = (0..8).collect();
    let committed: BTreeSet<usize> = (0..14)
        .filter(|n| *n != 1 && !(8..10).contains(n))
        .collect();
    let mut later = committed.clone();
    later.extend(14..17);
    let mut found = [0; 3];
    for operation in begin..=disk.operations() {
        for seed in 0..12 {
            let image: SharedStorage = Arc::new(disk.power_loss_after(operation, seed));
            let state = contents(&image);
            let at = [&earlier, &committed, &later]
                .iter()
                .position(|known| **known == state);
            found[at.unwrap_or_else(|| panic!("after {operation}: {state:?}"))] += 1;
            // The next backup completes it.
            let image: SharedStorage = Arc::new(disk.power_loss_after(operation, seed));
            backed_up(&source, &image).unwrap();
            assert_eq!(contents(&image), later);
        }
    }
    assert!(found[0] > 0 && found[2] > 0, "{found:?}");
}

/// A log that was made longer without being written, larger than the disk: what it has is copied, and the copy is small.
#[cfg(unix)]
#[test]
fn a_log_with_a_hole_of_gigabytes_is_backed_up_restored_and_recovered() {
    use vfs::RealStorage;
    let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let [source, backup, target] = [0, 1, 2].map(|number: usize| -> SharedStorage {
        Arc::new(RealStorage::open(folders[number].path()).unwrap())
    });
    commit(&source, 0..10, &[]);
    drop(log(&source, 10..20));
    let path = |number: usize| folders[number].path().join("log-1");
    let written = std::fs::metadata(path(0)).unwrap().len();
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(path(0))
        .unwrap();
    file.set_len(16 << 30).unwrap();
    back_up(&source, &backup, &|_| {}).unwrap();
    restore(&backup, &target, &|_| {}).unwrap();
    for number in [1, 2] {
        assert_eq!(std::fs::metadata(path(number)).unwrap().len(), written);
    }
    for storage in [&target, &source] {
        assert_eq!(contents(storage), (0..20).collect());
    }
}
