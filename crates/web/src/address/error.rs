//! Errors of addresses and of the rules of a scope.

/// Reason why a text is not the address of a page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// The URL is too long.
    #[error(
        "URL of {bytes} bytes, at most {bytes_max} are kept; shorten it or leave it out: {text}…"
    )]
    TooLong {
        /// Length found, in bytes.
        bytes: usize,
        /// Greatest length, in bytes.
        bytes_max: usize,
        /// First characters.
        text: String,
    },
    /// The scheme is neither http nor https.
    #[error("scheme {scheme:?}, only http and https are crawled; leave out {text}")]
    Scheme {
        /// Scheme found.
        scheme: String,
        /// First characters.
        text: String,
    },
    /// The text is no URL.
    #[error("{source} in URL {text:?}; write it as https://host/path")]
    Syntax {
        /// Error of the parser.
        source: url::ParseError,
        /// First characters.
        text: String,
    },
    /// The host cannot be in the domain name system.
    #[error("host {host:?} has an empty, too long or strange label; correct the host")]
    Host {
        /// Host found.
        host: String,
    },
    /// The text is no frontier key.
    #[error("frontier key {text:?} is not of the form org,example)/path; the frontier is damaged")]
    Key {
        /// First characters.
        text: String,
    },
    /// A rule of a scope cannot be read.
    #[error("rule {index}: pattern {pattern:?} must begin with /, *, . or http; correct the rule")]
    Rule {
        /// Position of the rule, from 1.
        index: usize,
        /// Pattern found.
        pattern: String,
    },
}

/// Returns the first characters of `text`, for a message.
pub(super) fn excerpt(text: &str) -> String {
    text.chars().take(80).collect()
}
