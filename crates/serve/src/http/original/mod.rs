//! The file of a document, at `/original/FOLDER/PATH`: sent as it is, or a range of it.
//!
//! ```text
//! /original/docs/a%20b.pdf ─► address in the index ─► is it a document? ─► its file, below a folder of --originals
//! ```
//!
//! Files that are no documents of the index are not sent, whatever their folder. What a browser would run is sent with a
//! policy under which nothing of it runs.

mod beneath;
mod kinds;
mod ranges;

use crate::addresses::Addresses;
use crate::http::app::App;
use crate::http::failure::failed_json;
use crate::net::blocking::beside_io;
use crate::net::response::{HTML, refusal, respond};
use axum::Extension;
use axum::body::Body;
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::{Response, StatusCode, Uri};
use bytes::Bytes;
use engine::SearchError;
use futures_util::stream;
use kinds::Kind;
use ranges::{Range, Version, Wanted, wanted};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use url::Url;

/// Bytes of a file that are read at once.
const PIECE_BYTES: u64 = 128 << 10;

/// Answers with the file of a document.
pub(super) async fn original(
    Extension(app): Extension<Arc<App>>,
    uri: Uri,
    headers: HeaderMap,
) -> Response<Body> {
    let folders = app.front_end.originals();
    if folders.is_empty() {
        return nothing();
    }
    let path = uri.path().strip_prefix("/original").unwrap_or_default();
    match document_at(&app, &app.front_end.addresses(), path).await {
        Ok(Some(url)) => match beside_io(|| opened(&url, folders)) {
            Some((path, file)) => match sent(&path, file, &headers) {
                Ok(response) => response,
                Err(error) => {
                    tracing::warn!(%error, path = %path.display(), "an original cannot be read");
                    nothing()
                }
            },
            None => nothing(),
        },
        Ok(None) => nothing(),
        Err(error) => failed_json(&app, &app.failure(error)),
    }
}

/// Returns the address in the index of the document that a path names; `None` where there is none.
async fn document_at(
    app: &App,
    addresses: &Addresses,
    path: &str,
) -> Result<Option<String>, SearchError> {
    let shown = format!("file://{path}");
    // Records of a file and parts of a page have a fragment, which a browser would keep to itself.
    let fragment = shown.rsplit_once("%23");
    let fragment = fragment.map(|(file, fragment)| format!("{file}#{fragment}"));
    for shown in [Some(shown), fragment].into_iter().flatten() {
        let real = addresses.real(&shown).into_iter();
        // An address of the index is none of the public.
        for url in real.filter(|url| addresses.shown(url) == shown) {
            if app.front_end.document(&url).await?.is_some() {
                return Ok(Some(url));
            }
        }
    }
    Ok(None)
}

/// Opens the file of a document: the one at its address, or the archive, log or table that the document is in.
fn opened(url: &str, folders: &[PathBuf]) -> Option<(PathBuf, File)> {
    let files = [Some(url), url.split_once("!/").map(|(file, _)| file)];
    files.into_iter().flatten().find_map(|file| {
        let path = Url::parse(file).ok()?.to_file_path().ok()?;
        let folder = folders.iter().find(|folder| path.starts_with(folder))?;
        let opened = beneath::open(folder, path.strip_prefix(folder).ok()?).ok()?;
        Some((path, opened))
    })
}

/// Returns a file, the range of it that is asked for, or that it is as the client has it.
fn sent(path: &Path, file: File, asked: &HeaderMap) -> io::Result<Response<Body>> {
    let version = Version::of(&file.metadata()?);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let kind = Kind::of(&name);
    let (status, range) = match wanted(asked, &version) {
        Wanted::Nothing => (StatusCode::NOT_MODIFIED, None),
        Wanted::Whole => (StatusCode::OK, Some(Range::whole(version.bytes))),
        Wanted::Part(range) => (StatusCode::PARTIAL_CONTENT, Some(range)),
        Wanted::Beyond => {
            let reason = "the file is shorter; ask for a range within it";
            let mut response = refusal(StatusCode::RANGE_NOT_SATISFIABLE, reason);
            let length = format!("bytes */{}", version.bytes);
            set(response.headers_mut(), header::CONTENT_RANGE, &length);
            return Ok(response);
        }
    };
    let (content_type, file) = kind.content_type(file)?;
    let mut response = respond(status, HTML, Body::empty());
    let headers = response.headers_mut();
    set(headers, header::CONTENT_TYPE, content_type);
    set(headers, header::CONTENT_SECURITY_POLICY, kind.policy());
    set(
        headers,
        header::CONTENT_DISPOSITION,
        &kind.disposition(&name),
    );
    set(headers, header::ACCEPT_RANGES, "bytes");
    set(headers, header::ETAG, &version.tag);
    set(headers, header::LAST_MODIFIED, &version.modified());
    // A copy is asked about at each use, because what was removed from the index is not sent any more.
    set(headers, header::CACHE_CONTROL, "private, no-cache");
    if let Some(range) = range {
        set(headers, header::CONTENT_LENGTH, &range.bytes().to_string());
        if status == StatusCode::PARTIAL_CONTENT {
            let of = format!("bytes {}-{}/{}", range.first, range.end - 1, version.bytes);
            set(headers, header::CONTENT_RANGE, &of);
        }
        *response.body_mut() = streamed(file, range);
    }
    Ok(response)
}

fn set(headers: &mut HeaderMap, name: header::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// Returns a range of a file as a body that is read as it is sent. A file that has become shorter ends the connection.
fn streamed(file: File, range: Range) -> Body {
    let pieces = stream::try_unfold((file, range), |(mut file, range)| async move {
        if range.bytes() == 0 {
            return Ok::<_, io::Error>(None);
        }
        let read = move || {
            let mut piece = vec![0; range.bytes().min(PIECE_BYTES) as usize];
            file.seek(SeekFrom::Start(range.first))?;
            file.read_exact(&mut piece)?;
            Ok::<_, io::Error>((piece, file))
        };
        let (piece, file) = tokio::task::spawn_blocking(read).await??;
        let rest = Range {
            first: range.first + piece.len() as u64,
            ..range
        };
        Ok(Some((Bytes::from(piece), (file, rest))))
    });
    Body::from_stream(pieces)
}

/// Answers for a file that is not sent, without telling whether it exists.
fn nothing() -> Response<Body> {
    refusal(
        StatusCode::NOT_FOUND,
        "there is no file here; hits of a search link to those that are",
    )
}
