//! Answers to requests that write: counts of what was accepted and rejected, and the first reasons.

use crate::net::response::{JSON, refusal, respond, retry_soon};
use axum::body::Body;
use axum::http::{Response, StatusCode};
use ingest::{LiveError, Outcome};
use serde::Serialize;

/// Rejected changes that an answer names.
const REJECTED_SHOWN_MAX: usize = 100;
/// Upper limit on the characters of a reason.
const REASON_CHARS_MAX: usize = 1_000;
/// Documents whose versions an answer has, and the bytes of their URLs.
const DOCUMENTS_SHOWN_MAX: usize = 100_000;
const URL_BYTES_SHOWN_MAX: usize = 4 << 20;
/// Names of fields that an answer tells.
const NAMES_SHOWN_MAX: usize = 20;

/// Count of the changes of a request. Its memory does not depend on their number.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Whether the versions of all documents are answered.
    versions: bool,
    accepted: u64,
    rejected_count: u64,
    rejected: Vec<Rejected>,
    documents: Vec<Written>,
    url_bytes: usize,
    documents_left_out: u64,
    /// Which fields became which part of documents, as `title = headline`.
    names: Vec<String>,
    /// Status of the last change: that of the request where there is no other.
    status: StatusCode,
}

/// Change that was not made.
#[derive(Debug, Serialize)]
struct Rejected {
    #[serde(skip_serializing_if = "is_zero")]
    line: u64,
    reason: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
}

/// Document that was written.
#[derive(Debug, Serialize)]
struct Written {
    url: String,
    version: String,
}

/// Why the rest of a request was not done.
#[derive(Debug, Serialize)]
pub(super) struct Broken {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) offset: Option<u64>,
    pub(super) reason: String,
}

#[derive(Serialize)]
struct Answer<'a> {
    accepted: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    documents: Option<&'a [Written]>,
    #[serde(skip_serializing_if = "is_zero")]
    documents_left_out: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Broken>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<u64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    names: &'a [String],
    rejected: &'a [Rejected],
    rejected_count: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Tally {
    pub(super) fn new(versions: bool) -> Tally {
        Tally {
            versions,
            ..Tally::default()
        }
    }

    /// Returns the number of changes so far.
    pub(super) fn total(&self) -> u64 {
        self.accepted + self.rejected_count
    }

    /// Counts an entry that is no change.
    pub(super) fn reject(&mut self, line: u64, reason: String) {
        self.count(line, String::new(), &Outcome::Invalid(reason));
    }

    /// Counts a change that was considered.
    pub(super) fn count(&mut self, line: u64, url: String, outcome: &Outcome) {
        let (status, reason, version) = told(outcome);
        self.status = status;
        if outcome.is_made() {
            if let Outcome::Written(version) = outcome
                && (self.versions || self.total() == 0)
            {
                self.show_version(url, version.to_string());
            }
            self.accepted += 1;
            return;
        }
        self.rejected_count += 1;
        if self.rejected.len() < REJECTED_SHOWN_MAX {
            let reason = reason.chars().take(REASON_CHARS_MAX).collect();
            self.rejected.push(Rejected {
                line,
                reason,
                url,
                version,
            });
        }
    }

    /// Notes which fields became which part of documents.
    pub(super) fn tell_names<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        let names = names.take(NAMES_SHOWN_MAX);
        self.names = names
            .map(|name| name.chars().take(REASON_CHARS_MAX).collect())
            .collect();
    }

    fn show_version(&mut self, url: String, version: String) {
        self.url_bytes += url.len();
        let has_room = self.documents.len() < DOCUMENTS_SHOWN_MAX
            && self.url_bytes <= URL_BYTES_SHOWN_MAX
            && self.documents_left_out == 0;
        match has_room {
            true => self.documents.push(Written { url, version }),
            false => self.documents_left_out += 1,
        }
    }

    /// Returns the answer to a request that was read to its end. A request for one document has its outcome as status.
    pub(super) fn response(&self, generation: Option<u64>) -> Response<Body> {
        let status = match (self.total(), self.accepted) {
            (1, _) => self.status,
            (_, 0) => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        };
        self.answered(status, generation, None)
    }

    /// Returns the answer to a request of which the rest was not done. What was accepted before is durable.
    pub(super) fn broken(&self, status: StatusCode, broken: Broken) -> Response<Body> {
        self.answered(status, None, Some(broken))
    }

    /// Returns the answer to a request that the writer refused, wholly or from here on.
    pub(super) fn refused(&self, error: &LiveError) -> Response<Body> {
        if self.total() == 0 {
            return refused(error);
        }
        let (status, is_soon) = refusal_of(error);
        let broken = Broken {
            line: None,
            offset: None,
            reason: error.to_string(),
        };
        let response = self.broken(status, broken);
        match is_soon {
            true => retry_soon(response),
            false => response,
        }
    }

    fn answered(
        &self,
        status: StatusCode,
        generation: Option<u64>,
        error: Option<Broken>,
    ) -> Response<Body> {
        let shows_documents = self.versions || self.total() == 1;
        let answer = Answer {
            accepted: self.accepted,
            documents: shows_documents.then_some(&self.documents),
            documents_left_out: self.documents_left_out,
            error,
            generation,
            names: &self.names,
            rejected: &self.rejected,
            rejected_count: self.rejected_count,
        };
        match serde_json::to_string(&answer) {
            Ok(json) => respond(status, JSON, json),
            Err(error) => refusal(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        }
    }
}

