//! Address guard: which addresses a connection may be opened to.
//!
//! Public unicast addresses are permitted, everything else only by a network named in the configuration. An IPv6
//! address that carries an IPv4 address (mapped, compatible, translated, NAT64, 6to4, ISATAP) is judged by both.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

/// The kind of a denied address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Denial {
    /// 0.0.0.0/8 and `::`.
    Unspecified,
    /// 127.0.0.0/8 and `::1`.
    Loopback,
    /// Private networks, and IPv6 unique and site local ones.
    Private,
    /// Link-local, with the metadata services of clouds.
    LinkLocal,
    /// Shared by carriers, 100.64.0.0/10.
    Shared,
    /// Multicast and broadcast.
    Multicast,
    /// Documentation.
    Documentation,
    /// Benchmarking.
    Benchmarking,
    /// Reserved, or special purposes.
    Reserved,
    /// A service of a cloud for its own machines, at an address that looks public.
    CloudService,
    /// Not in a network of the configuration, where only these are permitted.
    NotListed,
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unspecified => "unspecified",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::LinkLocal => "link-local",
            Self::Shared => "shared by carriers",
            Self::Multicast => "multicast or broadcast",
            Self::Documentation => "for documentation",
            Self::Benchmarking => "for benchmarking",
            Self::Reserved => "reserved",
            Self::CloudService => "a cloud's service for its own machines",
            Self::NotListed => "not in the permitted networks",
        })
    }
}

/// Set of addresses to which connections are permitted.
#[derive(Debug, Clone, Default)]
pub struct AddressGuard {
    allowed: Vec<IpNet>,
    only_allowed: bool,
}

impl AddressGuard {
    /// Permits public addresses and those of `allowed`.
    pub fn new(allowed: Vec<IpNet>) -> Self {
        Self {
            allowed,
            only_allowed: false,
        }
    }

    /// Permits the addresses of `allowed` alone.
    pub fn only(allowed: Vec<IpNet>) -> Self {
        Self {
            allowed,
            only_allowed: true,
        }
    }

    /// Checks one address.
    pub fn check(&self, address: IpAddr) -> Result<(), Denial> {
        let address = address.to_canonical();
        if self.allowed.iter().any(|net| net.contains(&address)) {
            return Ok(());
        }
        if self.only_allowed {
            return Err(Denial::NotListed);
        }
        let denial = match address {
            IpAddr::V4(v4) => denial_v4(v4),
            IpAddr::V6(v6) => denial_v6(v6),
        };
        denial.map_or(Ok(()), Err)
    }
}

/// Services of clouds for their own machines that no special network holds: those of Azure (metadata, health, names). The
/// others are link-local, private, shared or reserved: 169.254.169.254 and 169.254.170.2 of most, 100.100.100.200 of
/// Alibaba, 192.0.0.192 of Oracle, fd00:ec2::254 of Amazon, fd20:ce::254 of Google.
const CLOUD_SERVICES: [Ipv4Addr; 1] = [Ipv4Addr::new(168, 63, 129, 16)];

fn denial_v4(address: Ipv4Addr) -> Option<Denial> {
    if CLOUD_SERVICES.contains(&address) {
        return Some(Denial::CloudService);
    }
    let [a, b, c, _] = address.octets();
    Some(match (a, b, c) {
        (0, ..) => Denial::Unspecified,
        (10, ..) | (192, 168, _) | (172, 16..=31, _) => Denial::Private,
        (100, 64..=127, _) => Denial::Shared,
        (127, ..) => Denial::Loopback,
        (169, 254, _) => Denial::LinkLocal,
        (192, 0, 2) | (198, 51, 100) | (203, 0, 113) => Denial::Documentation,
        (198, 18..=19, _) => Denial::Benchmarking,
        (192, 0, 0) | (192, 88, 99) => Denial::Reserved,
        (224..=239, ..) => Denial::Multicast,
        (255, 255, 255) => Denial::Multicast,
        (240..=255, ..) => Denial::Reserved,
        _ => return None,
    })
}

fn denial_v6(address: Ipv6Addr) -> Option<Denial> {
    let s = address.segments();
    if let Some(inner) = embedded(address) {
        // An embedded address that is public does not make a special network public.
        if let Some(denial) = denial_v4(inner) {
            return Some(if address == Ipv6Addr::LOCALHOST {
                Denial::Loopback
            } else {
                denial
            });
        }
    }
    Some(match s {
        [0, 0, 0, 0, 0, 0, 0, 0] => Denial::Unspecified,
        [0xfc00..=0xfdff, ..] | [0xfec0..=0xfeff, ..] => Denial::Private,
        [0xfe80..=0xfebf, ..] => Denial::LinkLocal,
        [0xff00..=0xffff, ..] => Denial::Multicast,
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Denial::Documentation,
        [0x2001, 2, 0, ..] => Denial::Benchmarking,
        [0x2001, 0..=0x1ff, ..] => Denial::Reserved,
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => return None,
        [0x2000..=0x3fff, ..] => return None,
        _ => Denial::Reserved,
    })
}

