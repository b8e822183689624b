//! Answers to requests that write.

use super::body::ReadChange;
use crate::http::response::{JSON, refusal, respond, retry_soon};
use axum::body::Body;
use axum::http::{Response, StatusCode};
use ingest::{Change, LiveError, Outcome};
use serde_json::{Value, json};

/// Rejected changes that an answer names.
const REJECTED_SHOWN_MAX: usize = 100;

/// Change of a request, in the order of its body: its line and URL, and its number among those considered or the reason
/// why it is none.
pub(super) struct Considered {
    line: u64,
    url: String,
    result: Result<usize, String>,
}

/// Splits what was read into the changes to consider, and all in their order.
pub(super) fn separated(read: Vec<ReadChange>) -> (Vec<Change>, Vec<Considered>) {
    let mut changes = Vec::with_capacity(read.len());
    let considered = read
        .into_iter()
        .map(|ReadChange { line, change }| match change {
            Ok(change) => {
                let url = change.url().to_owned();
                changes.push(change);
                let result = Ok(changes.len() - 1);
                Considered { line, url, result }
            }
            Err(reason) => Considered {
                line,
                url: String::new(),
                result: Err(reason),
            },
        });
    let considered = considered.collect();
    (changes, considered)
}

/// Summary of a request: status, and the answer.
pub(super) struct Summary {
    status: StatusCode,
    answer: serde_json::Map<String, Value>,
}

impl Summary {
    /// Summarizes the outcomes of the changes. A request for one document has its outcome as status.
    pub(super) fn of(considered: &[Considered], outcomes: &[Outcome], versions: bool) -> Summary {
        let (mut accepted, mut rejected_count) = (0, 0);
        let (mut rejected, mut documents) = (Vec::new(), Vec::new());
        let mut status = StatusCode::OK;
        let is_one = considered.len() == 1;
        for Considered { line, url, result } in considered {
            let outcome = match result {
                Ok(number) => outcomes.get(*number).cloned(),
                Err(reason) => Some(Outcome::Invalid(reason.clone())),
            };
            let outcome = outcome.unwrap_or_else(|| Outcome::Invalid("not considered".into()));
            if let Outcome::Written(version) = &outcome
                && (is_one || versions)
            {
                documents.push(json!({ "url": url, "version": version.to_string() }));
            }
            if outcome.is_made() {
                accepted += 1;
                continue;
            }
            rejected_count += 1;
            let (of_one, reason, version) = told(&outcome);
            if is_one {
                status = of_one;
            }
            if rejected.len() < REJECTED_SHOWN_MAX {
                let mut one = serde_json::Map::new();
                if *line > 0 {
                    one.insert("line".into(), (*line).into());
                }
                if !url.is_empty() {
                    one.insert("url".into(), url.clone().into());
                }
                one.insert("reason".into(), reason.into());
                if let Some(version) = version {
                    one.insert("version".into(), version.into());
                }
                rejected.push(Value::Object(one));
            }
        }
        if accepted == 0 && !is_one {
            status = StatusCode::BAD_REQUEST;
        }
        let mut answer = serde_json::Map::new();
        answer.insert("accepted".into(), accepted.into());
        answer.insert("rejected_count".into(), rejected_count.into());
        answer.insert("rejected".into(), rejected.into());
        if is_one || versions {
            answer.insert("documents".into(), documents.into());
        }
        Summary { status, answer }
    }

    /// Adds the generation that has the changes.
    pub(super) fn with_generation(mut self, generation: u64) -> Summary {
        self.answer.insert("generation".into(), generation.into());
        self
    }

    pub(super) fn response(self) -> Response<Body> {
        respond(self.status, JSON, Value::Object(self.answer).to_string())
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
    let status = match error {
        LiveError::Full { .. } => StatusCode::TOO_MANY_REQUESTS,
        LiveError::NoTexts => StatusCode::BAD_REQUEST,
        LiveError::Unreadable { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        LiveError::NoRoom { .. } => StatusCode::INSUFFICIENT_STORAGE,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    let response = refusal(status, &error.to_string());
    match error {
        LiveError::Full { .. }
        | LiveError::LogFailed { .. }
        | LiveError::NoRoom { .. }
        | LiveError::Undecided { .. }
        | LiveError::Ending
        | LiveError::NotRefreshed { .. } => retry_soon(response),
        _ => response,
    }
}

/// Returns the response to a request whose changes were made, as `answer` tells, and cannot be searched yet.
pub(super) fn refused_after(answer: &Value, error: &LiveError) -> Response<Body> {
    let reason = format!("the request was carried out, {answer}, and then: {error}");
    retry_soon(refusal(StatusCode::SERVICE_UNAVAILABLE, &reason))
}
