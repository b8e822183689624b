//! Layouts for partitions, reached in different ways, against an index built with that layout.

use crate::built::{add, payloads};
use document::Document;
use index::{
    BuildOptions, DocId, Index, IndexError, Layout, OptimizeOptions, OptimizeSummary, Order, Texts,
    Writer, check, optimize,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};

const CHUNKS: u32 = 8;
const LAYOUTS: [u32; 5] = [1, 2, 3, 5, 8];

fn document(number: usize, version: usize) -> Document {
    Document {
        url: format!("http://s{}.test/{number}", number % 7),
        title: format!("title {number} version{version}"),
        body: (0..number % 40)
            .map(|at| format!("word{} all ", (number + at * at) % 50))
            .collect(),
        ..Document::default()
    }
}

fn laid_out(partitions: u32) -> BuildOptions {
    BuildOptions {
        chunks: Some(CHUNKS),
        partitions: Some(partitions),
        ..BuildOptions::default()
    }
}

/// Makes two commits, the second of which replaces documents of the first.
fn built(options: BuildOptions) -> (MemoryStorage, SharedStorage) {
    let disk = MemoryStorage::new();
    let shared: SharedStorage = Arc::new(disk.clone());
    add(&shared, (0..600).map(|n| document(n, 1)), options.clone());
    add(&shared, (500..800).map(|n| document(n, 2)), options);
    (disk, shared)
}

fn lay_out(
    storage: &SharedStorage,
    partitions: u32,
    order: Option<Order>,
) -> Result<OptimizeSummary, IndexError> {
    let options = OptimizeOptions {
        order,
        partitions: Some(partitions),
        threads: 2,
        ..OptimizeOptions::default()
    };
    optimize(storage.clone(), &options, &|_| {})
}

fn live() -> BTreeMap<String, Document> {
    (0..800)
        .map(|number| document(number, if number < 500 { 1 } else { 2 }))
        .map(|document| (document.url.clone(), document))
        .collect()
}

/// Asserts that nothing is damaged, that every document occurs once, in a segment of its chunk, with its text, and that
/// statistics count the same documents.
fn assert_whole(storage: &SharedStorage, partitions: u32) -> Index {
    let (_, damages) = check(storage.clone(), 10).unwrap();
    assert!(damages.is_empty(), "{damages:?}");
    let index = Index::open(storage.clone()).unwrap();
    let layout = index.layout();
    assert_eq!((layout.chunks, layout.partitions), (CHUNKS, partitions));
    let mut missing = live();
    for segment in index.segments(0..CHUNKS) {
        let first = *segment.chunks().start();
        assert_eq!(
            segment.chunks(),
            layout.chunks_of(layout.partition_of(first))
        );
        for doc in (0..segment.documents_count()).map(DocId) {
            if segment.is_deleted(doc) {
                continue;
            }
            let chunk = layout.chunk_of(segment.url_hash(doc));
            assert!(segment.chunks().contains(&chunk));
            let details = segment.details(doc).unwrap();
            let document = missing.remove(&details.url).expect("a live document, once");
            assert_eq!(details.title, document.title);
            if index.documents().texts() == Texts::Stored {
                let stored = index.documents().document(&details.url).unwrap().unwrap();
                assert_eq!((stored.title, stored.body), (document.title, document.body));
            }
        }
    }
    assert!(missing.is_empty(), "missing: {:?}", missing.keys());
    assert_eq!(index.statistics().documents_count(), live().len() as u64);
    index
}

#[test]
fn documents_go_to_the_segment_of_their_partition() {
    for partitions in LAYOUTS {
        for (threads, texts) in [(1, Texts::Stored), (3, Texts::Stored), (2, Texts::None)] {
            let options = BuildOptions {
                threads,
                texts: Some(texts),
                ..laid_out(partitions)
            };
            let (_, shared) = built(options);
            let index = assert_whole(&shared, partitions);
            assert_eq!(index.segments(0..CHUNKS).count() as u32, 2 * partitions);
            // Later commits keep the layout.
            add(
                &shared,
                (0..10).map(|n| document(n, 1)),
                BuildOptions::default(),
            );
            assert_whole(&shared, partitions);
        }
    }
}

#[test]
fn an_index_is_for_one_server_where_nothing_is_said() {
    let options = BuildOptions {
        chunks: Some(CHUNKS),
        ..BuildOptions::default()
    };
    let (said, _) = built(laid_out(1));
    let (unsaid, shared) = built(options);
    assert_whole(&shared, 1);
    assert!(payloads(&said) == payloads(&unsaid));
    let index = Index::open(shared).unwrap();
    assert_eq!(index.layout_for(3).unwrap().partitions, 3);
    let refused = index.layout_for(9).unwrap_err().to_string();
    assert!(refused.contains("choose 1 to 8"), "{refused}");
}

