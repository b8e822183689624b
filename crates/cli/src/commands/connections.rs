//! How the connections of a public port are treated: options.

use serve::{ClientHeader, ConnectionLimits, Network, TrustedProxies, parse_network};
use std::time::Duration;

/// Connections, clients, proxies.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ConnectionArguments {
    /// Connections at once; where there are so many, an idle one is closed for a newcomer
    #[arg(long, value_name = "N", default_value = "4096")]
    connections: usize,
    /// Connections at once of one client: an IPv4 address or an IPv6 /64. Behind a trusted proxy, requests
    /// of one client at once [default: an eighth of --connections, 64 at least]
    #[arg(long, value_name = "N")]
    connections_per_client: Option<usize>,
    /// Limit clients on this machine like all others
    #[arg(long)]
    limit_loopback: bool,
    /// A proxy, as 10.0.0.5 or 10.0.0.0/8, that says for which client it asks; may be given more than once
    #[arg(long, value_name = "NETWORK", value_parser = parse_network)]
    trusted_proxy: Vec<Network>,
    /// Where trusted proxies name their clients: x-forwarded-for, or forwarded
    #[arg(long, value_name = "HEADER", default_value = "x-forwarded-for",
          value_parser = ["x-forwarded-for", "forwarded"])]
    client_header: String,
    /// Large answers that may wait for clients to read them, in MiB; an eighth of it for one client
    #[arg(long, value_name = "MIB", default_value = "256")]
    output_mib: usize,
    /// Close a connection on which no request has come for so long
    #[arg(long, value_name = "MS", default_value = "10000")]
    head_timeout_ms: u64,
}

impl ConnectionArguments {
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
            output_bytes_max: self.output_mib << 20,
            head_timeout: Duration::from_millis(self.head_timeout_ms.max(1)),
            ..ConnectionLimits::default()
        }
    }
}
