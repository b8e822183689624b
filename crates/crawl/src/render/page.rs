//! What is rendered, how, and what becomes of it.
use crate::fetch::Fetched;
use crate::politeness::Law;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use web::address::CanonicalUrl;
use web::robots::Rules;

/// Options of rendering.
#[derive(Debug, Clone)]
pub(crate) struct RenderOptions {
    /// Chromium.
    pub(crate) program: PathBuf,
    /// Further arguments of it.
    pub(crate) arguments: Vec<String>,
    pub(crate) user_agent: String,
    pub(crate) product_token: String,
    /// Time for a page, in all.
    pub(crate) page_max: Duration,
    pub(crate) law: Law,
    /// Bytes of HTML taken from the browser; longer pages are cut.
    pub(crate) html_bytes_max: usize,
    /// Browsers at work together.
    pub(crate) browsers_max: usize,
}

/// Manners towards the host of a page, and where its resources come from.
#[derive(Clone)]
pub(crate) struct Manners {
    /// Rules of the host's robots.txt.
    pub(crate) rules: Arc<Rules>,
    /// Whether the host is the user's own: no pauses.
    pub(crate) is_owned: bool,
    /// Further hosts that resources may come from.
    pub(crate) from: Vec<String>,
}

/// Page to render.
pub(crate) struct RenderPage<'a> {
    pub(crate) url: &'a CanonicalUrl,
    pub(crate) fetched: &'a Fetched,
    pub(crate) manners: &'a Manners,
}

/// Page as scripts left it.
pub(crate) struct Rendered {
    /// HTML, UTF-8.
    pub(crate) html: Vec<u8>,
    /// Resources fetched for the page, without those that earlier pages had fetched.
    pub(crate) resources: Vec<Resource>,
}

/// Failure to render a page: it is taken as it was fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum RenderError {
    /// The browser or the proxy for it cannot be started.
    #[error("cannot render: {0}")]
    Start(#[from] std::io::Error),
    /// No certificate for the connections of the browser.
    #[error("cannot render: {0}")]
    Certificate(String),
    /// The page was not finished in time.
    #[error("cannot render: not finished after {} s", .0.as_secs())]
    Time(Duration),
    /// The browser ended with an error.
    #[error("cannot render: the browser ended with {status}: {told}")]
    Browser { status: String, told: String },
}

/// Resource that was fetched for a page.
#[derive(Clone)]
pub(crate) struct Resource {
    pub(crate) url: String,
    pub(crate) fetched: Arc<Fetched>,
}
