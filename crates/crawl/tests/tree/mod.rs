//! Real tree of pages: served on loopback, crawled, and walked by an oracle that shares no code with the crawler.
//!
//! The oracle takes links by a scan for `href=` and `src=` within tags, resolves them as paths, and follows those that lead to
//! a file of the tree. Pages that say `noindex` are walked, and no documents; those with a `canonical` elsewhere are none either.

use bytes::Bytes;
use crawl::{Crawl, CrawlConfig, CrawlProgress, CrawlSetup};
use http_body_util::Full;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use index::{BuildOptions, Index};
use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use tokio::net::TcpListener;
use vfs::SharedStorage;
use web::address::CanonicalUrl;

/// Returns a folder of the documentation that the Rust toolchain installs.
pub(crate) fn installed(folder: &str) -> Option<PathBuf> {
    let out = Command::new("rustc")
        .args(["--print", "sysroot"])
        .output()
        .ok()?;
    let root = PathBuf::from(String::from_utf8(out.stdout).ok()?.trim());
    let folder = root.join("share/doc/rust/html").join(folder);
    folder.join("index.html").is_file().then_some(folder)
}

/// Returns the paths of the pages that are reached from `/`, as in their URLs.
pub(crate) fn walk(root: &Path) -> BTreeSet<String> {
    let mut queue = VecDeque::from(["/".to_owned()]);
    let mut seen = BTreeSet::from(["/".to_owned()]);
    let mut pages = BTreeSet::new();
    while let Some(path) = queue.pop_front() {
        let Some((bytes, "text/html")) = file(root, &path) else {
            continue;
        };
        let html = String::from_utf8_lossy(&bytes);
        if !states(&html, "noindex") && !is_canonical_elsewhere(&html, &path) {
            pages.insert(path.clone());
        }
        for link in links(&html) {
            if let Some(to) = resolved(&path, &link)
                && file(root, &to).is_some()
                && seen.insert(to.clone())
            {
                queue.push_back(to);
            }
        }
    }
    pages
}

/// Whether a `meta` for robots says a word.
fn states(html: &str, word: &str) -> bool {
    let metas = html.split("<meta ").skip(1);
    let mut heads = metas.filter_map(|rest| rest.split('>').next());
    heads.any(|meta| meta.contains("robots") && meta.contains(word))
}

/// Whether a page names another one of the tree as its own address.
fn is_canonical_elsewhere(html: &str, path: &str) -> bool {
    let tags = html.split("<link ").skip(1);
    let tags = tags.filter_map(|rest| Some(format!(" {}", rest.split_inclusive('>').next()?)));
    let is_canonical = |tag: &String| value(tag, "rel=").is_some_and(|rel| rel == "canonical");
    let canonical = tags.into_iter().find(is_canonical);
    let to = canonical.and_then(|tag| resolved(path, &value(&tag, "href=")?));
    to.is_some_and(|to| to != path)
}

/// Returns the addresses of the `a` and `meta refresh` tags, comments and scripts left out.
fn links(html: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        let skipped = [
            ("<!--", "-->"),
            ("<script", "</script>"),
            ("<style", "</style>"),
        ];
        if let Some((open, close)) = skipped.iter().find(|(open, _)| rest.starts_with(open)) {
            rest = &rest[open.len()..];
            rest = rest
                .find(close)
                .map_or("", |end| &rest[end + close.len()..]);
            continue;
        }
        let end = rest.find('>').map_or(rest.len(), |end| end + 1);
        let tag = &rest[..end];
        rest = &rest[end..];
        let is_anchor = tag.starts_with("<a ") || tag.starts_with("<area ");
        let is_frame = tag.starts_with("<iframe ") || tag.starts_with("<frame ");
        let follows = value(tag, "rel=").is_none_or(|rel| !rel.contains("nofollow"));
        if (is_anchor || is_frame) && follows {
            found.extend(value(tag, if is_frame { "src=" } else { "href=" }));
        } else if tag.starts_with("<meta ") && tag.contains("refresh") {
            let content = value(tag, "content=").unwrap_or_default();
            let target = content
                .split_once("url=")
                .or_else(|| content.split_once("URL="));
            found.extend(target.map(|(_, to)| to.trim_matches(['\'', '"', ' ']).to_owned()));
        }
    }
    found
}

fn value(tag: &str, name: &str) -> Option<String> {
    let at = tag.find(&format!(" {name}"))? + 1 + name.len();
    let rest = &tag[at..];
    let value = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest[1..].split(quote).next()?,
        _ => rest.split([' ', '>', '\n']).next()?,
    };
    Some(value.replace("&amp;", "&").replace("&#45;", "-"))
}

