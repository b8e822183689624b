//! Changed files of an open index: their states, and the answers that read them.

use super::Trust;
use crate::store::TextKey;
use crate::{BuildOptions, Index, IndexError, Segment, Writer};
use document::Document;
use std::fs::{self, OpenOptions};
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use vfs::{RealStorage, SharedStorage};

/// Index of two segments on the disk.
struct Bed {
    directory: TempDir,
    index: Index,
}

impl Bed {
    fn new() -> Bed {
        vfs::survive_lost_pages();
        let directory = tempfile::tempdir().unwrap();
        let storage: SharedStorage = Arc::new(RealStorage::open(directory.path()).unwrap());
        let options = BuildOptions {
            chunks: Some(2),
            partitions: Some(2),
            ..BuildOptions::default()
        };
        let mut writer = Writer::open(storage.clone(), options).unwrap();
        for number in 0..200 {
            writer
                .add(Document {
                    url: format!("http://site-{}.test/{number}", number % 7),
                    title: format!("title {number}"),
                    body: "some words of a body ".repeat(40),
                    ..Document::default()
                })
                .unwrap();
        }
        writer.commit().unwrap();
        let index = Index::open(storage).unwrap();
        Bed { directory, index }
    }

    /// Returns the number and the path of the first file of a kind.
    fn file(&self, kind: &str) -> (usize, PathBuf) {
        let named = (0..self.index.files_count()).find_map(|number| {
            let (path, _) = self.index.examine(number)?;
            let is_it = path.to_string_lossy().contains(kind);
            is_it.then(|| (number, path.to_owned()))
        });
        named.unwrap()
    }

    fn segments(&self) -> Vec<Arc<Segment>> {
        self.index.segments(..).cloned().collect()
    }

    fn trust(&self, number: usize) -> Trust {
        self.index.examine(number).unwrap().1
    }
}

fn writable(path: &Path) -> fs::File {
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    OpenOptions::new().write(true).open(path).unwrap()
}

