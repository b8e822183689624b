//! Pins: documents that stand first, or are hidden, for some queries.

use super::texts::{brief, has_letters};
use serde::{Deserialize, Serialize};

/// Upper limit on the queries of one entry.
const QUERIES_MAX: usize = 100;
/// Upper limit on the URLs of one entry that stand first, and on those that are hidden.
pub(crate) const URLS_MAX: usize = 100;
/// Upper limit on the bytes of a query or URL.
const BYTES_MAX: usize = 2_048;

/// Documents that stand first, or are hidden, for some queries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pins {
    /// The queries: whole texts, compared without case, accents and signs.
    pub queries: Vec<String>,
    /// URLs of the documents that stand first, in this order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<String>,
    /// URLs of the documents that are hidden.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
}

impl Pins {
    pub(super) fn check(&self) -> Result<(), String> {
        for (name, entries, most) in [
            ("queries", &self.queries, QUERIES_MAX),
            ("first", &self.first, URLS_MAX),
            ("hidden", &self.hidden, URLS_MAX),
        ] {
            if entries.len() > most {
                return Err(format!(
                    "{name} has {} entries; {most} are allowed",
                    entries.len()
                ));
            }
            for (number, entry) in entries.iter().enumerate() {
                let is_one = match name {
                    "queries" => has_letters(entry),
                    _ => !entry.trim().is_empty(),
                };
                if !is_one || entry.len() > BYTES_MAX {
                    return Err(format!(
                        "{name}: {:?} (number {}) is no {}, or longer than {BYTES_MAX} bytes",
                        brief(entry),
                        number + 1,
                        if name == "queries" { "query" } else { "URL" },
                    ));
                }
                if entries[..number].contains(entry) {
                    return Err(format!("{name} has {:?} twice", brief(entry)));
                }
            }
        }
        if self.queries.is_empty() || self.first.is_empty() && self.hidden.is_empty() {
            return Err(
                "give queries = [\"tv\"], and the URLs that stand first = [\"https://…\"] or are hidden = [\"https://…\"]"
                    .to_owned(),
            );
        }
        match self.first.iter().find(|url| self.hidden.contains(url)) {
            Some(url) => Err(format!("{:?} is both first and hidden", brief(url))),
            None => Ok(()),
        }
    }
}
