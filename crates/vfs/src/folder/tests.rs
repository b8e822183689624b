use super::*;
use std::io::Write;

fn write(storage: &SharedStorage, name: &str, bytes: &[u8]) {
    let mut file = storage.create(name).unwrap();
    file.write_all(bytes).unwrap();
    file.finish().unwrap();
}

/// What every folder does.
fn behaves(folder: &dyn StorageFolder) {
    assert!(folder.list().unwrap().is_empty());
    assert!(folder.open("news").unwrap().is_none());
    folder.remove("news").unwrap();
    let news = folder.create("news").unwrap();
    write(&news, "a", b"1");
    // Created once more, it is the same one.
    assert_eq!(folder.create("news").unwrap().list().unwrap(), ["a"]);
    folder.create("Bücher-2.old_").unwrap();
    assert_eq!(folder.list().unwrap(), ["Bücher-2.old_", "news"]);
    let open = news.open("a").unwrap();
    folder.remove("news").unwrap();
    assert_eq!(&open[..], b"1");
    assert!(folder.open("news").unwrap().is_none());
    let news = folder.create("news").unwrap();
    assert!(news.list().unwrap().is_empty());
    let long = "a".repeat(STORAGE_NAME_BYTES_MAX + 1);
    for name in [
        "", ".", "..", "a/b", "/etc", "-a", "_a", ".a", "a b", "a\0", "a\\b", "a%2e", &long,
    ] {
        assert!(folder.open(name).is_err(), "{name:?}");
        assert!(folder.create(name).is_err(), "{name:?}");
        assert!(folder.remove(name).is_err(), "{name:?}");
    }
    let long = &long[1..];
    folder.create(long).unwrap();
    folder.remove(long).unwrap();
    assert_eq!(folder.list().unwrap(), ["Bücher-2.old_", "news"]);
}

#[test]
fn folders_in_memory_and_on_disk_behave_alike() {
    behaves(&MemoryFolder::default());
    let directory = tempfile::tempdir().unwrap();
    behaves(&RealFolder::open(directory.path()).unwrap());
}

#[cfg(unix)]
#[test]
fn other_entries_are_no_storages_and_an_interrupted_removal_ends_later() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    std::fs::write(at("file"), "x").unwrap();
    std::fs::create_dir(at("with space")).unwrap();
    std::fs::create_dir_all(at(".removed-1-0-news")).unwrap();
    std::fs::write(at(".removed-1-0-news/a"), "x").unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("kept"), "x").unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), at("linked")).unwrap();
    std::os::unix::fs::symlink("nowhere", at("broken")).unwrap();
    let folder = RealFolder::open(directory.path()).unwrap();
    // Only where that is asked for, and never what has another name.
    std::fs::create_dir(at(".removed-news")).unwrap();
    assert!(at(".removed-1-0-news").exists());
    folder.end_removals().unwrap();
    assert!(!at(".removed-1-0-news").exists() && at(".removed-news").exists());
    assert_eq!(folder.list().unwrap(), ["linked"]);
    assert!(folder.open("file").unwrap().is_none());
    assert!(folder.open("broken").unwrap().is_none());
    let linked = folder.open("linked").unwrap().unwrap();
    assert_eq!(linked.list().unwrap(), ["kept"]);
    // The link goes, what it leads to stays.
    folder.remove("linked").unwrap();
    assert!(folder.list().unwrap().is_empty());
    assert!(elsewhere.path().join("kept").exists());
    assert!(RealFolder::open(at("file")).is_err());
}
