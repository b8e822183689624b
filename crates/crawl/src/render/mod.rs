//! Rendering: pages whose text scripts write, as Chromium shows them.
//!
//! ```text
//! fetched page ─► Chromium, a process for each page ─► HTML of the page as scripts leave it
//!                    │ ▲
//!                    ▼ │ every connection
//!                  proxy ─► the page itself, from memory
//!                        └► GET of permitted hosts: robots.txt, pauses, address check, limits ─► resources
//! ```
//!
//! The browser reaches nothing but the proxy, so that robots.txt, the politeness law, the address guard and the limits hold
//! for everything that a script asks for, and what was sent is in the archive.

mod browser;
mod proxy;
mod resources;

pub(crate) use browser::find_program;
pub(crate) use resources::Resource;

use crate::fetch::{Fetched, Fetcher};
use browser::Browser;
use proxy::Proxy;
use resources::Resources;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
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
    /// Shortest pause between two requests to a host.
    pub(crate) gap: Duration,
    /// Bytes of HTML taken from the browser; longer pages are cut.
    pub(crate) html_bytes_max: usize,
    /// Browsers at work together.
    pub(crate) browsers_max: usize,
}

/// Page to render.
pub(crate) struct RenderPage<'a> {
    pub(crate) url: &'a CanonicalUrl,
    pub(crate) fetched: &'a Fetched,
    /// Rules of the host's robots.txt.
    pub(crate) rules: Arc<Rules>,
    /// Whether the host is the user's own: no pauses.
    pub(crate) is_owned: bool,
    /// Further hosts that resources may come from.
    pub(crate) from: &'a [String],
}

/// Page as scripts left it.
pub(crate) struct Rendered {
    /// HTML, UTF-8.
    pub(crate) html: Vec<u8>,
    /// What was fetched for it, but for what earlier pages had fetched.
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

/// Renderer of the pages of a crawl.
pub(crate) struct Renderer {
    options: RenderOptions,
    browsers: Semaphore,
    resources: Arc<Resources>,
    tls: TlsAcceptor,
}

impl Renderer {
    /// # Errors
    /// No certificate can be made.
    pub(crate) fn new(
        options: RenderOptions,
        fetcher: Arc<Fetcher>,
    ) -> Result<Renderer, RenderError> {
        Ok(Renderer {
            browsers: Semaphore::new(options.browsers_max.max(1)),
            resources: Arc::new(Resources::new(fetcher, &options)),
            tls: proxy::acceptor()?,
            options,
        })
    }

    /// Renders a page.
    pub(crate) async fn render(&self, page: &RenderPage<'_>) -> Result<Rendered, RenderError> {
        // Never closed.
        let _permit = self.browsers.acquire().await;
        let proxy = Proxy::start(page, self.resources.clone(), self.tls.clone()).await?;
        let browser = Browser {
            options: &self.options,
            proxy: proxy.address(),
        };
        let limit = self.options.page_max;
        let html = match tokio::time::timeout(limit, browser.html(page.url.as_str())).await {
            Ok(html) => html?,
            Err(_) => return Err(RenderError::Time(limit)),
        };
        Ok(Rendered {
            html,
            resources: proxy.end(),
        })
    }
}
