//! Identity of the index, byte for byte, for any division of its documents into runs.

use document::Document;
use index::{BuildOptions, Pairs, PostingsCodec, Writer, check};
use std::collections::HashSet;
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};

/// Returns documents with words of every frequency, some of them stemmed; some replace an earlier one.
fn documents() -> Vec<Document> {
    let body = |number: usize| -> String {
        (0..number % 40)
            .map(|at| {
                let word = (number * 7 + at * at) % (1 + at * 5);
                format!("w{word} walk{} ", ["s", "ed", "ing"][(number + at) % 3])
            })
            .collect()
    };
    let url = |number: usize| format!("http://s{}.test/{number}", number % 5);
    (0..700)
        .map(|number| Document {
            url: url(if number % 7 == 6 { number / 2 } else { number }),
            title: format!("title {number}"),
            body: body(number),
            ..Document::default()
        })
        .collect()
}

/// Builds an index; returns the payloads of all segment files, which hold neither the id of the index nor checksums.
fn build(
    codec: PostingsCodec,
    chunks: u32,
    run_documents_max: Option<u32>,
    threads: usize,
) -> Vec<Vec<u8>> {
    let disk = MemoryStorage::new();
    let shared: SharedStorage = Arc::new(disk.clone());
    let options = BuildOptions {
        chunks: Some(chunks),
        partitions: Some(chunks),
        threads,
        codec: Some(codec),
        analyzer: Some("standard2-en".parse().unwrap()),
        run_documents_max,
        pairs: Some(Pairs::All),
        ..BuildOptions::default()
    };
    let urls: HashSet<String> = documents()
        .into_iter()
        .map(|document| document.url)
        .collect();
    let urls_count = urls.len() as u64;
    let mut writer = Writer::open(shared.clone(), options).unwrap();
    documents()
        .into_iter()
        .for_each(|document| writer.add(document).unwrap());
    let summary = writer.commit().unwrap();
    assert_eq!(
        (summary.documents_added, summary.documents_count),
        (700, urls_count)
    );
    assert_eq!(summary.documents_replaced, 700 - urls_count);
    assert!(check(shared, 10).unwrap().1.is_empty());
    let mut names = disk.files();
    names.retain(|name| name.starts_with("segment-"));
    assert_eq!(names.len(), 3 * chunks as usize, "{:?}", disk.files());
    names
        .iter()
        .map(|name| payload(&disk.read_raw(name).unwrap()))
        .collect()
}

fn payload(file: &[u8]) -> Vec<u8> {
    let tail = &file[file.len() - 24..];
    let bytes = u64::from_le_bytes(tail[..8].try_into().unwrap()) as usize;
    file[64..64 + bytes].to_vec()
}

#[test]
fn any_runs_and_threads_give_the_same_index() {
    for codec in [PostingsCodec::Packed, PostingsCodec::Vint] {
        for chunks in [1, 3] {
            let whole = build(codec, chunks, None, 1);
            // Runs of one document each are hundreds, joined on two levels.
            let runs = [Some(1), Some(64), None, Some(2), Some(5)];
            for run_documents_max in &runs[..testkit::size(3, runs.len())] {
                // Fewer threads than chunks, and enough for several per chunk.
                for threads in [1, 2, 5] {
                    let found = build(codec, chunks, *run_documents_max, threads);
                    assert!(
                        found == whole,
                        "{codec:?}, {chunks} chunks, runs of {run_documents_max:?}, {threads} threads"
                    );
                }
            }
        }
    }
}
