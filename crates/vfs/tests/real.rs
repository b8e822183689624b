//! What only the real disk can show: modes, other processes, memory use, odd directories.
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::Command;
use vfs::{OtherKind, RealStorage, Storage, StorageError};

const LOCK_DIRECTORY: &str = "SHORTTAIL_TEST_LOCK_DIRECTORY";

fn write(storage: &dyn Storage, name: &str, bytes: &[u8]) {
    let mut file = storage.create(name).unwrap();
    file.write_all(bytes).unwrap();
    file.finish().unwrap();
}

#[test]
fn a_lock_excludes_another_process() {
    let directory = tempfile::tempdir().unwrap();
    let storage = RealStorage::open(directory.path()).unwrap();
    let held = storage.lock("LOCK").unwrap();
    assert_eq!(another_process_sees(directory.path()), "locked");
    drop(held);
    assert_eq!(another_process_sees(directory.path()), "free");
    assert!(storage.lock("LOCK").is_ok());
}

/// What the test below finds, run in a process of its own.
fn another_process_sees(directory: &Path) -> String {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "takes_the_lock_where_asked", "--quiet"])
        .env(LOCK_DIRECTORY, directory)
        .output()
        .unwrap();
    assert!(status.status.success());
    fs::read_to_string(directory.join("seen")).unwrap()
}

/// The other process of the test above; does nothing in an ordinary run.
#[test]
fn takes_the_lock_where_asked() {
    let Some(directory) = std::env::var_os(LOCK_DIRECTORY) else {
        return;
    };
    let seen = match RealStorage::open(&directory).unwrap().lock("LOCK") {
        Ok(_) => "free",
        Err(StorageError::Locked { .. }) => "locked",
        Err(error) => panic!("{error}"),
    };
    fs::write(Path::new(&directory).join("seen"), seen).unwrap();
}

#[test]
#[cfg(unix)]
fn finished_files_are_read_only() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let storage = RealStorage::open(directory.path()).unwrap();
    write(&storage, "A", b"x");
    let mode = fs::metadata(directory.path().join("A"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o444);
    storage.rename("A", "B").unwrap();
    storage.remove("B").unwrap();
}

#[test]
fn directories_that_are_none_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    fs::write(&path, "x").unwrap();
    let missing = directory.path().join("missing");
    assert!(
        matches!(RealStorage::open(&missing), Err(StorageError::NotFound { path }) if path == missing)
    );
    let error = RealStorage::open(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotADirectory);
    assert!(RealStorage::create_directory(&path).is_err());
    assert!(RealStorage::create_directory(path.join("below")).is_err());
    let storage = RealStorage::create_directory(missing.join("twice")).unwrap();
    assert_eq!(storage.location(), missing.join("twice"));
    RealStorage::create_directory(missing.join("twice")).unwrap();
    fs::remove_dir(missing.join("twice")).unwrap();
    assert!(matches!(storage.list(), Err(StorageError::NotFound { .. })));
    assert!(matches!(
        storage.sync_directory(),
        Err(StorageError::NotFound { .. })
    ));
}

#[test]
fn what_is_not_a_file_is_not_listed_and_not_opened() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("folder")).unwrap();
    fs::write(directory.path().join("not valid"), "x").unwrap();
    fs::write(directory.path().join(".hidden"), "x").unwrap();
    let storage = RealStorage::open(directory.path()).unwrap();
    write(&storage, "A", b"x");
    std::os::unix::fs::symlink("A", directory.path().join("link")).unwrap();
    let fifo = rustix::fs::FileType::Fifo;
    let (here, mode) = (rustix::fs::CWD, rustix::fs::Mode::RUSR);
    rustix::fs::mknodat(here, directory.path().join("pipe"), fifo, mode, 0).unwrap();
    assert_eq!(storage.list().unwrap(), ["A"]);
    let others = storage.list_others().unwrap();
    let others: Vec<_> = others.iter().map(|o| (o.name.as_str(), o.kind)).collect();
    assert_eq!(
        others,
        [
            (".hidden", OtherKind::OddName),
            ("folder", OtherKind::Directory),
            ("link", OtherKind::Link),
            ("not valid", OtherKind::OddName),
            ("pipe", OtherKind::Fifo),
        ]
    );
    // None of these waits for somebody at the other end.
    assert!(storage.open("pipe").is_err());
    assert!(storage.lock("pipe").is_err());
    assert!(storage.is_locked("pipe").is_err());
    let text = storage.open("folder").unwrap_err().to_string();
    assert!(text.contains("folder: cannot open"), "{text}");
}

#[test]
#[cfg(target_os = "linux")]
fn released_pages_do_not_count_as_ours() {
    let directory = tempfile::tempdir().unwrap();
    let storage = RealStorage::open(directory.path()).unwrap();
    let bytes: Vec<u8> = (0..4_000_000u32).map(|i| (i >> 4) as u8).collect();
    write(&storage, "released", &bytes);
    let region = storage.open("released").unwrap();
    let path = directory.path().join("released");
    assert!(region[..] == bytes[..]);
    let (before_kib, slice) = (resident_kib(&path), &region[1_000_000..1_100_000]);
    region.release(0..region.len());
    assert!(before_kib >= 3_900, "{before_kib} KiB");
    assert_eq!(resident_kib(&path), 0);
    assert!(slice == &bytes[1_000_000..1_100_000]);
    assert!(region[..] == bytes[..]);
}

/// How much of a mapped file this process holds in memory.
#[cfg(target_os = "linux")]
fn resident_kib(path: &Path) -> u64 {
    let maps = fs::read_to_string("/proc/self/smaps").unwrap();
    let path = path.to_str().unwrap();
    let after = maps.lines().skip_while(|line| !line.ends_with(path));
    let resident = after
        .filter_map(|line| line.strip_prefix("Rss:"))
        .next()
        .unwrap();
    resident.trim().trim_end_matches(" kB").parse().unwrap()
}
