//! Fields of a document that other pages give it: texts of links, rank, group of near duplicates.

use json::{Map, Value};
use xxhash_rust::xxh3::xxh3_64;

/// Fields that other pages give a document.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Derived {
    /// Texts of links to the page, a line break between them.
    pub(super) anchors: String,
    /// Pages that link to it.
    pub(super) inlinks: u32,
    /// PageRank, rounded, so that a document is not indexed again for a change that no ranking shows.
    pub(super) rank: f64,
    /// Name of the group of near duplicates, if there are others.
    pub(super) group: Option<String>,
}

impl Derived {
    /// Returns a hash of the fields and of the templates that were taken out. While it stays the same, the document is
    /// not written again.
    pub(super) fn hash(&self, templates: u64) -> u64 {
        let group = self.group.as_deref().unwrap_or_default();
        let (anchors, inlinks, rank) = (&self.anchors, self.inlinks, self.rank);
        // Never 0, which stands for "not known".
        xxh3_64(format!("{templates:x} {inlinks} {rank} {group}\n{anchors}").as_bytes()).max(1)
    }

    /// Puts the fields into a document.
    pub(super) fn put(&self, fields: &mut Map<String, Value>) {
        if !self.anchors.is_empty() {
            fields.insert("anchors".to_owned(), self.anchors.clone().into());
        }
        fields.insert("inlinks".to_owned(), self.inlinks.into());
        fields.insert("rank".to_owned(), self.rank.into());
        if let Some(group) = &self.group {
            fields.insert("group".to_owned(), group.clone().into());
        }
    }
}

/// Rounds a rank to the nearest power of the square root of 2.
pub(super) fn rounded(rank: f64) -> f64 {
    let steps = (2.0 * rank.max(1e-9).log2()).round();
    let value = (steps / 2.0).exp2();
    // Three digits are enough, and the same on every machine.
    let digits = 1000.0 / 10f64.powf(value.log10().floor());
    (value * digits).round() / digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_rounded_to_half_powers_of_two() {
        for (rank, expected) in [
            (1.0, 1.0),
            (1.1, 1.0),
            (1.3, 1.414),
            (0.15, 0.1768),
            (70.0, 64.0),
        ] {
            assert_eq!(rounded(rank), expected, "{rank}");
        }
        assert!(rounded(0.0) > 0.0);
    }
}
