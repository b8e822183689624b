//! Names of queues, and keys in the store.
//!
//! key := "g"                          settings of all queues
//!      | "q" crawl "\0" queue         settings of a queue, which exists as long as they do
//!      | "u" crawl "\0" queue "\0" url
//!
//! Example, `https://a.example/x` in queue `a.example` of crawl `DEFAULT`: `uDEFAULT\0a.example\0https://a.example/x`.

/// Crawl that has no name.
const DEFAULT_CRAWL: &str = "DEFAULT";
/// Longest name of a queue, in characters, as in URLFrontier.
const NAME_CHARS_MAX: usize = 255;
/// Longest URL, in bytes.
const URL_BYTES_MAX: usize = 16 << 10;

/// Key of the settings of all queues.
pub(super) const ALL: &[u8] = b"g";
/// First byte of the keys of queues, and the byte after it.
pub(super) const QUEUES: [&[u8]; 2] = [b"q", b"r"];
/// First byte of the keys of URLs, and the byte after it.
pub(super) const URLS: [&[u8]; 2] = [b"u", b"v"];

/// A queue of a crawl.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueName {
    /// The crawl.
    pub crawl: String,
    /// The queue in it.
    pub key: String,
}

/// Returns the name of a crawl, `DEFAULT` for a blank one.
pub fn crawl_or_default(crawl: &str) -> &str {
    match crawl.trim().is_empty() {
        true => DEFAULT_CRAWL,
        false => crawl,
    }
}

impl QueueName {
    /// Returns the queue `key` of a crawl, or the one of the host of `url` if `key` is empty. `None` where there is no host,
    /// or the name is too long or has a zero byte.
    pub fn of(crawl: &str, key: &str, url: &str) -> Option<QueueName> {
        let key = match key.is_empty() {
            true => host_of(url)?,
            false => key,
        };
        let crawl = crawl_or_default(crawl);
        let is_usable = |name: &str| !name.contains('\0') && name.chars().count() <= NAME_CHARS_MAX;
        (is_usable(key) && is_usable(crawl)).then(|| QueueName {
            crawl: crawl.to_owned(),
            key: key.to_owned(),
        })
    }

    pub(super) fn settings_key(&self) -> Vec<u8> {
        [QUEUES[0], self.crawl.as_bytes(), b"\0", self.key.as_bytes()].concat()
    }

    /// Returns the start of the keys of its URLs, and the first key after them.
    pub(super) fn range(&self) -> [Vec<u8>; 2] {
        let names = [URLS[0], self.crawl.as_bytes(), b"\0", self.key.as_bytes()].concat();
        [[&names[..], b"\0"].concat(), [&names[..], b"\x01"].concat()]
    }

    pub(super) fn url_key(&self, url: &str) -> Vec<u8> {
        let [mut key, _] = self.range();
        key.extend_from_slice(url.as_bytes());
        key
    }
}

/// Returns whether a URL can be kept.
pub(super) fn is_usable(url: &str) -> bool {
    !url.is_empty() && url.len() <= URL_BYTES_MAX && !url.contains('\0')
}

/// Reads the key of a queue's settings.
pub(super) fn queue_of(key: &[u8]) -> Option<QueueName> {
    let (crawl, key) = std::str::from_utf8(key.get(1..)?).ok()?.split_once('\0')?;
    Some(QueueName {
        crawl: crawl.to_owned(),
        key: key.to_owned(),
    })
}

/// Reads the key of a URL: crawl, queue and URL.
pub(super) fn parts_of(key: &[u8]) -> Option<[&str; 3]> {
    let mut parts = std::str::from_utf8(key.get(1..)?).ok()?.splitn(3, '\0');
    Some([parts.next()?, parts.next()?, parts.next()?])
}

/// Returns the host of a URL, which need not have a scheme: up to the first of `:/?&`, as URLFrontier.
fn host_of(url: &str) -> Option<&str> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split([':', '/', '?', '&']).next()?;
    (!host.is_empty()).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_without_a_queue_is_in_that_of_its_host() {
        let key = |url| QueueName::of("", "", url).map(|name| name.key);
        let is = |url, host: &str| assert_eq!(key(url).as_deref(), Some(host), "{url}");
        is("http://gac.icann.org?language_id=9", "gac.icann.org");
        is("https://a.example:8443/x", "a.example");
        is("b.example/y", "b.example");
        assert_eq!(key("http:///x"), None);
        assert_eq!(QueueName::of("", &"k".repeat(256), "http://a/"), None);
        assert_eq!(QueueName::of("a\0", "k", "http://a/"), None);
        let name = QueueName::of(" ", "k", "x").expect("usable");
        assert_eq!(name.crawl, DEFAULT_CRAWL);
        assert_eq!(queue_of(&name.settings_key()), Some(name.clone()));
        let key = name.url_key("http://a/");
        assert_eq!(parts_of(&key), Some([DEFAULT_CRAWL, "k", "http://a/"]));
        let [from, to] = name.range();
        assert!(from <= key && key < to);
    }
}
