//! Page of one document, at `/document`.

use crate::api::error::SearchError;
use crate::http::app::App;
use crate::http::failure::failed_page;
use crate::http::page;
use crate::http::params;
use crate::http::response::{HTML, respond};
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{Response, StatusCode};
use std::sync::Arc;

/// Shows the text of a document as stored.
pub(super) async fn document_page(
    State(app): State<Arc<App>>,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let Some(url) = params::single(raw.as_deref(), "url") else {
        let error = SearchError::BadRequest {
            parameter: "url",
            reason: "the address of the document is missing; ask for /document?url=ADDRESS".into(),
        };
        return failed_page(&app, &app.failure(error), None);
    };
    match app.front_end.document(&url).await {
        Ok(Some(document)) => respond(StatusCode::OK, HTML, page::document(&document)),
        Ok(None) if !app.front_end.known().has_texts => {
            let html = page::refusal(
                "No texts here",
                "This index finds documents, but does not keep their texts: it was built with --texts none.",
                "",
            );
            respond(StatusCode::NOT_FOUND, HTML, html)
        }
        Ok(None) => {
            let html = page::refusal(
                "Not in the index",
                &format!(
                    "There is no document at {url} here. It may have been there before the index was last built."
                ),
                "",
            );
            respond(StatusCode::NOT_FOUND, HTML, html)
        }
        Err(error) => failed_page(&app, &app.failure(error), None),
    }
}
