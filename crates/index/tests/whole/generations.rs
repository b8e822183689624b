//! Generations beside the newest: the one before it, entries in place of a manifest, and files of a generation without
//! one.

use document::Document;
use index::{BuildOptions, CheckReport, Index, IndexError, StrayKind, Writer, check};
use std::path::Path;
use std::sync::Arc;
use vfs::{MemoryStorage, OtherKind, RealStorage, SharedStorage, Storage};

fn commit(storage: &SharedStorage, urls: std::ops::Range<usize>) {
    let options = BuildOptions {
        chunks: Some(1),
        ..BuildOptions::default()
    };
    let mut writer = Writer::open(storage.clone(), options).unwrap();
    for number in urls {
        let document = Document {
            url: format!("http://a.test/{number}"),
            body: format!("words that all have and word{number}"),
            ..Document::default()
        };
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
}

/// Builds generations 1 and 2; the second replaces a document of the first.
fn two_generations() -> MemoryStorage {
    let disk = MemoryStorage::new();
    let shared: SharedStorage = Arc::new(disk.clone());
    commit(&shared, 0..5);
    commit(&shared, 4..8);
    disk
}

fn checked(disk: &MemoryStorage) -> (CheckReport, Vec<IndexError>) {
    check(Arc::new(disk.clone()), 10).unwrap()
}

#[test]
fn every_flipped_byte_of_the_older_generation_is_found() {
    let disk = two_generations();
    let shared: SharedStorage = Arc::new(disk.clone());
    // A third generation rewrites all, so the second has files of its own beside its manifest.
    index::optimize(shared.clone(), &index::OptimizeOptions::default(), &|_| {}).unwrap();
    let (report, damages) = checked(&disk);
    assert!(damages.is_empty(), "{damages:?}");
    assert_eq!((report.generation, report.generation_before), (3, Some(2)));
    assert_eq!(report.strays, []);
    let newest = String::from_utf8_lossy(&disk.read_raw("MANIFEST-3").unwrap()).into_owned();
    let only_older: Vec<String> = disk
        .files()
        .into_iter()
        .filter(|name| !newest.contains(&format!("\"{name}\"")))
        .filter(|name| name != "MANIFEST-3" && name != "writer.lock")
        .collect();
    assert!(only_older.len() >= 4, "{only_older:?}");
    for name in only_older {
        let good = disk.read_raw(&name).unwrap();
        for at in 0..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << (at % 8);
            disk.write_raw(&name, bytes);
            let (_, damages) = checked(&disk);
            let found = matches!(&damages[..], [IndexError::Damaged { path, .. }]
                if path.ends_with(&name));
            assert!(found, "{name}: byte {at} flipped: {damages:?}");
            assert!(at > 0 || Index::open(shared.clone()).is_ok(), "it answers");
        }
        Storage::remove(&disk, &name).unwrap();
        let (_, damages) = checked(&disk);
        assert_eq!(damages.is_empty(), name.starts_with("MANIFEST-"), "{name}");
        disk.write_raw(&name, good);
    }
}

#[test]
fn a_lost_manifest_is_said_and_the_generation_before_it_opened() {
    let disk = two_generations();
    let shared: SharedStorage = Arc::new(disk.clone());
    assert_eq!(Index::open(shared.clone()).unwrap().unfinished(), None);
    let lost = disk.read_raw("MANIFEST-2").unwrap();
    Storage::remove(&disk, "MANIFEST-2").unwrap();
    let index = Index::open(shared.clone()).unwrap();
    assert_eq!(index.generation(), 1);
    let said = index.unfinished().unwrap();
    assert_eq!(
        said.files,
        [
            "segment-00000001-2.deletions",
            "segment-00000002.documents",
            "segment-00000002.index",
            "statistics-2"
        ]
    );
    let text = said.to_string();
    for part in ["generation 1 is open", "4 files", "MANIFEST-2", "restore"] {
        assert!(text.contains(part), "{part:?} is missing: {text}");
    }
    let (report, damages) = checked(&disk);
    assert!(damages.is_empty(), "an interrupted commit leaves the same");
    assert_eq!(report.unfinished.as_ref(), Some(said));
    assert_eq!(report.strays.len(), 4);
    assert!(report.strays.iter().all(|s| s.kind == StrayKind::Leftover));

    // An active writer has such files too, so they are not reported.
    let lock = shared.lock("writer.lock").unwrap();
    assert_eq!(Index::open(shared.clone()).unwrap().unfinished(), None);
    assert_eq!(checked(&disk).0.strays, []);
    drop(lock);
    // A restored manifest is the newest again; otherwise the next commit removes the files.
    disk.write_raw("MANIFEST-2", lost);
    assert_eq!(Index::open(shared.clone()).unwrap().generation(), 2);
    Storage::remove(&disk, "MANIFEST-2").unwrap();
    commit(&shared, 8..9);
    let index = Index::open(shared).unwrap();
    assert_eq!((index.generation(), index.unfinished()), (2, None));
    assert_eq!(checked(&disk).0.strays, []);
}

