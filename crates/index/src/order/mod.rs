//! Orders of the documents of a segment.
//!
//! Answers do not depend on the order: scores contain no document id, and ties are broken by the hash of the URL. Size
//! and speed do. Where documents that share words are near each other, gaps are small and take few bits, and blocks are
//! either full of good hits or free of them, which pruning needs.

mod bisection;
mod gap_bits;
mod url;

pub(crate) use bisection::{Limits, Node, bisect, levels};
pub(crate) use gap_bits::GapBits;
pub(crate) use url::url_key;

/// Order of the documents of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Order of arrival.
    #[default]
    Arrival,
    /// Order by host with its labels reversed, then by path: pages of a site are neighbours, and so are sites of a
    /// domain.
    Url,
    /// Recursive graph bisection: documents that share words are neighbours.
    Bisection,
}

impl Order {
    /// All orders; `order as usize` is the index of each.
    pub const ALL: [Order; 3] = [Order::Arrival, Order::Url, Order::Bisection];

    /// Returns the name in manifests and options.
    pub fn name(self) -> &'static str {
        match self {
            Order::Arrival => "arrival",
            Order::Url => "url",
            Order::Bisection => "bisection",
        }
    }

    pub(crate) fn is_arrival(&self) -> bool {
        *self == Order::Arrival
    }
}
