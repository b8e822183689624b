//! URLs of documents as links and as breadcrumbs.
use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use url::Url;

/// Returns the address to link to if it is safe: `http` or `https` with a host, as a browser parses it.
/// Everything in a document may come from a hostile page, its URL too. Browsers drop control
/// characters, so `java\tscript:` is refused because of its tab.
pub(crate) fn web_address(url: &str) -> Option<String> {
    if url.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return None;
    }
    // Browsers complete `http:host` and `https:\\host`; such an address hides its destination.
    let (scheme, _) = url.split_once("://")?;
    let parsed = Url::parse(url)
        .ok()
        .filter(|url| scheme.eq_ignore_ascii_case(url.scheme()))?;
    let is_web = matches!(parsed.scheme(), "http" | "https") && parsed.has_host();
    // A user name before the host can make one site look like another.
    let is_plain = parsed.username().is_empty() && parsed.password().is_none();
    (is_web && is_plain).then(|| parsed.into())
}

/// Returns the parts of an address to show: the host, then path segments.
pub(crate) fn breadcrumb(url: &str) -> Vec<String> {
    let (parts, host) = match url.split_once("://") {
        Some((_, rest)) => (rest, true),
        None => (url, false),
    };
    let parts = parts.split(['?', '#']).next().unwrap_or(parts);
    let mut crumbs: Vec<String> = parts
        .split('/')
        .filter(|part| !part.is_empty())
        .map(|part| shown(&decoded(part)))
        .collect();
    if host && let Some(first) = crumbs.first_mut() {
        *first = first.trim_start_matches("www.").to_owned();
    }
    // The middle of a deep path is the least informative part.
    if crumbs.len() > 5 {
        crumbs.splice(2..crumbs.len() - 2, ["…".to_owned()]);
    }
    if crumbs.is_empty() {
        crumbs.push(shown(url));
    }
    crumbs
}

/// Returns a segment of a path as people write it. One that is no text when decoded stays as it is.
fn decoded(part: &str) -> Cow<'_, str> {
    let decoded = percent_decode_str(part).decode_utf8();
    decoded.unwrap_or(Cow::Borrowed(part))
}

fn shown(part: &str) -> String {
    const CHARS_MAX: usize = 60;
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut shown: String = part.chars().take(CHARS_MAX).map(clean).collect();
    if part.chars().nth(CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

/// Returns a link within this server: a path and its parameters, percent-encoded.
pub(crate) fn local(path: &str, parameters: &[(&str, impl AsRef<str>)]) -> String {
    let target = format!("{path}?");
    let query_start = target.len();
    url::form_urlencoded::Serializer::for_suffix(target, query_start)
        .extend_pairs(parameters)
        .finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_become_links() {
        let address = |url| web_address(url);
        assert_eq!(address("https://example.org/a b").as_deref(), None);
        assert_eq!(
            address("https://example.org/a").as_deref(),
            Some("https://example.org/a")
        );
        assert_eq!(
            address("HTTP://Example.org").as_deref(),
            Some("http://example.org/")
        );
        assert_eq!(
            address("https://example.org/\"><script>").as_deref(),
            Some("https://example.org/%22%3E%3Cscript%3E")
        );
        for hostile in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "java\tscript:alert(1)",
            "\u{1}javascript:alert(1)",
            " javascript:alert(1)",
            "data:text/html,<script>alert(1)</script>",
            "vbscript:x",
            "file:///etc/passwd",
            "//example.org/",
            "http:",
            "http:elsewhere.example",
            "https:\\\\elsewhere.example",
            "http:/a://b",
            "https://bank.example@evil.example/",
            "",
        ] {
            assert_eq!(web_address(hostile), None, "{hostile:?}");
        }
    }

    #[test]
    fn breadcrumbs() {
        assert_eq!(
            breadcrumb("https://www.example.org/a/b?c#d"),
            ["example.org", "a", "b"]
        );
        assert_eq!(
            breadcrumb("https://e.org/1/2/3/4/5/6"),
            ["e.org", "1", "…", "5", "6"]
        );
        assert_eq!(
            breadcrumb("file:///usr/share/a%20%C3%BC.txt"),
            ["usr", "share", "a ü.txt"]
        );
        assert_eq!(
            breadcrumb("https://e.org/%FF/a%2Fb"),
            ["e.org", "%FF", "a/b"]
        );
        assert_eq!(breadcrumb(""), [""]);
        assert_eq!(breadcrumb("a\u{7}b"), ["a\u{fffd}b"]);
    }

    #[test]
    fn local_links_are_encoded() {
        assert_eq!(
            local("./", &[("q", "a&b \"c\""), ("k", "5")]),
            "./?q=a%26b+%22c%22&k=5"
        );
    }
}
