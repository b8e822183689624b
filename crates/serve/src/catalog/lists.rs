//! The indexes of a catalog as a page and as JSON.

use super::Catalog;
use super::error::CatalogError;
use crate::http::app::App;
use crate::http::page::{self, ListedIndex};
use crate::net::response::{HTML, JSON, refusal, respond};
use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;

/// Answers with the page of all indexes.
pub(super) async fn page(State(catalog): State<Arc<Catalog>>) -> Response<Body> {
    match catalog.names().await {
        Ok(indexes) => {
            let listed = indexes.iter().map(|(name, open)| ListedIndex {
                name,
                documents_count: open.as_deref().map(documents_count),
            });
            respond(StatusCode::OK, HTML, page::indexes(listed))
        }
        Err(error) => {
            let (status, reason) = not_listed(&error);
            let html = page::refusal("No answer", &format!("There is no list: {reason}."), "");
            respond(status, HTML, html)
        }
    }
}

/// Answers with all indexes as JSON: their names, and the figures of those that are open.
pub(super) async fn json(State(catalog): State<Arc<Catalog>>) -> Response<Body> {
    match catalog.names().await {
        Ok(indexes) => {
            let described = indexes.iter().map(|(name, open)| match open {
                Some(app) => described(name, app),
                None => json!({ "name": name, "open": false }),
            });
            let described: Vec<Value> = described.collect();
            let answer = json!({ "indexes": described });
            respond(StatusCode::OK, JSON, answer.to_string())
        }
        Err(error) => {
            let (status, reason) = not_listed(&error);
            refusal(status, &reason)
        }
    }
}

/// Returns an open index as JSON.
pub(super) fn described(name: &str, app: &App) -> Value {
    let known = app.front_end.known();
    json!({
        "name": name,
        "open": true,
        "documents": known.documents_count,
        "generation": known.generation,
        "chunks": known.chunks_count,
        "writing": app.writer.opened().is_some(),
    })
}

fn documents_count(app: &App) -> u64 {
    app.front_end.known().documents_count
}

/// Returns the status code and the reason of a list that there is not.
fn not_listed(error: &CatalogError) -> (StatusCode, String) {
    if let CatalogError::Unavailable { .. } = error {
        return (StatusCode::SERVICE_UNAVAILABLE, error.to_string());
    }
    tracing::error!(%error, "the folder of the indexes cannot be read");
    let reason = "the folder of the indexes cannot be read; the log of this server says why";
    (StatusCode::INTERNAL_SERVER_ERROR, reason.to_owned())
}
