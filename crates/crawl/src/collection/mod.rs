//! Collection of a crawl: which of the pages fetched become documents, and what their documents say of each other.
//!
//! ```text
//! reading ─► facts (log) ─► one page for each text ─► pending documents ─► index
//!                │                                            ▲
//!                └──► settle: templates of hosts, groups of near duplicates, links ──┘
//! ```
//!
//! The frontier decides by one answer whether its page may be found; the collection decides by all pages what the index
//! holds. `settle` makes every document a function of the set of pages alone: neither their order nor restarts show.
//! Facts are durable before the index; what a crash took of them is read again from the archive. Memory: about 250 bytes
//! a page beside the texts of links.

mod addresses;
mod derived;
mod duplicates;
mod entries;
mod facts;
mod links;
mod log;
mod pages;
mod parameters;
mod pending;
mod settle;
#[cfg(test)]
mod tests;
mod writes;

pub use addresses::StatedAddress;
pub(crate) use facts::PageFacts;
pub(crate) use pages::Collection;
pub(crate) use settle::templates_digest;
pub(crate) use writes::Write;
