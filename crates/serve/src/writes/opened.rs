//! The writer of an index, for requests that need one.

use crate::http::app::App;
use crate::net::response::refusal;
use axum::body::Body;
use axum::http::{Response, StatusCode};
use index::IndexError;
use ingest::LiveWriter;
use std::sync::Arc;
use vfs::StorageError;

/// Runs `work` with the writer on a thread of its own: it waits for the disk.
pub(super) async fn with_writer(
    app: &Arc<App>,
    work: impl FnOnce(&LiveWriter) -> Response<Body> + Send + 'static,
) -> Response<Body> {
    if !app.writer.can_write() {
        return no_writer();
    }
    let app = Arc::clone(app);
    let answered = tokio::task::spawn_blocking(move || match app.writer.get() {
        Ok(Some(writer)) => work(&writer.current()),
        Ok(None) if app.writer.has_ended() => refusal(
            StatusCode::SERVICE_UNAVAILABLE,
            "the index was closed or dropped meanwhile; try again",
        ),
        Ok(None) => no_writer(),
        Err(error) => unopened(&error),
    });
    let answered = answered.await;
    answered.unwrap_or_else(|_| {
        let reason = "the request was given up; see the server's log";
        refusal(StatusCode::INTERNAL_SERVER_ERROR, reason)
    })
}

pub(super) fn no_writer() -> Response<Body> {
    refusal(
        StatusCode::NOT_FOUND,
        "this server does not write; start it with --writable",
    )
}

/// Refuses a request whose writer cannot be opened.
fn unopened(error: &IndexError) -> Response<Body> {
    let reason = format!("the writer of the index cannot be opened: {error}");
    match error {
        IndexError::Storage(StorageError::Locked { .. }) => refusal(StatusCode::CONFLICT, &reason),
        error if error.is_transient() => refusal(StatusCode::SERVICE_UNAVAILABLE, &reason),
        _ => refusal(StatusCode::INTERNAL_SERVER_ERROR, &reason),
    }
}

pub(super) fn bad_request(reason: &str) -> Response<Body> {
    refusal(StatusCode::BAD_REQUEST, reason)
}
