//! Address by which a client is counted, and the proxies that are trusted to name it.

use axum::http::HeaderMap;
use ipnet::IpNet;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Client of the server: an IPv4 address, or the /64 of an IPv6 address, which one customer usually
/// owns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ClientAddress(IpAddr);

impl ClientAddress {
    pub(super) fn of(ip: IpAddr) -> ClientAddress {
        const NETWORK: u128 = !0 << 64;
        ClientAddress(match ip.to_canonical() {
            IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & NETWORK)),
            ip => ip,
        })
    }
}

/// Header in which a proxy names its client. Only one is read: a proxy that sets one header passes the
/// other on as the client wrote it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClientHeader {
    /// `X-Forwarded-For: 192.0.2.1, 198.51.100.2`
    #[default]
    XForwardedFor,
    /// `Forwarded: for=192.0.2.1, for="[2001:db8::1]:4711"` (RFC 7239)
    Forwarded,
}

/// Range of addresses with a common prefix.
pub type Network = IpNet;

/// Parses a network, as `10.0.0.0/8`, or a single address.
pub fn parse_network(text: &str) -> Result<Network, String> {
    let network = text
        .parse()
        .or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
    network.map_err(|_| {
        format!("{text:?} is no network; write 10.0.0.0/8, 2001:db8::/32 or one address")
    })
}

/// Trusted proxies before a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedProxies {
    /// Networks of the proxies; empty where clients connect directly.
    pub networks: Vec<Network>,
    /// Header in which they name their clients.
    pub header: ClientHeader,
}

impl TrustedProxies {
    /// Returns whether an address belongs to a trusted proxy.
    pub(super) fn are_at(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        self.networks.iter().any(|network| network.contains(&ip))
    }

    /// Returns the client of a request from `peer`: the last address of the header that belongs to no
    /// trusted proxy, since earlier ones may be forged; `peer` itself if it is no proxy, or names no
    /// client.
    pub(super) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        if !self.are_at(peer) {
            return peer;
        }
        let name = match self.header {
            ClientHeader::XForwardedFor => "x-forwarded-for",
            ClientHeader::Forwarded => "forwarded",
        };
        let lines: Vec<&str> = headers
            .get_all(name)
            .iter()
            .filter_map(|line| line.to_str().ok())
            .collect();
        let hops = lines.iter().rev().flat_map(|line| line.rsplit(','));
        for hop in hops {
            let hop = match self.header {
                ClientHeader::XForwardedFor => Some(hop),
                ClientHeader::Forwarded => forwarded_for(hop),
            };
            match hop.and_then(address) {
                Some(ip) if self.are_at(ip) => {}
                Some(ip) => return ip,
                // Entries before an invalid one do not come from a trusted proxy.
                None => return peer,
            }
        }
        peer
    }
}

/// Returns the `for` of one element of `Forwarded`.
fn forwarded_for(element: &str) -> Option<&str> {
    element.split(';').find_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let is_for = name.trim().eq_ignore_ascii_case("for");
        is_for.then(|| value.trim().trim_matches('"'))
    })
}

/// Parses an address with an optional port or brackets.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    if let Ok(ip) = text.parse() {
        return Some(ip);
    }
    if let Ok(socket) = text.parse::<SocketAddr>() {
        return Some(socket.ip());
    }
    text.strip_prefix('[')?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_customer_of_ipv6_is_one_client() {
        let of = |ip: &str| ClientAddress::of(ip.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }

    #[test]
    fn the_word_of_a_proxy_is_taken_and_that_of_others_is_not() {
        let proxies = |header| TrustedProxies {
            networks: vec!["10.0.0.0/8".parse().unwrap(), "::1/128".parse().unwrap()],
            header,
        };
        let check = |header, peer: &str, lines: &[&str], expected: &str| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append("forwarded", line.parse().unwrap());
                headers.append("x-forwarded-for", line.parse().unwrap());
            }
            let client = proxies(header).client(peer.parse().unwrap(), &headers);
            assert_eq!(client.to_string(), expected, "{peer} {lines:?}");
        };
        use ClientHeader::{Forwarded, XForwardedFor};
        check(XForwardedFor, "10.1.1.1", &["192.0.2.1"], "192.0.2.1");
        check(
            XForwardedFor,
            "::ffff:10.1.1.1",
            &["192.0.2.1"],
            "192.0.2.1",
        );
        check(XForwardedFor, "192.0.2.9", &["192.0.2.1"], "192.0.2.9");
        // The client's own entry comes first.
        check(
            XForwardedFor,
            "10.1.1.1",
            &["198.51.100.1, 192.0.2.1"],
            "192.0.2.1",
        );
        check(
            XForwardedFor,
            "10.1.1.1",
            &["198.51.100.1", "192.0.2.1, 10.2.2.2"],
            "192.0.2.1",
        );
        check(
            XForwardedFor,
            "10.1.1.1",
            &["192.0.2.1, unknown"],
            "10.1.1.1",
        );
        check(XForwardedFor, "10.1.1.1", &[], "10.1.1.1");
        check(XForwardedFor, "10.1.1.1", &["10.2.2.2"], "10.1.1.1");
        check(XForwardedFor, "10.1.1.1", &["192.0.2.1:4711"], "192.0.2.1");
        check(
            Forwarded,
            "10.1.1.1",
            &["for=192.0.2.1;proto=http"],
            "192.0.2.1",
        );
        check(
            Forwarded,
            "10.1.1.1",
            &["for=198.51.100.1, proto=https;For=\"[2001:db8::1]:4711\""],
            "2001:db8::1",
        );
        check(Forwarded, "::1", &["for=\"[2001:db8::1]\""], "2001:db8::1");
        check(Forwarded, "10.1.1.1", &["for=_hidden"], "10.1.1.1");
        check(Forwarded, "10.1.1.1", &["192.0.2.1"], "10.1.1.1");
    }
}
