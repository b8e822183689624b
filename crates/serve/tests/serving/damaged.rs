//! Changes to files of a served index while they are open.
use crate::catalog::{build, documents, found};
use crate::corpus::{RUNTIME, document};
use crate::http::{Running, options};
use crate::writing::send;
use index::{BuildOptions, Writer};
use serve::{
    CatalogOptions, Cluster, FrontEnd, FrontEndOptions, Generations, HandlerOptions, SearchOptions,
    Server, Topology, io_runtime,
};
use std::fs::{self, OpenOptions, Permissions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use vfs::{RealFolder, RealStorage, SharedStorage};
use wire::SearchAnswer;

/// Two partitions on disk, served in this process, with a cache.
struct Bed {
    directory: TempDir,
    generations: Arc<Generations>,
    front_end: FrontEnd,
}

impl Bed {
    fn new() -> Bed {
        let directory = tempfile::tempdir().unwrap();
        let storage: SharedStorage = Arc::new(RealStorage::open(directory.path()).unwrap());
        let options = BuildOptions {
            chunks: Some(2),
            partitions: Some(2),
            ..BuildOptions::default()
        };
        let mut writer = Writer::open(storage.clone(), options).unwrap();
        for number in 0..100 {
            writer.add(document(number, (number % 5) as u8, 1)).unwrap();
        }
        writer.commit().unwrap();
        let generations = Generations::open(storage).unwrap();
        let topology = Topology {
            partitions: 2,
            handlers: 1,
            queue_length: 0,
        };
        let cluster =
            Cluster::in_process(&generations, &topology, &[], &HandlerOptions::default()).unwrap();
        let options = FrontEndOptions {
            cache_bytes: 1 << 20,
            ..FrontEndOptions::default()
        };
        Bed {
            directory,
            generations,
            front_end: FrontEnd::new(cluster, options),
        }
    }

    fn search(&self, k: usize) -> SearchAnswer {
        let options = SearchOptions {
            k,
            per_site: 0,
            ..SearchOptions::default()
        };
        RUNTIME
            .block_on(self.front_end.search("alpha", &options))
            .unwrap()
    }

    /// Returns the path of the first file of a kind, made writable.
    fn file(&self, kind: &str) -> PathBuf {
        file(self.directory.path(), kind)
    }
}

/// Returns the path of the first file of a kind in a directory, made writable.
fn file(directory: &Path, kind: &str) -> PathBuf {
    let files = fs::read_dir(directory).unwrap();
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    let path = paths
        .into_iter()
        .find(|path| path.extension().is_some_and(|end| end == kind));
    let path = path.unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    path
}

fn overwrite(path: &PathBuf, bytes: &[u8]) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(bytes, 0).unwrap();
}

#[test]
fn an_overwritten_segment_is_named_and_taken_in_again_when_restored() {
    let bed = Bed::new();
    let whole = bed.search(100);
    assert_eq!(whole.hits.len(), 100);
    let path = bed.file("index");
    let good = fs::read(&path).unwrap();
    overwrite(&path, &vec![0x5a; good.len()]);
    for k in [99, 98, 99] {
        let answer = bed.search(k);
        assert!(answer.hits.len() < 90, "{}", answer.hits.len());
        assert!(answer.hits.iter().all(|hit| whole.hits.contains(hit)));
        assert!(answer.coverage < 1.0);
        assert!(
            answer.degraded.iter().any(|one| one.reason == "damaged"),
            "{:?}",
            answer.degraded
        );
    }
    assert!(
        RUNTIME.block_on(bed.front_end.reload()).is_err(),
        "still damaged"
    );
    let restored = path.with_extension("restored");
    fs::write(&restored, &good).unwrap();
    fs::rename(&restored, &path).unwrap();
    RUNTIME.block_on(bed.front_end.reload()).unwrap();
    // No answer that lacked a part was cached.
    for k in [99, 98] {
        let answer = bed.search(k);
        assert_eq!((answer.hits.len(), answer.degraded.len()), (k, 0));
    }
}

#[test]
fn truncated_texts_cost_summaries_and_documents_only() {
    let bed = Bed::new();
    let whole = bed.search(10);
    let path = bed.file("documents");
    OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(0)
        .unwrap();
    let answer = bed.search(9);
    assert_eq!(answer.hits.len(), 9);
    for (hit, known) in answer.hits.iter().zip(&whole.hits) {
        assert_eq!((&hit.url, hit.score), (&known.url, known.score));
    }
    let lacks = |one: &wire::answer::Degraded| (one.lacks.clone(), one.reason.clone());
    let degraded: Vec<_> = answer.degraded.iter().map(lacks).collect();
    assert_eq!(degraded, [("summaries".to_owned(), "damaged".to_owned())]);
    let found: Vec<bool> = whole
        .hits
        .iter()
        .map(
            |hit| match RUNTIME.block_on(bed.front_end.document(&hit.url)) {
                Ok(document) => document.is_some(),
                Err(error) => panic_unless_damage(&error.to_string()),
            },
        )
        .collect();
    assert!(found.contains(&true) && found.contains(&false), "{found:?}");
}

fn panic_unless_damage(error: &str) -> bool {
    assert!(error.contains("documents: byte 0"), "{error}");
    false
}

#[test]
fn a_touched_file_is_trusted_again_in_the_background() {
    let bed = Bed::new();
    bed.generations.verify_in_background(0).unwrap();
    fs::set_permissions(bed.file("index"), Permissions::from_mode(0o640)).unwrap();
    let begun = Instant::now();
    while !bed.search(10).degraded.is_empty() {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "suspect for good"
        );
        std::thread::yield_now();
    }
    assert_eq!(bed.search(100).hits.len(), 100);
}

#[test]
fn the_indexes_of_a_folder_are_verified_in_the_background_by_one_thread() {
    let directory = tempfile::tempdir().unwrap();
    let folder = Arc::new(RealFolder::open(directory.path()).unwrap());
    for (site, name) in ["mail", "news", "wiki"].into_iter().enumerate() {
        build(&*folder, name, &documents(site as u8, 30));
    }
    let catalog = CatalogOptions {
        verify_bytes_per_s: Some(1 << 30),
        ..CatalogOptions::new(folder)
    };
    let (options, handlers) = (options(1), HandlerOptions::default());
    let server = Server::bind_catalog(catalog, &options, &handlers, io_runtime().unwrap());
    let server = Running::of(server.unwrap());
    for name in ["mail", "news", "wiki"] {
        assert_eq!(found(&server, name, "alpha"), 30);
    }
    let path = file(&directory.path().join("news"), "documents");
    overwrite(&path, &[0x5a; 64]);
    // No request meets the damage.
    let damaged =
        |name: &str, count: u32| format!("shorttail_damaged_files{{index=\"{name}\"}} {count}");
    let begun = Instant::now();
    let metrics = loop {
        let metrics = send(&server, "GET", "/metrics", "", b"").body;
        if metrics.contains(&damaged("news", 1)) {
            break metrics;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{metrics}");
        std::thread::sleep(Duration::from_millis(20));
    };
    for name in ["mail", "wiki"] {
        assert!(metrics.contains(&damaged(name, 0)), "{metrics}");
        assert_eq!(found(&server, name, "alpha"), 30);
    }
}
