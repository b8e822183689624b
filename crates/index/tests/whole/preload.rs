//! Preloaded indexes: same contents, and only files of the requested chunks in memory.
#![cfg(target_os = "linux")]

use document::Document;
use index::{BuildOptions, Index, PreloadParts, Writer, preload};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use vfs::{Preload, PreloadOptions, RealStorage, SharedStorage};

const BOTH: PreloadParts = PreloadParts {
    index: true,
    texts: true,
};

fn build(directory: &std::path::Path) -> SharedStorage {
    let storage: SharedStorage = Arc::new(RealStorage::open(directory).unwrap());
    let options = BuildOptions {
        chunks: Some(4),
        partitions: Some(4),
        ..BuildOptions::default()
    };
    for version in 0..2 {
        let mut writer = Writer::open(storage.clone(), options.clone()).unwrap();
        for number in (0..400).step_by(1 + version) {
            let document = Document {
                url: format!("http://s.test/{number}"),
                title: format!("title {version}"),
                body: format!("some words w{number} v{version}"),
                ..Document::default()
            };
            writer.add(document).unwrap();
        }
        writer.commit().unwrap();
    }
    storage
}

fn load(
    storage: &SharedStorage,
    chunks: Range<u32>,
    parts: PreloadParts,
    way: Preload,
) -> vfs::PreloadedStorage {
    let options = PreloadOptions::new(way);
    let go_on = &mut |_| ControlFlow::Continue(());
    preload(storage.clone(), chunks, parts, &options, go_on).unwrap()
}

#[test]
fn a_preloaded_index_is_the_same_index() {
    let directory = tempfile::tempdir().unwrap();
    let storage = build(directory.path());
    let plain = Index::open(storage.clone()).unwrap();
    for way in [
        Preload::None,
        Preload::Touch,
        Preload::Tmpfs,
        Preload::HugePages,
    ] {
        let preloaded = Arc::new(load(&storage, 0..4, BOTH, way));
        let index = Index::open(preloaded.clone()).unwrap();
        assert_eq!(index.generation(), plain.generation());
        assert_eq!(
            index.statistics().documents_count(),
            plain.statistics().documents_count()
        );
        for number in 0..400 {
            let url = format!("http://s.test/{number}");
            let text = |index: &Index| index.documents().document(&url).unwrap().unwrap();
            assert_eq!(text(&index), text(&plain), "{way} {url}");
        }
        let report = preloaded.report();
        assert_eq!(report.bytes, index.index_bytes() + index.store_bytes());
        if way == Preload::Touch {
            // Opening verifies every checksum, and releases nothing that was loaded.
            assert_eq!(report.resident_bytes, Ok(report.bytes), "{report}");
        }
    }
}

#[test]
fn only_the_asked_chunks_and_parts_are_loaded() {
    let directory = tempfile::tempdir().unwrap();
    let storage = build(directory.path());
    let index = Index::open(storage.clone()).unwrap();
    let bytes = |chunks, parts| {
        let report = load(&storage, chunks, parts, Preload::Touch).report();
        assert_eq!(report.loaded_bytes, report.bytes);
        report.bytes
    };
    let only = |index, texts| PreloadParts { index, texts };
    assert_eq!(bytes(0..4, only(true, false)), index.index_bytes());
    assert_eq!(bytes(0..4, only(false, true)), index.store_bytes());
    assert_eq!(bytes(0..4, only(false, false)), 0);
    let halves = bytes(0..2, only(false, true)) + bytes(2..9, only(false, true));
    assert_eq!(halves, index.store_bytes());
    assert!(bytes(1..2, BOTH) < bytes(0..4, BOTH));
}

#[test]
fn no_index_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let storage: SharedStorage = Arc::new(RealStorage::open(directory.path()).unwrap());
    let options = PreloadOptions::new(Preload::Touch);
    let go_on = &mut |_| ControlFlow::Continue(());
    let error = preload(storage, 0..1, BOTH, &options, go_on).unwrap_err();
    assert!(error.to_string().contains("no index here"), "{error}");
}
