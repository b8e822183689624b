//! IndexNow: publishers submit URLs that changed, over HTTP, and prove by a key that the site is theirs.
//!
//! ```text
//! query or body ─► submission ─► own site? ─► key: configured, proved before, or its file on the site ─► ping
//! ```
//!
//! A submission has the effect of a ping and no other. It is untrusted until its key is proved: URLs outside the user's own
//! sites are refused before any request is made, and requests for key files have a limit. Source: indexnow.org, protocol
//! of 2025. The server that receives submissions is not here.

mod key_files;
mod receiver;
mod submission;

pub use receiver::IndexNow;
pub use submission::Submission;

/// Outcome of a submission.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The crawl visits the URLs soon.
    Accepted {
        /// Number of URLs.
        urls: usize,
        /// URLs that rules of the configuration leave out.
        left_out: usize,
    },
    /// The submission cannot be read.
    Malformed(String),
    /// The key is not that of the site.
    WrongKey(String),
    /// A URL is of another host, or of no site that takes submissions.
    NotOurs(String),
    /// Too many submissions wait, or too many keys are checked.
    TooMany {
        /// Time after which to try again, in seconds.
        retry_after_s: u64,
    },
    /// The site did not send the key file.
    KeyUnavailable(String),
    /// The crawl cannot take it.
    Failed(String),
}

impl Verdict {
    /// Returns the status code that the protocol has for it.
    pub fn status(&self) -> u16 {
        match self {
            Verdict::Accepted { .. } => 200,
            Verdict::Malformed(_) => 400,
            Verdict::WrongKey(_) => 403,
            Verdict::NotOurs(_) => 422,
            Verdict::TooMany { .. } => 429,
            Verdict::Failed(_) => 500,
            Verdict::KeyUnavailable(_) => 503,
        }
    }

    /// Returns the time after which to try again, in seconds, where that may help.
    pub fn retry_after_s(&self) -> Option<u64> {
        match self {
            Verdict::TooMany { retry_after_s } => Some(*retry_after_s),
            Verdict::KeyUnavailable(_) => Some(60),
            _ => None,
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Verdict::Accepted { urls, left_out } => {
                write!(
                    f,
                    "{urls} URLs are visited soon; rules leave out {left_out}"
                )
            }
            Verdict::TooMany { retry_after_s } => {
                write!(f, "too many submissions; try again in {retry_after_s} s")
            }
            Verdict::Malformed(reason)
            | Verdict::WrongKey(reason)
            | Verdict::NotOurs(reason)
            | Verdict::KeyUnavailable(reason)
            | Verdict::Failed(reason) => f.write_str(reason),
        }
    }
}
