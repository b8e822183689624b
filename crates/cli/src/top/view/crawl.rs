//! Figures of the crawl in the directory of an index.

use super::change::Change;
use serde::Serialize;
use std::collections::BTreeMap;

/// Figures of a crawl. `None` is unknown, as in a view.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct CrawlView {
    pub(crate) is_running: bool,
    /// Visits by result.
    pub(crate) visits_per_s: Option<f64>,
    pub(crate) visits_per_s_by_result: BTreeMap<String, f64>,
    pub(crate) wire_bytes_per_s: Option<f64>,
    pub(crate) added_per_s: Option<f64>,
    pub(crate) deleted_per_s: Option<f64>,
    pub(crate) urls_known: Option<f64>,
    pub(crate) urls_queued: Option<f64>,
    pub(crate) hosts: Option<f64>,
    pub(crate) hosts_waiting: Option<f64>,
}

impl CrawlView {
    /// Returns the figures; `None` where the server tells of no crawl.
    pub(super) fn of(change: &mut Change<'_>) -> Option<CrawlView> {
        let now = change.now;
        let running = now.sum("shorttail_crawl_running")?;
        let visits = "shorttail_crawl_visits_total";
        Some(CrawlView {
            is_running: running > 0.0,
            visits_per_s: change.rate(visits),
            visits_per_s_by_result: change.rates(visits, "result"),
            wire_bytes_per_s: change.rate("shorttail_crawl_wire_bytes_total"),
            added_per_s: change.rate("shorttail_crawl_documents_added_total"),
            deleted_per_s: change.rate("shorttail_crawl_documents_deleted_total"),
            urls_known: now.sum("shorttail_crawl_urls_known"),
            urls_queued: now.sum("shorttail_crawl_urls_queued"),
            hosts: now.sum("shorttail_crawl_hosts"),
            hosts_waiting: now.sum("shorttail_crawl_hosts_waiting"),
        })
    }
}
