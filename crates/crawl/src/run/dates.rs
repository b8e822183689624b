//! Trust in the dates of change that the sitemaps and feeds of a host state, by how often they were right.
//!
//! A stated change makes a page due at once. Some hosts state one at every visit; of these the dates are ignored, until
//! they are right again: now and then one is still believed, so that a host can win back its trust.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Visits for a stated change from which on a host is judged.
const CLAIMS_MIN: u32 = 20;
/// Inverse of the share of claims that must be right.
const CLAIMS_A_CHANGE: u32 = 5;
/// Inverse of the share of ignored claims that are believed all the same.
const BELIEVED_SHARE: u32 = 20;
/// Claims remembered: later ones count as much as these together.
const CLAIMS_MAX: u32 = 200;

/// Claims of hosts, by origin.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct DateTrust {
    hosts: BTreeMap<String, Claims>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Claims {
    visits: u32,
    changes: u32,
    ignored: u32,
}

impl DateTrust {
    /// Whether to believe a date of change of a host.
    pub(super) fn believes(&mut self, origin: &str) -> bool {
        let Some(claims) = self.hosts.get_mut(origin) else {
            return true;
        };
        if claims.visits < CLAIMS_MIN || claims.changes * CLAIMS_A_CHANGE >= claims.visits {
            return true;
        }
        claims.ignored = (claims.ignored + 1) % BELIEVED_SHARE;
        claims.ignored == 0
    }

    /// Notes whether a page had changed that was visited for a stated change.
    pub(super) fn visited(&mut self, origin: &str, has_changed: bool) {
        let claims = self.hosts.entry(origin.to_owned()).or_default();
        claims.visits += 1;
        claims.changes += u32::from(has_changed);
        if claims.visits >= CLAIMS_MAX {
            claims.visits /= 2;
            claims.changes /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_that_lie_are_ignored_and_may_win_back_their_trust() {
        let mut trust = DateTrust::default();
        let origin = "http://a.test";
        for _ in 0..CLAIMS_MIN {
            assert!(trust.believes(origin));
            trust.visited(origin, false);
        }
        let believed = (0..100).filter(|_| trust.believes(origin)).count();
        assert_eq!(believed, 5);
        assert!(trust.believes("http://b.test"));
        for _ in 0..CLAIMS_MIN {
            trust.visited(origin, true);
        }
        assert!((0..100).all(|_| trust.believes(origin)));
    }

    #[test]
    fn counts_are_bounded() {
        let mut trust = DateTrust::default();
        for visit in 0..10_000 {
            trust.visited("http://a.test", visit % 3 == 0);
        }
        let claims = trust.hosts["http://a.test"];
        assert!(claims.visits < CLAIMS_MAX && claims.changes * 4 > claims.visits);
    }
}
