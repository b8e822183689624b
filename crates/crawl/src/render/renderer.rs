//! Renderer of the pages of a crawl.
use super::browser::Browser;
use super::page::{RenderError, RenderOptions, RenderPage, Rendered};
use super::proxy::{Proxy, acceptor};
use super::resources::Resources;
use crate::fetch::Fetcher;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

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
            tls: acceptor()?,
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
