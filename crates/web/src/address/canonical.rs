//! Canonical http and https URLs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use url::Url;

use super::clean::{self, ParameterSet};
use super::error::{AddressError, excerpt};
use super::{percent, whatwg};

/// Greatest length of a canonical URL, in bytes.
pub const URL_BYTES_MAX: usize = 2_000;

/// Greatest length of a link before it is made canonical, in bytes. White space and tracking parameters go away.
pub const INPUT_BYTES_MAX: usize = 4 * URL_BYTES_MAX;

/// Longest host name and longest label of one (RFC 1035, section 2.3.4), in bytes.
const HOST_BYTES_MAX: usize = 253;
const LABEL_BYTES_MAX: usize = 63;

/// A canonical URL of http or https: `scheme://host[:port]/path[?query]`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct CanonicalUrl {
    text: Box<str>,
    /// Bounds of the host in `text`, an IPv6 address with its brackets.
    host: (u16, u16),
    /// Begin of the path in `text`.
    path: u16,
}

/// A base that many links are resolved against, parsed once.
#[derive(Clone, Debug)]
pub struct Base(Url);

impl CanonicalUrl {
    /// Parses an absolute URL and makes it canonical.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        resolve(text, None)
    }

    /// Resolves `link` against this URL and makes it canonical.
    pub fn join(&self, link: &str) -> Result<Self, AddressError> {
        self.base()?.join(link)
    }

    /// Returns this URL as a base for many links.
    pub fn base(&self) -> Result<Base, AddressError> {
        Base::parse(&self.text)
    }

    /// Returns this URL without the parameters of the query that `dropped` lists.
    pub fn without(&self, dropped: &ParameterSet) -> Self {
        let Some((before, query)) = self.text.split_once('?') else {
            return self.clone();
        };
        let kept = clean::kept_query(query, |part| {
            dropped.contains(part.split('=').next().unwrap_or(part))
        });
        let text = match kept {
            Some(query) => format!("{before}?{query}"),
            None => before.to_owned(),
        };
        Self {
            text: text.into(),
            ..*self
        }
    }

    /// Returns the whole text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns `http` or `https`.
    pub fn scheme(&self) -> &str {
        &self.text[..usize::from(self.host.0) - 3]
    }

    /// Returns the host: a name in lower case (punycode), an IPv4 address, or an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        &self.text[usize::from(self.host.0)..usize::from(self.host.1)]
    }

    /// Returns the port; the scheme's default where none is written.
    pub fn port(&self) -> u16 {
        self.explicit_port()
            .unwrap_or(if self.scheme() == "https" { 443 } else { 80 })
    }

    /// Returns the port where it is not the scheme's own.
    pub fn explicit_port(&self) -> Option<u16> {
        self.text[usize::from(self.host.1)..usize::from(self.path)]
            .strip_prefix(':')?
            .parse()
            .ok()
    }

    /// Returns `scheme://host[:port]`, the scope of one robots.txt.
    pub fn origin(&self) -> &str {
        &self.text[..usize::from(self.path)]
    }

    /// Returns path and query, which rules of robots.txt are compared with.
    pub fn path_and_query(&self) -> &str {
        &self.text[usize::from(self.path)..]
    }

    /// Returns the path, which begins with `/`.
    pub fn path(&self) -> &str {
        let rest = self.path_and_query();
        rest.split_once('?').map_or(rest, |(path, _)| path)
    }

    /// Returns the query without its `?`.
    pub fn query(&self) -> Option<&str> {
        self.path_and_query()
            .split_once('?')
            .map(|(_, query)| query)
    }

    /// Returns whether the host is an address and not a name.
    pub fn is_ip(&self) -> bool {
        let host = self.host();
        host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok()
    }

    /// Returns the registrable domain by the public suffix list; an address or a name without one is its own site.
    pub fn site(&self) -> &str {
        let host = self.host();
        if self.is_ip() {
            host
        } else {
            psl::domain_str(host).unwrap_or(host)
        }
    }
}

impl Base {
    /// Parses the base of a page, such as the content of its `<base href>` after resolving.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        whatwg::resolve(text, None)
            .map(Self)
            .map_err(|source| AddressError::Syntax {
                source,
                text: excerpt(text),
            })
    }

    /// Resolves `link` and makes it canonical.
    pub fn join(&self, link: &str) -> Result<CanonicalUrl, AddressError> {
        resolve(link, Some(&self.0))
    }
}

fn resolve(text: &str, base: Option<&Url>) -> Result<CanonicalUrl, AddressError> {
    if text.len() > INPUT_BYTES_MAX {
        return Err(too_long(text, INPUT_BYTES_MAX));
    }
    let url = whatwg::resolve(text, base).map_err(|source| AddressError::Syntax {
        source,
        text: excerpt(text),
    })?;
    canonical(&url)
}

/// Makes a parsed URL canonical.
fn canonical(url: &Url) -> Result<CanonicalUrl, AddressError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(AddressError::Scheme {
            scheme: url.scheme().to_owned(),
            text: excerpt(url.as_str()),
        });
    }
    let host = checked_host(url)?;
    let port = url
        .port()
        .map(|port| format!(":{port}"))
        .unwrap_or_default();
    let origin = format!("{}://{host}{port}", url.scheme());
    let mut path = percent::normal(url.path());
    if let Some(without) = clean::without_path_session(&path) {
        // What stood before a parameter may be a dot segment now.
        let again =
            Url::parse(&format!("{origin}{without}")).map_err(|source| AddressError::Syntax {
                source,
                text: excerpt(&without),
            })?;
        path = again.path().to_owned();
    }
    let query = url
        .query()
        .and_then(|query| clean::kept_query(&percent::normal(query), clean::is_listed));
    let mut text = format!("{origin}{path}");
    if let Some(query) = query {
        text.push('?');
        text.push_str(&query);
    }
    if text.len() > URL_BYTES_MAX {
        return Err(too_long(&text, URL_BYTES_MAX));
    }
    let host_begin = url.scheme().len() + 3;
    // All are at most URL_BYTES_MAX.
    let place = |at: usize| at as u16;
    let bounds = (place(host_begin), place(host_begin + host.len()));
    Ok(CanonicalUrl {
        text: text.into(),
        host: bounds,
        path: place(origin.len()),
    })
}

/// Returns the host without a final dot, if it may be in the domain name system or is an address.
fn checked_host(url: &Url) -> Result<&str, AddressError> {
    let host = url.host_str().unwrap_or_default();
    if host.starts_with('[') {
        return Ok(host);
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    let label = |label: &str| {
        (1..=LABEL_BYTES_MAX).contains(&label.len())
            && label
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_'))
    };
    if name.len() <= HOST_BYTES_MAX && name.split('.').all(label) {
        Ok(name)
    } else {
        Err(AddressError::Host {
            host: excerpt(host),
        })
    }
}

fn too_long(text: &str, bytes_max: usize) -> AddressError {
    AddressError::TooLong {
        bytes: text.len(),
        bytes_max,
        text: excerpt(text),
    }
}

impl FromStr for CanonicalUrl {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for CanonicalUrl {
    type Error = AddressError;

    fn try_from(text: String) -> Result<Self, AddressError> {
        Self::parse(&text)
    }
}

impl From<CanonicalUrl> for String {
    fn from(url: CanonicalUrl) -> Self {
        url.text.into()
    }
}

impl AsRef<str> for CanonicalUrl {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for CanonicalUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for CanonicalUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CanonicalUrl({})", self.text)
    }
}

#[cfg(test)]
#[path = "canonical_tests.rs"]
mod tests;
