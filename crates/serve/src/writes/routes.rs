//! Routes of a server that writes.

use super::apply::{WriteRequest, not_received};
use super::body::Action;
use super::opened::{bad_request, no_writer, with_writer};
use super::outcome::{refused, refused_after};
use super::parameters::{Refresh, parse};
use super::rules;
use crate::http::app::App;
use crate::net::bodies::Received;
use crate::net::response::{JSON, refusal, respond};
use axum::Extension;
use axum::Router;
use axum::body::Body;
use axum::extract::RawQuery;
use axum::http::{HeaderMap, Response, StatusCode, header};
use axum::routing::{get, post};
use document::{BodyForm, PartNames};
use engine::{Engine, EngineError, Operator};
use ingest::LiveError;
use serde_json::json;
use std::sync::Arc;

/// Upper limit on a body as sent, in bytes.
const BODY_BYTES_MAX: u64 = 64 << 20;
/// URLs that a dry run names.
const NAMED_MAX: usize = 10;

/// Adds the routes of a server that writes.
pub(crate) fn with_routes(routes: Router) -> Router {
    let documents = get(document)
        .post(async |Extension(app), RawQuery(raw), headers, body| {
            change(app, Action::Put, raw, headers, body).await
        })
        .patch(async |Extension(app), RawQuery(raw), headers, body| {
            change(app, Action::Patch, raw, headers, body).await
        })
        .delete(async |Extension(app), RawQuery(raw), headers, body| {
            change(app, Action::Delete, raw, headers, body).await
        });
    routes
        .route("/documents", documents)
        .route("/rules", get(rules::shown).put(rules::replaced))
        .route("/refresh", post(refresh))
        .route("/delete-by-query", post(delete_by_query))
}

async fn change(
    app: Arc<App>,
    action: Action,
    raw: Option<String>,
    headers: HeaderMap,
    body: Body,
) -> Response<Body> {
    let known: &[&str] = match action {
        Action::Delete => &["url", "refresh", "if_version"],
        Action::Patch => &["refresh", "if_version", "versions"],
        Action::Put => &[
            "refresh",
            "if_version",
            "versions",
            "id_field",
            "url_field",
            "title_field",
            "body_field",
        ],
    };
    let parameters = match parse(raw.as_deref(), known) {
        Ok(parameters) => parameters,
        Err(reason) => return bad_request(&reason),
    };
    if !app.writer.can_write() {
        return no_writer();
    }
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let form = BodyForm::of_content_type(text(header::CONTENT_TYPE).unwrap_or(""));
    let encoding = text(header::CONTENT_ENCODING).unwrap_or("").trim();
    let encoding = encoding.to_ascii_lowercase();
    let (body, rest) = match Received::first_part(body, BODY_BYTES_MAX).await {
        Ok(received) => received.split(),
        Err(error) => return not_received(error),
    };
    let request = WriteRequest {
        action,
        parameters,
        form,
        encoding,
        body,
    };
    let places = Arc::clone(&app.server.body_places);
    let answered = with_writer(&app, move |writer| request.run(writer, &places));
    let Some(rest) = rest else {
        return answered.await;
    };
    // A client that is answered before it has sent everything may lose the answer with the connection.
    let (answer, ()) = tokio::join!(answered, rest.hand_on(&app.server.body_places));
    answer
}

async fn document(Extension(app): Extension<Arc<App>>, RawQuery(raw): RawQuery) -> Response<Body> {
    let parameters = match parse(raw.as_deref(), &["url"]) {
        Ok(parameters) => parameters,
        Err(reason) => return bad_request(&reason),
    };
    let [url] = &parameters.urls[..] else {
        return bad_request("ask for one document: /documents?url=ADDRESS");
    };
    let url = url.clone();
    with_writer(&app, move |writer| match writer.document(&url) {
        Ok(Some((document, version))) => {
            let mut shown = document.fields;
            let names = PartNames::of(&shown);
            PartNames::hide_in(&mut shown);
            // As it was sent: title and body by the names that they have.
            let (title, body) = (document.title, document.body);
            let texts = [
                ("url", Some(document.url)),
                ("id", document.id),
                ("title", Some(title).filter(|_| names.title().is_none())),
                ("body", Some(body).filter(|_| names.body().is_empty())),
            ];
            for (name, text) in texts {
                shown.extend(text.map(|text| (name.to_owned(), json::Value::String(text))));
            }
            // Not by way of `serde_json::Value`, which rounds numbers.
            let version = version.to_string().into();
            let answer = json::Map::from([
                ("version".to_owned(), version),
                ("document".to_owned(), shown.into()),
            ]);
            respond(StatusCode::OK, JSON, json::Value::from(answer).to_string())
        }
        Ok(None) => refusal(StatusCode::NOT_FOUND, "there is no such document"),
        Err(error) => refused(&error),
    })
    .await
}

async fn refresh(Extension(app): Extension<Arc<App>>, RawQuery(raw): RawQuery) -> Response<Body> {
    if let Err(reason) = parse(raw.as_deref(), &[]) {
        return bad_request(&reason);
    }
    with_writer(&app, |writer| match writer.refresh() {
        Ok(generation) => {
            let answer = json!({ "generation": generation });
            respond(StatusCode::OK, JSON, answer.to_string())
        }
        Err(error) => refused(&error),
    })
    .await
}

/// Failure of a delete by query.
enum DeleteError {
    Unclear(String),
    Engine(EngineError),
    Live(LiveError),
}

impl From<LiveError> for DeleteError {
    fn from(error: LiveError) -> DeleteError {
        DeleteError::Live(error)
    }
}

async fn delete_by_query(
    Extension(app): Extension<Arc<App>>,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let parameters = match parse(raw.as_deref(), &["q", "dry_run", "refresh"]) {
        Ok(parameters) => parameters,
        Err(reason) => return bad_request(&reason),
    };
    let query = parameters.query.clone().unwrap_or_default();
    if query.trim().is_empty() {
        return bad_request("q: an empty query deletes nothing; ask for /delete-by-query?q=WORDS");
    }
    with_writer(&app, move |writer| {
        let mut matched = Vec::new();
        let deleted = writer.delete_found(|index| {
            let matches = Engine::from_index(Arc::clone(index)).matches(&query, Operator::And);
            let matches = matches.map_err(DeleteError::Engine)?;
            if let Some(warning) = matches.warnings.into_iter().next() {
                return Err(DeleteError::Unclear(warning));
            }
            matched.clone_from(&matches.urls);
            Ok(if parameters.is_dry_run {
                Vec::new()
            } else {
                matches.urls
            })
        });
        let answer = match deleted {
            Ok(_) if parameters.is_dry_run => {
                let named = &matched[..matched.len().min(NAMED_MAX)];
                json!({ "would_delete": matched.len(), "urls": named })
            }
            Ok(deleted) => json!({ "deleted": deleted }),
            Err(DeleteError::Unclear(warning)) => {
                return bad_request(&format!(
                    "q: nothing was deleted, since the query is not clear: {warning}"
                ));
            }
            Err(DeleteError::Engine(error)) => {
                let reason = error.to_string();
                return refused(&LiveError::Undecided { reason });
            }
            Err(DeleteError::Live(error)) => return refused(&error),
        };
        let refreshed = match parameters.refresh {
            Refresh::None => Ok(0),
            Refresh::Wait => writer.wait_for_refresh(),
            Refresh::Now => writer.refresh(),
        };
        match refreshed {
            Ok(_) => respond(StatusCode::OK, JSON, answer.to_string()),
            Err(error) => refused_after(&answer, &error),
        }
    })
    .await
}