#[test]
fn what_an_interrupted_commit_leaves_before_its_segments_is_not_said() {
    let disk = two_generations();
    let shared: SharedStorage = Arc::new(disk.clone());
    disk.write_raw("tmp-00000003-run-1", *b"cut off");
    disk.write_raw("notes.txt", *b"mine");
    disk.write_raw("MANIFEST-02", *b"not what a commit writes");
    assert_eq!(Index::open(shared).unwrap().unfinished(), None);
    let (report, damages) = checked(&disk);
    assert!(damages.is_empty(), "{damages:?}");
    let strays = report.strays.iter();
    let strays: Vec<String> = strays.map(ToString::to_string).collect();
    assert_eq!(strays.len(), 3, "{strays:?}");
    assert!(strays[1].contains("notes.txt: belongs to no generation: not a file of an index"));
}

/// Writes two generations to a real disk.
fn on_disk(directory: &Path) -> SharedStorage {
    let storage: SharedStorage = Arc::new(RealStorage::open(directory).unwrap());
    commit(&storage, 0..5);
    commit(&storage, 4..8);
    storage
}

#[cfg(unix)]
#[test]
fn what_is_in_the_place_of_the_newest_manifest_is_refused_and_not_waited_for() {
    let fifo = |path: &Path| {
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
        rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
    };
    let link = |path: &Path| std::os::unix::fs::symlink("MANIFEST-1", path).unwrap();
    let folder = |path: &Path| std::fs::create_dir(path).unwrap();
    type Put<'p> = &'p dyn Fn(&Path);
    let cases: [(&str, Put); 3] = [
        ("a FIFO", &fifo),
        ("a symbolic link", &link),
        ("a directory", &folder),
    ];
    for (what, put) in cases {
        let directory = tempfile::tempdir().unwrap();
        let storage = on_disk(directory.path());
        let manifest = directory.path().join("MANIFEST-2");
        std::fs::remove_file(&manifest).unwrap();
        put(&manifest);
        let refused = |error: IndexError| {
            let text = error.to_string();
            assert!(text.contains("MANIFEST-2") && text.contains(what), "{text}");
        };
        refused(Index::open(storage.clone()).unwrap_err());
        refused(Index::newest_generation(&storage).unwrap_err());
        // A commit would write over it, and lose its contents.
        refused(
            Writer::open(storage.clone(), BuildOptions::default())
                .err()
                .unwrap(),
        );
        let (_, damages) = check(storage.clone(), 10).unwrap();
        assert_eq!(damages.len(), 1, "{damages:?}");
        refused(damages.into_iter().next().unwrap());
    }
}

#[cfg(unix)]
#[test]
fn what_is_older_than_the_newest_manifest_is_named_only() {
    let directory = tempfile::tempdir().unwrap();
    let storage = on_disk(directory.path());
    std::fs::remove_file(directory.path().join("MANIFEST-1")).unwrap();
    std::fs::create_dir(directory.path().join("MANIFEST-1")).unwrap();
    assert_eq!(Index::open(storage.clone()).unwrap().generation(), 2);
    let (report, damages) = check(storage, 10).unwrap();
    assert!(damages.is_empty(), "{damages:?}");
    let kinds: Vec<StrayKind> = report.strays.iter().map(|stray| stray.kind).collect();
    assert_eq!(kinds, [StrayKind::Other(OtherKind::Directory)]);
}
