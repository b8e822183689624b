//! Options of a fetcher, and the request of one fetch.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::header::{HeaderName, HeaderValue};
use tokio_rustls::rustls::pki_types::CertificateDer;
use url::Url;

use super::guard::AddressGuard;
use super::limits::Limits;
use super::resolve::{CachedResolver, Resolve, SystemResolver};

/// Headers sent to one origin alone.
#[derive(Debug, Clone)]
pub struct OriginHeaders {
    /// The origin, as `https://example.org` or `http://example.org:8080`.
    pub origin: Url,
    /// Names and values.
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

/// Options of a fetcher.
#[derive(Clone)]
pub struct FetchOptions {
    /// User agent, as `Shorttail/0.1 (+https://example.org/bot)`.
    pub user_agent: String,
    /// Limits of each fetch.
    pub limits: Limits,
    /// Addresses that may be connected to.
    pub guard: AddressGuard,
    /// Resolver of host names.
    pub resolver: Arc<dyn Resolve>,
    /// Headers for origins of the configuration.
    pub headers: Vec<OriginHeaders>,
    /// Certificate authorities trusted beside those of the web.
    pub authorities: Vec<CertificateDer<'static>>,
    /// Whether HTTP/2 is offered to servers with TLS.
    pub http2: bool,
    /// Callback for each address, before a connection is opened to it.
    pub on_connect: Option<Arc<dyn Fn(SocketAddr) + Send + Sync>>,
}

impl Default for FetchOptions {
    fn default() -> Self {
        let resolver =
            CachedResolver::new(SystemResolver::new(64), 65_536, Duration::from_secs(300));
        Self {
            user_agent: "Shorttail/0.1".to_owned(),
            limits: Limits::default(),
            guard: AddressGuard::default(),
            resolver: Arc::new(resolver),
            headers: Vec::new(),
            authorities: Vec::new(),
            http2: true,
            on_connect: None,
        }
    }
}

/// Options that no fetcher can be made of.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// The user agent is no header value.
    #[error("user agent {0:?}: expected visible ASCII; change it")]
    UserAgent(String),
    /// TLS could not be configured.
    #[error("TLS configuration; check the authorities")]
    Tls(#[from] tokio_rustls::rustls::Error),
}

/// The content types whose bodies are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AcceptedTypes {
    /// HTML, XHTML, plain text, XML of sitemaps and feeds (gzip of them too), or none stated.
    #[default]
    Pages,
    /// All: for robots.txt, and for what is named as a sitemap or a feed, which servers send under any type.
    Any,
}

impl AcceptedTypes {
    pub(super) fn accepts(self, content_type: Option<&[u8]>) -> bool {
        let Some(value) = content_type else {
            return true;
        };
        let essence = value
            .split(|&byte| byte == b';' || byte == b',')
            .next()
            .unwrap_or_default();
        let essence = essence.trim_ascii().to_ascii_lowercase();
        self == Self::Any
            || matches!(
                essence.as_slice(),
                b"" | b"text/html"
                    | b"application/xhtml+xml"
                    | b"text/plain"
                    | b"text/xml"
                    | b"application/xml"
                    | b"application/rss+xml"
                    | b"application/atom+xml"
                    | b"application/rdf+xml"
                    | b"application/gzip"
                    | b"application/x-gzip"
            )
    }
}

/// The request of one fetch.
#[derive(Debug, Clone)]
pub struct FetchRequest<'a> {
    /// The URL, http or https. Its fragment and its user information are not sent.
    pub url: &'a Url,
    /// `ETag` of the version known.
    pub etag: Option<&'a str>,
    /// `Last-Modified` of the version known.
    pub last_modified: Option<&'a str>,
    /// The content types whose bodies are read.
    pub accepted: AcceptedTypes,
}

impl<'a> FetchRequest<'a> {
    /// Requests `url` whether it changed or not.
    pub fn new(url: &'a Url) -> Self {
        Self {
            url,
            etag: None,
            last_modified: None,
            accepted: AcceptedTypes::Pages,
        }
    }

    pub(super) fn is_conditional(&self) -> bool {
        self.etag.is_some() || self.last_modified.is_some()
    }
}
