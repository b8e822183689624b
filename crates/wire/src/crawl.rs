//! Figures of a crawl, as it writes them every second and as `crawl status --json` and `GET /crawl` tell them.
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Figures of a run, and of the whole crawl.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CrawlProgress {
    /// Start of the run (RFC 3339). Counts of a run begin anew with it.
    pub started: String,
    /// Time since the start of the run, in seconds.
    pub elapsed_s: f64,
    /// Answers with a page in this run.
    pub fetched: u64,
    /// Answers that nothing was modified.
    pub not_modified: u64,
    /// Redirects.
    pub redirects: u64,
    /// Answers 404 and 410.
    pub missing: u64,
    /// Visits without a usable answer.
    pub failed: u64,
    /// Failures by cause, such as `dns` or `timeout`.
    pub failures: BTreeMap<String, u64>,
    /// URLs handed over to other members of the crawl, which visit their hosts.
    pub handed_over: u64,
    /// URLs that other members have handed over.
    pub taken_over: u64,
    /// URLs not visited because robots.txt or a rule forbids it.
    pub refused: u64,
    /// Bytes of bodies on the wire.
    pub wire_bytes: u64,
    /// Missing pages that answer 200, with the text that the host has for missing pages.
    pub soft_missing: u64,
    /// Pages left out of the index because another has the same text.
    pub duplicates: u64,
    /// URLs that pings asked for.
    pub pings: u64,
    /// Pages read as a browser showed them.
    pub rendered: u64,
    /// Pages cut at the limit of a body.
    pub cut: u64,
    /// Links out of the scope, not visited.
    pub links_out_of_scope: u64,
    /// Links to URLs that are traps, or too far from a seed.
    pub links_trapped: u64,
    /// Documents added to the index in this run.
    pub added: u64,
    /// Documents deleted from it.
    pub deleted: u64,
    /// Documents of the index at its last commit.
    pub documents: u64,
    /// Generation of the index.
    pub generation: u64,
    /// Pages answered per second, over the last ten seconds.
    pub pages_per_s: f64,
    /// URLs known to the whole crawl.
    pub known: u64,
    /// Number of these that are not visited yet.
    pub queued: u64,
    /// Known URLs by state; states without a URL are left out.
    pub states: Vec<UrlsInState>,
    /// Hosts known.
    pub hosts: u64,
    /// Hosts with a URL that is due, which wait for politeness or robots.txt.
    pub hosts_waiting: u64,
    /// Hosts that wait longest.
    pub waiting: Vec<WaitingHost>,
    /// Visits under way.
    pub in_flight: u64,
    /// Whether the run has ended.
    pub is_ended: bool,
    /// Latest notices, such as a host whose robots.txt cannot be read.
    pub notices: Vec<String>,
}

/// Number of URLs in a state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UrlsInState {
    /// State, such as `refused`.
    pub state: String,
    /// Reason within the state, such as `robots`; empty where the state has one reason alone.
    pub reason: String,
    /// State and reason as a sentence.
    pub explanation: String,
    /// Number of URLs.
    pub urls: u64,
}

/// Host with a URL that is due, and the time at which it may be visited.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WaitingHost {
    /// Its origin, as `https://docs.example.org`.
    pub origin: String,
    /// Earliest next request (RFC 3339).
    pub until: String,
    /// Reason: `pause`, `crawl_delay`, `throttled`, `robots` or `parked`.
    pub reason: String,
}

/// Figures of a crawl, and whether it runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CrawlStatus {
    /// Figures, as its process wrote them last.
    #[serde(flatten)]
    pub progress: CrawlProgress,
    /// Whether its process is there.
    pub is_running: bool,
}

/// Notices kept.
const NOTICES_MAX: usize = 20;

impl CrawlProgress {
    /// Returns the requests for pages that were answered.
    pub fn answered(&self) -> u64 {
        self.fetched + self.not_modified + self.redirects + self.missing
    }

    /// Returns the URLs that were visited at least once, or never will be.
    pub fn visited(&self) -> u64 {
        self.known.saturating_sub(self.queued)
    }

    /// Adds a notice, unless it is there; the oldest gives way.
    pub fn notice(&mut self, text: String) {
        if self.notices.contains(&text) {
            return;
        }
        if self.notices.len() == NOTICES_MAX {
            self.notices.remove(0);
        }
        self.notices.push(text);
    }
}

impl CrawlStatus {
    /// Returns whether the crawl runs, has ended or was interrupted, as one word.
    pub fn condition(&self) -> &'static str {
        match (self.is_running, self.progress.is_ended) {
            (true, _) => "running",
            (false, true) => "ended",
            (false, false) => "interrupted",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_one_flat_object_and_comes_back() {
        let mut progress = CrawlProgress {
            known: 5,
            queued: 2,
            ..CrawlProgress::default()
        };
        progress.notice("a host waits".into());
        progress.notice("a host waits".into());
        let status = CrawlStatus {
            progress,
            is_running: true,
        };
        let value = serde_json::to_value(&status).unwrap();
        assert_eq!(
            (&value["known"], &value["is_running"]),
            (&5.into(), &true.into())
        );
        assert_eq!(
            serde_json::from_value::<CrawlStatus>(value).unwrap(),
            status
        );
        assert_eq!(
            (status.progress.visited(), status.progress.notices.len()),
            (3, 1)
        );
        // The file of a crawl of an earlier version.
        let earlier: CrawlProgress = serde_json::from_str(r#"{"known":1}"#).unwrap();
        assert_eq!((earlier.known, earlier.states.len()), (1, 0));
    }

    #[test]
    fn the_latest_notices_are_kept() {
        let mut progress = CrawlProgress::default();
        for number in 0..NOTICES_MAX + 5 {
            progress.notice(number.to_string());
        }
        assert_eq!(progress.notices.len(), NOTICES_MAX);
        assert_eq!(progress.notices[0], "5");
    }
}
