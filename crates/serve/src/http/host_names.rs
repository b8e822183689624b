//! Names by which a server may be asked, against DNS rebinding.
//!
//! A page of any site can have its own name resolve to an address that only this machine or its network reaches, and
//! read what a server there answers: for the browser it is one origin. The browser still sends that name as `Host`.
//!
//! ```text
//! server on loopback   localhost, 127.0.0.0/8, [::1]; names that the operator gives
//! elsewhere            any name; where the operator gives names: these, the names of loopback, addresses
//! ```
//!
//! An address in place of a name cannot be redirected by DNS.

use crate::net::health::is_health_check;
use crate::net::response::refusal;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{Response, StatusCode, header};
use axum::middleware::Next;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// Host names of one address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostNames {
    address: SocketAddr,
    /// Names that the operator gives, in lower case.
    names: Vec<String>,
}

/// Parses a host name that the operator gives: no scheme, no port.
pub fn parse_host_name(text: &str) -> Result<String, String> {
    let name = text.trim_end_matches('.').to_ascii_lowercase();
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
    let is_address = name
        .trim_matches(['[', ']'])
        .parse::<IpAddr>()
        .is_ok_and(|ip| ip.is_ipv6());
    match is_name || is_address {
        true => Ok(name.trim_matches(['[', ']']).to_owned()),
        false => Err(format!(
            "{text:?} is no host name; write search.example.org, without http:// and without a port"
        )),
    }
}

impl HostNames {
    pub(crate) fn new(address: SocketAddr, names: &[String]) -> HostNames {
        HostNames {
            address,
            names: names.iter().map(|name| name.to_ascii_lowercase()).collect(),
        }
    }

    /// Returns whether a `Host` (a name or an address, with any port) is answered.
    pub(crate) fn has(&self, host: &str) -> bool {
        let own = self.address.ip().to_canonical();
        if !own.is_loopback() && self.names.is_empty() {
            return true;
        }
        is_named(host, &self.names, |ip| {
            ip.is_loopback() || !own.is_loopback()
        })
    }

    /// Returns the reason why a host is not answered, with the remedy.
    pub(crate) fn reason(&self, host: &str) -> String {
        let host: String = host.chars().take(200).collect();
        format!(
            "this server is not asked as {host:?}: ask for http://{}, or start it with --host NAME for the name that \
             clients or a proxy before it use",
            self.address
        )
    }
}

/// Returns whether a `Host`, with any port, is one of `names` (in lower case), `localhost`, or an address that `is_own`.
pub(crate) fn is_named<'a>(
    host: &str,
    names: impl IntoIterator<Item = &'a String>,
    is_own: impl Fn(IpAddr) -> bool,
) -> bool {
    let Ok(authority) = host.parse::<Authority>() else {
        return false;
    };
    let name = authority.host().to_ascii_lowercase();
    let name = name.strip_suffix('.').unwrap_or(&name);
    let literal = name.trim_start_matches('[').trim_end_matches(']');
    if names.into_iter().any(|known| known == literal) {
        return true;
    }
    match literal.parse::<IpAddr>() {
        // An address literal cannot be redirected by DNS.
        Ok(ip) => is_own(ip.to_canonical()),
        Err(_) => name == "localhost",
    }
}

/// Refuses a request that names another host than this server's. Health checks show nothing, and pass.
pub(crate) async fn known_host(
    State(names): State<Arc<HostNames>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let header = request.headers().get(header::HOST);
    let header = header.map(|host| host.to_str().unwrap_or(""));
    // A target in full has a host too, which counts for more (RFC 9112, 3.2.2).
    let in_target = request
        .uri()
        .authority()
        .map(|authority| authority.as_str());
    // Only HTTP/1.0 has neither, which no browser speaks.
    let foreign = [in_target, header]
        .into_iter()
        .flatten()
        .find(|host| !names.has(host));
    match foreign {
        Some(host) if !is_health_check(&request) => {
            refusal(StatusCode::MISDIRECTED_REQUEST, &names.reason(host))
        }
        _ => next.run(request).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(address: &str, names: &[&str]) -> HostNames {
        let names: Vec<String> = names
            .iter()
            .map(|name| parse_host_name(name).unwrap())
            .collect();
        HostNames::new(address.parse().unwrap(), &names)
    }

    #[track_caller]
    fn check(names: &HostNames, known: &[&str], foreign: &[&str]) {
        for (hosts, expected) in [(known, true), (foreign, false)] {
            for host in hosts {
                assert_eq!(names.has(host), expected, "{host} of {names:?}");
            }
        }
    }

    #[test]
    fn on_loopback_its_names_and_those_given_are_known() {
        let own = [
            "localhost",
            "LOCALHOST:7700",
            "localhost.",
            "127.0.0.1:7700",
            "127.9.9.9",
            "[::1]:7700",
            "[::ffff:127.0.0.1]",
        ];
        let foreign = [
            "evil.example",
            "evil.example:7700",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "notlocalhost",
            "10.0.0.1",
            "[2001:db8::1]",
            "",
            "a b",
            "0.0.0.0",
            "0x7f.1",
            "2130706433",
        ];
        for address in ["127.0.0.1:7700", "127.0.0.5:7700", "[::1]:7700"] {
            check(&names(address, &[]), &own, &foreign);
            let given = names(address, &["Search.Example.org", "search"]);
            check(&given, &own, &foreign);
            check(
                &given,
                &[
                    "search.example.org",
                    "SEARCH.example.org.:80",
                    "search:7700",
                ],
                &["example.org", "x.search"],
            );
        }
    }

    #[test]
    fn elsewhere_any_name_is_known_until_some_are_given() {
        let any = names("0.0.0.0:7700", &[]);
        check(&any, &["evil.example", "10.0.0.1", "localhost", ""], &[]);
        let listed = names("0.0.0.0:7700", &["search.example.org"]);
        check(
            &listed,
            &[
                "search.example.org",
                "10.0.0.1:7700",
                "[2001:db8::1]",
                "localhost:7700",
            ],
            &["evil.example", "example.org", ""],
        );
    }

    #[test]
    fn names_have_neither_scheme_nor_port() {
        assert_eq!(
            parse_host_name("Search.example.ORG.").unwrap(),
            "search.example.org"
        );
        assert_eq!(parse_host_name("[2001:db8::1]").unwrap(), "2001:db8::1");
        for wrong in [
            "",
            ".",
            "http://a.example",
            "a.example:80",
            "a b",
            "*.example.org",
            "é.example",
        ] {
            assert!(parse_host_name(wrong).is_err(), "{wrong}");
        }
    }
}
