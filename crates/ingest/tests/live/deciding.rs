//! Deletions by query, patches and look-ups over files that change under the writer: decided by verified bytes, or refused
//! before anything is logged.

use crate::made::{build, document, put, slow_refresh, started, url};
use index::{DocId, Index};
use ingest::{Change, LiveError, LiveWriter};
use std::fs::{self, OpenOptions, Permissions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vfs::{RealStorage, SharedStorage};

const DOCUMENTS: usize = 30;
const SENT: usize = 3;

/// Writer of an index on disk.
struct Bed {
    directory: tempfile::TempDir,
    storage: SharedStorage,
    writer: LiveWriter,
}

impl Bed {
    fn new() -> Bed {
        let directory = tempfile::tempdir().unwrap();
        let storage: SharedStorage = Arc::new(RealStorage::open(directory.path()).unwrap());
        build(
            &storage,
            (0..DOCUMENTS).map(|number| document(number, number as u64 % 4)),
        );
        let writer = LiveWriter::open(storage.clone(), slow_refresh()).unwrap();
        Bed {
            directory,
            storage,
            writer,
        }
    }

    fn file(&self, ending: &str) -> PathBuf {
        let files = fs::read_dir(self.directory.path()).unwrap();
        let mut paths = files.map(|file| file.unwrap().path());
        let is_it = |path: &PathBuf| path.extension().is_some_and(|end| end == ending);
        paths.find(is_it).unwrap()
    }

    fn logs(&self) -> usize {
        let names = self.storage.list().unwrap();
        names.iter().filter(|name| name.starts_with("log-")).count()
    }
}

/// Inverts every bit of the middle of a file in place.
fn injure(path: &Path) {
    fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap();
    let bytes = fs::read(path).unwrap();
    let (from, to) = (64, bytes.len() * 2 / 3);
    let bad: Vec<u8> = bytes[from..to].iter().map(|byte| !byte).collect();
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&bad, from as u64).unwrap();
}

/// Returns the URLs of the documents whose version is the second least: those of version 1, by the column alone.
fn of_version_1(index: &Arc<Index>) -> Result<Vec<String>, LiveError> {
    let mut urls = Vec::new();
    for segment in index.segments(..) {
        let Some(column) = segment.column("version")? else {
            continue;
        };
        for doc in (0..segment.documents_count()).map(DocId) {
            if column.code(doc) == 2 && !segment.is_deleted(doc) {
                urls.push(segment.details(doc)?.url);
            }
        }
    }
    Ok(urls)
}

#[test]
fn a_deletion_by_query_is_decided_by_verified_bytes() {
    for ending in ["columns", "index"] {
        let bed = Bed::new();
        // The snapshot of the writer has read and verified all of it before.
        let found = bed.writer.delete_found(|index| {
            index.verify_whole()?;
            assert_eq!(of_version_1(index)?.len(), 8);
            Ok::<_, LiveError>(Vec::new())
        });
        assert_eq!(found.unwrap(), 0);
        injure(&bed.file(ending));
        let refused = bed.writer.delete_found(of_version_1).unwrap_err();
        assert!(
            matches!(refused, LiveError::Undecided { .. }),
            "{refused:?}"
        );
        assert!(
            refused.to_string().contains("nothing was deleted"),
            "{refused}"
        );
        let status = bed.writer.status();
        assert_eq!((status.changes_accepted, bed.logs()), (0, 0));
    }
}

/// The files change while the query reads them, after their blocks were verified.
#[test]
fn a_file_that_changes_while_a_deletion_is_decided_refuses_it() {
    let bed = Bed::new();
    let path = bed.file("columns");
    let refused = bed.writer.delete_found(|index| {
        index.verify_whole()?;
        injure(&path);
        of_version_1(index)
    });
    assert!(
        matches!(refused, Err(LiveError::Undecided { .. })),
        "{refused:?}"
    );
    assert_eq!((bed.writer.status().changes_accepted, bed.logs()), (0, 0));
}

