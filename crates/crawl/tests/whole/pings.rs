//! Pings: a page that is not due is visited again, a new one is found, and others are refused.

use super::served::{Served, crawl_watching, documents, new, plain, wait_for};
use crawl::{ping, request_stop};
use std::collections::BTreeSet;

#[test]
fn a_ping_makes_a_page_due() {
    let served = Served::start(plain(2, 4.0));
    let (storage, index) = (new(), new());
    // One of the hosts, from its root: the other is out of the crawl.
    let seed = served.web.url(0, "/");
    let expected: BTreeSet<String> = served
        .expected()
        .into_iter()
        .filter(|url| url.starts_with(&seed))
        .collect();
    let running = {
        let (storage, index, seed) = (storage.clone(), index.clone(), seed.clone());
        std::thread::spawn(move || crawl_watching(seed, &storage, &index))
    };
    let requests_for = |path: &str| {
        let log = served.log();
        let host = served.web.host_name(0);
        log.iter()
            .filter(|request| request.host == host && request.path == path)
            .count()
    };
    wait_for("the crawl", || requests_for("/") == 1);
    let refused = ping(
        &storage,
        &["ftp://a.test/".into(), seed.clone(), served.web.url(1, "/")],
    )
    .unwrap();
    assert_eq!(refused.len(), 1);
    wait_for("the visit", || requests_for("/") == 2);
    request_stop(&storage).unwrap();
    let progress = running.join().unwrap();
    assert_eq!(progress.pings, 2);
    assert!(
        progress
            .notices
            .iter()
            .any(|notice| notice.contains("asked for")),
        "{progress:?}"
    );
    assert!(documents(&index, &expected).contains_key(&seed));
    let others = served
        .log()
        .iter()
        .filter(|request| request.host == served.web.host_name(1))
        .count();
    assert_eq!(others, 0);
}
