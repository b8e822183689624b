//! Error messages for clients, with a remedy and without paths of the server.
//!
//! The message names the number of the query, under which the log has the whole reason.

use engine::SearchError;
use wire::answer::Degraded;

/// Replacement in an answer for a reason that names files.
const DAMAGED: &str = "damaged";

/// Returns the message of an error for the client of query `number`.
pub(crate) fn message(error: &SearchError, number: u64) -> String {
    match error {
        SearchError::BadRequest { .. }
        | SearchError::Overloaded { .. }
        | SearchError::TimedOut { .. }
        | SearchError::GenerationGone { .. }
        | SearchError::Unavailable { .. } => error.to_string(),
        SearchError::Index(error) if error.is_transient() => {
            format!(
                "the index could not be read just now; ask again (query {number} in the log of this server)"
            )
        }
        SearchError::Index(_) => {
            format!("the index cannot be read; the log of this server says why, of query {number}")
        }
        SearchError::Damaged { part, .. } => {
            format!(
                "{part} cannot read its index; the log of this server says why, of query {number}"
            )
        }
        SearchError::Partial { share, .. } => format!(
            "only {share} of the documents could be searched, and partial=0 was asked for; the log of this server \
             says why, of query {number}"
        ),
    }
}

/// Replaces the messages of damaged parts, which name files of a server, in an answer to query
/// `number`.
pub(crate) fn without_paths(degraded: &mut [Degraded], number: u64) {
    for lost in degraded {
        if lost.reason == DAMAGED {
            lost.message = format!(
                "the index cannot be read there; the log of this server says why, of query {number}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_for_the_log() {
        let damaged = SearchError::Damaged {
            part: "the index server of chunks 0-1".into(),
            reason: "/srv/index/3.index: block 17 at byte 40960".into(),
        };
        let partial = SearchError::Partial {
            share: "50.0 %".into(),
            reason: "chunks 0-1: /srv/index/3.index: block 17 at byte 40960".into(),
            timed_out: false,
        };
        for error in [damaged, partial] {
            let told = message(&error, 17);
            assert!(
                !told.contains("/srv") && told.contains("query 17"),
                "{told}"
            );
        }
        let lost = |reason: &str| Degraded {
            lacks: "search".into(),
            chunks: "0-1".into(),
            reason: reason.into(),
            message: "/srv/index".into(),
            documents_searched: 0,
            documents_count: 0,
        };
        let mut degraded = [lost("damaged"), lost("deadline")];
        without_paths(&mut degraded, 17);
        assert!(degraded[0].message.contains("query 17"));
        assert_eq!(degraded[1].message, "/srv/index");
    }
}