#[test]
fn without_damage_what_matches_is_deleted() {
    let bed = Bed::new();
    assert_eq!(bed.writer.delete_found(of_version_1).unwrap(), 8);
    bed.writer.refresh().unwrap();
    assert_eq!(bed.writer.delete_found(of_version_1).unwrap(), 0);
    assert_eq!(bed.writer.document(&url(1)).unwrap(), None);
    assert!(bed.writer.document(&url(2)).unwrap().is_some());
}

/// A patch reads the document that it changes, and writes all of it.
#[test]
fn patches_and_look_ups_read_verified_texts() {
    let bed = Bed::new();
    for number in 0..SENT {
        assert!(bed.writer.document(&url(number)).unwrap().is_some());
    }
    injure(&bed.file("documents"));
    for number in 0..SENT {
        let patch = [("more".to_owned(), 1.into())].into_iter().collect();
        let patch = Change::Patch {
            url: url(number),
            patch,
            absent: None,
        };
        let refused = bed.writer.apply(vec![patch.into()]).unwrap_err();
        assert!(
            matches!(refused, LiveError::Unreadable { .. }),
            "{refused:?}"
        );
        assert!(bed.writer.document(&url(number)).is_err());
    }
    assert_eq!((bed.writer.status().changes_accepted, bed.logs()), (0, 0));
    // Whole documents need no texts.
    bed.writer.apply(vec![put(SENT + 40, 9)]).unwrap();
}

/// Files of a storage in memory have no stamps, and are verified as ever.
#[test]
fn deletions_work_in_memory() {
    let writer = LiveWriter::open(started(), slow_refresh()).unwrap();
    let deleted = writer.delete_found(|_| Ok::<_, LiveError>(vec![url(0), url(3)]));
    assert_eq!(deleted.unwrap(), 2);
    assert_eq!(writer.document(&url(0)).unwrap(), None);
}

/// Somebody removes the log: its changes are committed from memory before the next one is acknowledged.
#[test]
fn a_log_removed_under_the_writer_loses_nothing() {
    let bed = Bed::new();
    let there = |number: usize, version: u64| {
        let index = Index::open(bed.storage.clone()).unwrap();
        let found = index.document(&url(number)).unwrap();
        found.is_some_and(|found| found.fields["version"] == version)
    };
    bed.writer
        .apply((0..5).map(|number| put(number, 50)).collect())
        .unwrap();
    for round in 1..4 {
        fs::remove_file(bed.directory.path().join(format!("log-{round}"))).unwrap();
        assert!(!there(0, 50 + round));
        bed.writer.apply(vec![put(0, 50 + round)]).unwrap();
        // As a kill now would leave it.
        assert!(there(0, 50 + round) && there(4, 50), "{round}");
        bed.writer.apply(vec![put(1, 60 + round)]).unwrap();
        assert_eq!(bed.logs(), 1);
    }
    drop(bed.writer);
    let index = Index::open(bed.storage.clone()).unwrap();
    let found = index.document(&url(1)).unwrap().unwrap();
    assert_eq!(found.fields["version"], 63);
    assert!(index::check(bed.storage, 10).unwrap().1.is_empty());
}

/// Somebody removes the lock, and another writer takes it: the first one commits nothing more.
#[test]
fn a_writer_without_its_lock_commits_nothing() {
    let bed = Bed::new();
    bed.writer.apply(vec![put(0, 70)]).unwrap();
    fs::remove_file(bed.directory.path().join("writer.lock")).unwrap();
    let refused = bed.writer.refresh().unwrap_err();
    assert!(
        refused.to_string().contains("the lock of writers"),
        "{refused}"
    );
    let second = LiveWriter::open(bed.storage.clone(), slow_refresh()).unwrap();
    second.apply(vec![put(1, 71)]).unwrap();
    let generation = second.refresh().unwrap();
    assert!(bed.writer.refresh().is_err());
    drop(bed.writer);
    drop(second);
    let index = Index::open(bed.storage.clone()).unwrap();
    assert_eq!(index.generation(), generation);
    for (number, version) in [(0, 70), (1, 71)] {
        let found = index.document(&url(number)).unwrap().unwrap();
        assert_eq!(found.fields["version"], version);
    }
    assert!(index::check(bed.storage, 10).unwrap().1.is_empty());
}
