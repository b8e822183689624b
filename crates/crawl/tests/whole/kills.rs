//! Crawls that are killed: the index in the end is that of one that was not.

use super::served::{Served, asked, crawl, documents, documents_count, plain, wait_for};
use index::Index;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use vfs::{RealStorage, SharedStorage};

/// Set for the process that crawls: the folder, and the URL to begin with.
const CHILD: &str = "CRAWL_TEST_CHILD";
/// Kills, and hosts of the web, unless the environment says otherwise: 500 and 1,300 make 20,000 pages.
const KILLS: usize = 10;
const HOSTS: u32 = 24;

/// Requests of a process, at most, before it is killed: twice those after which the state of a crawl is synced.
const REQUESTS_MAX: usize = 600;

fn storages(folder: &Path) -> (SharedStorage, SharedStorage) {
    let storage = |name| Arc::new(RealStorage::create_directory(folder.join(name)).unwrap());
    (storage("crawl"), storage("index"))
}

/// Crawls where the environment asks for it: the other process of the test below.
#[test]
fn child_that_is_killed() {
    let Ok(asked) = std::env::var(CHILD) else {
        return;
    };
    let (folder, seed) = asked.split_once('\n').unwrap();
    let (storage, index) = storages(Path::new(folder));
    crawl(seed.to_owned(), &storage, &index);
}

fn child(folder: &Path, seed: &str) -> Child {
    let asked = format!("{}\n{seed}", folder.display());
    Command::new(std::env::current_exe().unwrap())
        .args(["kills::child_that_is_killed", "--exact"])
        .env(CHILD, asked)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn killed_crawls_lose_nothing() {
    let (kills, hosts) = (asked("CRAWL_KILLS", KILLS), asked("CRAWL_HOSTS", HOSTS));
    let served = Served::start(plain(hosts, 15.0));
    let seed = served.web.seeds_url();
    let (whole, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (storage, index) = storages(whole.path());
    crawl(seed.clone(), &storage, &index);
    let expected = served.expected();
    let pages = served.requests_count();

    for kill in 0..kills {
        let before = served.requests_count();
        let mut child = child(killed.path(), &seed);
        // At the start, in the middle, and near the end; of a large crawl before and after its state is synced.
        let requests = before + 1 + kill * pages.min(REQUESTS_MAX) / kills;
        wait_for("requests", || {
            served.requests_count() >= requests || child.try_wait().unwrap().is_some()
        });
        // It may have ended by itself.
        let _ = child.kill();
        child.wait().unwrap();
    }
    let (storage, index_of_killed) = storages(killed.path());
    crawl(seed, &storage, &index_of_killed);
    assert!(
        Index::newest_generation(&index_of_killed)
            .unwrap()
            .is_some()
    );
    let (one, other) = (
        documents(&index, &expected),
        documents(&index_of_killed, &expected),
    );
    for (url, document) in &one {
        assert_eq!(other.get(url), Some(document), "{url}");
    }
    assert_eq!(one.len(), expected.len());
    assert_eq!(documents_count(&index), documents_count(&index_of_killed));
}
