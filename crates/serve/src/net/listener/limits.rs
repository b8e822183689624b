//! Limits of the connections of a server.

use super::client::TrustedProxies;
use std::net::IpAddr;
use std::time::Duration;

/// Limits of connections, of their clients and of their buffers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Upper limit on open connections. At the limit, an idle one is closed for a newcomer.
    pub connections_max: usize,
    /// Upper limit on concurrent connections of one client: an IPv4 address, or the /64 of an IPv6
    /// address. Behind a trusted proxy, the upper limit on concurrent requests of one client.
    pub connections_per_client: usize,
    /// Whether the limit applies to clients on loopback too.
    pub loopback_is_limited: bool,
    /// Trusted proxies, which name the clients of their requests.
    pub trusted_proxies: TrustedProxies,
    /// Upper limit on the bytes of large answers that wait for slow readers; one client may have an
    /// eighth of it.
    pub output_bytes_max: usize,
    /// Time from the last answer until the head of the next request must be complete.
    pub head_timeout: Duration,
    /// Time that the body of a request may be behind its least rate, counting only waits for the client.
    pub body_behind_max: Duration,
    /// Least rate of a body, in bytes a second.
    pub body_bytes_s_min: u64,
    /// Write timeout: a connection whose client reads nothing for this time is closed.
    pub write_timeout: Duration,
    /// Upper limit on the head of a request, in bytes.
    pub head_bytes_max: usize,
}

impl ConnectionLimits {
    /// Returns the default number of connections for one client, of `connections_max`.
    pub fn share_of_client(connections_max: usize) -> usize {
        (connections_max / 8).max(64)
    }

    /// Returns whether connections from `peer` count against the limit of their client. Loopback is
    /// exempt by default: load generators and tests run there, and local users could harm the server in
    /// other ways. Connections of a proxy carry many clients.
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
            body_behind_max: Duration::from_secs(10),
            body_bytes_s_min: 16 << 10,
            write_timeout: Duration::from_secs(10),
            head_bytes_max: 32 * 1024,
        }
    }
}
