//! Failures of a fetch, a variant per decision of the caller.

use std::io;
use std::net::IpAddr;

use super::guard::Denial;

/// The limit of time that ended a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeLimit {
    /// Name resolution.
    Dns,
    /// TCP connection.
    Connect,
    /// TLS handshake.
    Tls,
    /// Response head.
    Head,
    /// The whole fetch.
    Whole,
}

/// A fetch that returned no response.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The URL is not one that can be fetched: not http or https, or without a host.
    #[error("{url}: not a URL to fetch (expected http or https with a host); leave it out")]
    Url {
        /// The URL.
        url: String,
    },
    /// Every address of the host is denied: no connection was opened.
    #[error(
        "{host}: address {address} is {denial}; permit it by name with --allow-addresses if it is yours"
    )]
    Denied {
        /// The host.
        host: String,
        /// The first denied address.
        address: IpAddr,
        /// The kind of the address.
        denial: Denial,
    },
    /// The host has no address, or the resolver failed.
    #[error("{host}: name resolution failed; try again later")]
    Dns {
        /// The host.
        host: String,
        /// The resolver's error.
        source: io::Error,
    },
    /// No address of the host accepted a connection.
    #[error("{host}: no connection; try again later")]
    Connect {
        /// The host.
        host: String,
        /// The error of the last address.
        source: io::Error,
    },
    /// The TLS handshake failed, or the certificate is not valid for the host.
    #[error("{host}: TLS failed; try again later, or name the authority of its certificate")]
    Tls {
        /// The host.
        host: String,
        /// The error of the handshake.
        source: io::Error,
    },
    /// A limit of time was reached.
    #[error("{host}: took longer than {limit_ms} ms ({which:?}); try again later")]
    Timeout {
        /// The host.
        host: String,
        /// The phase.
        which: TimeLimit,
        /// Its limit, in ms.
        limit_ms: u64,
    },
    /// The body came more slowly than permitted.
    #[error("{host}: body of {bytes} bytes in {took_ms} ms is too slow; try again later")]
    TooSlow {
        /// The host.
        host: String,
        /// Bytes of the body received.
        bytes: u64,
        /// Time of the body, in ms.
        took_ms: u64,
    },
    /// The server broke HTTP, closed before the head, or sent a body that cannot be decoded.
    #[error("{host}: {what}; try again later")]
    Protocol {
        /// The host.
        host: String,
        /// The violation.
        what: &'static str,
        /// The library's error, if it came from one.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The response head is larger than permitted.
    #[error("{host}: response head larger than permitted; leave the URL out")]
    HeadTooLarge {
        /// The host.
        host: String,
    },
    /// A compressed body expands more than permitted.
    #[error(
        "{host}: body of {wire_bytes} bytes expands to over {decoded_bytes}; leave the URL out"
    )]
    Bomb {
        /// The host.
        host: String,
        /// Bytes on the wire until then.
        wire_bytes: u64,
        /// Decoded bytes until then.
        decoded_bytes: u64,
    },
    /// Reading the answer stopped.
    #[error("{url}: its answer cannot be read; this is a bug, please report it with the URL")]
    Unread {
        /// The URL.
        url: String,
    },
    /// A redirect to something that is not an http or https URL.
    #[error("{host}: redirect to {location:?}, which is no http or https URL; leave the URL out")]
    BadRedirect {
        /// The host.
        host: String,
        /// The location as received, at most 256 bytes of it.
        location: String,
    },
}

impl FetchError {
    /// Returns whether a later fetch of the same URL may succeed without any change of configuration.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Dns { .. }
            | Self::Connect { .. }
            | Self::Tls { .. }
            | Self::Timeout { .. }
            | Self::TooSlow { .. }
            | Self::Protocol { .. } => true,
            Self::Url { .. }
            | Self::Denied { .. }
            | Self::HeadTooLarge { .. }
            | Self::Bomb { .. }
            | Self::Unread { .. }
            | Self::BadRedirect { .. } => false,
        }
    }

    /// Returns a short name of the variant, for counters and logs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Url { .. } => "url",
            Self::Denied { .. } => "denied",
            Self::Dns { .. } => "dns",
            Self::Connect { .. } => "connect",
            Self::Tls { .. } => "tls",
            Self::Timeout { which, .. } => match which {
                TimeLimit::Dns => "timeout dns",
                TimeLimit::Connect => "timeout connect",
                TimeLimit::Tls => "timeout tls",
                TimeLimit::Head => "timeout head",
                TimeLimit::Whole => "timeout whole",
            },
            Self::TooSlow { .. } => "too slow",
            Self::Protocol { .. } => "protocol",
            Self::HeadTooLarge { .. } => "head too large",
            Self::Bomb { .. } => "bomb",
            Self::Unread { .. } => "unread",
            Self::BadRedirect { .. } => "bad redirect",
        }
    }
}
