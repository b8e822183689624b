//! Rules of robots.txt of the hosts under way: parsed from what the frontier keeps, bounded in number.

use crate::frontier::{Frontier, RobotsOutcome};
use crate::politeness::TimeMs;
use std::collections::HashMap;
use std::sync::Arc;
use web::robots::{Access, Robots, Rules, access};

/// Hosts whose rules are kept parsed.
const HOSTS_MAX: usize = 10_000;
/// Time for which an answer holds (RFC 9309, section 2.4), in milliseconds.
const VALID_MS: u64 = 86_400_000;
/// First wait after robots.txt cannot be read, in milliseconds.
const RETRY_MS: u64 = 600_000;

/// Rules by origin.
#[derive(Default)]
pub(super) struct RulesCache {
    rules: HashMap<String, Arc<Rules>>,
}

/// Permissions that follow from an answer to a request for robots.txt.
pub(super) struct RobotsRead {
    pub(super) outcome: RobotsOutcome,
    /// URLs of sitemaps.
    pub(super) sitemaps: Vec<String>,
}

impl RulesCache {
    /// Returns the rules of an origin.
    pub(super) fn rules(
        &mut self,
        frontier: &mut Frontier,
        origin: &str,
        product_token: &str,
    ) -> Arc<Rules> {
        if let Some(rules) = self.rules.get(origin) {
            return rules.clone();
        }
        let source = frontier.robots_source(origin).unwrap_or_default();
        let rules = Arc::new(Robots::parse(&source).rules(product_token));
        if self.rules.len() >= HOSTS_MAX {
            self.rules.clear();
        }
        self.rules.insert(origin.to_owned(), rules.clone());
        rules
    }

    /// Reads an answer to a request for robots.txt.
    pub(super) fn read(
        &mut self,
        origin: &str,
        status: u16,
        body: &[u8],
        product_token: &str,
        now: TimeMs,
    ) -> RobotsRead {
        self.rules.remove(origin);
        let valid_until = now.plus_ms(VALID_MS);
        match access(status) {
            Access::Obey => {
                let robots = Robots::parse(body);
                RobotsRead {
                    outcome: RobotsOutcome::Rules {
                        crawl_delay_s: robots.rules(product_token).crawl_delay(),
                        valid_until,
                    },
                    sitemaps: robots.sitemaps().to_vec(),
                }
            }
            Access::Free => RobotsRead {
                outcome: RobotsOutcome::Free { valid_until },
                sitemaps: Vec::new(),
            },
            Access::Wait => RobotsRead {
                outcome: wait(now, None),
                sitemaps: Vec::new(),
            },
        }
    }
}

/// Returns the outcome where robots.txt cannot be read: no page until it is tried again.
pub(super) fn wait(now: TimeMs, retry_after_s: Option<u64>) -> RobotsOutcome {
    let retry_ms = retry_after_s.unwrap_or(0).saturating_mul(1000);
    RobotsOutcome::WaitUntil(now.plus_ms(RETRY_MS.max(retry_ms)))
}
