//! Tests of the banner: it names every gap of an answer, and is absent from a whole one.
use super::*;
use crate::http::page::tests::{answer, page_options};

fn lost(lacks: &str, chunks: &str, reason: &str, searched: u64, count: u64) -> Degraded {
    Degraded {
        lacks: lacks.into(),
        chunks: chunks.into(),
        reason: reason.into(),
        message: "index server 127.0.0.1:7801 stopped answering".into(),
        documents_searched: searched,
        documents_count: count,
    }
}

fn sentences(coverage: f64, degraded: Vec<Degraded>) -> Vec<String> {
    let mut answer = answer(Vec::new());
    answer.coverage = coverage;
    answer.timed_out = degraded.iter().any(|one| one.reason == "deadline");
    answer.degraded = degraded;
    missing(&answer, &page_options()).unwrap().sentences
}

#[test]
fn a_whole_answer_has_no_banner() {
    assert!(missing(&answer(Vec::new()), &page_options()).is_none());
}

#[test]
fn every_loss_is_a_sentence() {
    let check = |degraded, expected: &str| {
        let said = sentences(1.0, vec![degraded]);
        assert_eq!(said, [expected]);
    };
    check(
        lost("search", "0-63", "unreachable", 0, 95_000),
        "Nothing was searched in chunks 0-63 (95,000 documents): no server there answers.",
    );
    check(
        lost("search", "3", "deadline", 1_200, 95_000),
        "In chunk 3, 1,200 of 95,000 documents were searched: time was over.",
    );
    check(
        lost("search", "3", "damaged", 0, 0),
        "Nothing was searched in chunk 3: the index there cannot be read.",
    );
    check(
        lost("count", "0-1", "deadline", 7, 7),
        "Not all matches were counted in chunks 0-1: time was over.",
    );
    check(
        lost("details", "0-1", "unreachable", 0, 0),
        "Hits of chunks 0-1 are left out: no server there answers.",
    );
    check(
        lost("summaries", "0-1", "overloaded", 0, 0),
        "Some hits of chunks 0-1 are without their text: the servers there have too much to do.",
    );
    check(
        lost("colours", "0-1", "unreachable", 0, 0),
        "Something of chunks 0-1 is missing: no server there answers.",
    );
}

#[test]
fn many_losses_are_few_sentences() {
    let losses = (0..1000).map(|chunk| lost("search", &chunk.to_string(), "unreachable", 0, 10));
    let said = sentences(0.004, losses.collect());
    assert_eq!(said.len(), 2);
    assert_eq!(said[0], "Less than 1 % of the documents were searched.");
    assert!(
        said[1].contains("0, 1, 2, 3, 4, 5, 6, 7 and 992 further parts (10,000 documents)"),
        "{}",
        said[1]
    );
}

#[test]
fn shares_are_never_rounded_up() {
    let lost = || vec![lost("search", "0", "unreachable", 0, 1)];
    assert_eq!(
        sentences(0.9999, lost())[0],
        "Only 99 % of the documents were searched."
    );
    assert_eq!(
        sentences(0.0, lost())[0],
        "Only 0 % of the documents were searched."
    );
}

#[test]
fn who_ran_out_of_time_may_allow_more() {
    let mut answer = answer(Vec::new());
    answer.timed_out = true;
    let options = |timeout| SearchOptions {
        timeout,
        ..page_options()
    };
    let said = missing(&answer, &options(Some(Duration::from_millis(20)))).unwrap();
    assert_eq!(
        said.sentences,
        ["Time was over before everything was done."]
    );
    assert_eq!(said.again, "./?q=word&timeout=20ms");
    assert_eq!(said.longer.as_deref(), Some("./?q=word&timeout=200ms"));
    assert_eq!(missing(&answer, &options(None)).unwrap().longer, None);
}
