//! Tests of generations that are loaded, shared and verified once.
use super::*;
use index::{BuildOptions, Writer};
use std::sync::Mutex;
use vfs::{MemoryStorage, Preload};

fn commit(storage: &SharedStorage, number: usize) {
    commit_all(storage, number..number + 1);
}

fn commit_all(storage: &SharedStorage, numbers: Range<usize>) {
    let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
    for number in numbers {
        let document = document::Document {
            url: format!("http://s.example/{number}"),
            body: format!("words of a document and word{number}"),
            ..Default::default()
        };
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
}

/// Flips a byte of a stored file; open files keep their content.
fn flip(disk: &MemoryStorage, name: &str, at: usize) {
    let mut bytes = disk.read_raw(name).unwrap();
    bytes[at] ^= 1;
    disk.write_raw(name, bytes);
}

#[test]
fn a_reload_reads_nothing_of_what_stayed() {
    let preloading = || Preloading {
        options: PreloadOptions::new(Preload::Touch),
        chunks: 0..u32::MAX,
        parts: PreloadParts {
            index: true,
            texts: true,
        },
        on_report: Box::new(|_, _| {}),
    };
    for preloads in [false, true] {
        let disk = MemoryStorage::new();
        let storage: SharedStorage = Arc::new(disk.clone());
        commit_all(&storage, 0..2000);
        let generations = match preloads {
            false => Generations::open(storage.clone()),
            true => Generations::open_preloaded(storage.clone(), preloading()),
        };
        let generations = generations.unwrap();
        let verified = generations.newest().verified_bytes();
        commit(&storage, 2000);
        // A new opening of the file is refused.
        flip(&disk, "segment-00000001.index", 100);
        flip(&disk, "segment-00000001.documents", 100);
        assert!(Index::open(storage.clone()).is_err());
        let newest = generations.reload().unwrap();
        assert_eq!(newest.generation(), 2);
        let documents = newest.documents();
        for number in [7, 2000] {
            let url = format!("http://s.example/{number}");
            assert!(documents.document(&url).unwrap().is_some(), "{url}");
        }
        assert!(newest.verified_bytes() < verified + 100_000);
        // A writer is refused too.
        flip(&disk, "segment-00000001.index", 100);
        flip(&disk, "segment-00000001.documents", 100);
        // A new file is verified before it is served.
        commit(&storage, 2001);
        let texts = "segment-00000003.documents";
        flip(&disk, texts, 70);
        assert!(matches!(
            generations.reload(),
            Err(IndexError::Damaged { path, .. }) if path.ends_with(texts)
        ));
        assert_eq!(generations.newest().generation(), 2);
    }
}

#[test]
fn blocks_that_no_query_touched_are_verified_in_the_background() {
    let disk = MemoryStorage::new();
    let storage: SharedStorage = Arc::new(disk.clone());
    commit_all(&storage, 0..2000);
    let name = "segment-00000001.documents";
    flip(&disk, name, disk.read_raw(name).unwrap().len() / 2);
    let generations = Generations::open(storage).unwrap();
    assert_eq!(generations.untrusted_files_count(), 0);
    generations.verify_in_background(1 << 30).unwrap();
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while generations.untrusted_files_count() == 0 {
        assert!(std::time::Instant::now() < until, "nothing was found");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let index = generations.newest();
    let examined = (0..index.files_count()).filter_map(|number| index.examine(number));
    let damaged: Vec<_> = examined
        .filter(|(_, trust)| *trust != index::Trust::Trusted)
        .collect();
    assert!(matches!(&damaged[..], [(path, index::Trust::Damaged)] if path.ends_with(name)));
}

#[test]
fn a_reload_loads_as_the_start_did() {
    let storage: SharedStorage = Arc::new(MemoryStorage::new());
    commit(&storage, 1);
    let reports: Arc<Mutex<Vec<(u64, PreloadReport)>>> = Arc::default();
    let heard = Arc::clone(&reports);
    let preloading = Preloading {
        options: PreloadOptions::new(Preload::HugePages),
        chunks: 0..u32::MAX,
        parts: PreloadParts {
            index: true,
            texts: true,
        },
        on_report: Box::new(move |generation, report| {
            heard.lock().unwrap().push((generation, report.clone()));
        }),
    };
    let generations = Generations::open_preloaded(storage.clone(), preloading).unwrap();
    assert_eq!(generations.newest().generation(), 1);
    let known = || -> Vec<u64> {
        let reports = reports.lock().unwrap();
        reports.iter().map(|(generation, _)| *generation).collect()
    };
    assert_eq!(known(), [1]);
    // Without a newer generation nothing is loaded.
    assert_eq!(generations.reload().unwrap().generation(), 1);
    assert_eq!(known(), [1]);
    commit(&storage, 2);
    assert_eq!(generations.reload().unwrap().generation(), 2);
    assert_eq!(known(), [1, 2]);
    let (newest, before) = generations.held();
    assert_eq!(newest.statistics().documents_count(), 2);
    assert_eq!(before.unwrap().statistics().documents_count(), 1);
    let reports = reports.lock().unwrap();
    for (_, report) in &*reports {
        assert_eq!(report.asked, Preload::HugePages);
        assert!(report.files_count > 0 && report.bytes > 0, "{report}");
    }
    assert!(reports[1].1.files_count > reports[0].1.files_count);
}
