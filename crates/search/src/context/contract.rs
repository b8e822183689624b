//! Contracts of cursors, blocks and collectors, checked in tests.
//!
//! ```text
//! cursor      next moves forward; seek(t) ends at t or later, never moves back, and stays where it is beyond t;
//!             the end stays the end; only a document has a score, and no score is negative or no number
//! block       documents increase, within the block's limits; no posting scores above the block's bound
//! collector   matches increase
//! executor    hits and matches of the range, live, once each, within the bound: `collect/asserting.rs` wraps them
//! ```
//!
//! The checks exist only in builds with debug assertions, and run after a call of [`enforce`], as in
//! tests. (A damaged file may break a contract without a bug in the program, so a server of a debug
//! build does not check.)

use index::DocId;
use std::sync::atomic::{AtomicBool, Ordering};

static ENFORCED: AtomicBool = AtomicBool::new(false);

/// Enables the checks in this process, for tests.
pub fn enforce() {
    ENFORCED.store(true, Ordering::Relaxed);
}

/// Returns whether contracts are checked.
#[inline]
pub(crate) fn is_enforced() -> bool {
    cfg!(debug_assertions) && (cfg!(test) || ENFORCED.load(Ordering::Relaxed))
}

/// Checks a step of a cursor from one document to the next.
#[inline]
pub(crate) fn check_next(before: DocId, reached: DocId) {
    if is_enforced() {
        let is_end = before == DocId::END && reached == DocId::END;
        assert!(
            is_end || reached > before,
            "next: {before:?} to {reached:?}"
        );
    }
}

/// Checks a seek of a cursor.
#[inline]
pub(crate) fn check_seek(before: DocId, target: DocId, reached: DocId) {
    if is_enforced() {
        let what = || format!("seek({target:?}): {before:?} to {reached:?}");
        assert!(reached >= target && reached >= before, "{}", what());
        assert!(before < target || reached == before, "{}", what());
    }
}

/// Checks a score of a cursor or of a candidate.
#[inline]
pub(crate) fn check_score(doc: DocId, score: f32) {
    if is_enforced() {
        assert!(doc != DocId::END, "a score behind the last document");
        assert!(score >= 0.0, "the score of {doc:?} is {score}");
    }
}

/// Checks that documents increase and lie in `first..=last`.
#[inline]
pub(crate) fn check_docs(docs: &[u32], first: u32, last: u32) {
    if is_enforced() {
        assert!(docs.is_sorted_by(|a, b| a < b), "documents must increase");
        let is_within = |doc: &u32| (first..=last).contains(doc);
        assert!(docs.iter().all(is_within), "not within {first}..={last}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: DocId = DocId::END;

    #[test]
    fn what_keeps_a_contract_passes() {
        check_next(DocId(3), DocId(4));
        check_next(DocId(3), END);
        check_next(END, END);
        check_seek(DocId(3), DocId(9), DocId(9));
        check_seek(DocId(9), DocId(3), DocId(9));
        check_seek(DocId(9), DocId(3), DocId(9));
        check_score(DocId(3), 0.0);
        check_docs(&[3, 4, 9], 3, 9);
        check_docs(&[], 3, 9);
    }

    #[test]
    fn what_breaks_a_contract_panics() {
        let broken: [fn(); 9] = [
            || check_next(DocId(3), DocId(3)),
            || check_next(END, DocId(3)),
            || check_seek(DocId(3), DocId(9), DocId(8)),
            || check_seek(DocId(9), DocId(3), DocId(3)),
            || check_seek(DocId(9), DocId(3), DocId(10)),
            || check_score(END, 1.0),
            || check_score(DocId(3), f32::NAN),
            || check_docs(&[3, 3], 0, 9),
            || check_docs(&[3, 10], 0, 9),
        ];
        for (number, broken) in broken.into_iter().enumerate() {
            assert!(std::panic::catch_unwind(broken).is_err(), "{number}");
        }
    }
}
