//! Routes of the crawl that fills the index: its figures as JSON or as a page, and the request to end.

use crate::api::observed_crawl::{CrawlFailure, ObservedCrawl};
use crate::http::app::App;
use crate::http::page::crawl_status;
use crate::http::routes::{accepts_html, with_page_files};
use crate::net::response::{HTML, JSON, refusal, respond};
use axum::Extension;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Response, StatusCode};
use axum::routing::{get, post};
use std::sync::Arc;

/// Adds the routes, and the files that the page names.
pub(super) fn with_routes(routes: Router) -> Router {
    with_page_files(routes)
        .route("/crawl", get(status))
        .route("/crawl/stop", post(stop))
}

async fn status(Extension(app): Extension<Arc<App>>, headers: HeaderMap) -> Response<Body> {
    let is_page = accepts_html(&headers);
    asked(&app, move |crawl| {
        Ok(match crawl.status()? {
            Some(status) if is_page => respond(StatusCode::OK, HTML, crawl_status(&status)),
            Some(status) => match serde_json::to_string(&status) {
                Ok(json) => respond(StatusCode::OK, JSON, json),
                Err(error) => return Err(error.into()),
            },
            None => no_crawl(),
        })
    })
    .await
}

async fn stop(Extension(app): Extension<Arc<App>>) -> Response<Body> {
    asked(&app, |crawl| {
        if crawl.status()?.is_none() {
            return Ok(no_crawl());
        }
        Ok(match crawl.request_stop()? {
            true => {
                let json = serde_json::json!({ "stopping": true });
                respond(StatusCode::ACCEPTED, JSON, json.to_string())
            }
            false => refusal(StatusCode::CONFLICT, "no crawl runs here"),
        })
    })
    .await
}

fn no_crawl() -> Response<Body> {
    refusal(
        StatusCode::NOT_FOUND,
        "no crawl fills this index; begin one with `shorttail crawl INDEX URL`, where INDEX is the directory served",
    )
}

/// Asks the crawl on a thread of its own, since the answer is in files.
async fn asked(
    app: &App,
    ask: impl FnOnce(&dyn ObservedCrawl) -> Result<Response<Body>, CrawlFailure> + Send + 'static,
) -> Response<Body> {
    let Some(crawl) = app.crawl.get().cloned() else {
        return no_crawl();
    };
    let answered = tokio::task::spawn_blocking(move || ask(&*crawl)).await;
    match answered {
        Ok(Ok(response)) => response,
        // Administrators may read the paths of the crawl.
        Ok(Err(error)) => refusal(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        Err(_) => refusal(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the request was given up; see the server's log",
        ),
    }
}
