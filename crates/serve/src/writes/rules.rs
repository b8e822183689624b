//! Rules of relevance over HTTP: read at any server, replaced at one that writes.

use super::opened::{bad_request, with_writer};
use super::outcome::refused;
use super::parameters::parse;
use crate::http::app::App;
use crate::net::response::{JSON, refusal, respond};
use axum::Extension;
use axum::body::Body;
use axum::extract::RawQuery;
use axum::http::{Response, StatusCode};
use fields::{RULES_BYTES_MAX, Rules};
use search::QueryRules;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// Upper limit on a body, in bytes: the rules, and blanks between them.
const BODY_BYTES_MAX: usize = 2 * RULES_BYTES_MAX;
/// Time limit of reading a body.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// Answers with the rules of the newest generation that is searched.
pub(super) async fn shown(
    Extension(app): Extension<Arc<App>>,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    if let Err(reason) = parse(raw.as_deref(), &[]) {
        return bad_request(&reason);
    }
    let rules = app.front_end.known().rules;
    // They have no value that JSON lacks.
    let rules = serde_json::to_string(&*rules).unwrap_or_default();
    respond(StatusCode::OK, JSON, rules)
}

/// Puts the rules of a body in place of all others, and answers when they are durable and searched with.
pub(super) async fn replaced(
    Extension(app): Extension<Arc<App>>,
    RawQuery(raw): RawQuery,
    body: Body,
) -> Response<Body> {
    if let Err(reason) = parse(raw.as_deref(), &[]) {
        return bad_request(&reason);
    }
    let received = axum::body::to_bytes(body, BODY_BYTES_MAX);
    let body = match tokio::time::timeout(BODY_TIMEOUT, received).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => {
            return refusal(
                StatusCode::PAYLOAD_TOO_LARGE,
                &format!(
                    "the body broke off, or has more than {BODY_BYTES_MAX} bytes; rules have {RULES_BYTES_MAX} at most"
                ),
            );
        }
        Err(_) => {
            return refusal(
                StatusCode::REQUEST_TIMEOUT,
                "the body did not come within 10 s",
            );
        }
    };
    let rules = match Rules::of_json(&body) {
        Ok(rules) => rules,
        Err(reason) => {
            return bad_request(&format!(
                "nothing was changed, since the body is no rules: {reason}"
            ));
        }
    };
    let known = app.front_end.known();
    let read = known
        .analyzer
        .and_then(|of| QueryRules::new(&rules, of, &known.fields));
    let ignored = read.map_or_else(Vec::new, |rules| rules.ignored().to_vec());
    with_writer(&app, move |writer| match writer.set_rules(rules) {
        Ok(generation) => {
            let mut answer = json!({ "generation": generation });
            if !ignored.is_empty() {
                answer["warnings"] = json!(ignored);
            }
            respond(StatusCode::OK, JSON, answer.to_string())
        }
        Err(error) => refused(&error),
    })
    .await
}
