//! Tests of preloading: same bytes, in the requested memory, released afterwards.
#![cfg(target_os = "linux")]

use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use vfs::{
    MemoryStorage, Preload, PreloadOptions, PreloadProgress, PreloadReport, PreloadedStorage,
    RealStorage, SharedStorage, Storage,
};

/// Files of every awkward size: none, one byte, a page and a byte, more than one huge page, more
/// than one piece.
const FILES: [(&str, usize); 5] = [
    ("empty", 0),
    ("one", 1),
    ("page", 4097),
    ("huge", (5 << 20) + 77),
    ("pieces", (17 << 20) + 1),
];
const BYTES: u64 = 1 + 4097 + (5 << 20) + 77 + (17 << 20) + 1;

fn content(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at ^ (at >> 7)) as u8).collect()
}

fn fill(storage: &dyn Storage) -> Vec<String> {
    for (name, bytes) in FILES {
        let mut file = storage.create(name).unwrap();
        file.write_all(&content(bytes)).unwrap();
        file.finish().unwrap();
    }
    FILES.map(|(name, _)| name.to_owned()).to_vec()
}

fn real(directory: &Path) -> (SharedStorage, Vec<String>) {
    let storage: SharedStorage = Arc::new(RealStorage::open(directory).unwrap());
    let names = fill(&*storage);
    (storage, names)
}

fn load(
    storage: &SharedStorage,
    names: &[String],
    options: &PreloadOptions,
) -> (PreloadedStorage, PreloadReport) {
    let mut last = PreloadProgress {
        bytes_done: 0,
        bytes_total: 0,
        elapsed: std::time::Duration::ZERO,
    };
    let preloaded = PreloadedStorage::load(storage.clone(), names, options, &mut |progress| {
        assert!(progress.bytes_done > last.bytes_done);
        assert!(progress.bytes_done <= progress.bytes_total);
        last = progress;
        ControlFlow::Continue(())
    });
    let preloaded = preloaded.unwrap();
    let report = preloaded.report();
    assert_eq!(report.loaded_bytes, last.bytes_done, "{report}");
    (preloaded, report)
}

/// The same files, the same bytes, whatever became of them; releasing loses nothing.
fn check_bytes(preloaded: &PreloadedStorage) {
    for (name, bytes) in FILES {
        let region = preloaded.open(name).unwrap();
        region.release(0..bytes);
        region.prefetch(0..bytes);
        assert!(region[..] == content(bytes)[..], "{name}");
    }
}

#[test]
fn touched_files_are_resident() {
    let directory = tempfile::tempdir().unwrap();
    let (storage, names) = real(directory.path());
    let (preloaded, report) = load(&storage, &names, &PreloadOptions::new(Preload::Touch));
    assert_eq!((report.files_count, report.bytes), (5, BYTES));
    assert_eq!(report.loaded_bytes, BYTES);
    assert_eq!(report.resident_bytes, Ok(BYTES));
    assert!(report.shortfalls.is_empty(), "{report}");
    assert!(report.bytes_per_s() > 0.0);
    check_bytes(&preloaded);
    let line = report.to_string();
    assert!(
        line.starts_with("preload touch: 23.1 MB of 23.1 MB") && line.contains("in 5 files"),
        "{line}"
    );
}

/// Names of this process's mappings that lie in a folder.
fn mapped_in(folder: &str) -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().filter(|line| line.contains(folder)).count()
}

