//! Conformance of all storages to the same contract.
use std::io::{ErrorKind, Write};
use std::sync::Arc;
use vfs::{
    Fault, FaultyStorage, MemoryStorage, ReadFault, RealStorage, SharedStorage, Storage,
    StorageDelegation, StorageError, UnmappedStorage,
};

fn write(storage: &dyn Storage, name: &str, bytes: &[u8]) {
    let mut file = storage.create(name).unwrap();
    file.write_all(bytes).unwrap();
    file.finish().unwrap();
}

fn is_not_found<T>(result: Result<T, StorageError>, storage: &dyn Storage, name: &str) {
    match result.map(|_| ()) {
        Err(StorageError::NotFound { path }) => assert_eq!(path, storage.location().join(name)),
        other => panic!("{other:?}"),
    }
}

/// What every storage promises.
fn check(storage: &dyn Storage) {
    assert_eq!(storage.list().unwrap(), [""; 0]);
    assert_eq!(storage.list_others().unwrap(), []);
    files_are_written_once(storage);
    files_grow_between_syncs(storage);
    files_are_read_by_ranges(storage);
    names_move_and_go(storage);
    regions_outlive_their_names(storage);
    hostile_names_are_refused(storage);
    locks_exclude(storage);
    storage.sync_directory().unwrap();
}

fn files_grow_between_syncs(storage: &dyn Storage) {
    let mut file = storage.create("growing").unwrap();
    let mut expected = Vec::new();
    for piece in [&b"first"[..], b"", b"second", &[7; 10_000]] {
        file.write_all(piece).unwrap();
        expected.extend_from_slice(piece);
        file.sync().unwrap();
        assert!(storage.open("growing").unwrap()[..] == expected[..]);
    }
    file.write_all(b"end").unwrap();
    file.finish().unwrap();
    expected.extend_from_slice(b"end");
    assert!(storage.open("growing").unwrap()[..] == expected[..]);
    storage.remove("growing").unwrap();
}

fn files_are_written_once(storage: &dyn Storage) {
    write(storage, "empty", b"");
    assert_eq!(&storage.open("empty").unwrap()[..], b"");
    // Longer than every buffer, in uneven pieces.
    let bytes: Vec<u8> = (0..700_001u32)
        .map(|i| (i.wrapping_mul(i) >> 7) as u8)
        .collect();
    let mut file = storage.create("long").unwrap();
    for piece in bytes.chunks(1013) {
        file.write_all(piece).unwrap();
    }
    file.finish().unwrap();
    let region = storage.open("long").unwrap();
    assert!(region[..] == bytes[..]);
    assert!(region.clone()[..] == bytes[..]);
    region.prefetch(0..usize::MAX);
    region.release(10..600_000);
    region.release(0..usize::MAX);
    region.release(700_001..800_000);
    assert!(region[..] == bytes[..]);

    let error = storage.create("long").map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    let text = error.to_string();
    let path = storage.location().join("long");
    assert!(
        text.starts_with(&format!("{}: cannot create", path.display())),
        "{text}"
    );
    assert!(storage.open("long").unwrap()[..] == bytes[..]);

    // Dropped unfinished, a file stays.
    let mut file = storage.create("unfinished").unwrap();
    file.write_all(b"half").unwrap();
    file.flush().unwrap();
    assert_eq!(&storage.open("unfinished").unwrap()[..], b"half");
    file.write_all(b" and half").unwrap();
    drop(file);
    assert_eq!(&storage.open("unfinished").unwrap()[..], b"half and half");
    assert_eq!(storage.list().unwrap(), ["empty", "long", "unfinished"]);
}

fn files_are_read_by_ranges(storage: &dyn Storage) {
    let bytes: Vec<u8> = (0..100_003u32).map(|i| ((i * 7) >> 3) as u8).collect();
    write(storage, "ranges", &bytes);
    let file = storage.open_file("ranges").unwrap();
    let lazy = storage.open_lazy("ranges").unwrap();
    storage.remove("ranges").unwrap();
    assert_eq!(file.length(), bytes.len() as u64);
    assert_eq!(lazy.len(), bytes.len());
    for range in [
        0..1,
        0..0,
        4095..8193,
        99_000..100_003,
        100_003..100_003,
        0..100_003,
    ] {
        let path = storage.location().join("ranges");
        let read = file
            .read(&path, range.start as u64..range.end as u64)
            .unwrap();
        assert!(read[..] == bytes[range.clone()]);
        lazy.fetch(range.clone()).unwrap();
        assert!(lazy[range.clone()] == bytes[range]);
    }
    is_not_found(storage.open_file("ranges").map(drop), storage, "ranges");
    is_not_found(storage.open_lazy("ranges"), storage, "ranges");
}

