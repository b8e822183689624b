//! Figures of a running crawl.

use serde::{Deserialize, Serialize};

/// Figures of a run, and of the whole crawl.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CrawlProgress {
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
    /// URLs not visited because robots.txt or a rule forbids it.
    pub refused: u64,
    /// Bytes of bodies on the wire.
    pub wire_bytes: u64,
    /// Of the missing, pages that answer 200 with the text that the host has for what does not exist.
    pub soft_missing: u64,
    /// Pages left out of the index because another has the same text.
    pub duplicates: u64,
    /// URLs that pings asked for.
    pub pings: u64,
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
    /// URLs known to the whole crawl.
    pub known: u64,
    /// Number of these that are not visited yet.
    pub queued: u64,
    /// Hosts known.
    pub hosts: u64,
    /// Hosts with a URL that is due, which wait for politeness or robots.txt.
    pub hosts_waiting: u64,
    /// Visits under way.
    pub in_flight: u64,
    /// Whether the run has ended.
    pub is_ended: bool,
    /// Latest notices, such as a host whose robots.txt cannot be read.
    pub notices: Vec<String>,
}

/// Notices kept.
const NOTICES_MAX: usize = 20;

impl CrawlProgress {
    /// Returns the requests for pages that were answered.
    pub fn answered(&self) -> u64 {
        self.fetched + self.not_modified + self.redirects + self.missing
    }

    pub(super) fn notice(&mut self, text: String) {
        if self.notices.contains(&text) {
            return;
        }
        if self.notices.len() == NOTICES_MAX {
            self.notices.remove(0);
        }
        self.notices.push(text);
    }
}
