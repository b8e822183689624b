//! Limits of the connections of a server.

use super::client::TrustedProxies;
use std::net::IpAddr;
use std::time::Duration;

/// Limits of connections, of their clients and of their buffers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Upper bound on open connections. At the bound, an idle one is closed for a newcomer.
    pub connections_max: usize,
    /// Connections at once of one client: an IPv4 address, or the /64 of an IPv6 address. Behind a trusted proxy,
    /// requests of one client in work at once.
    pub connections_per_client: usize,
    /// Whether clients of this machine have that limit too.
    pub loopback_is_limited: bool,
    /// Proxies, which say for whom they ask.
    pub trusted_proxies: TrustedProxies,
    /// Bytes of large answers that may wait for clients to read them; an eighth of it for one client.
    pub output_bytes_max: usize,
    /// Time until a request's head must be there, from the last answer.
    pub head_timeout: Duration,
    /// Write timeout: a client that takes nothing of an answer for this time is left.
    pub write_timeout: Duration,
    /// Upper bound on the head of a request, in bytes.
    pub head_bytes_max: usize,
}

impl ConnectionLimits {
    /// The share of `connections_max` that one client has unless something else is asked for.
    pub fn share_of_client(connections_max: usize) -> usize {
        (connections_max / 8).max(64)
    }

    /// Whether connections from an address are counted for their client. Load generators and tests run on loopback, where
    /// who can connect could harm the server in other ways too; connections of a proxy are those of many.
    pub(super) fn is_limited(&self, peer: IpAddr) -> bool {
        let is_local = peer.to_canonical().is_loopback();
        (!is_local || self.loopback_is_limited) && !self.trusted_proxies.are_at(peer)
    }
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        let connections_max = 4096;
        ConnectionLimits {
            connections_max,
            connections_per_client: ConnectionLimits::share_of_client(connections_max),
            loopback_is_limited: false,
            trusted_proxies: TrustedProxies::default(),
            output_bytes_max: 256 << 20,
            head_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(10),
            head_bytes_max: 32 * 1024,
        }
    }
}
