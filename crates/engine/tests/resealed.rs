//! Files with wrong bytes and right checksums, as a faulty program would write them: opening, checking and searching
//! give errors or answers, and neither panic nor take long. With `SHORTTAIL_FULL=1` for minutes.

use document::Document;
use engine::{Engine, Operator, SearchOptions};
use index::{BuildOptions, OptimizeOptions, Order, Pairs, Writer, check, optimize};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use testkit::size;
use vfs::{MemoryStorage, SharedStorage, Storage};

const HEADER_BYTES: usize = 64;
const TAIL_BYTES: usize = 24;
const BLOCK_BYTES: usize = 4096;

/// Longest time of one file: milliseconds here.
const PATIENCE: Duration = Duration::from_secs(10);

/// Memory of the process at most, in kB.
const RESIDENT_KB_MAX: u64 = 512 << 10;

const QUERIES: [&str; 12] = [
    "common",
    "common w3",
    "w1 OR w2 OR w5",
    "\"common words\"",
    "\"w1 common\"~4",
    "title:t2",
    "w*",
    "common -w4",
    "site:site-1.test",
    "common n:<20",
    "k:b* OR d:2024-02",
    "s:and w2",
];

/// Returns an index with every kind of file: the second segment has deletions, and the first is reordered.
fn built() -> MemoryStorage {
    let disk = MemoryStorage::new();
    let storage: SharedStorage = Arc::new(disk.clone());
    let commit = |numbers: std::ops::Range<u64>, version: u64| {
        let options = BuildOptions {
            chunks: Some(2),
            partitions: Some(1),
            pairs: Some(Pairs::All),
            small_terms_max: Some(0),
            ..BuildOptions::default()
        };
        let mut writer = Writer::open(storage.clone(), options).unwrap();
        for number in numbers {
            writer.add(document(number, version)).unwrap();
        }
        writer.commit().unwrap();
    };
    commit(0..300, 0);
    let order = OptimizeOptions {
        order: Some(Order::Url),
        ..OptimizeOptions::default()
    };
    optimize(storage.clone(), &order, &|_| {}).unwrap();
    commit(280..320, 1);
    commit(5..9, 2);
    disk
}

fn document(number: u64, version: u64) -> Document {
    let keyword = ["a", "b", "bc"][number as usize % 3];
    Document {
        url: format!("http://site-{}.test/{number}", number % 5),
        title: format!("t{} of {version}", number % 7),
        body: format!("common words and w{} ", number % 11).repeat(1 + number as usize % 4)
            + &format!("own{number}"),
        fields: serde_json::from_value(serde_json::json!({
            "n": number,
            "k": keyword,
            "d": format!("2024-{:02}-11", number % 12 + 1),
            "f": number as f64 / 8.0,
            "s": format!("w{} {}", number % 13, "and so on ".repeat(9)),
        }))
        .unwrap(),
        ..Document::default()
    }
}

/// Writes a file with the checksums that its bytes should have.
fn reseal(bytes: &mut [u8]) -> u32 {
    let tail = bytes.len() - TAIL_BYTES;
    let payload_bytes = u64::from_le_bytes(bytes[tail..tail + 8].try_into().unwrap()) as usize;
    let content = HEADER_BYTES + payload_bytes;
    let sums: Vec<u8> = bytes[..content]
        .chunks(BLOCK_BYTES)
        .flat_map(|block| crc32fast::hash(block).to_le_bytes())
        .collect();
    bytes[content..content + sums.len()].copy_from_slice(&sums);
    let sum = crc32fast::hash(&bytes[content..tail + 12]);
    bytes[tail + 12..tail + 16].copy_from_slice(&sum.to_le_bytes());
    sum
}

fn sum_of(bytes: &[u8]) -> u32 {
    let at = bytes.len() - TAIL_BYTES + 12;
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Replaces a file, and its seal in the manifest.
fn replace(disk: &MemoryStorage, manifest: &str, name: &str, mut bytes: Vec<u8>) {
    let before = sum_of(&disk.read_raw(name).unwrap());
    let after = reseal(&mut bytes);
    disk.write_raw(name, bytes);
    if name == manifest {
        return;
    }
    let whole = disk.read_raw(manifest).unwrap();
    let payload = &whole[HEADER_BYTES..whole.len() - TAIL_BYTES - 4];
    let text = String::from_utf8(payload.to_vec()).unwrap();
    let text = text.replace(
        &format!("\"checksum\": {before}"),
        &format!("\"checksum\": {after}"),
    );
    let mut bytes = whole[..HEADER_BYTES].to_vec();
    bytes.extend_from_slice(text.as_bytes());
    let blocks = bytes.len().div_ceil(BLOCK_BYTES);
    bytes.resize(bytes.len() + blocks * 4, 0);
    bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&(blocks as u32).to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&whole[whole.len() - 8..]);
    reseal(&mut bytes);
    disk.write_raw(manifest, bytes);
}

