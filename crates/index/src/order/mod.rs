//! Orders of the documents of a segment.
//!
//! Answers do not depend on it: scores have no document id in them, and ties go by the URL's hash. Size and
//! speed do. Documents that share words and stand near each other make small gaps, which take few bits, and
//! blocks that are full of good hits or free of them, which skipping needs.

mod bisection;
mod forward;
mod gap_bits;
mod url;

pub(crate) use bisection::{Limits, bisect, levels};
pub(crate) use forward::{Forward, forward_of};
pub(crate) use gap_bits::GapBits;
pub(crate) use url::url_key;

/// The order of documents in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// As documents came.
    #[default]
    Arrival,
    /// By host, its labels reversed, and then by path: pages of a site are neighbours, and so are sites of a
    /// domain.
    Url,
    /// Recursive graph bisection: documents that share words are neighbours.
    Bisection,
}

impl Order {
    /// All of them; `order as usize` is the place of each.
    pub const ALL: [Order; 3] = [Order::Arrival, Order::Url, Order::Bisection];

    /// The name in manifests and options.
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
