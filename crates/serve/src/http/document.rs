//! One document, at `/document`: as a page, or as JSON with `format=json`.

use crate::addresses::Addresses;
use crate::http::app::App;
use crate::http::failure::{failed_json, failed_page};
use crate::http::page::{self, Marking};
use crate::http::params;
use crate::net::blocking::beside_io;
use crate::net::response::{HTML, JSON, refusal, respond};
use axum::Extension;
use axum::body::Body;
use axum::extract::RawQuery;
use axum::http::{Response, StatusCode};
use document::PartNames;
use engine::SearchError;
use index::StoredDocument;
use std::sync::Arc;

/// Form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Page,
    Json,
}

/// Answers with the text of a document as stored; the page has the words of `q` marked.
pub(super) async fn document(
    Extension(app): Extension<Arc<App>>,
    RawQuery(raw): RawQuery,
) -> Response<Body> {
    let raw = raw.as_deref();
    let form = match params::single(raw, "format").as_deref() {
        Some("json") => Form::Json,
        None | Some("html") => Form::Page,
        Some(_) => {
            let error = bad("format", "it is json or html; give one, or leave it out");
            return failed_json(&app, &app.failure(error));
        }
    };
    let refused = |error: SearchError| match form {
        Form::Json => failed_json(&app, &app.failure(error)),
        Form::Page => failed_page(&app, &app.failure(error), None),
    };
    let Some(url) = params::single(raw, "url") else {
        return refused(bad(
            "url",
            "the address of the document is missing; ask for /document?url=ADDRESS",
        ));
    };
    let addresses = app.front_end.addresses();
    match found(&app, &addresses, &url).await {
        Ok(Some(document)) => match form {
            Form::Json => respond(StatusCode::OK, JSON, beside_io(|| json(&document))),
            Form::Page => {
                let typed = params::single(raw, "q").unwrap_or_default();
                let html = beside_io(|| {
                    let opened = addresses.original(&document.url);
                    page::document(&document, marking(&app, &typed).as_ref(), opened)
                });
                respond(StatusCode::OK, HTML, html)
            }
        },
        Ok(None) => not_found(&app, form, &url),
        Err(error) => refused(error),
    }
}

/// Returns the document that is shown at an address.
async fn found(
    app: &App,
    addresses: &Addresses,
    shown: &str,
) -> Result<Option<StoredDocument>, SearchError> {
    for url in addresses.real(shown) {
        if let Some(mut document) = app.front_end.document(&url).await? {
            addresses.show_document(&mut document);
            return Ok(Some(document));
        }
    }
    Ok(None)
}

fn bad(parameter: &'static str, reason: &str) -> SearchError {
    SearchError::BadRequest {
        parameter,
        reason: reason.into(),
    }
}

/// Returns the words to mark; `None` without a query, or before any server has told the analyzer.
fn marking<'a>(app: &App, typed: &'a str) -> Option<Marking<'a>> {
    let known = app.front_end.known();
    let analyzer = known.analyzer.filter(|_| !typed.trim().is_empty())?;
    let parsed = search::parse_with(typed, analyzer, &known.fields, search::Operator::default());
    Some(Marking {
        typed,
        analyzer,
        query: parsed.query,
    })
}

/// Returns a document as JSON: its id, URL, title and body, and its further fields as they were given.
fn json(document: &StoredDocument) -> String {
    let texts = [
        ("id", &document.id),
        ("url", &document.url),
        ("title", &document.title),
        ("body", &document.body),
    ];
    let texts = texts.map(|(name, text)| (name.to_owned(), text.as_str().into()));
    let mut shown = json::Map::from(texts);
    // Not by way of `serde_json::Value`, which rounds numbers.
    let mut fields = document.fields.clone();
    PartNames::hide_in(&mut fields);
    shown.insert("fields".to_owned(), fields.into());
    json::Value::from(shown).to_string()
}

fn not_found(app: &App, form: Form, url: &str) -> Response<Body> {
    let has_texts = app.front_end.known().has_texts;
    let (heading, reason) = match has_texts {
        false => (
            "No texts here",
            "This index finds documents, but does not keep their texts: it was built with --texts none."
                .to_owned(),
        ),
        true => (
            "Not in the index",
            format!(
                "There is no document at {url} here. It may have been there before the index was last built."
            ),
        ),
    };
    match form {
        Form::Json => refusal(StatusCode::NOT_FOUND, &reason),
        Form::Page => respond(
            StatusCode::NOT_FOUND,
            HTML,
            page::refusal(heading, &reason, ""),
        ),
    }
}
