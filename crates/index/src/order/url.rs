//! Order of documents by URL.

use document::site_of;

/// Writes the sort key of a URL into `key` (cleared first).
///
/// ```text
/// key := labels of the host, last first, each but the first after "."
///        [":" port]  00  what follows the host  00  the URL
/// ```
///
/// `http://www.example.org/a?b` sorts by `org.example.www`, then `/a?b`. So pages of a site are neighbours in the order
/// of their paths, and sites of a domain are neighbours; the zero byte puts `org.example` and its pages before
/// `org.example.www`. A numeric address is not reversed, and a URL without a host sorts by its folder. The URL itself
/// comes last, because only scheme and user may differ.
pub(crate) fn url_key(url: &str, key: &mut Vec<u8>) {
    key.clear();
    let site = site_of(url);
    let authority = url.find("://").map(|colon| &url[colon + 3..]);
    match authority {
        Some(rest) if is_host(&site) => {
            let (host, port) = site.split_at(site.rfind(':').unwrap_or(site.len()));
            let labels = host.trim_end_matches('.').rsplit('.');
            for (number, label) in labels.enumerate() {
                if number > 0 {
                    key.push(b'.');
                }
                key.extend_from_slice(label.as_bytes());
            }
            key.extend_from_slice(port.as_bytes());
            key.push(0);
            let path = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
            key.extend_from_slice(&rest.as_bytes()[path..]);
        }
        _ => {
            key.extend_from_slice(site.as_bytes());
            key.push(0);
        }
    }
    key.push(0);
    key.extend_from_slice(url.as_bytes());
}

/// Returns whether a site is a host name, and not a folder, an address or a URL.
fn is_host(site: &str) -> bool {
    let host = site.split(':').next().unwrap_or("");
    let top = host.trim_end_matches('.').rsplit('.').next().unwrap_or("");
    !site.starts_with(['/', '[']) && !top.is_empty() && !top.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(url: &str) -> String {
        let mut key = Vec::new();
        url_key(url, &mut key);
        String::from_utf8(key).unwrap().replace('\0', "|")
    }

    #[test]
    fn hosts_are_turned_round() {
        let check = |url: &str, start: &str| assert_eq!(key(url), format!("{start}|{url}"));
        check("http://www.example.org/a?b", "org.example.www|/a?b");
        check("HTTPS://Ann@Example.org:443/x", "org.example|/x");
        check("http://a.b:8080/x", "b.a:8080|/x");
        check("http://192.168.0.1/x", "192.168.0.1|");
        check("http://[::1]/x", "[::1]|");
        check("file:///Folder/a.txt", "/Folder|");
        check("note-1", "note-1|");
        check("http://example.org", "org.example|");
        check("", "|");
    }

    #[test]
    fn pages_of_a_site_are_neighbours() {
        let mut urls = vec![
            "http://www.a.org/1",
            "http://b.org/1",
            "http://a.org/2",
            "http://a.org.uk/1",
            "http://a-b.org/1",
            "https://www.a.org/0",
            "http://a.org/1",
        ];
        urls.sort_by_key(|url| key(url).replace('|', "\0"));
        let expected = [
            "http://a.org/1",
            "http://a.org/2",
            "http://a-b.org/1",
            "https://www.a.org/0",
            "http://www.a.org/1",
            "http://b.org/1",
            "http://a.org.uk/1",
        ];
        // `a-b` sorts between `a` and `www.a`, by bytes; each site is contiguous all the same.
        assert_eq!(urls, expected);
    }

    proptest! {
        #[test]
        fn any_text_has_a_key_of_its_own(a in ".{0,20}", b in "[a-c:/.@\\[\\]]{0,12}") {
            let (mut first, mut second) = (Vec::new(), Vec::new());
            for (one, other) in [(&a, &b), (&a, &a), (&b, &b)] {
                url_key(one, &mut first);
                url_key(other, &mut second);
                prop_assert_eq!(first == second, one == other);
            }
        }
    }
}
