//! Keys of URLs: bucket, reversed host, scheme and port, path.
//!
//! key  := bucket:u8 reversed_host " " scheme (":" port)? " " (path | "\0" part)
//!
//! Example, `https://docs.example.org:8443/a`: bucket `org.example.docs https:8443 /a`.
//! URLs of a site are neighbours, so runs are front-coded well and a host is one range. A bucket is one of 64 by the
//! hash of the host, so that it can move to another process as one range.
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Buckets, fixed: they are in the keys on disk.
const BUCKETS: u64 = 64;

/// Returns the origin of a canonical URL: everything before its path. `None` unless it is `scheme://host…`.
pub fn origin_of(url: &str) -> Option<&str> {
    let authority = url.find("://")? + 3;
    let rest = &url.as_bytes()[authority..];
    let length = rest
        .iter()
        .position(|b| matches!(b, b'/' | b'?' | b'#'))
        .unwrap_or(rest.len());
    let plain = |b: &u8| (0x21..0x7f).contains(b);
    let sound = length > 0 && authority > 3 && url.bytes().all(|b| plain(&b));
    sound.then(|| &url[..authority + length])
}

/// Hash of a URL, for [`super::Discovery::from`] and for fingerprints.
pub fn url_hash(url: &str) -> u64 {
    xxh3_64(url.as_bytes())
}

/// Start of all keys of an origin.
pub(super) fn prefix_of(origin: &str) -> Vec<u8> {
    let (scheme, authority) = origin.split_once("://").unwrap_or(("", origin));
    let port_at = authority
        .rfind(':')
        .filter(|at| authority[at + 1..].bytes().all(|b| b.is_ascii_digit()))
        .unwrap_or(authority.len());
    let (host, port) = authority.split_at(port_at);
    let mut key = Vec::with_capacity(origin.len() + 2);
    key.push((xxh3_64_with_seed(host.as_bytes(), 0) % BUCKETS) as u8);
    push_reversed(&mut key, host.as_bytes());
    key.push(b' ');
    key.extend_from_slice(scheme.as_bytes());
    key.extend_from_slice(port.as_bytes());
    key.push(b' ');
    key
}

/// Returns the key of a URL whose origin has `prefix`.
pub(super) fn key_of(prefix: &[u8], origin: &str, url: &str) -> Vec<u8> {
    let path = url.get(origin.len()..).unwrap_or_default();
    let mut key = Vec::with_capacity(prefix.len() + path.len().max(1));
    key.extend_from_slice(prefix);
    key.extend_from_slice(if path.is_empty() {
        b"/"
    } else {
        path.as_bytes()
    });
    key
}

/// Returns the URL of a key of `origin`.
pub(super) fn url_of(prefix: &[u8], origin: &str, key: &[u8]) -> String {
    let path = key.get(prefix.len()..).unwrap_or_default();
    format!("{origin}{}", String::from_utf8_lossy(path))
}

/// First key after all keys of an origin.
pub(super) fn end_of(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    end.pop();
    end.push(b' ' + 1);
    end
}

/// First key after a key.
pub(super) fn after(key: &[u8]) -> Vec<u8> {
    [key, b"\0"].concat()
}

/// First key after the parts of an origin, at or before its pages.
pub(super) fn pages_of(prefix: &[u8]) -> Vec<u8> {
    [prefix, b"\x01"].concat()
}

/// Key of a part of an origin: its state, its robots.txt, a path shape.
pub(super) fn part_of(prefix: &[u8], part: &[u8]) -> Vec<u8> {
    [prefix, b"\0", part].concat()
}

/// Key of a record that belongs to the whole frontier.
pub(super) fn whole(part: &[u8]) -> Vec<u8> {
    [&[0xff], part].concat()
}

/// Labels in reverse order; twice is the same again.
fn push_reversed(out: &mut Vec<u8>, host: &[u8]) {
    for (at, label) in host.rsplit(|b| *b == b'.').enumerate() {
        if at > 0 {
            out.push(b'.');
        }
        out.extend_from_slice(label);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_as_urls() {
        for (url, origin, key) in [
            (
                "https://docs.example.org:8443/a",
                "https://docs.example.org:8443",
                "org.example.docs https:8443 /a",
            ),
            (
                "http://127.0.0.1/?q=1",
                "http://127.0.0.1",
                "1.0.0.127 http /?q=1",
            ),
            ("http://[::1]:80/x", "http://[::1]:80", "[::1] http:80 /x"),
            ("http://[::1]/x", "http://[::1]", "[::1] http /x"),
        ] {
            assert_eq!(origin_of(url), Some(origin));
            let prefix = prefix_of(origin);
            let found = key_of(&prefix, origin, url);
            assert_eq!(&found[1..], key.as_bytes());
            assert_eq!(url_of(&prefix, origin, &found), url);
            assert!(pages_of(&prefix) < found && found < end_of(&prefix));
            assert!(part_of(&prefix, b"h") < pages_of(&prefix));
        }
    }

    #[test]
    fn what_is_no_url_has_no_origin() {
        for url in [
            "",
            "x",
            "http://",
            "://h/",
            "http:///a",
            "mailto:a@b",
            "http://h/ x",
            "http://h/\u{e4}",
            "http://h/\0",
        ] {
            assert_eq!(origin_of(url), None, "{url:?}");
        }
    }

    #[test]
    fn http_and_https_of_a_host_do_not_mix() {
        let (plain, tls) = (prefix_of("http://a.b"), prefix_of("https://a.b"));
        let key = key_of(&tls, "https://a.b", "https://a.b/");
        assert!(!(pages_of(&plain)..end_of(&plain)).contains(&key));
    }
}