fn go_on(_: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn an_untouched_index_is_trusted() {
    let bed = Bed::new();
    let since = bed.index.read_start();
    bed.index.verify_search(&bed.segments(), since).unwrap();
    let key = TextKey::Url("http://site-1.test/1");
    bed.index.verify_texts([key].into_iter(), since).unwrap();
    let mut bytes = 0;
    for number in 0..bed.index.files_count() {
        let mut count = |piece| {
            bytes += piece;
            ControlFlow::Continue(())
        };
        bed.index.verify_again(number, &mut count).unwrap();
    }
    assert!(bytes > 10_000);
    assert_eq!(bed.index.read_start(), since);
}

#[test]
fn an_overwritten_segment_is_suspect_and_then_damaged() {
    let bed = Bed::new();
    let segments = bed.segments();
    let (number, path) = bed.file(".index");
    let since = bed.index.read_start();
    writable(&path).write_at(b"xyz", 300).unwrap();
    let error = bed.index.verify_search(&segments, since).unwrap_err();
    assert!(
        matches!(&error, IndexError::Damaged { path: at, .. } if *at == path),
        "{error}"
    );
    assert!(bed.index.is_in_doubt(number));
    // The other partition must repeat its search, because its plan may have used the damaged segment.
    let error = bed.index.verify_search(&segments[1..], since).unwrap_err();
    assert!(matches!(error, IndexError::Changed { .. }), "{error}");
    let since = bed.index.read_start();
    bed.index.verify_search(&segments[1..], since).unwrap();

    let error = bed.index.verify_again(number, &mut go_on).unwrap_err();
    assert!(error.to_string().contains("checksum of block 0"), "{error}");
    assert_eq!(bed.trust(number), Trust::Damaged);
    assert!(!bed.index.is_in_doubt(number));
    // Restored bytes do not help an index that is open already.
    assert!(bed.index.verify_again(number, &mut go_on).is_err());
    assert_eq!(bed.index.untrusted_files_count(), 1);
}

#[test]
fn a_touched_file_is_trusted_again_but_not_what_was_read_meanwhile() {
    let bed = Bed::new();
    let (number, path) = bed.file(".index");
    let since = bed.index.read_start();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(bed.trust(number), Trust::Suspect);
    bed.index.verify_again(number, &mut go_on).unwrap();
    assert_eq!(bed.trust(number), Trust::Trusted);
    assert_eq!(bed.index.trusted_again_count(), 1);
    let error = bed.index.verify_search(&bed.segments(), since).unwrap_err();
    assert!(matches!(error, IndexError::Changed { .. }), "{error}");
    let since = bed.index.read_start();
    bed.index.verify_search(&bed.segments(), since).unwrap();
}

#[test]
fn bytes_put_back_are_trusted_again() {
    let bed = Bed::new();
    let (number, path) = bed.file(".index");
    let bytes = fs::read(&path).unwrap();
    writable(&path).write_at(b"xyz", 300).unwrap();
    assert_eq!(bed.trust(number), Trust::Suspect);
    writable(&path).write_at(&bytes, 0).unwrap();
    bed.index.verify_again(number, &mut go_on).unwrap();
    assert_eq!(bed.trust(number), Trust::Trusted);
}

#[test]
fn a_truncated_file_is_damaged_whoever_reads_it() {
    let bed = Bed::new();
    let segments = bed.segments();
    let (_, path) = bed.file(".index");
    let since = bed.index.read_start();
    writable(&path).set_len(64).unwrap();
    for segment in &segments {
        for doc in 0..segment.documents_count() {
            let _ = segment.details(crate::DocId(doc));
        }
    }
    assert!(bed.index.verify_search(&segments, since).is_err());
    let (texts, path) = bed.file(".documents");
    writable(&path).set_len(0).unwrap();
    let since = bed.index.read_start();
    let urls: Vec<String> = (0..200)
        .map(|number| format!("http://site-{}.test/{number}", number % 7))
        .collect();
    let keys = || urls.iter().map(|url| TextKey::Url(url));
    assert!(bed.index.verify_texts(keys(), since).is_err());
    for key in &urls {
        let _ = bed.index.documents().document(key);
    }
    assert!(bed.index.verify_again(texts, &mut go_on).is_err());
    assert_eq!(bed.trust(texts), Trust::Damaged);
}

#[test]
fn what_leaves_the_bytes_alone_leaves_the_trust() {
    let bed = Bed::new();
    let (number, path) = bed.file(".index");
    let since = bed.index.read_start();
    let check = || bed.index.verify_search(&bed.segments(), since).unwrap();
    fs::hard_link(&path, bed.directory.path().join("backup")).unwrap();
    check();
    assert!(
        bed.index.is_in_doubt(number),
        "to be verified when there is time"
    );
    bed.index.verify_again(number, &mut go_on).unwrap();
    assert!(!bed.index.is_in_doubt(number));
    check();
    fs::remove_file(&path).unwrap();
    check();
    fs::write(&path, "another file").unwrap();
    check();
    bed.index.verify_again(number, &mut go_on).unwrap();
    check();
}

#[test]
fn a_removed_file_that_is_written_to_is_found() {
    let bed = Bed::new();
    let (number, path) = bed.file(".index");
    let file = writable(&path);
    assert_eq!(bed.trust(number), Trust::Suspect);
    bed.index.verify_again(number, &mut go_on).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(bed.trust(number), Trust::Trusted);
    file.write_at(b"xyz", 200).unwrap();
    assert_eq!(bed.trust(number), Trust::Suspect);
    assert!(bed.index.verify_again(number, &mut go_on).is_err());
    // Counts that only this segment has are unknown now.
    let statistics = bed.index.statistics();
    let unknown = statistics.document_frequency(crate::Field::Text, "nowhere");
    assert!(
        matches!(unknown, Err(IndexError::Damaged { .. })),
        "{unknown:?}"
    );
    let shared = statistics.document_frequency(crate::Field::Text, "words");
    assert_eq!(shared.unwrap(), 200);
}

#[test]
fn files_in_memory_are_not_asked_about() {
    let bed = Bed::new();
    let storage: SharedStorage = Arc::new(RealStorage::open(bed.directory.path()).unwrap());
    let options = vfs::PreloadOptions {
        preload: vfs::Preload::Tmpfs,
        tmpfs: PathBuf::from("/dev/shm"),
    };
    let parts = crate::PreloadParts {
        index: true,
        texts: true,
    };
    let on_progress = &mut |_| ControlFlow::Continue(());
    let loaded = crate::preload(storage, 0..2, parts, &options, on_progress).unwrap();
    if !loaded.report().shortfalls.is_empty() {
        return;
    }
    let index = Index::open(Arc::new(loaded)).unwrap();
    let segments: Vec<_> = index.segments(..).cloned().collect();
    writable(&bed.file(".index").1).set_len(0).unwrap();
    index.verify_search(&segments, index.read_start()).unwrap();
}
