//! Optimized indexes against those built from the live documents in their new order.

use crate::built::{add, payloads};
use document::Document;
use index::{
    BuildOptions, DocId, Field, Index, OptimizeOptions, OptimizeSummary, Order, PostingsCodec,
    check, optimize,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use vfs::{MemoryStorage, SharedStorage};

const CHUNKS: u32 = 2;

/// Returns a document with words of every frequency, of one of two subjects; hosts are in no order, and a later version
/// replaces an earlier one.
fn document(number: usize, version: usize) -> Document {
    let subject = number * 7919 % 2;
    let mut body = String::new();
    for at in 0..number * 31 % 60 {
        let word = (number * 7 + at * at) % (1 + at * 3);
        body.push_str(&format!(
            "{}{word} all ",
            if subject == 0 { "fish" } else { "bird" }
        ));
    }
    let mut document = Document {
        url: format!("http://h{}.s{}.test/{number}", number * 13 % 7, number % 5),
        title: format!("title {number} version{version}"),
        body: body + &"long ".repeat(if number % 50 == 1 { 5000 } else { 0 }),
        ..Document::default()
    };
    if number.is_multiple_of(3) {
        document.id = Some(format!("id-{number}"));
        document
            .fields
            .insert("year".into(), (1900 + number).into());
    }
    document
}

fn options(codec: PostingsCodec) -> BuildOptions {
    BuildOptions {
        chunks: Some(CHUNKS),
        partitions: Some(CHUNKS),
        codec: Some(codec),
        ..BuildOptions::default()
    }
}

/// Makes three commits, the later ones replacing documents of the earlier.
fn index_of_three_commits(codec: PostingsCodec) -> MemoryStorage {
    let disk = MemoryStorage::new();
    let shared: SharedStorage = Arc::new(disk.clone());
    add(&shared, (0..500).map(|n| document(n, 1)), options(codec));
    add(&shared, (300..620).map(|n| document(n, 2)), options(codec));
    add(
        &shared,
        (100..700).step_by(9).map(|n| document(n, 3)),
        options(codec),
    );
    disk
}

fn version_of(number: usize) -> usize {
    match number {
        100.. if (number - 100).is_multiple_of(9) => 3,
        300..620 => 2,
        _ => 1,
    }
}

/// Returns the live documents by URL.
fn live() -> BTreeMap<String, Document> {
    (0..700)
        .filter(|&number| number < 620 || version_of(number) == 3)
        .map(|number| document(number, version_of(number)))
        .map(|document| (document.url.clone(), document))
        .collect()
}

fn run(disk: &MemoryStorage, options: OptimizeOptions) -> OptimizeSummary {
    let shared: SharedStorage = Arc::new(disk.clone());
    let most = AtomicU64::new(0);
    let summary = optimize(shared.clone(), &options, &|progress| {
        most.fetch_max(progress.done, Ordering::Relaxed);
        assert!(progress.done <= progress.total, "{progress:?}");
    });
    assert!(most.into_inner() > 0);
    let (report, damages) = check(shared, 10).unwrap();
    assert!(damages.is_empty(), "{damages:?}");
    assert_eq!(report.segments, 2);
    summary.unwrap()
}

fn ordered(order: Order) -> OptimizeOptions {
    OptimizeOptions {
        order: Some(order),
        ..OptimizeOptions::default()
    }
}

/// Returns the URLs in the order of documents, by chunk.
fn urls(disk: &MemoryStorage) -> Vec<Vec<String>> {
    let index = Index::open(Arc::new(disk.clone())).unwrap();
    let of_chunk = |chunk: u32| {
        let mut urls = Vec::new();
        for segment in index.segments(chunk..chunk + 1) {
            for doc in (0..segment.documents_count()).map(DocId) {
                if !segment.is_deleted(doc) {
                    urls.push(segment.details(doc).unwrap().url);
                }
            }
        }
        urls
    };
    (0..CHUNKS).map(of_chunk).collect()
}

/// Asserts that `disk` holds the contents of a fresh index of the same documents in the same order.
fn assert_freshly_built(disk: &MemoryStorage, codec: PostingsCodec) {
    let mut live = live();
    let index = Index::open(Arc::new(disk.clone())).unwrap();
    let in_order: Vec<Document> = urls(disk)
        .concat()
        .iter()
        .map(|url| live.remove(url).expect("a live document, once"))
        .collect();
    assert!(live.is_empty(), "missing: {:?}", live.keys());
    for document in &in_order {
        let stored = index.documents().document(&document.url).unwrap().unwrap();
        assert_eq!(
            (
                &stored.title,
                &stored.body,
                &stored.fields,
                stored.id.as_str()
            ),
            (
                &document.title,
                &document.body,
                &document.fields,
                document.id()
            )
        );
    }
    let fresh_disk = MemoryStorage::new();
    let shared: SharedStorage = Arc::new(fresh_disk.clone());
    add(&shared, in_order, options(codec));
    assert!(
        payloads(disk) == payloads(&fresh_disk),
        "not what is built afresh"
    );
    let fresh = Index::open(shared).unwrap();
    let (found, expected) = (index.statistics(), fresh.statistics());
    assert_eq!(found.documents_count(), expected.documents_count());
    for field in Field::WITH_LENGTHS {
        assert_eq!(found.average_length(field), expected.average_length(field));
    }
    for term in [
        "all", "fish0", "bird0", "bird7", "long", "version1", "version3", "title",
    ] {
        for field in Field::WITH_LENGTHS {
            let of = |index: &index::Statistics| index.document_frequency(field, term).unwrap();
            assert_eq!(of(found), of(expected), "{term}");
        }
    }
}

#[test]
fn every_order_is_what_is_built_afresh() {
    for codec in [PostingsCodec::Packed, PostingsCodec::Vint] {
        for order in Order::ALL {
            let disk = index_of_three_commits(codec);
            let summary = run(&disk, ordered(order));
            assert_eq!((summary.generation, summary.order), (4, order));
            assert_eq!((summary.segments_before, summary.segments_after), (6, 2));
            assert_eq!(summary.documents_count, live().len() as u64);
            assert_eq!(
                summary.documents_dropped,
                500 + 320 + 67 - live().len() as u64
            );
            assert!(summary.index_bytes_after < summary.index_bytes_before);
            assert!(summary.store_bytes_after < summary.store_bytes_before);
            assert_freshly_built(&disk, codec);
        }
    }
}

/// Covers lengths of a field without words, and numbers of the only site.
#[test]
fn what_need_not_be_kept_is_not_kept() {
    let disk = MemoryStorage::new();
    let shared: SharedStorage = Arc::new(disk.clone());
    let plain = |number: usize| Document {
        url: format!("http://one.test/{number}"),
        body: format!("words of {number}"),
        ..Document::default()
    };
    add(&shared, (0..40).map(plain), options(PostingsCodec::Packed));
    add(&shared, (20..60).map(plain), options(PostingsCodec::Packed));
    run(&disk, ordered(Order::Url));
    let index = Index::open(shared).unwrap();
    for segment in index.segments(0..CHUNKS) {
        assert!(segment.lengths(Field::Title).is_empty());
        let documents = segment.documents_count();
        assert_eq!(segment.lengths(Field::Text).len(), documents as usize);
        for doc in (0..documents).map(DocId) {
            assert_eq!(segment.site_hash(doc), document::url_hash("one.test"));
            let url = segment.details(doc).unwrap().url;
            assert_eq!(segment.url_hash(doc), document::url_hash(&url));
        }
    }
}

#[test]
fn arrival_keeps_the_order() {
    let disk = index_of_three_commits(PostingsCodec::Packed);
    let before = urls(&disk);
    let summary = run(&disk, ordered(Order::Arrival));
    assert_eq!(urls(&disk), before);
    assert_eq!(summary.gap_bits_before, summary.gap_bits_after);
}

#[test]
fn pages_of_a_site_are_neighbours_by_url() {
    let disk = index_of_three_commits(PostingsCodec::Packed);
    run(&disk, ordered(Order::Url));
    for urls in urls(&disk) {
        let key = |url: &String| {
            let (host, path) = url
                .strip_prefix("http://")
                .unwrap()
                .split_once('/')
                .unwrap();
            let labels: Vec<String> = host.rsplit('.').map(str::to_owned).collect();
            (labels, path.to_owned())
        };
        assert!(urls.is_sorted_by_key(key), "{urls:?}");
    }
}

#[test]
fn bisection_makes_gaps_smaller() {
    let disk = index_of_three_commits(PostingsCodec::Packed);
    let summary = run(&disk, ordered(Order::Bisection));
    assert!(
        summary.gap_bits_after < summary.gap_bits_before * 0.95,
        "{summary:?}"
    );
    assert_eq!(summary.terms_left_out, 0);
}

#[test]
fn neither_threads_nor_pieces_of_lists_change_the_index() {
    for order in Order::ALL {
        let build = |threads: usize, list_bytes_max: Option<u64>| {
            let disk = index_of_three_commits(PostingsCodec::Packed);
            let options = OptimizeOptions {
                threads,
                list_bytes_max,
                ..ordered(order)
            };
            run(&disk, options);
            payloads(&disk)
        };
        let expected = build(1, None);
        for threads in [0, 2, 3, 8] {
            assert!(
                build(threads, None) == expected,
                "{order:?}, {threads} threads"
            );
        }
        for list_bytes_max in [0, 100, 1000, 10_000] {
            let found = build(1, Some(list_bytes_max));
            assert!(
                found == expected,
                "{order:?}, {list_bytes_max} bytes a list"
            );
        }
    }
}

#[test]
fn without_memory_bisection_has_no_term_to_go_by_and_says_so() {
    let disk = index_of_three_commits(PostingsCodec::Packed);
    let options = OptimizeOptions {
        memory_bytes: 0,
        ..ordered(Order::Bisection)
    };
    assert!(run(&disk, options).terms_left_out > 100);
    assert_freshly_built(&disk, PostingsCodec::Packed);
    // The rest is the order that bisection starts from.
    let by_url = index_of_three_commits(PostingsCodec::Packed);
    run(&by_url, ordered(Order::Url));
    assert_eq!(urls(&disk), urls(&by_url));
}

#[test]
fn what_is_in_order_is_left_alone_and_a_new_commit_is_taken_in() {
    let disk = index_of_three_commits(PostingsCodec::Packed);
    let shared: SharedStorage = Arc::new(disk.clone());
    let again = |order: Option<Order>| {
        let options = OptimizeOptions {
            order,
            ..OptimizeOptions::default()
        };
        optimize(shared.clone(), &options, &|_| {}).unwrap()
    };
    assert_eq!(again(Some(Order::Url)).chunks_rewritten, 2);
    let files = disk.files();
    for order in [None, Some(Order::Url), Some(Order::Arrival)] {
        let summary = again(order);
        assert_eq!((summary.chunks_rewritten, summary.generation), (0, 4));
        assert_eq!(disk.files(), files);
    }
    let report = || check(shared.clone(), 1).unwrap().0;
    assert_eq!(report().segments_by_order, [0, 2, 0]);
    // With one more document, only its chunk is rewritten, in the order of the index.
    add(&shared, [document(9999, 1)], BuildOptions::default());
    assert_eq!(report().segments_by_order, [1, 2, 0]);
    let summary = again(None);
    assert_eq!((summary.chunks_rewritten, summary.order), (1, Order::Url));
    assert_eq!(report().segments_by_order, [0, 2, 0]);
    let urls = urls(&disk).concat();
    assert!(urls.contains(&document(9999, 1).url));
    // An ordered segment keeps its order when documents are dropped.
    let kept = document(1, 1);
    add(
        &shared,
        [Document {
            title: "new".into(),
            ..kept
        }],
        BuildOptions::default(),
    );
    assert_eq!(again(Some(Order::Bisection)).chunks_rewritten, 2);
    assert_eq!(report().segments_by_order, [0, 0, 2]);
}

#[test]
fn an_index_is_built_in_order_within_one_commit() {
    for order in Order::ALL {
        let disk = index_of_three_commits(PostingsCodec::Packed);
        run(&disk, ordered(order));
        let built = MemoryStorage::new();
        let shared: SharedStorage = Arc::new(built.clone());
        add(
            &shared,
            (0..500).map(|n| document(n, 1)),
            options(PostingsCodec::Packed),
        );
        add(
            &shared,
            (300..620).map(|n| document(n, 2)),
            options(PostingsCodec::Packed),
        );
        let last = BuildOptions {
            order: Some(order),
            threads: 2,
            ..options(PostingsCodec::Packed)
        };
        add(&shared, (100..700).step_by(9).map(|n| document(n, 3)), last);
        assert!(payloads(&built) == payloads(&disk), "{order:?}");
        assert!(check(shared.clone(), 10).unwrap().1.is_empty());
        assert_eq!(Index::open(shared).unwrap().generation(), 3);
        // Intermediate segments are removed; those of the generation before stay for its readers.
        let segments = built
            .files()
            .iter()
            .filter(|name| name.ends_with(".index"))
            .count();
        assert_eq!(segments, 6, "{:?}", built.files());
    }
}

#[test]
fn an_empty_index_stays_one() {
    let disk = MemoryStorage::new();
    let shared: SharedStorage = Arc::new(disk.clone());
    let none = optimize(shared.clone(), &OptimizeOptions::default(), &|_| {});
    assert!(matches!(none, Err(index::IndexError::NoIndex { .. })));
    assert!(disk.files().is_empty(), "{:?}", disk.files());
    for order in Order::ALL {
        add(
            &shared,
            [],
            BuildOptions {
                order: Some(order),
                ..options(PostingsCodec::Packed)
            },
        );
        let summary = optimize(shared.clone(), &ordered(order), &|_| {}).unwrap();
        assert_eq!((summary.chunks_rewritten, summary.documents_count), (0, 0));
    }
}