#[test]
fn memory_files_have_no_name_and_end_with_their_mapping() {
    let directory = tempfile::tempdir().unwrap();
    let (storage, names) = real(directory.path());
    // A folder of its own, so that nobody else's files are counted.
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = PreloadOptions {
        tmpfs: folder.path().to_owned(),
        ..PreloadOptions::new(Preload::Tmpfs)
    };
    let (preloaded, report) = load(&storage, &names, &options);
    assert_eq!(report.loaded_bytes, BYTES, "{report}");
    assert_eq!(report.resident_bytes, Ok(BYTES));
    check_bytes(&preloaded);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let mapped = folder.path().to_str().unwrap();
    assert_eq!(mapped_in(mapped), 4, "all but the empty one");
    let kept = preloaded.open("one").unwrap();
    drop(preloaded);
    assert_eq!(mapped_in(mapped), 1, "a region outlives the storage");
    drop(kept);
    assert_eq!(mapped_in(mapped), 0);
}

#[test]
fn a_folder_on_disk_or_none_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let (storage, names) = real(directory.path());
    let check = |tmpfs: &str, why: &str| {
        let options = PreloadOptions {
            tmpfs: tmpfs.into(),
            ..PreloadOptions::new(Preload::Tmpfs)
        };
        let (preloaded, report) = load(&storage, &names, &options);
        assert_eq!(report.loaded_bytes, 0);
        assert!(report.shortfalls[0].contains(why), "{report}");
        check_bytes(&preloaded);
    };
    check("/proc", "no tmpfs");
    check("/not/there", "No such file");
}

#[test]
fn huge_pages_are_used_where_the_kernel_makes_them() {
    let directory = tempfile::tempdir().unwrap();
    let (storage, names) = real(directory.path());
    let (preloaded, report) = load(&storage, &names, &PreloadOptions::new(Preload::HugePages));
    check_bytes(&preloaded);
    let enabled = "/sys/kernel/mm/transparent_hugepage/enabled";
    let enabled = std::fs::read_to_string(enabled).unwrap_or_default();
    if enabled.contains("[always]") || enabled.contains("[madvise]") {
        assert_eq!(report.loaded_bytes, BYTES, "{report}");
        assert_eq!(report.resident_bytes, Ok(BYTES));
        // How many there are is the kernel's matter: memory may be in pieces.
        assert!(
            report.huge_bytes.as_ref().unwrap() % (2 << 20) == 0,
            "{report}"
        );
    } else {
        assert!(
            report.loaded_bytes == BYTES || !report.shortfalls.is_empty(),
            "{report}"
        );
    }
}

#[test]
fn loading_can_be_stopped() {
    let directory = tempfile::tempdir().unwrap();
    let (storage, names) = real(directory.path());
    for preload in [Preload::Touch, Preload::Tmpfs, Preload::HugePages] {
        let options = PreloadOptions::new(preload);
        let preloaded = PreloadedStorage::load(storage.clone(), &names, &options, &mut |_| {
            ControlFlow::Break(())
        });
        let preloaded = preloaded.unwrap();
        let report = preloaded.report();
        assert!(report.loaded_bytes < BYTES, "{report}");
        assert!(
            report.shortfalls.iter().any(|why| why.contains("stopped")),
            "{report}"
        );
        check_bytes(&preloaded);
    }
}

#[test]
fn files_in_memory_and_missing_files() {
    let storage: SharedStorage = Arc::new(MemoryStorage::new());
    let names = fill(&*storage);
    for preload in [Preload::None, Preload::Touch, Preload::HugePages] {
        let (preloaded, _) = load(&storage, &names, &PreloadOptions::new(preload));
        check_bytes(&preloaded);
    }
    let options = PreloadOptions::new(Preload::Touch);
    let missing = ["none".to_owned()];
    let error = PreloadedStorage::load(storage, &missing, &options, &mut |_| {
        ControlFlow::Continue(())
    });
    assert!(error.unwrap_err().to_string().contains("not found"));
}

#[test]
fn ways_are_named() {
    for way in [
        Preload::None,
        Preload::Touch,
        Preload::Tmpfs,
        Preload::HugePages,
    ] {
        assert_eq!(way.to_string().parse(), Ok(way));
    }
    let error = "all".parse::<Preload>().unwrap_err();
    assert!(error.contains("none, touch, tmpfs or hugepages"), "{error}");
}
