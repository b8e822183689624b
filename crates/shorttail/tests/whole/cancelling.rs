//! Limits of time, cancellation and progress.

use crate::{Bed, page};
use shorttail::{CancelToken, Document, DocumentOrder, Error, Index, SearchRequest};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

#[test]
fn searches_end_when_their_token_is_cancelled() {
    let bed = Bed::of(2000);
    let token = CancelToken::new();
    let request = SearchRequest::new("(short OR long) -\"moon river\"~9 t*").cancel(&token);
    let whole = bed.index.search(&request).unwrap();
    assert!(whole.is_complete());
    let (started, has_started) = mpsc::channel();
    let other = token.clone();
    let canceller = std::thread::spawn(move || {
        has_started.recv().unwrap();
        other.cancel();
    });
    started.send(()).unwrap();
    let outcome = loop {
        match bed.index.search(&request) {
            Ok(answer) => assert_eq!(answer.hits, whole.hits),
            Err(error) => break error,
        }
    };
    canceller.join().unwrap();
    assert!(matches!(outcome, Error::Cancelled), "{outcome}");
    let batch = bed.index.search_batch([&request, &request], 2);
    assert!(batch.iter().all(|one| matches!(one, Err(Error::Cancelled))));
}

#[test]
fn a_deadline_ends_a_search_as_a_timeout_does() {
    let bed = Bed::of(500);
    let request = SearchRequest::new("(short OR long) t*");
    for limited in [
        request.clone().timeout(Duration::ZERO),
        request.clone().deadline(Instant::now()),
    ] {
        match bed.index.search(limited) {
            Ok(answer) => assert!(answer.timed_out && !answer.is_complete()),
            Err(error) => assert!(matches!(error, Error::TimedOut), "{error}"),
        }
    }
    let long = Instant::now() + Duration::from_secs(3600);
    assert!(
        bed.index
            .search(request.deadline(long))
            .unwrap()
            .is_complete()
    );
}

/// Returns a page with words of its own.
fn long(number: usize) -> Document {
    let words: Vec<String> = (0..60)
        .map(|word| format!("w{}", number * 7919 + word))
        .collect();
    page(number).body(words.join(" "))
}

#[test]
fn a_cancelled_commit_leaves_the_index_as_it_was() {
    let bed = Bed::of(10);
    let before = bed.index.generation();
    // Later each time, until the commit is through.
    for reports in [1, 2, 5, 9, 14, 20, 30, 1000] {
        let token = CancelToken::new();
        let (left, written) = (AtomicU64::new(reports), Arc::new(AtomicU64::new(0)));
        let (of_callback, counted) = (token.clone(), Arc::clone(&written));
        let on_progress = move |progress: shorttail::Progress| {
            counted.fetch_max(progress.bytes_written, Ordering::Relaxed);
            if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                of_callback.cancel();
            }
        };
        let builder = bed.index.writer_builder().threads(2).cancel(&token);
        let mut writer = builder.on_progress(on_progress).open().unwrap();
        let added = (0..4000).try_for_each(|number| writer.add(long(number)));
        let outcome = added.and_then(|()| writer.commit());
        let reopened = Index::open(bed.directory.path()).unwrap();
        match outcome {
            Err(Error::Cancelled) => {
                assert_eq!(reopened.generation(), before);
                assert_eq!(reopened.documents_count(), 10);
            }
            Ok(commit) => {
                assert!(reports > 2, "only {reports} reports");
                assert!(written.load(Ordering::Relaxed) > 1 << 20);
                assert_eq!(commit.documents_count, 4000);
                assert_eq!(reopened.generation(), commit.generation);
                break;
            }
            Err(error) => panic!("{error}"),
        }
    }
    let names = std::fs::read_dir(bed.directory.path()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let temporary: Vec<String> = names.filter(|name| name.starts_with("tmp-")).collect();
    assert_eq!(temporary, [""; 0]);
}

#[test]
fn a_cancelled_writer_stays_cancelled() {
    let bed = Bed::of(3);
    let token = CancelToken::new();
    let mut writer = bed.index.writer_builder().cancel(&token).open().unwrap();
    token.cancel();
    assert!(matches!(writer.add(page(7)), Err(Error::Cancelled)));
    assert!(matches!(writer.add(page(7)), Err(Error::WriterFailed)));
    assert!(matches!(writer.delete("x"), Err(Error::WriterFailed)));
    assert!(matches!(writer.commit(), Err(Error::WriterFailed)));
}

#[test]
fn a_cancelled_optimization_leaves_the_index_as_it_was() {
    let bed = Bed::of(300);
    bed.add((200..600).map(page));
    let before = bed.index.generation();
    let token = CancelToken::new();
    let of_callback = token.clone();
    let optimizer = bed
        .index
        .optimizer()
        .order(DocumentOrder::Url)
        .cancel(&token);
    let outcome = optimizer
        .clone()
        .on_progress(move |progress| {
            assert!(
                progress
                    .reordering
                    .is_none_or(|(done, total)| done <= total)
            );
            of_callback.cancel();
        })
        .run();
    assert!(matches!(outcome, Err(Error::Cancelled)), "{outcome:?}");
    assert_eq!(bed.index.reload().unwrap(), before);
    let again = bed
        .index
        .optimizer()
        .order(DocumentOrder::Url)
        .run()
        .unwrap();
    assert_eq!(again, before + 1);
}
