//! Tests of injected failures: exactly the chosen operation fails, with its path, and a failed file stays failed.
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::Arc;
use vfs::{Fault, FaultKind, FaultyStorage, MemoryStorage, Storage, StorageError};

const OPERATIONS: [&str; 10] = [
    "create", "write", "write", "sync", "sync", "rename", "sync", "open", "list", "remove",
];

/// Seven steps of ten operations, whichever of them fail; gives the errors.
fn run(storage: &FaultyStorage) -> Vec<StorageError> {
    type Step = fn(&FaultyStorage) -> Result<(), StorageError>;
    let steps: [Step; 7] = [
        |storage| write(storage, "A", 6000),
        |storage| storage.sync_directory(),
        |storage| storage.rename("A", "B"),
        |storage| storage.sync_directory(),
        |storage| storage.open("B").map(|_| ()),
        |storage| storage.list().map(|_| ()),
        |storage| storage.remove("B"),
    ];
    steps
        .iter()
        .filter_map(|step| step(storage).err())
        .collect()
}

fn write(storage: &dyn Storage, name: &str, bytes: usize) -> Result<(), StorageError> {
    let mut file = storage.create(name)?;
    file.write_all(&vec![1; bytes])
        .map_err(|error| StorageError::from_io("write", Path::new("lost"), error))?;
    file.finish()
}

fn faulty(fault: Fault) -> (MemoryStorage, FaultyStorage) {
    let disk = MemoryStorage::new();
    let storage = FaultyStorage::new(Arc::new(disk.clone()), fault);
    (disk, storage)
}

#[test]
fn exactly_the_chosen_operation_fails() {
    let (_, storage) = faulty(Fault::never());
    assert!(run(&storage).is_empty());
    assert_eq!(storage.operations(), OPERATIONS.len());
    for (operation, name) in OPERATIONS.iter().enumerate() {
        let (_, storage) = faulty(Fault::once(operation, FaultKind::NoSpace));
        let failed = run(&storage);
        assert!(storage.has_failed());
        let injected: Vec<&StorageError> = failed
            .iter()
            .filter(|error| error.kind() == ErrorKind::StorageFull)
            .collect();
        assert_eq!(injected.len(), 1, "{operation}: {failed:?}");
        let text = injected[0].to_string();
        assert!(text.starts_with("memory/"), "{text}");
        assert!(
            text.contains(&format!(": cannot {name}: no space")),
            "{text}"
        );
    }
}

#[test]
fn a_persistent_fault_fails_everything_after_it() {
    for operation in 0..OPERATIONS.len() {
        let (disk, storage) = faulty(Fault::from_then_on(operation, FaultKind::Io));
        let failed = run(&storage);
        // The first four operations are one step, each later one is its own.
        let steps = if operation < 4 { 7 } else { 10 - operation };
        assert_eq!(failed.len(), steps, "{operation}: {failed:?}");
        let before = disk.operations();
        assert!(storage.lock("LOCK").is_ok(), "locks are no disk operation");
        assert!(storage.sync_directory().is_err());
        assert!(disk.operations() <= before + 1);
    }
}

#[test]
fn a_short_write_leaves_half() {
    for (kind, left) in [
        (FaultKind::ShortWrite, 2048),
        (FaultKind::NoSpace, 0),
        (FaultKind::Io, 0),
    ] {
        let (disk, storage) = faulty(Fault::once(1, kind));
        assert!(write(&storage, "A", 6000).is_err());
        assert_eq!(disk.read_raw("A").map(|bytes| bytes.len()), Some(left));
    }
}

#[test]
fn a_file_that_failed_once_cannot_be_finished() {
    let (disk, storage) = faulty(Fault::once(1, FaultKind::Io));
    let mut file = storage.create("A").unwrap();
    file.write_all(&[1; 100]).unwrap();
    assert!(file.flush().is_err());
    let error = file.write_all(&[1; 100]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("an earlier write to this file failed"),
        "{error}"
    );
    let error = file.finish().unwrap_err();
    assert!(
        error.to_string().starts_with("memory/A: cannot write"),
        "{error}"
    );
    assert_eq!(disk.read_raw("A").unwrap(), b"");
}

#[test]
fn a_failed_sync_leaves_the_file_unsynced() {
    let (disk, storage) = faulty(Fault::once(2, FaultKind::Io));
    assert!(write(&storage, "A", 100).is_err());
    storage.sync_directory().unwrap();
    assert_eq!(disk.read_raw("A").unwrap().len(), 100);
    assert_eq!(disk.power_loss(0).read_raw("A").unwrap(), b"");
}

/// `Write::write_all` repeats interrupted calls; a file that failed so must not keep it busy for ever.
#[test]
fn an_interrupted_operation_is_an_error_and_not_repeated() {
    let (disk, storage) = faulty(Fault::once(1, FaultKind::Interrupted));
    let error = write(&storage, "A", 6000).unwrap_err();
    assert!(
        error.to_string().contains("interrupted (injected)"),
        "{error}"
    );
    assert_eq!(disk.read_raw("A").unwrap(), b"");
}
