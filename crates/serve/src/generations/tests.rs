//! Is every generation loaded before it is served, and none twice?
use super::*;
use index::{BuildOptions, Writer};
use std::sync::Mutex;
use vfs::{MemoryStorage, Preload};

fn commit(storage: &SharedStorage, number: usize) {
    let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
    let document = corpus::Document {
        url: format!("http://s.example/{number}"),
        body: "words of a document".into(),
        ..Default::default()
    };
    writer.add(document).unwrap();
    writer.commit().unwrap();
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
    // Nothing new: nothing is loaded.
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
