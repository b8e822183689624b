//! Sort keys of the frontier: the reversed host, then the path.
//!
//! key    := host ")" [scheme [":" port]] path
//! host   := label {"," label} from the top-level domain down | address
//! scheme := "http" | "https", left out for https on its own port
//!
//! Example: `https://docs.example.org/a?b` is `org,example,docs)/a?b`; `http://example.org:8000/` is `org,example)http:8000/`.
//! Invariants: all URLs of one host are contiguous in byte order, all hosts of one registrable domain too, and the key gives back its URL.
//! `,` and `)` cannot be in a host, and `,` is below every byte that can; addresses are not reversed.

use super::canonical::CanonicalUrl;
use super::error::{AddressError, excerpt};

impl CanonicalUrl {
    /// Returns the sort key.
    pub fn frontier_key(&self) -> String {
        let mut key = String::with_capacity(self.as_str().len());
        key.push_str(&host_key(self));
        if self.scheme() != "https" || self.explicit_port().is_some() {
            key.push_str(self.scheme());
            if let Some(port) = self.explicit_port() {
                key.push_str(&format!(":{port}"));
            }
        }
        key.push_str(self.path_and_query());
        key
    }

    /// Returns the prefix that the keys of all URLs of this host, and no others, have.
    pub fn host_key(&self) -> String {
        host_key(self)
    }

    /// Returns the URL that `key` was made of.
    pub fn from_frontier_key(key: &str) -> Result<Self, AddressError> {
        let damaged = || AddressError::Key { text: excerpt(key) };
        let (host, rest) = key.split_once(')').ok_or_else(damaged)?;
        let (place, path) = rest.split_at(rest.find('/').ok_or_else(damaged)?);
        let (scheme, port) = place.split_once(':').unwrap_or((place, ""));
        let scheme = if scheme.is_empty() { "https" } else { scheme };
        let colon = if port.is_empty() { "" } else { ":" };
        let host = if host.contains(['.', '[']) {
            host.to_owned()
        } else {
            reversed(host, ',', ".")
        };
        let url = Self::parse(&format!("{scheme}://{host}{colon}{port}{path}"))?;
        if url.frontier_key() == key {
            Ok(url)
        } else {
            Err(damaged())
        }
    }
}

fn host_key(url: &CanonicalUrl) -> String {
    let mut key = if url.is_ip() {
        url.host().to_owned()
    } else {
        reversed(url.host(), '.', ",")
    };
    key.push(')');
    key
}

fn reversed(host: &str, from: char, to: &str) -> String {
    host.rsplit(from).collect::<Vec<_>>().join(to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn url(text: &str) -> CanonicalUrl {
        CanonicalUrl::parse(text).unwrap()
    }

    #[test]
    fn keys_keep_scheme_and_port() {
        for (text, key) in [
            ("https://docs.example.org/a?b", "org,example,docs)/a?b"),
            ("http://example.org/", "org,example)http/"),
            ("http://example.org:8000/", "org,example)http:8000/"),
            ("https://example.org:8443/x)y", "org,example)https:8443/x)y"),
            ("http://127.0.0.1:80/", "127.0.0.1)http/"),
            ("https://[::1]/", "[::1])/"),
        ] {
            assert_eq!(url(text).frontier_key(), key);
            assert_eq!(CanonicalUrl::from_frontier_key(key).unwrap(), url(text));
        }
    }

    #[test]
    fn damaged_keys_are_refused() {
        for key in [
            "",
            "org",
            "org,example",
            "org)x/",
            "org)https/",
            "org)http:80/",
            "org)/a/../b",
            "o.rg)/",
            ")/",
        ] {
            assert!(CanonicalUrl::from_frontier_key(key).is_err(), "{key}");
        }
    }

    proptest! {
        #[test]
        fn keys_give_back_their_url(
            scheme in "https?", host in "[a-c_-]{1,2}(\\.[a-c-]{1,3}){0,3}|[0-9]{1,2}\\.0\\.0\\.1|\\[::[1-9]\\]",
            port in prop::option::of(1u16..), tail in "(/[-a-z0-9.,)%?:&=]{0,10}){0,3}",
        ) {
            let port = port.map(|port| format!(":{port}")).unwrap_or_default();
            if let Ok(url) = CanonicalUrl::parse(&format!("{scheme}://{host}{port}{tail}")) {
                prop_assert_eq!(CanonicalUrl::from_frontier_key(&url.frontier_key()), Ok(url));
            }
        }

        #[test]
        fn hosts_and_sites_are_contiguous(
            rows in prop::collection::vec(("https?", "([ab-]{1,2}\\.){0,2}[ab_-]{1,2}\\.(org|co\\.uk)", "[-a/.,?)]{0,4}"), 1..40),
        ) {
            let urls: Vec<_> = rows.iter().filter_map(|(s, h, p)| CanonicalUrl::parse(&format!("{s}://{h}/{p}")).ok()).collect();
            let mut keyed: Vec<_> = urls.iter().map(|url| (url.frontier_key(), url)).collect();
            keyed.sort();
            for name in [CanonicalUrl::host as fn(&CanonicalUrl) -> &str, CanonicalUrl::site] {
                let mut runs: Vec<&str> = keyed.iter().map(|(_, url)| name(url)).collect();
                runs.dedup();
                let count = runs.len();
                runs.sort_unstable();
                runs.dedup();
                prop_assert_eq!(runs.len(), count);
            }
        }
    }
}
