//! Listener of IndexNow beside a crawl.

use console::failure::note;
use crawl::CrawlConfig;
use crawl::indexnow::IndexNow;
use serve::{IndexNowServer, SubmissionReply, Submitted};
use std::sync::Arc;
use vfs::SharedStorage;

/// Listens for submissions to the crawl in `storage` until the drop.
pub(super) fn listen(
    address: &str,
    config: &CrawlConfig,
    storage: &SharedStorage,
) -> anyhow::Result<IndexNowServer> {
    anyhow::ensure!(
        config.sites.iter().any(|site| site.owned),
        "--indexnow: no site is your own, and others are not visited at the request of anyone; say --owned or owned = true"
    );
    let receiver = IndexNow::new(config.clone(), storage.clone(), None)?;
    let judge = move |submitted| {
        let verdict = match submitted {
            Submitted::Query(query) => receiver.take_query(&query),
            Submitted::Body(body) => receiver.take_body(&body),
        };
        SubmissionReply {
            status: verdict.status(),
            message: verdict.to_string(),
            retry_after_s: verdict.retry_after_s(),
        }
    };
    let server = IndexNowServer::start(address, Arc::new(judge))?;
    note(&format!("IndexNow at http://{}/indexnow", server.address()));
    Ok(server)
}
