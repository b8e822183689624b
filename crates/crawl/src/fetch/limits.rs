//! Limits of one fetch.

/// Upper bounds on the cost of one fetch. The defaults are those of the crawler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Decoded body, in bytes (10 MiB). A longer one is cut, flagged and returned. The body on the wire has the same bound.
    pub body_bytes_max: usize,
    /// Body of a redirect, in bytes (16 KiB); the rest is cut.
    pub redirect_body_bytes_max: usize,
    /// Decoded bytes for one byte on the wire (100), applied beyond `ratio_allowance_bytes`.
    pub ratio_max: u64,
    /// Decoded bytes to which `ratio_max` does not apply (256 KiB).
    pub ratio_allowance_bytes: u64,
    /// Content codings applied one after the other (2).
    pub codings_max: usize,
    /// Response head with all interim responses before it, in bytes (64 KiB).
    pub head_bytes_max: usize,
    /// Header lines of a response (256).
    pub headers_count_max: usize,
    /// Name resolution, in ms (10 s).
    pub dns_ms: u64,
    /// TCP connections, all addresses together, in ms (10 s).
    pub connect_ms: u64,
    /// TLS handshake, in ms (10 s).
    pub tls_ms: u64,
    /// Time limit from the request to the end of the response head, in ms (30 s).
    pub head_ms: u64,
    /// Lowest mean speed of a body on the wire, in bytes per second (1,000).
    pub bytes_per_s_min: u64,
    /// Time of a body before `bytes_per_s_min` applies, in ms (10 s).
    pub speed_grace_ms: u64,
    /// The whole fetch, in ms (120 s).
    pub whole_ms: u64,
    /// Addresses of one host that are tried (4).
    pub addresses_max: usize,
    /// Open connections over all hosts, in use and idle (1,024).
    pub connections_max: usize,
    /// Idle time after which a connection is closed, in ms (30 s).
    pub idle_ms: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes_max: 10 << 20,
            redirect_body_bytes_max: 16 << 10,
            ratio_max: 100,
            ratio_allowance_bytes: 256 << 10,
            codings_max: 2,
            head_bytes_max: 64 << 10,
            headers_count_max: 256,
            dns_ms: 10_000,
            connect_ms: 10_000,
            tls_ms: 10_000,
            head_ms: 30_000,
            bytes_per_s_min: 1_000,
            speed_grace_ms: 10_000,
            whole_ms: 120_000,
            addresses_max: 4,
            connections_max: 1_024,
            idle_ms: 30_000,
        }
    }
}
