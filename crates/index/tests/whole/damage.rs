//! Flipped bytes, truncated, missing and exchanged files: all are refused. With `SHORTTAIL_FULL=1` at the sizes of
//! docs/reliability.md.

use crate::versions::small_index;
use index::{Index, IndexError, check};
use std::sync::Arc;
use testkit::size;
use vfs::{MemoryStorage, SharedStorage, Storage};

fn refused(disk: &MemoryStorage, name: &str, what: &str) {
    let shared: SharedStorage = Arc::new(disk.clone());
    match Index::open(shared.clone()) {
        Err(IndexError::Damaged { path, offset, .. }) => {
            let length = disk.read_raw(name).map_or(0, |bytes| bytes.len() as u64);
            assert!(
                path.ends_with(name) && offset <= length,
                "{what}: {} {offset}",
                path.display()
            );
        }
        Err(other) => panic!("{what}: {other}"),
        Ok(_) => panic!("{what}: opened"),
    }
    let (_, damages) = check(shared, 10).unwrap();
    assert!(!damages.is_empty(), "{what}: check found nothing");
}

#[test]
fn every_flipped_byte_is_refused_by_name_and_offset() {
    let disk = small_index();
    let newest = Index::open(Arc::new(disk.clone())).unwrap().generation();
    let mut flipped = 0;
    for name in live_files(&disk, newest) {
        let good = disk.read_raw(&name).unwrap();
        for at in 0..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << (at % 8);
            disk.write_raw(&name, bytes);
            // `check` runs only now and then, because it shares the verification that refuses.
            if at % size(101, 1) == 0 {
                refused(&disk, &name, &format!("{name}: byte {at} flipped"));
            } else {
                let opened = Index::open(Arc::new(disk.clone()));
                let found = matches!(&opened, Err(IndexError::Damaged { path, .. })
                    if path.ends_with(&name));
                assert!(found, "{name}: byte {at} flipped: {:?}", opened.err());
            }
        }
        flipped += good.len();
        disk.write_raw(&name, good);
    }
    println!("{flipped} bytes flipped");
    assert!(Index::open(Arc::new(disk)).is_ok());
}

#[test]
fn every_truncation_missing_file_and_swap_is_refused() {
    let disk = small_index();
    let newest = Index::open(Arc::new(disk.clone())).unwrap().generation();
    let names = live_files(&disk, newest);
    let (mut lengths, mut swaps) = (0, 0);
    for name in &names {
        let good = disk.read_raw(name).unwrap();
        let is_tried =
            |length: &usize| length.is_multiple_of(size(17, 1)) || good.len() - length < 40;
        for length in (0..good.len()).filter(is_tried) {
            disk.write_raw(name, &good[..length]);
            refused(&disk, name, &format!("{name}: cut to {length} bytes"));
            lengths += 1;
        }
        disk.write_raw(name, [&good[..], b"junk"].concat());
        refused(&disk, name, &format!("{name}: junk at the end"));
        // Files of this generation, of the one before, and of other indexes of the same documents.
        for other in disk.files().iter().filter(|other| *other != name) {
            disk.write_raw(name, disk.read_raw(other).unwrap());
            refused(&disk, name, &format!("{name}: replaced by {other}"));
            swaps += 1;
        }
        for index in 0..size(1, 20) {
            let other = small_index();
            disk.write_raw(name, other.read_raw(name).unwrap());
            refused_somewhere(&disk, &format!("{name}: of another index, {index}"));
            swaps += 1;
        }
        if !name.starts_with("MANIFEST") {
            Storage::remove(&disk, name).unwrap();
            refused(&disk, name, &format!("{name}: removed"));
        }
        disk.write_raw(name, good);
    }
    println!(
        "{lengths} lengths and {swaps} swaps of {} files",
        names.len()
    );
    assert!(Index::open(Arc::new(disk)).is_ok());
}

/// Asserts that an index is refused, whichever of its files is taken for the damaged one: with the manifest of another
/// index, it is all others.
fn refused_somewhere(disk: &MemoryStorage, what: &str) {
    let shared: SharedStorage = Arc::new(disk.clone());
    let opened = Index::open(shared.clone());
    let is_damaged = matches!(opened, Err(IndexError::Damaged { .. }));
    assert!(is_damaged, "{what}: {:?}", opened.err());
    let (_, damages) = check(shared, 10).unwrap();
    assert!(!damages.is_empty(), "{what}: check found nothing");
}

/// Returns the files that the newest generation needs.
fn live_files(disk: &MemoryStorage, newest: u64) -> Vec<String> {
    let manifest = disk.read_raw(&format!("MANIFEST-{newest}")).unwrap();
    let text = String::from_utf8_lossy(&manifest).into_owned();
    let live = |name: &String| text.contains(&format!("\"{name}\""));
    let mut names: Vec<String> = disk.files().into_iter().filter(live).collect();
    names.push(format!("MANIFEST-{newest}"));
    for kind in [
        "segment-",
        "statistics-",
        ".index",
        ".documents",
        ".pairs",
        ".columns",
        ".deletions",
    ] {
        assert!(
            names.iter().any(|name| name.contains(kind)),
            "{kind}: {names:?}"
        );
    }
    names
}
