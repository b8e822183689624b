//! Classes of hosts: traps end, duplicates become one document, missing pages that answer 200 are no documents.

use super::served::{GAP_MS, Served, asked, documents, documents_count, law, new, plain};
use crawl::synthetic::{HostClass, JudgeOptions, SyntheticOptions};
use crawl::{explain, replay};
use index::BuildOptions;
use std::collections::BTreeSet;
use std::time::Duration;

#[test]
fn every_class_of_host_is_crawled_as_it_wants() {
    let served = Served::start(SyntheticOptions {
        classes: true,
        crawl_delay_s: 0,
        slow_ms: 20,
        ..plain(28, 30.0)
    });
    let (storage, index) = (new(), new());
    let progress = served.crawl(&storage, &index);
    let expected = served.expected();
    let found = documents(&index, &expected);
    let missing: Vec<_> = expected
        .iter()
        .filter(|url| !found.contains_key(*url))
        .collect();
    assert!(
        missing.len() * 50 <= expected.len(),
        "{} of {} missing: {missing:?} {progress:?}",
        missing.len(),
        expected.len()
    );
    let verdict = served.verdict(law());
    assert!(verdict.passes(), "{verdict:?} {progress:?}");

    let on = |class: HostClass| {
        let hosts = (0..28).map(|host| served.web.host(host));
        hosts
            .filter(move |host| host.class == class)
            .map(|host| served.web.host_name(host.number))
    };
    let urls = |class| -> BTreeSet<String> {
        let hosts: Vec<String> = on(class).collect();
        let requests = served
            .log()
            .into_iter()
            .filter(|request| hosts.contains(&request.host));
        let port = served.web.options().port;
        requests
            .map(|request| format!("http://{}:{port}{}", request.host, request.path))
            .collect()
    };
    // Of a page and its mirror the first stands for both.
    let mirrors = urls(HostClass::Mirror);
    assert!(
        mirrors.len() > 2 && documents(&index, &mirrors).is_empty(),
        "{mirrors:?}"
    );
    let mirror = mirrors.iter().find(|url| url.ends_with("/")).unwrap();
    let explained = explain(&storage, mirror).unwrap();
    assert_eq!(explained.same_text_as, Some(served.web.url(0, "/")));
    // Dead links of a host that answers 200 for them.
    let soft = urls(HostClass::SoftNotFound);
    let dead: BTreeSet<String> = soft
        .into_iter()
        .filter(|url| url.contains("/dead/"))
        .collect();
    assert!(documents(&index, &dead).is_empty());
    assert_eq!(progress.soft_missing as usize, dead.len());
    // Pages that differ in a word have a group, but are all there.
    let near = documents(&index, &urls(HostClass::NearDuplicates));
    let grouped = near
        .values()
        .filter(|page| page.fields.contains_key("group"));
    assert!(
        near.len() < 4 || grouped.count() * 2 > near.len(),
        "{near:?}"
    );

    let replayed = new();
    replay(
        std::slice::from_ref(&storage),
        replayed.clone(),
        BuildOptions::default(),
        &mut |_| {},
    )
    .unwrap();
    assert_eq!(documents(&replayed, &expected), found);
    assert_eq!(documents_count(&replayed), documents_count(&index));
}

#[test]
fn hosts_that_share_an_address_share_its_pace() {
    let served = Served::start(SyntheticOptions {
        hosts_per_address: 6,
        by_address: false,
        ..plain(12, 4.0)
    });
    let (storage, index) = (new(), new());
    let progress = served.crawl(&storage, &index);
    let verdict = served.verdict(law());
    assert!(verdict.passes(), "{verdict:?} {progress:?}");
    assert_eq!(
        documents(&index, &served.expected()).len(),
        served.expected().len()
    );
}

/// `CRAWL_HOSTS=2000 CRAWL_SECONDS=600 cargo test --release …` asks for more.
#[test]
fn the_law_holds_for_hosts_of_all_classes_of_which_fifty_share_an_address() {
    let served = Served::start(SyntheticOptions {
        classes: true,
        hosts_per_address: 50,
        by_address: false,
        ..plain(asked("CRAWL_HOSTS", 100), 50.0)
    });
    let (storage, index) = (new(), new());
    let most = Duration::from_secs(asked("CRAWL_SECONDS", 3));
    let progress = served.crawl_for(most, &storage, &index);
    let partial = JudgeOptions {
        complete: false,
        ..law()
    };
    let verdict = served.verdict(partial.clone());
    println!("{verdict:?}");
    assert!(verdict.passes(), "{verdict:?} {progress:?}");
    // Of one address, so that their own pauses alone would let each host go ahead.
    let stricter = JudgeOptions {
        address_gap_ms: 2 * GAP_MS,
        ..partial
    };
    assert!(served.verdict(stricter).short_gaps_count > 0);
}
