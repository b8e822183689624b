//! Tests of fetched files: what is read, by how many reads, by several threads, after failures.
use crate::{MemoryStorage, ReadFault, Region, Storage, UnmappedStorage};
use std::sync::Arc;

fn content(bytes: usize) -> Vec<u8> {
    (0..bytes as u32)
        .map(|i| (i.wrapping_mul(i) >> 9) as u8)
        .collect()
}

fn opened(bytes: &[u8]) -> (UnmappedStorage, Region) {
    let disk = MemoryStorage::new();
    disk.write_raw("a", bytes);
    let storage = UnmappedStorage::new(Arc::new(disk));
    let region = storage.open_lazy("a").unwrap();
    (storage, region)
}

#[test]
fn nothing_is_read_before_it_is_fetched_and_then_once() {
    let bytes = content(1_000_003);
    let (storage, region) = opened(&bytes);
    assert_eq!(region.len(), bytes.len());
    assert_eq!(storage.bytes_read(), 0);
    if !region.is_fetched() {
        return;
    }
    let reads = storage.reads();
    region.fetch(5000..5001).unwrap();
    assert_eq!((storage.reads() - reads, storage.bytes_read()), (1, 4096));
    assert!(region[4096..8192] == bytes[4096..8192]);
    assert!(region[8192..12_288].iter().all(|&byte| byte == 0));
    region.fetch(4096..8192).unwrap();
    region.fetch(7..7).unwrap();
    assert_eq!((storage.reads() - reads, storage.bytes_read()), (1, 4096));
    region.fetch(999_999..usize::MAX).unwrap();
    assert!(region[999_999..] == bytes[999_999..]);
    region.fetch(0..usize::MAX).unwrap();
    assert!(region[..] == bytes[..]);
    assert_eq!(storage.bytes_read(), bytes.len() as u64);
    region.fetch(usize::MAX..usize::MAX).unwrap();
}

#[test]
fn a_failed_read_fails_no_later_one() {
    let bytes = content(100_000);
    for fault in [ReadFault::Unavailable, ReadFault::Short] {
        let (storage, region) = opened(&bytes);
        if !region.is_fetched() {
            return;
        }
        storage.fail_each(2, fault);
        let mut failed = 0;
        for at in (0..bytes.len()).step_by(3000).chain([99_999]) {
            while let Err(error) = region.fetch(at..at + 1) {
                assert!(error.is_transient(), "{error}");
                failed += 1;
            }
            assert_eq!(region[at], bytes[at]);
        }
        assert!(failed > 3);
    }
}

#[test]
fn a_damaged_copy_is_replaced() {
    let bytes = content(20_000);
    let (storage, region) = opened(&bytes);
    if !region.is_fetched() {
        return;
    }
    storage.fail_once(storage.reads(), ReadFault::Damaged);
    region.fetch(4096..8192).unwrap();
    assert!(region[4096..8192] != bytes[4096..8192]);
    assert!(region.refetch(4096..8192).unwrap());
    assert!(region[4096..8192] == bytes[4096..8192]);
    assert!(!Region::new(bytes).refetch(0..1).unwrap());
}

#[test]
fn threads_see_whole_blocks_and_fetch_each_once() {
    let bytes = content(2_000_000);
    let (storage, region) = opened(&bytes);
    std::thread::scope(|scope| {
        for thread in 0..4usize {
            let (region, bytes) = (region.clone(), &bytes);
            scope.spawn(move || {
                for step in 0..4000 {
                    let at = (step * (thread * 2 + 7919) * 31) % bytes.len();
                    let end = bytes.len().min(at + step % 9000);
                    region.fetch(at..end).unwrap();
                    assert!(region[at..end] == bytes[at..end]);
                }
            });
        }
    });
    assert!(storage.bytes_read() <= bytes.len() as u64);
}