#[test]
fn an_index_laid_out_anew_is_what_is_built_so() {
    let orders = [None, Some(Order::Url), Some(Order::Bisection)];
    for (at_order, order) in orders.into_iter().enumerate() {
        for (at_from, from) in LAYOUTS.into_iter().enumerate() {
            for (at_to, to) in LAYOUTS.into_iter().enumerate() {
                // Each pair of layouts in one of the orders, at the small size.
                if (at_from + at_to + at_order) % testkit::size(orders.len(), 1) != 0 {
                    continue;
                }
                let (disk, shared) = built(laid_out(from));
                let summary = lay_out(&shared, to, order).unwrap();
                assert_eq!(summary.partitions, u64::from(to));
                assert_eq!(summary.segments_after, u64::from(to));
                assert_eq!(summary.documents_dropped, 100);
                assert_eq!(summary.chunks_rewritten, u64::from(CHUNKS));
                let index = assert_whole(&shared, to);
                let mut documents = live();
                let in_order: Vec<Document> = index
                    .segments(0..CHUNKS)
                    .flat_map(|segment| {
                        let docs = (0..segment.documents_count()).map(DocId);
                        docs.map(|doc| segment.details(doc).unwrap().url)
                    })
                    .map(|url| documents.remove(&url).unwrap())
                    .collect();
                let fresh = MemoryStorage::new();
                let fresh_shared: SharedStorage = Arc::new(fresh.clone());
                add(&fresh_shared, in_order, laid_out(to));
                assert!(
                    payloads(&disk) == payloads(&fresh),
                    "{from} to {to}, {order:?}"
                );
            }
        }
    }
}

#[test]
fn what_is_laid_out_so_already_is_left_alone() {
    let (disk, shared) = built(laid_out(8));
    assert_eq!(lay_out(&shared, 4, None).unwrap().chunks_rewritten, 8);
    let files = disk.files();
    assert_eq!(lay_out(&shared, 4, None).unwrap().chunks_rewritten, 0);
    assert_eq!(disk.files(), files);
    // With one more document, only its partition is rewritten.
    add(&shared, [document(0, 1)], BuildOptions::default());
    let options = OptimizeOptions::default();
    let summary = optimize(shared.clone(), &options, &|_| {}).unwrap();
    assert_eq!((summary.chunks_rewritten, summary.partitions), (2, 4));
    assert_whole(&shared, 4);
}

#[test]
fn an_index_without_documents_is_laid_out_for_those_to_come() {
    let disk = MemoryStorage::new();
    let shared: SharedStorage = Arc::new(disk.clone());
    add(&shared, [], laid_out(8));
    lay_out(&shared, 2, None).unwrap();
    add(
        &shared,
        (0..600).map(|n| document(n, 1)),
        BuildOptions::default(),
    );
    add(
        &shared,
        (500..800).map(|n| document(n, 2)),
        BuildOptions::default(),
    );
    assert_whole(&shared, 2);
}

#[test]
fn what_the_index_cannot_be_laid_out_for_is_refused() {
    let disk = MemoryStorage::new();
    let shared: SharedStorage = Arc::new(disk.clone());
    let refused = Writer::open(shared, laid_out(9)).err().unwrap().to_string();
    assert!(refused.contains("choose 1 to 8"), "{refused}");
    let (disk, shared) = built(laid_out(2));
    let files = disk.files();
    for partitions in [0, 9] {
        let refused = lay_out(&shared, partitions, None).unwrap_err().to_string();
        assert!(refused.contains("choose 1 to 8"), "{refused}");
    }
    let refused = Writer::open(shared.clone(), laid_out(4)).err().unwrap();
    let refused = refused.to_string();
    assert!(
        refused.contains("laid out for 2 partitions, not 4")
            && refused.contains("optimize memory --partitions 4"),
        "{refused}"
    );
    assert_eq!(disk.files(), files);
}

#[test]
fn chunks_of_one_segment_are_not_served_apart() {
    let (_, shared) = built(laid_out(2));
    let index = Index::open(shared).unwrap();
    assert_eq!(
        index.layout(),
        Layout {
            chunks: 8,
            partitions: 2
        }
    );
    for whole in [0..4, 4..8, 0..8] {
        index.check_partition(whole).unwrap();
    }
    for cut in [0..2, 2..6, 5..8, 7..8] {
        let refused = index.check_partition(cut).unwrap_err().to_string();
        assert!(refused.contains("are one segment"), "{refused}");
    }
}