/// Returns whether the index could be opened and every query answered.
fn use_index(disk: &MemoryStorage) -> (bool, bool) {
    let storage: SharedStorage = Arc::new(disk.clone());
    let is_good = check(storage.clone(), 10).is_ok_and(|(_, damages)| damages.is_empty());
    let Ok(engine) = Engine::open_in(storage) else {
        return (false, is_good);
    };
    let mut answered = true;
    let ways = [
        (Operator::And, ""),
        (Operator::Or, "n:desc"),
        (Operator::Auto, ""),
    ];
    for (query, (operator, sort)) in QUERIES.into_iter().zip(ways.into_iter().cycle()) {
        let options = SearchOptions {
            k: 20,
            operator,
            explain: true,
            sort: sort.to_owned(),
            facets: [
                "k",
                "n:stats",
                "d:month",
                "site",
                "k:terms:3{d:day{k,n:step:1}}",
            ]
            .map(String::from)
            .to_vec(),
            ..SearchOptions::default()
        };
        answered &= engine.search(query, &options).is_ok();
    }
    (answered, is_good)
}

/// Draws numbers.
fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |below| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    }
}

/// Changes some bytes of a file.
fn mutate(bytes: &mut [u8], next: &mut impl FnMut(usize) -> usize) {
    let payload = HEADER_BYTES..bytes.len() - TAIL_BYTES - 4 * bytes.len().div_ceil(BLOCK_BYTES);
    for _ in 0..=next(3) {
        // The ends of a file have its tables.
        let at = match next(3) {
            0 => payload.start + next(payload.len().min(200)),
            1 => payload.end - 1 - next(payload.len().min(200)),
            _ => payload.start + next(payload.len()),
        };
        bytes[at] = match next(6) {
            0 => 0,
            1 => 0xff,
            2 => bytes[at].wrapping_add(1),
            3 => bytes[at].wrapping_sub(1),
            4 => bytes[at] ^ 1 << next(8),
            _ => next(256) as u8,
        };
    }
}

#[test]
fn wrong_bytes_with_right_checksums_neither_panic_nor_take_long() {
    let disk = built();
    assert_eq!(use_index(&disk), (true, true));
    let newest = disk.files().into_iter();
    let manifest = newest
        .filter(|name| name.starts_with("MANIFEST-"))
        .max()
        .unwrap();
    let text = String::from_utf8_lossy(&disk.read_raw(&manifest).unwrap()).into_owned();
    let mut names = disk.files();
    names.retain(|name| *name == manifest || text.contains(&format!("\"{name}\"")));
    for kind in [
        ".index",
        ".documents",
        ".pairs",
        ".columns",
        ".deletions",
        "statistics",
    ] {
        assert!(
            names.iter().any(|name| name.contains(kind)),
            "{kind}: {names:?}"
        );
    }
    let kept: Vec<(String, Vec<u8>)> = names
        .iter()
        .map(|name| (name.clone(), disk.read_raw(name).unwrap()))
        .collect();
    // The new checksums are right: with the same bytes all is well.
    for (name, bytes) in &kept {
        replace(&disk, &manifest, name, bytes.clone());
    }
    assert_eq!(use_index(&disk), (true, true));
    let (mut answered, mut found, mut slowest) = (0, 0, Duration::ZERO);
    let files = size(40, 12_000);
    for seed in 0..files {
        let mut next = random(seed);
        let (name, good) = &kept[next(kept.len())];
        let mut bytes = good.clone();
        mutate(&mut bytes, &mut next);
        replace(&disk, &manifest, name, bytes);
        let begun = Instant::now();
        let used = catch_unwind(AssertUnwindSafe(|| use_index(&disk)));
        let took = begun.elapsed();
        slowest = slowest.max(took);
        let Ok((is_answered, is_good)) = used else {
            panic!("seed {seed}: {name} makes it panic");
        };
        assert!(took < PATIENCE, "seed {seed}: {name} took {took:?}");
        answered += usize::from(is_answered);
        found += usize::from(!is_good);
        disk.write_raw(name, good.clone());
        let (name, good) = kept.iter().find(|(name, _)| *name == manifest).unwrap();
        disk.write_raw(name, good.clone());
        // The disk forgets what has no name any more.
        disk.sync_directory().unwrap();
    }
    let resident = resident_peak_kb();
    println!(
        "{files} files, {found} found by a check, {answered} answered, slowest {slowest:?}, {resident} kB"
    );
    assert!(
        found as u64 > files / 4 && answered as u64 > files / 20,
        "{found} {answered}"
    );
    assert!(resident < RESIDENT_KB_MAX, "{resident} kB");
}

fn resident_peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}
