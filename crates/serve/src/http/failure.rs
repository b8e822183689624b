//! Requests without an answer: status code, message and metrics.

use crate::front_end::told;
use crate::http::app::{App, Failure};
use crate::http::page;
use crate::http::params;
use crate::net::response::{HTML, refusal, respond, retry_soon};
use axum::body::Body;
use axum::http::{Response, StatusCode};
use engine::SearchError;

/// Records a request without an answer. A request that was not understood never became a query with a
/// number.
fn failed(app: &App, error: &SearchError) {
    app.failed(error);
    if let SearchError::BadRequest { parameter, .. } = error {
        tracing::debug!(%parameter, "refused: not understood");
    }
}

/// Returns the failure as JSON.
pub(super) fn failed_json(app: &App, failure: &Failure) -> Response<Body> {
    let Failure { error, number } = failure;
    failed(app, error);
    retriable(
        error,
        refusal(status(error), &told::message(error, *number)),
    )
}

/// Returns the failure as a page; `raw` has the parameters of the request.
pub(super) fn failed_page(app: &App, failure: &Failure, raw: Option<&str>) -> Response<Body> {
    let Failure { error, number } = failure;
    failed(app, error);
    let heading = match error {
        SearchError::BadRequest { .. } => "That cannot be searched for",
        SearchError::Overloaded { .. } => "Too many searches at once",
        SearchError::TimedOut { .. } => "No answer in time",
        SearchError::Index(_)
        | SearchError::Damaged { .. }
        | SearchError::Partial { .. }
        | SearchError::GenerationGone { .. }
        | SearchError::Unavailable { .. } => "No answer",
    };
    let query = params::single(raw, "q").unwrap_or_default();
    let html = page::refusal(heading, &told::message(error, *number), &query);
    retriable(error, respond(status(error), HTML, html))
}

/// Returns the status code of an error.
pub(crate) fn status(error: &SearchError) -> StatusCode {
    match error {
        SearchError::BadRequest { .. } => StatusCode::BAD_REQUEST,
        SearchError::Overloaded { .. } => StatusCode::TOO_MANY_REQUESTS,
        SearchError::TimedOut { .. }
        | SearchError::Partial {
            timed_out: true, ..
        } => StatusCode::GATEWAY_TIMEOUT,
        SearchError::GenerationGone { .. }
        | SearchError::Unavailable { .. }
        | SearchError::Partial { .. } => StatusCode::SERVICE_UNAVAILABLE,
        SearchError::Index(error) if error.is_transient() => StatusCode::SERVICE_UNAVAILABLE,
        SearchError::Index(_) | SearchError::Damaged { .. } => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn retriable(error: &SearchError, response: Response<Body>) -> Response<Body> {
    match error {
        SearchError::Overloaded { .. } => retry_soon(response),
        _ => response,
    }
}
