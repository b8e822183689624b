//! A document, its site and its hash.

/// A document as it is indexed and stored.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Document {
    /// Its address; the identity of the document.
    pub url: String,
    /// Its own name, for run files; without one, the URL.
    pub id: Option<String>,
    /// Title.
    pub title: String,
    /// Body text.
    pub body: String,
    /// Further fields (strings, numbers, dates), kept for later use.
    pub fields: serde_json::Map<String, serde_json::Value>,
}

impl Document {
    /// The document's own id, or its URL.
    pub fn id(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.url)
    }
}

/// The hash that decides a document's chunk and breaks ties: XXH3-64 of the URL's bytes.
pub fn url_hash(url: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(url.as_bytes())
}

/// The site of a URL, for the limit of hits a site: the host in lower case; for a URL without a host
/// that has a path (`file:///a/b.txt`), the folder; else the URL itself.
pub fn site_of(_url: &str) -> String {
    unimplemented!()
}
