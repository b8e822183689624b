//! Titles while they are typed, as JSON at `/suggest`.

use crate::front_end::told;
use crate::http::app::App;
use crate::http::failure::failed_json;
use crate::http::params;
use crate::net::response::{JSON, respond};
use axum::Extension;
use axum::body::Body;
use axum::extract::RawQuery;
use axum::http::{Response, StatusCode};
use engine::SearchError;
use std::sync::Arc;

/// Answers with titles for the text that is typed so far.
pub(super) async fn suggest(
    Extension(app): Extension<Arc<App>>,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    match suggested(&app, raw.as_deref()).await {
        Ok(json) => respond(StatusCode::OK, JSON, json),
        Err(error) => failed_json(&app, &app.failure(error)),
    }
}

async fn suggested(app: &App, raw: Option<&str>) -> Result<String, SearchError> {
    let asked = params::titles(raw)?;
    let titles = app.front_end.titles(&asked.q, asked.k, asked.timeout);
    let mut answer = titles.await?;
    told::without_paths(&mut answer.degraded, 0);
    let addresses = app.front_end.addresses();
    for title in &mut answer.titles {
        title.url = addresses.shown(&title.url).into_owned();
    }
    answer.to_json().map_err(|error| SearchError::Unavailable {
        part: "the front-end".into(),
        reason: format!("the answer cannot be written as JSON: {error}"),
    })
}
