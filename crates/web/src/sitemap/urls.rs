//! Addresses as sitemaps write them.

use url::Url;

/// Upper limit on the bytes of an address, that of the protocol.
pub(crate) const LOC_BYTES_MAX: usize = 2_048;

/// Parses an address: absolute, of http or https, without its fragment; a missing scheme before `www.` is http.
pub(crate) fn loc(text: &str) -> Option<Url> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c.is_control() || c == '\u{feff}');
    if text.is_empty() || text.len() > LOC_BYTES_MAX {
        return None;
    }
    let parsed = match text.get(..4) {
        Some(start) if start.eq_ignore_ascii_case("www.") => Url::parse(&format!("http://{text}")),
        _ => Url::parse(text),
    };
    let mut url = parsed.ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    url.set_fragment(None);
    Some(url)
}
