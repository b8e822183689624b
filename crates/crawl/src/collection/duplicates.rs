//! Exact duplicates: URLs by the hash of their text, of which one stands for all.

use std::collections::HashMap;

/// Words from which on equal texts make duplicates: shorter ones are equal by chance, such as pages without text.
pub(super) const WORDS_MIN: u32 = 10;

/// Pages, by the hash of their URL, of each text.
#[derive(Default)]
pub(super) struct Texts {
    pages: HashMap<u128, Vec<u64>>,
}

impl Texts {
    pub(super) fn insert(&mut self, text: u128, page: u64) {
        let pages = self.pages.entry(text).or_default();
        if !pages.contains(&page) {
            pages.push(page);
        }
    }

    pub(super) fn remove(&mut self, text: u128, page: u64) {
        if let Some(pages) = self.pages.get_mut(&text) {
            pages.retain(|other| *other != page);
            if pages.is_empty() {
                self.pages.remove(&text);
            }
        }
    }

    /// Returns the pages that have a text.
    pub(super) fn pages(&self, text: u128) -> &[u64] {
        self.pages.get(&text).map_or(&[], Vec::as_slice)
    }
}

/// Order of the URLs of one text; the first one stands for all: https, without query, short.
pub(super) fn preference(url: &str) -> (bool, bool, usize, &str) {
    (
        !url.starts_with("https:"),
        url.contains('?'),
        url.len(),
        url,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_short_secure_address_stands_for_all() {
        let mut urls = [
            "http://a.test/",
            "https://a.test/index.html?x=1",
            "https://a.test/index.html",
            "https://b.test/",
            "https://a.test/",
        ];
        urls.sort_by_key(|url| preference(url));
        assert_eq!(urls[0], "https://a.test/");
        assert_eq!(
            urls[3..],
            ["https://a.test/index.html?x=1", "http://a.test/"]
        );
    }
}