/// Returns status, reason and present version of a change that was not made.
fn told(outcome: &Outcome) -> (StatusCode, String, Option<String>) {
    match outcome {
        Outcome::Conflict(Some(version)) => (
            StatusCode::CONFLICT,
            "the document has another version now".into(),
            Some(version.to_string()),
        ),
        Outcome::Conflict(None) => (
            StatusCode::CONFLICT,
            "there is no such document now".into(),
            None,
        ),
        Outcome::Missing => (
            StatusCode::NOT_FOUND,
            "there is no such document".into(),
            None,
        ),
        Outcome::Invalid(reason) => (StatusCode::BAD_REQUEST, reason.clone(), None),
        Outcome::Written(_) | Outcome::Deleted => (StatusCode::OK, String::new(), None),
    }
}

/// Returns the response to a request that the writer refused.
pub(super) fn refused(error: &LiveError) -> Response<Body> {
    let (status, is_soon) = refusal_of(error);
    let response = refusal(status, &error.to_string());
    match is_soon {
        true => retry_soon(response),
        false => response,
    }
}

/// Returns the status of a refusal, and whether its cause may be gone in a second.
fn refusal_of(error: &LiveError) -> (StatusCode, bool) {
    match error {
        LiveError::Full { .. } => (StatusCode::TOO_MANY_REQUESTS, true),
        LiveError::NoTexts => (StatusCode::BAD_REQUEST, false),
        LiveError::Unreadable { .. } => (StatusCode::INTERNAL_SERVER_ERROR, false),
        LiveError::NoRoom { .. } => (StatusCode::INSUFFICIENT_STORAGE, true),
        LiveError::LogFailed { .. }
        | LiveError::Undecided { .. }
        | LiveError::Ending
        | LiveError::RulesNotSet { .. }
        | LiveError::NotRefreshed { .. } => (StatusCode::SERVICE_UNAVAILABLE, true),
        _ => (StatusCode::SERVICE_UNAVAILABLE, false),
    }
}

/// Returns the response to a request whose changes were made, as `answer` tells, and cannot be searched yet.
pub(super) fn refused_after(answer: &serde_json::Value, error: &LiveError) -> Response<Body> {
    let reason = format!("the request was carried out, {answer}, and then: {error}");
    retry_soon(refusal(StatusCode::SERVICE_UNAVAILABLE, &reason))
}
