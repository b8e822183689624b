//! Target of the load: its URL template and the bytes of each request.
use crate::LoadError;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

const PLACE: &str = "{query}";
/// Path and query for a URL without a path: Shorttail's own API.
const PATH_DEFAULT: &str = "/search?q={query}";

/// An HTTP/1.1 endpoint that answers queries. `{query}` in its URL stands for the percent-encoded
/// query; a URL without a path is that of a Shorttail server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    url: String,
    host: String,
    path_before: String,
    path_after: String,
    address: SocketAddr,
}

impl Target {
    /// Parses the URL and resolves its host once, so that no name is resolved under load.
    ///
    /// # Errors
    /// A URL that is not `http` or lacks `{query}`, or an unknown host.
    pub fn parse(url: &str) -> Result<Target, LoadError> {
        let wrong = |reason: &str| LoadError::Target {
            url: url.to_owned(),
            reason: reason.to_owned(),
        };
        if url.starts_with("https://") {
            return Err(wrong(
                "TLS is not spoken here; measure behind it, with an http:// URL",
            ));
        }
        let rest = url
            .strip_prefix("http://")
            .ok_or_else(|| wrong("not an http:// URL; write http://HOST:PORT"))?;
        let (host, path) = match rest.find(['/', '?']) {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let path = match path {
            "" | "/" => PATH_DEFAULT.to_owned(),
            path if path.starts_with('/') => path.to_owned(),
            query => format!("/{query}"),
        };
        let printable = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if !printable(host) || !printable(&path) || host.contains('@') || host.is_empty() {
            return Err(wrong(
                "host and path are plain ASCII without spaces or a password",
            ));
        }
        let path = path.split('#').next().unwrap_or_default();
        let (before, after) = path
            .split_once(PLACE)
            .ok_or_else(|| wrong("no {query} in it; write http://HOST:PORT/search?q={query}"))?;
        if after.contains(PLACE) {
            return Err(wrong("{query} stands in it twice; it can be given once"));
        }
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| {
            !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
        });
        let with_port = match has_port {
            true => host.to_owned(),
            false => format!("{}:80", host.trim_end_matches(':')),
        };
        let address = with_port
            .to_socket_addrs()
            .map_err(|error| {
                wrong(&format!(
                    "its host cannot be found ({error}); check the name"
                ))
            })?
            .next()
            .ok_or_else(|| wrong("its host has no address; check the name"))?;
        Ok(Target {
            url: url.to_owned(),
            host: host.to_owned(),
            path_before: before.to_owned(),
            path_after: after.to_owned(),
            address,
        })
    }

    /// Returns the URL as given.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the address that connections go to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connects once before a run, so that a wrong address is reported before the measurement.
    ///
    /// # Errors
    /// No connection within five seconds.
    pub fn check_reachable(&self) -> Result<(), LoadError> {
        let stream = TcpStream::connect_timeout(&self.address, Duration::from_secs(5));
        stream.map(drop).map_err(|error| LoadError::Target {
            url: self.url.clone(),
            reason: format!(
                "no connection to {}: {error}; is the server running?",
                self.address
            ),
        })
    }

    /// Returns the same target at another address, for the null server of the self-check.
    pub(crate) fn at(&self, address: SocketAddr) -> Target {
        Target {
            address,
            ..self.clone()
        }
    }

    /// Returns the bytes of the request for a query.
    pub(crate) fn request(&self, query: &str) -> Arc<[u8]> {
        let mut request = format!("GET {}", self.path_before);
        percent_encode(query, &mut request);
        request.push_str(&self.path_after);
        request.push_str(" HTTP/1.1\r\nHost: ");
        request.push_str(&self.host);
        request.push_str("\r\nAccept: application/json\r\nUser-Agent: shorttail-load\r\n\r\n");
        request.into_bytes().into()
    }
}

/// Percent-encodes all characters but RFC 3986's unreserved ones.
fn percent_encode(text: &str, into: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                into.push(char::from(byte));
            }
            _ => {
                into.push('%');
                into.push(char::from(HEX[usize::from(byte >> 4)]));
                into.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_line(url: &str, query: &str) -> String {
        let request = Target::parse(url).unwrap().request(query);
        let text = std::str::from_utf8(&request).unwrap();
        assert!(text.ends_with("\r\n\r\n"));
        text.lines().next().unwrap().to_owned()
    }

    #[test]
    fn templates_become_requests() {
        let check = |url: &str, line: &str| {
            assert_eq!(
                first_line(url, "naïve \"a&b\"\r\nX: 1"),
                format!("GET {line} HTTP/1.1")
            );
        };
        let encoded = "na%C3%AFve%20%22a%26b%22%0D%0AX%3A%201";
        check("http://127.0.0.1:7700", &format!("/search?q={encoded}"));
        check("http://127.0.0.1:7700/", &format!("/search?q={encoded}"));
        check(
            "http://127.0.0.1/s?w={query}&k=5#x",
            &format!("/s?w={encoded}&k=5"),
        );
        check("http://[::1]:80/{query}/y", &format!("/{encoded}/y"));
        check("http://127.0.0.1?q={query}", &format!("/?q={encoded}"));
    }

    #[test]
    fn urls_that_cannot_be_asked_are_refused_with_a_remedy() {
        let check = |url: &str, reason: &str| {
            let error = Target::parse(url).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        };
        check("https://a/", "TLS");
        check("127.0.0.1:7700", "not an http:// URL");
        check("http://", "plain ASCII");
        check("http://127.0.0.1/search", "no {query}");
        check("http://127.0.0.1/{query}{query}", "twice");
        check("http://127.0.0.1/a b{query}", "plain ASCII");
        check("http://me:secret@127.0.0.1/{query}", "password");
        check("http://127.0.0.1:99999/{query}", "cannot be found");
        assert_eq!(
            Target::parse("http://127.0.0.1").unwrap().address().port(),
            80
        );
    }
}
