//! What only the real disk can show: modes, other processes, memory use, odd directories.
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::Command;
use vfs::{Change, OtherKind, RealStorage, Storage, StorageError};

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
    // The kernel takes no folders there, and says that it is not found.
    let refused = RealStorage::create_directory("/proc/x").unwrap_err();
    assert!(
        refused.to_string().starts_with("/proc/x: cannot create"),
        "{refused}"
    );
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

/// A file's region, what to do to the file, and what that looks like.
#[cfg(unix)]
fn check_change(change: impl Fn(&Path), expected: Change) {
    let directory = tempfile::tempdir().unwrap();
    let storage = RealStorage::open(directory.path()).unwrap();
    write(&storage, "A", &[7; 10_000]);
    let path = directory.path().join("A");
    let settles = storage.open("A").unwrap().source().unwrap().at_open();
    std::thread::sleep(settles.unsettled_for());
    let region = storage.open("A").unwrap();
    let source = region.source().unwrap();
    let before = source.at_open();
    assert_eq!(before.unsettled_for(), std::time::Duration::ZERO);
    assert_eq!(before.change(source.now().unwrap().as_ref()), Change::None);
    change(&path);
    assert_eq!(before.change(source.now().unwrap().as_ref()), expected);
    let is_cut = fs::metadata(&path).is_ok_and(|metadata| metadata.len() < 5_000);
    let is_same = expected == Change::Links;
    assert!(is_cut || !is_same || region[..] == [7; 10_000]);
}

#[test]
#[cfg(unix)]
fn changes_of_a_mapped_file_are_seen() {
    let open = |path: &Path| fs::OpenOptions::new().write(true).open(path).unwrap();
    let rights = |path: &Path, mode| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let overwrite = |path: &Path, at| {
        rights(path, 0o644);
        let file = open(path);
        std::os::unix::fs::FileExt::write_at(&file, b"x", at).unwrap();
    };
    check_change(|_| (), Change::None);
    check_change(|path| drop(fs::read(path)), Change::None);
    check_change(|path| overwrite(path, 0), Change::Content);
    check_change(|path| overwrite(path, 20_000), Change::Content);
    check_change(|path| rights(path, 0o644), Change::Content);
    let cut = |path: &Path| {
        rights(path, 0o644);
        open(path).set_len(100).unwrap();
    };
    check_change(cut, Change::Content);
    // With the old time put back.
    let hide = |path: &Path| {
        let modified = fs::metadata(path).unwrap().modified().unwrap();
        overwrite(path, 5);
        open(path).set_modified(modified).unwrap();
    };
    check_change(hide, Change::Content);
    check_change(|path| fs::remove_file(path).unwrap(), Change::Links);
    let link = |path: &Path| fs::hard_link(path, path.with_file_name("B")).unwrap();
    check_change(link, Change::Links);
    let replace = |path: &Path| {
        fs::write(path.with_file_name("B"), "other").unwrap();
        fs::rename(path.with_file_name("B"), path).unwrap();
    };
    check_change(replace, Change::Links);
    // Overwritten first: that the name is another file's now does not hide it.
    let both = |path: &Path| {
        overwrite(path, 5);
        replace(path);
    };
    check_change(both, Change::Content);
}

#[test]
#[cfg(target_os = "linux")]
fn a_truncated_file_reads_as_zeros_and_says_so() {
    vfs::survive_lost_pages();
    let directory = tempfile::tempdir().unwrap();
    let storage = RealStorage::open(directory.path()).unwrap();
    write(&storage, "A", &[7; 1 << 16]);
    let region = storage.open("A").unwrap();
    let touched = vfs::PreloadOptions::new(vfs::Preload::Touch);
    let go_on = &mut |_| std::ops::ControlFlow::Continue(());
    let mut loaded = |options| {
        let storage = std::sync::Arc::new(storage.clone());
        vfs::PreloadedStorage::load(storage, &["A".to_owned()], &options, go_on).unwrap()
    };
    let touched = loaded(touched).open("A").unwrap();
    fs::remove_file(directory.path().join("A")).unwrap();
    assert!(
        region.iter().all(|&byte| byte == 7),
        "removed is not truncated"
    );
    write(&storage, "A", &[7; 1 << 16]);
    let (region, other) = (storage.open("A").unwrap(), region);
    let mut file = fs::OpenOptions::new();
    file.write(true).truncate(true);
    file.open(directory.path().join("A")).unwrap();
    assert!(!region.has_faulted());
    assert!(region.iter().all(|&byte| byte == 0));
    assert!(region.has_faulted());
    region.release(0..region.len());
    assert!(region.iter().all(|&byte| byte == 0));
    assert!(!other.has_faulted() && !touched.has_faulted());
    assert!(touched.iter().all(|&byte| byte == 7));
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
