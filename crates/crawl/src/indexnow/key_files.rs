//! Proofs of keys by their files, and the limit on requests for these files.
//!
//! Anyone can make a server ask a site for a key file, so that these requests have a limit: one in 5 s for an origin, and 60
//! a minute for all. A key that was proved is believed for a day.

use crate::politeness::TimeMs;
use std::collections::{HashMap, VecDeque};

/// Time for which a proof holds, in milliseconds.
const PROOF_MS: u64 = 86_400_000;
/// Shortest time between two requests to an origin, in milliseconds.
const ORIGIN_GAP_MS: u64 = 5_000;
/// Requests in a minute, to all origins.
const REQUESTS_A_MINUTE: usize = 60;
const MINUTE_MS: u64 = 60_000;
/// Proofs kept.
const PROOFS_MAX: usize = 1_000;

/// Proved keys, and the latest requests for key files.
#[derive(Debug, Default)]
pub(super) struct KeyFiles {
    /// End of each proof, by key file and key.
    proved: HashMap<(String, String), TimeMs>,
    /// Requests of the last minute.
    requests: VecDeque<(TimeMs, String)>,
}

/// Answer to the question whether a key is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// It was, within a day.
    Proved,
    /// The file is to be requested; the request is counted.
    Request,
    /// No request is permitted yet.
    Later {
        /// Time until one is, in seconds.
        retry_after_s: u64,
    },
}

impl KeyFiles {
    /// Decides how a key is proved that is said to be in `key_file`, a URL of `origin`.
    pub(super) fn look(&mut self, key_file: &str, origin: &str, key: &str, now: TimeMs) -> Proof {
        let name = (key_file.to_owned(), key.to_owned());
        if self.proved.get(&name).is_some_and(|until| *until > now) {
            return Proof::Proved;
        }
        let is_old = |at: TimeMs| now.since_ms(at) >= MINUTE_MS;
        while self.requests.front().is_some_and(|(at, _)| is_old(*at)) {
            self.requests.pop_front();
        }
        let latest = self.requests.iter().rev().find(|(_, of)| of == origin);
        let of_origin_ms = latest.map_or(0, |(at, _)| at.plus_ms(ORIGIN_GAP_MS).since_ms(now));
        let of_all_ms = match self.requests.front() {
            Some((oldest, _)) if self.requests.len() >= REQUESTS_A_MINUTE => {
                oldest.plus_ms(MINUTE_MS).since_ms(now)
            }
            _ => 0,
        };
        let wait_ms = of_origin_ms.max(of_all_ms);
        if wait_ms > 0 {
            return Proof::Later {
                retry_after_s: wait_ms.div_ceil(1_000),
            };
        }
        self.requests.push_back((now, origin.to_owned()));
        Proof::Request
    }

    /// Notes that the key file has the key.
    pub(super) fn proved(&mut self, key_file: &str, key: &str, now: TimeMs) {
        if self.proved.len() >= PROOFS_MAX {
            self.proved.retain(|_, until| *until > now);
        }
        if self.proved.len() >= PROOFS_MAX {
            self.proved.clear();
        }
        let name = (key_file.to_owned(), key.to_owned());
        self.proved.insert(name, now.plus_ms(PROOF_MS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_holds_for_a_day_for_its_key_alone() {
        let mut files = KeyFiles::default();
        let start = TimeMs(1_000_000);
        let look =
            |files: &mut KeyFiles, key, at| files.look("http://a/k.txt", "http://a", key, at);
        assert_eq!(look(&mut files, "one", start), Proof::Request);
        files.proved("http://a/k.txt", "one", start);
        assert_eq!(look(&mut files, "one", start), Proof::Proved);
        assert_eq!(
            look(&mut files, "two", start),
            Proof::Later { retry_after_s: 5 }
        );
        assert_eq!(
            look(&mut files, "two", start.plus_ms(4_001)),
            Proof::Later { retry_after_s: 1 }
        );
        assert_eq!(
            look(&mut files, "two", start.plus_ms(5_000)),
            Proof::Request
        );
        assert_eq!(
            look(&mut files, "one", start.plus_ms(PROOF_MS - 1)),
            Proof::Proved
        );
        assert_eq!(
            look(&mut files, "one", start.plus_ms(PROOF_MS)),
            Proof::Request
        );
    }

    #[test]
    fn requests_have_a_limit_over_all_origins() {
        let mut files = KeyFiles::default();
        let start = TimeMs(1_000_000);
        let look = |files: &mut KeyFiles, host: usize, at| {
            let origin = format!("http://{host}");
            files.look(&format!("{origin}/k.txt"), &origin, "key", at)
        };
        for host in 0..REQUESTS_A_MINUTE {
            assert_eq!(look(&mut files, host, start), Proof::Request);
        }
        assert_eq!(
            look(&mut files, 99, start),
            Proof::Later { retry_after_s: 60 }
        );
        assert_eq!(
            look(&mut files, 99, start.plus_ms(MINUTE_MS)),
            Proof::Request
        );
        assert_eq!(files.requests.len(), 1);
        for number in 0..PROOFS_MAX + 5 {
            files.proved(&number.to_string(), "key", start);
        }
        assert!(files.proved.len() <= PROOFS_MAX);
    }
}