/// Returns the IPv4 address that `address` carries.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let s = address.segments();
    let pair = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        Ipv4Addr::new(a, b, c, d)
    };
    match s {
        // Compatible, mapped, translated, and NAT64.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(pair(high, low)),
        // 6to4.
        [0x2002, high, low, ..] => Some(pair(high, low)),
        // ISATAP.
        [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => Some(pair(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(address: &str, expected: Option<Denial>) {
        let found = AddressGuard::default()
            .check(address.parse().unwrap())
            .err();
        assert_eq!(found, expected, "{address}");
    }

    #[test]
    fn addresses_are_judged_by_their_kind() {
        for (address, expected) in [
            ("8.8.8.8", None),
            ("1.1.1.1", None),
            ("172.15.255.255", None),
            ("172.32.0.0", None),
            ("100.63.255.255", None),
            ("100.128.0.0", None),
            ("198.17.0.1", None),
            ("198.20.0.1", None),
            ("223.255.255.255", None),
            ("2606:4700::1111", None),
            ("2a00::1", None),
            ("64:ff9b::8.8.8.8", None),
            ("::ffff:8.8.8.8", None),
            ("2002:808:808::1", None),
            ("0.0.0.0", Some(Denial::Unspecified)),
            ("0.1.2.3", Some(Denial::Unspecified)),
            ("10.0.0.1", Some(Denial::Private)),
            ("172.16.0.1", Some(Denial::Private)),
            ("172.31.255.255", Some(Denial::Private)),
            ("192.168.1.1", Some(Denial::Private)),
            ("100.64.0.1", Some(Denial::Shared)),
            ("100.127.255.255", Some(Denial::Shared)),
            ("127.0.0.1", Some(Denial::Loopback)),
            ("127.255.255.254", Some(Denial::Loopback)),
            ("169.254.169.254", Some(Denial::LinkLocal)),
            ("169.254.170.2", Some(Denial::LinkLocal)),
            ("168.63.129.16", Some(Denial::CloudService)),
            ("::ffff:168.63.129.16", Some(Denial::CloudService)),
            ("64:ff9b::168.63.129.16", Some(Denial::CloudService)),
            ("2002:a83f:8110::1", Some(Denial::CloudService)),
            ("168.63.129.17", None),
            ("100.100.100.200", Some(Denial::Shared)),
            ("192.0.0.192", Some(Denial::Reserved)),
            ("fd20:ce::254", Some(Denial::Private)),
            ("fe80::a9fe:a9fe", Some(Denial::LinkLocal)),
            ("192.0.2.1", Some(Denial::Documentation)),
            ("198.51.100.1", Some(Denial::Documentation)),
            ("203.0.113.1", Some(Denial::Documentation)),
            ("198.18.0.1", Some(Denial::Benchmarking)),
            ("198.19.255.255", Some(Denial::Benchmarking)),
            ("192.0.0.1", Some(Denial::Reserved)),
            ("192.88.99.1", Some(Denial::Reserved)),
            ("224.0.0.1", Some(Denial::Multicast)),
            ("255.255.255.255", Some(Denial::Multicast)),
            ("240.0.0.1", Some(Denial::Reserved)),
            ("::", Some(Denial::Unspecified)),
            ("::1", Some(Denial::Loopback)),
            ("::ffff:127.0.0.1", Some(Denial::Loopback)),
            ("::ffff:10.0.0.1", Some(Denial::Private)),
            ("::ffff:169.254.169.254", Some(Denial::LinkLocal)),
            ("::127.0.0.1", Some(Denial::Loopback)),
            ("::8.8.8.8", Some(Denial::Reserved)),
            ("::ffff:0:10.0.0.1", Some(Denial::Private)),
            ("64:ff9b::10.0.0.1", Some(Denial::Private)),
            ("64:ff9b::169.254.169.254", Some(Denial::LinkLocal)),
            ("64:ff9b:1::8.8.8.8", Some(Denial::Reserved)),
            ("2002:7f00:1::1", Some(Denial::Loopback)),
            ("2002:a00:1::1", Some(Denial::Private)),
            ("2a00::5efe:10.0.0.1", Some(Denial::Private)),
            ("2001:0:1::1", Some(Denial::Reserved)),
            ("2001:2::1", Some(Denial::Benchmarking)),
            ("2001:db8::1", Some(Denial::Documentation)),
            ("3fff::1", Some(Denial::Documentation)),
            ("fc00::1", Some(Denial::Private)),
            ("fd00:ec2::254", Some(Denial::Private)),
            ("fec0::1", Some(Denial::Private)),
            ("fe80::1", Some(Denial::LinkLocal)),
            ("ff02::1", Some(Denial::Multicast)),
            ("100::1", Some(Denial::Reserved)),
            ("4000::1", Some(Denial::Reserved)),
        ] {
            check(address, expected);
        }
    }

    #[test]
    fn a_named_network_is_permitted_and_no_other() {
        let guard = AddressGuard::new(vec!["127.0.0.0/8".parse().unwrap()]);
        assert!(guard.check("127.9.9.9".parse().unwrap()).is_ok());
        assert!(guard.check("::ffff:127.9.9.9".parse().unwrap()).is_ok());
        assert!(guard.check("10.0.0.1".parse().unwrap()).is_err());
        assert!(guard.check("8.8.8.8".parse().unwrap()).is_ok());
        let only = AddressGuard::only(vec!["127.0.0.0/8".parse().unwrap()]);
        assert_eq!(
            only.check("8.8.8.8".parse().unwrap()),
            Err(Denial::NotListed)
        );
    }
}
