//! Settings of one site, and seeds as people type them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use web::address::{AddressError, CanonicalUrl, RuleForm, Within};

/// A site to crawl, or several with the same settings.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SiteConfig {
    /// URLs that the crawl begins with.
    pub seeds: Vec<String>,
    /// Boundary around the seeds.
    pub within: Within,
    /// Rules, of which the first that matches decides.
    pub rules: Vec<RuleForm>,
    /// Whether the sites are the user's own: several requests at a time, no pause between them.
    pub owned: bool,
    /// Whether pages are read as a browser shows them, after their scripts.
    pub render: bool,
    /// Hosts beside that of the page from which rendered pages may load scripts and data.
    pub render_from: Vec<String>,
    /// Parameters of queries that do not change the page. They are dropped.
    pub parameters: Vec<String>,
    /// IndexNow key of an own site, instead of a key file on it. The copy of the configuration on the disk has none.
    #[serde(skip_serializing)]
    pub indexnow_key: Option<String>,
    /// Headers sent to the origins of the seeds, and to no other. The copy of the configuration on the disk has none.
    #[serde(skip_serializing)]
    pub headers: BTreeMap<String, String>,
}

/// Parses a seed as a person types it: without a scheme it is https.
pub fn seed(text: &str) -> Result<CanonicalUrl, AddressError> {
    match text.contains("://") {
        true => CanonicalUrl::parse(text),
        false => CanonicalUrl::parse(&format!("https://{text}")),
    }
}

/// Returns whether IndexNow permits a text as a key.
pub(crate) fn is_indexnow_key(text: &str) -> bool {
    let is_permitted = |c: u8| c.is_ascii_alphanumeric() || c == b'-';
    (8..=128).contains(&text.len()) && text.bytes().all(is_permitted)
}
