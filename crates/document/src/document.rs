//! Documents and their sites.

use std::borrow::Cow;

/// A document as indexed and stored.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Document {
    /// Address of the document, which identifies it.
    pub url: String,
    /// Optional id for run files; the URL stands in where it is missing.
    pub id: Option<String>,
    /// Title.
    pub title: String,
    /// Body text.
    pub body: String,
    /// Further fields of any JSON; those that are title or body by another name, too.
    pub fields: json::Map,
}

impl Document {
    /// Returns the document's id, or its URL where it has none.
    pub fn id(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.url)
    }
}

/// Returns the XXH3-64 hash of the URL's bytes. It selects the document's chunk and breaks ties.
pub fn url_hash(url: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(url.as_bytes())
}

/// Returns the site of a URL, the unit of the per-site limit on hits.
///
/// - The host in lower case, without user information and without the scheme's default port:
///   `https://Ann@Example.org:443/x` belongs to `example.org`, `http://a:8080/` to `a:8080`.
/// - For a URL without a host that has a path, the path's folder: `file:///a/b.txt` belongs to `/a`.
/// - Else the URL itself: `man:grep(1)` and anything that is no URL are sites of their own.
///
/// Parsed by hand, because it runs once for every candidate hit. Accepts any string.
pub fn site_of(url: &str) -> String {
    let Some((scheme, rest)) = split_scheme(url) else {
        return url.to_owned();
    };
    let (authority, path) = match rest
        .strip_prefix("//")
        .or_else(|| rest.strip_prefix("\\\\"))
    {
        Some(rest) => rest.split_at(rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len())),
        None => ("", rest),
    };
    let host = host_of(scheme, authority);
    if !host.is_empty() {
        return lower_case(host).into_owned();
    }
    let path = &path[..path.find(['?', '#']).unwrap_or(path.len())];
    match path.rfind('/') {
        Some(0) => "/".to_owned(),
        Some(last) if path.starts_with('/') => path[..last].to_owned(),
        _ => url.to_owned(),
    }
}

/// Splits `scheme ":" rest`. A scheme is a letter followed by letters, digits, `+`, `-` or `.`.
fn split_scheme(url: &str) -> Option<(&str, &str)> {
    let colon = url.find(':')?;
    let scheme = &url[..colon];
    let valid = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'));
    valid.then(|| (scheme, &url[colon + 1..]))
}

/// Returns the authority without user information and without the scheme's default port.
fn host_of<'a>(scheme: &str, authority: &'a str) -> &'a str {
    let host = authority
        .rfind('@')
        .map_or(authority, |at| &authority[at + 1..]);
    let Some(colon) = host.rfind(':') else {
        return host;
    };
    // The colons inside `[::1]` introduce no port.
    if host[colon..].contains(']') {
        return host;
    }
    let port = &host[colon + 1..];
    let default = if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("ws") {
        "80"
    } else if scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("wss") {
        "443"
    } else if scheme.eq_ignore_ascii_case("ftp") {
        "21"
    } else {
        ""
    };
    if port.is_empty() || port == default {
        &host[..colon]
    } else {
        host
    }
}

fn lower_case(host: &str) -> Cow<'_, str> {
    if host.is_ascii() {
        if host.bytes().any(|b| b.is_ascii_uppercase()) {
            Cow::Owned(host.to_ascii_lowercase())
        } else {
            Cow::Borrowed(host)
        }
    } else {
        Cow::Owned(host.to_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(url: &str, site: &str) {
        assert_eq!(site_of(url), site, "{url:?}");
    }

    #[test]
    fn the_host_is_the_site() {
        check("http://example.org/a/b?c#d", "example.org");
        check("HTTPS://Example.ORG", "example.org");
        check("https://ann:pw@Example.org:443/x", "example.org");
        check("https://ann@evil@Example.org/", "example.org");
        check("http://a.test:8080/", "a.test:8080");
        check("http://a.test:/", "a.test");
        check("http://a.test?x=/y@z", "a.test");
        check("http://a.test\\@b.test/", "a.test");
        check("http://[2001:DB8::1]:80/x", "[2001:db8::1]");
        check("http://[::1]/x", "[::1]");
        check("crate://serde/1.0.228/README.md", "serde");
        check("http://BÜCHER.test/", "bücher.test");
    }

    #[test]
    fn without_a_host_the_folder_or_the_url_is_the_site() {
        check("file:///a/b.txt", "/a");
        check("file:///a/b/c.txt?d=/e/f", "/a/b");
        check("file:/a/b.txt", "/a");
        check("file:///b.txt", "/");
        check("http:///x", "/");
        check("http://", "http://");
        check("man:grep(1)", "man:grep(1)");
        check("mailto:a@b.test", "mailto:a@b.test");
        check("just words", "just words");
        check("/etc/passwd", "/etc/passwd");
        check("://x/y", "://x/y");
        check("1a://x/y", "1a://x/y");
        check("", "");
        check(":", ":");
    }

    proptest! {
        #[test]
        fn any_string_has_a_site(url in ".*") {
            let site = site_of(&url);
            prop_assert_eq!(site.is_empty(), url.is_empty());
        }

        #[test]
        fn odd_authorities_have_a_site(url in "[a-z]{0,3}:?[/\\\\]{0,3}[@:\\[\\]a-zA-Z0-9é\u{0}\t/?#]*") {
            let site = site_of(&url);
            prop_assert_eq!(site.is_empty(), url.is_empty());
        }

        /// Slow twin: the `url` crate, over URLs that both accept.
        #[test]
        fn the_site_is_the_host_of_the_url_standard(
            scheme in prop::sample::select(vec!["http", "https", "HTTP", "ftp", "ws"]),
            user in "([a-z]{1,3}(:[a-z]{0,3})?@)?",
            host in "[a-zA-Z]([a-zA-Z0-9-]{0,5}[a-zA-Z0-9])?(\\.[a-zA-Z]{2,4}){0,2}|\\[::[1-9]\\]",
            port in prop::option::of(prop::sample::select(vec![21u16, 80, 443, 8080])),
            rest in "([/?#][a-z/?#@:.]{0,10})?",
        ) {
            let port = port.map_or(String::new(), |port| format!(":{port}"));
            let written = format!("{scheme}://{user}{host}{port}{rest}");
            let parsed = url::Url::parse(&written);
            // The `url` crate refuses names such as `xn--…`.
            prop_assume!(parsed.is_ok());
            let parsed = parsed.unwrap();
            let mut expected = parsed.host_str().unwrap_or("").to_owned();
            if let Some(port) = parsed.port() {
                expected = format!("{expected}:{port}");
            }
            prop_assert_eq!(site_of(&written), expected, "{}", written);
        }
    }
}