/// Returns the path of a relative address within the host.
fn resolved(from: &str, link: &str) -> Option<String> {
    let link = link.split('#').next()?.trim();
    if link.is_empty() || link.starts_with("//") || link.contains('?') {
        return None;
    }
    let colon = link.find(':').unwrap_or(usize::MAX);
    if colon < link.find('/').unwrap_or(usize::MAX) {
        return None;
    }
    let folder = &from[..=from.rfind('/')?];
    let whole = match link.strip_prefix('/') {
        Some(rest) => format!("/{rest}"),
        None => format!("{folder}{link}"),
    };
    let mut parts: Vec<&str> = Vec::new();
    let segments: Vec<&str> = whole[1..].split('/').collect();
    for (at, segment) in segments.iter().enumerate() {
        let is_last = at + 1 == segments.len();
        match *segment {
            "." if is_last => parts.push(""),
            "." => {}
            ".." => {
                parts.pop();
                if is_last {
                    parts.push("");
                }
            }
            other => parts.push(other),
        }
    }
    Some(format!("/{}", parts.join("/")))
}

/// Returns the file behind a path with its type, as the server sends it.
fn file(root: &Path, path: &str) -> Option<(Vec<u8>, &'static str)> {
    let relative = &percent_decoded(path.strip_prefix('/')?);
    if relative.split('/').any(|part| part == "..") {
        return None;
    }
    let mut name = root.join(relative);
    if relative.is_empty() || relative.ends_with('/') {
        name = name.join("index.html");
    }
    let kind = match name.extension()?.to_str()? {
        "html" => "text/html",
        "txt" => "text/plain",
        _ => "application/octet-stream",
    };
    Some((std::fs::read(&name).ok()?, kind))
}

/// Returns a path without percent-encoding, as files are named.
fn percent_decoded(path: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), path.as_bytes());
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let code = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        match code.filter(|_| *first == b'%') {
            Some(code) => {
                bytes.push(code);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Tree that was crawled.
pub(crate) struct Crawled {
    origin: String,
    index: Index,
    pub(crate) documents: u64,
    pub(crate) progress: CrawlProgress,
    storage: SharedStorage,
}

impl Crawled {
    /// Returns the paths that have no document and for which no other page of the same text stands.
    pub(crate) fn missing(&self, paths: &BTreeSet<String>) -> Vec<String> {
        let is_missing = |path: &&String| {
            let url = self.address(path);
            self.index.document(&url).unwrap().is_none()
                && crawl::explain(&self.storage, &url)
                    .unwrap()
                    .same_text_as
                    .is_none()
        };
        paths.iter().filter(is_missing).cloned().collect()
    }

    /// Returns the address of a path in the one way in which the crawl writes it.
    fn address(&self, path: &str) -> String {
        let url = format!("{}{path}", self.origin);
        CanonicalUrl::parse(&url).unwrap().as_str().to_owned()
    }

    /// Returns the number of documents that are none of the paths.
    pub(crate) fn others(&self, paths: &BTreeSet<String>) -> u64 {
        let has_document =
            |path: &&String| self.index.document(&self.address(path)).unwrap().is_some();
        self.documents - paths.iter().filter(has_document).count() as u64
    }
}

/// Serves a tree on loopback and crawls it from its root.
pub(crate) fn crawled(root: &Path, storage: &SharedStorage, index: &SharedStorage) -> Crawled {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listener = runtime
        .block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
        .unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    runtime.spawn(serve(root.to_owned(), listener));
    let mut config = CrawlConfig::of_seeds(vec![format!("{origin}/")]);
    config.sites[0].owned = true;
    config.allow_addresses = vec!["127.0.0.0/8".parse().unwrap()];
    let setup = CrawlSetup {
        storage: storage.clone(),
        index: index.clone(),
        build: BuildOptions::default(),
        resolver: None,
        watch: false,
        is_read_meanwhile: true,
        member: None,
    };
    let crawl = Crawl::open(config, setup).unwrap();
    let progress = crawl.run(&|| false, &mut |_| {}).unwrap();
    let index = Index::open(index.clone()).unwrap();
    Crawled {
        origin,
        documents: index.statistics().documents_count(),
        index,
        progress,
        storage: storage.clone(),
    }
}

async fn serve(root: PathBuf, listener: TcpListener) {
    let root = Arc::new(root);
    while let Ok((stream, _)) = listener.accept().await {
        let root = root.clone();
        tokio::spawn(async move {
            let answer = |request: Request<hyper::body::Incoming>| {
                let found = file(&root, request.uri().path());
                async move {
                    let (status, body, kind) = match found {
                        Some((body, kind)) => (StatusCode::OK, body, kind),
                        None => (StatusCode::NOT_FOUND, b"not found".to_vec(), "text/plain"),
                    };
                    let response = Response::builder()
                        .status(status)
                        .header("content-type", kind);
                    Ok::<_, Infallible>(response.body(Full::new(Bytes::from(body))).unwrap())
                }
            };
            let connection = hyper::server::conn::http1::Builder::new();
            // The crawler may close it at any time.
            let _ = connection
                .serve_connection(TokioIo::new(stream), service_fn(answer))
                .await;
        });
    }
}
