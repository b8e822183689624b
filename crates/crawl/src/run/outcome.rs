//! What the frontier learns from an answer.

use super::visit::{AnswerKind, Answered};
use crate::fetch::FetchError;
use crate::frontier::{Failure, Outcome, Parked, WarcPlace};
use web::address::CanonicalUrl;

/// Returns the outcome of an answer that is archived at `place`; `repeats` says that its host has the text elsewhere.
pub(super) fn outcome_of(
    answered: &Answered,
    url: &CanonicalUrl,
    took_ms: u64,
    place: WarcPlace,
    repeats: bool,
) -> Outcome {
    let status = answered.status;
    let failed = |failure| Outcome::Failed {
        failure,
        status: Some(status),
        took_ms,
        retry_after_s: answered.retry_after_s,
    };
    match &answered.kind {
        AnswerKind::Page(reading, _) => Outcome::Fetched {
            status,
            took_ms,
            text_hash: reading.text_hash,
            duplicate: reading.canonical.is_some(),
            noindex: reading.noindex,
            repeats,
            validators: answered.validators.clone(),
            place,
        },
        AnswerKind::NotModified => Outcome::NotModified { took_ms },
        AnswerKind::Redirect(Some(to)) if to != url => Outcome::Redirected { status, took_ms },
        AnswerKind::Redirect(_) => failed(Failure::Redirects),
        AnswerKind::OtherType => Outcome::Parked(Parked::Type),
        AnswerKind::Status => match status {
            404 | 410 => Outcome::Gone { status, took_ms },
            429 | 503 => failed(Failure::Throttled),
            500..=599 => failed(Failure::Server),
            400..=499 => failed(Failure::Client),
            _ => failed(Failure::Broken),
        },
    }
}

/// Returns the outcome of a fetch without an answer.
pub(super) fn failure_of(error: &FetchError, took_ms: u64) -> Outcome {
    let failure = match error {
        FetchError::Denied { .. } => Failure::Address,
        FetchError::Dns { .. } => Failure::Dns,
        FetchError::Connect { .. } => Failure::Connect,
        FetchError::Tls { .. } => Failure::Tls,
        FetchError::Timeout { .. } | FetchError::TooSlow { .. } => Failure::Timeout,
        FetchError::BadRedirect { .. } => Failure::Redirects,
        _ => Failure::Broken,
    };
    Outcome::Failed {
        failure,
        status: None,
        took_ms,
        retry_after_s: None,
    }
}
