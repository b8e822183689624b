//! Options of the connections of a public port.

use serve::{
    ClientHeader, ConnectionLimits, Network, Origin, TrustedProxies, parse_host_name,
    parse_network, parse_origin,
};
use std::time::Duration;
use units::{Sizes, Times};

/// Limits on connections and clients, and trusted proxies.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ConnectionArguments {
    /// Upper limit on open connections; at the limit, a new connection replaces an idle one
    #[arg(
        long,
        value_name = "N",
        default_value = "4096",
        help_heading = "Connections"
    )]
    connections: usize,
    /// Upper limit on open connections of one client, an IPv4 address or an IPv6 /64; behind a trusted proxy,
    /// on its concurrent requests [default: an eighth of --connections, at least 64]
    #[arg(long, value_name = "N", help_heading = "Connections")]
    connections_per_client: Option<usize>,
    /// Apply the limits to clients on this machine too
    #[arg(long, help_heading = "Connections")]
    limit_loopback: bool,
    /// Name by which clients, or a proxy before the server, ask for it (the Host header): on loopback only localhost
    /// and addresses of loopback are answered beside these, elsewhere any name unless some are given; may be given
    /// more than once
    #[arg(long, value_name = "NAME", value_parser = parse_host_name, help_heading = "Connections")]
    host: Vec<String>,
    /// Origin of pages that may read answers, as https://www.example.org, or * for any; may be given more than once
    #[arg(long, value_name = "ORIGIN", value_parser = parse_origin, help_heading = "Connections")]
    allow_origin: Vec<Origin>,
    /// Address or network of a proxy that names its client in --client-header: 10.0.0.5 or 10.0.0.0/8; may be
    /// given more than once
    #[arg(long, value_name = "NETWORK", value_parser = parse_network, help_heading = "Connections")]
    trusted_proxy: Vec<Network>,
    /// Header in which trusted proxies name their client: x-forwarded-for, or forwarded
    #[arg(long, value_name = "HEADER", default_value = "x-forwarded-for",
          value_parser = ["x-forwarded-for", "forwarded"], help_heading = "Connections")]
    client_header: String,
    /// Upper limit on memory for large answers that clients have not read yet; an eighth of it for one client
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = Sizes::ANY.bytes(), help_heading = "Connections")]
    output_max: u64,
    /// Idle timeout: close a connection after this time without a request
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = Times::ANY.durations(), help_heading = "Connections")]
    head_timeout: Duration,
}

impl ConnectionArguments {
    /// Returns the names of the server.
    pub(crate) fn host_names(&self) -> Vec<String> {
        self.host.clone()
    }

    /// Returns the origins of pages that may read answers.
    pub(crate) fn origins(&self) -> Vec<Origin> {
        self.allow_origin.clone()
    }

    /// Returns the limits that the options set.
    pub(crate) fn limits(&self) -> ConnectionLimits {
        let share = ConnectionLimits::share_of_client(self.connections);
        ConnectionLimits {
            connections_max: self.connections,
            connections_per_client: self.connections_per_client.unwrap_or(share),
            loopback_is_limited: self.limit_loopback,
            trusted_proxies: TrustedProxies {
                networks: self.trusted_proxy.clone(),
                header: match self.client_header.as_str() {
                    "forwarded" => ClientHeader::Forwarded,
                    _ => ClientHeader::XForwardedFor,
                },
            },
            output_bytes_max: usize::try_from(self.output_max).unwrap_or(usize::MAX),
            head_timeout: self.head_timeout.max(Duration::from_millis(1)),
            ..ConnectionLimits::default()
        }
    }
}
