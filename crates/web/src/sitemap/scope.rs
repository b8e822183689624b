//! Scope of a sitemap: the URLs that it may list, by its place or by robots.txt of another host.

use psl::Type;
use url::{Host, Url};

/// Part of a host name that must agree for a cross-submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubmissionLevel {
    /// The whole host name.
    Host,
    /// The registrable domain, where private suffixes such as `github.io` count.
    PrivateDomain,
    /// The registrable domain under the suffixes of registries alone.
    IcannDomain,
}

/// Returns the folder of a sitemap, below which the protocol lets it list URLs.
pub fn scope_of(sitemap: &Url) -> Url {
    let mut folder = sitemap.clone();
    folder.set_fragment(None);
    folder.set_query(None);
    let path = sitemap.path();
    let end = path.rfind('/').map_or(0, |slash| slash + 1);
    folder.set_path(&path[..end]);
    folder
}

/// Returns whether a URL lies below a sitemap's folder.
pub fn in_scope(folder: &Url, url: &Url) -> bool {
    folder.scheme() == url.scheme()
        && folder.host() == url.host()
        && folder.port_or_known_default() == url.port_or_known_default()
        && url.path().starts_with(folder.path())
}

/// Returns whether a sitemap may list a URL: it is on the sitemap's own host, or on a host whose robots.txt names the
/// sitemap, both compared at `level`.
pub fn is_submitted(
    sitemap: &Url,
    url: &Url,
    announced_by: &[&str],
    level: SubmissionLevel,
) -> bool {
    let Some(wanted) = part(url, level) else {
        return false;
    };
    let named = announced_by
        .iter()
        .filter_map(|host| Url::parse(&format!("http://{host}/")).ok())
        .filter_map(|url| part(&url, level));
    part(sitemap, level)
        .into_iter()
        .chain(named)
        .any(|part| part == wanted)
}

fn part(url: &Url, level: SubmissionLevel) -> Option<String> {
    let host = match url.host()? {
        Host::Domain(host) => host.trim_end_matches('.'),
        // Addresses have no domains.
        _ => return url.host_str().map(str::to_owned),
    };
    let domain = match level {
        SubmissionLevel::Host => host,
        SubmissionLevel::PrivateDomain => psl::domain_str(host).unwrap_or(host),
        SubmissionLevel::IcannDomain => icann_domain(host),
    };
    Some(domain.to_owned())
}

fn icann_domain(host: &str) -> &str {
    let mut rest = host;
    let suffix = loop {
        let Some(suffix) = psl::suffix(rest.as_bytes()) else {
            return host;
        };
        let length = suffix.as_bytes().len();
        let text = &host[host.len() - length..];
        // The suffix above a private one is looked up without its first label.
        match (suffix.typ(), text.split_once('.')) {
            (Some(Type::Private), Some((_, above))) => rest = above,
            _ => break text,
        }
    };
    let before = host[..host.len() - suffix.len()].trim_end_matches('.');
    if before.is_empty() {
        return host;
    }
    let label_at = before.rfind('.').map_or(0, |dot| dot + 1);
    &host[label_at..]
}
