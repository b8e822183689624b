//! Whole crawls of the synthetic web: the index holds exactly the pages that an obedient crawler reaches, the log of the
//! server keeps the law, a second crawl fetches no body, a replay gives the same index, kills lose nothing,
//! and several members do what one process does.

mod classes;
mod kills;
mod members;
mod pings;
mod served;
mod trees;

use crawl::synthetic::JudgeOptions;
use crawl::{explain, replay};
use index::BuildOptions;
use served::{GAP_MS, Served, documents, documents_count, law, new, plain};

#[test]
fn the_index_holds_what_an_obedient_crawler_reaches() {
    let served = Served::start(plain(8, 6.0));
    let (storage, index) = (new(), new());
    let first = served.crawl(&storage, &index);
    let expected = served.expected();
    assert!(expected.len() > 20, "{}", expected.len());
    let found = documents(&index, &expected);
    let missing: Vec<_> = expected
        .iter()
        .filter(|url| !found.contains_key(*url))
        .collect();
    assert!(missing.is_empty(), "{missing:?} {first:?}");
    // Beside these the page of the seeds.
    assert_eq!(documents_count(&index), expected.len() as u64 + 1);
    assert_eq!(first.failed, 0, "{:?}", first.notices);
    let verdict = served.verdict(law());
    assert!(verdict.passes(), "{verdict:?}");
    // What the judge finds, if the law is another one.
    let stricter = JudgeOptions {
        host_gap_ms: 100 * GAP_MS,
        ..law()
    };
    assert!(!served.verdict(stricter).passes());
    // A root is linked from the seeds, so that it ranks above its deepest page.
    let root = &found[&served.web.url(0, "/")].fields;
    assert!(
        root["inlinks"].as_u64() > Some(0) && root["rank"].as_f64() > Some(0.0),
        "{root:?}"
    );
    let anchors = root["anchors"].as_str().unwrap();
    assert!(anchors.lines().any(|text| text == "Home"), "{anchors}");

    let requests = served.log().len();
    let again = served.crawl(&storage, &index);
    assert_eq!(
        (again.added, again.deleted, again.generation),
        (0, 0, first.generation)
    );
    assert!(again.not_modified as usize >= expected.len(), "{again:?}");
    let mut log = served.log().split_off(requests);
    log.retain(|request| request.status == 200 && request.path != "/robots.txt");
    // The page of the seeds alone has no validator.
    assert_eq!(log.len(), 1, "{log:?}");

    let replayed = new();
    let options = BuildOptions::default();
    replay(
        std::slice::from_ref(&storage),
        replayed.clone(),
        options,
        &mut |_| {},
    )
    .unwrap();
    assert_eq!(documents_count(&replayed), documents_count(&index));
    assert_eq!(documents(&replayed, &expected), found);

    let url = expected.first().unwrap();
    let explained = explain(&storage, url).unwrap();
    assert!(explained.known.is_some_and(|known| known.record.indexed));
    assert!(explained.admitted.is_ok() && explained.same_text_as.is_none());
}