fn names_move_and_go(storage: &dyn Storage) {
    storage.rename("empty", "long").unwrap();
    assert_eq!(&storage.open("long").unwrap()[..], b"");
    storage.rename("long", "long").unwrap();
    is_not_found(storage.open("empty"), storage, "empty");
    is_not_found(storage.rename("empty", "x"), storage, "empty");
    is_not_found(storage.remove("empty"), storage, "empty");
    storage.remove("long").unwrap();
    storage.remove("unfinished").unwrap();
    assert_eq!(storage.list().unwrap(), [""; 0]);
}

fn regions_outlive_their_names(storage: &dyn Storage) {
    write(storage, "A", &[1; 10_000]);
    write(storage, "B", &[2; 10_000]);
    let old = storage.open("A").unwrap();
    storage.rename("B", "A").unwrap();
    assert_eq!(old[..], [1; 10_000]);
    assert_eq!(storage.open("A").unwrap()[..], [2; 10_000]);
    let removed = storage.open("A").unwrap();
    storage.remove("A").unwrap();
    assert_eq!(removed[..], [2; 10_000]);
}

fn hostile_names_are_refused(storage: &dyn Storage) {
    write(storage, "ok", b"ok");
    for name in [
        "../x",
        "/etc/passwd",
        "",
        ".",
        "..",
        "a/b",
        "a\0b",
        ".ok",
        "ok\n",
    ] {
        let results = [
            storage.create(name).map(|_| ()),
            storage.open(name).map(|_| ()),
            storage.open_file(name).map(|_| ()),
            storage.rename(name, "x"),
            storage.rename("ok", name),
            storage.remove(name),
            storage.lock(name).map(|_| ()),
            storage.is_locked(name).map(|_| ()),
        ];
        for result in results {
            let invalid = matches!(result, Err(StorageError::InvalidName { .. }));
            assert!(invalid, "{name:?}: {result:?}");
        }
    }
    assert_eq!(storage.list().unwrap(), ["ok"]);
    storage.remove("ok").unwrap();
}

fn locks_exclude(storage: &dyn Storage) {
    assert!(!storage.is_locked("LOCK").unwrap());
    assert_eq!(storage.list().unwrap(), [""; 0], "to ask makes no file");
    let lock = storage.lock("LOCK").unwrap();
    assert!(storage.is_locked("LOCK").unwrap());
    match storage.lock("LOCK") {
        Err(StorageError::Locked { path }) => assert_eq!(path, storage.location().join("LOCK")),
        other => panic!("{other:?}"),
    }
    let other = storage.lock("OTHER").unwrap();
    drop(lock);
    assert!(!storage.is_locked("LOCK").unwrap());
    let again = storage.lock("LOCK").unwrap();
    assert!(storage.lock("OTHER").is_err());
    drop((again, other));
    assert_eq!(storage.list().unwrap(), ["LOCK", "OTHER"]);
    storage.remove("OTHER").unwrap();
}

#[test]
fn the_real_disk_conforms() {
    let directory = tempfile::tempdir().unwrap();
    check(&RealStorage::create_directory(directory.path().join("a/b")).unwrap());
}

#[test]
fn memory_conforms() {
    check(&MemoryStorage::new());
    check(&MemoryStorage::recording());
}

#[test]
fn a_faulty_disk_without_fault_conforms() {
    let inner = Arc::new(MemoryStorage::new());
    let faulty = FaultyStorage::new(inner, Fault::never());
    check(&faulty);
    assert!(faulty.operations() > 30 && !faulty.has_failed());
}

#[test]
fn a_storage_that_cannot_map_conforms() {
    let unmapped = UnmappedStorage::new(Arc::new(MemoryStorage::new()));
    check(&unmapped);
    assert!(unmapped.reads() > 30 && unmapped.bytes_read() > 700_000);
    let directory = tempfile::tempdir().unwrap();
    check(&UnmappedStorage::new(Arc::new(
        RealStorage::open(directory.path()).unwrap(),
    )));
}

#[test]
fn a_wrapped_storage_conforms() {
    #[derive(Debug)]
    struct Wrapped(SharedStorage);
    impl StorageDelegation for Wrapped {
        fn inner(&self) -> &dyn Storage {
            &*self.0
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let disk: SharedStorage = Arc::new(RealStorage::open(directory.path()).unwrap());
    let wrapped = Wrapped(disk.clone());
    check(&wrapped);
    let has_room = Storage::available_bytes(&wrapped).is_some();
    assert_eq!(has_room, disk.available_bytes().is_some());
}

#[test]
fn a_whole_file_of_which_a_read_fails_is_no_file() {
    let disk = MemoryStorage::new();
    disk.write_raw("a", vec![7; 10_000]);
    let unmapped = UnmappedStorage::new(Arc::new(disk));
    for fault in [ReadFault::Unavailable, ReadFault::Short] {
        unmapped.fail_once(unmapped.reads() + 1, fault);
        let error = Storage::open(&unmapped, "a").unwrap_err();
        assert!(error.is_transient(), "{error}");
        assert_eq!(Storage::open(&unmapped, "a").unwrap()[..], [7; 10_000]);
    }
}
