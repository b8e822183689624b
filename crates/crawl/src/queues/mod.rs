//! Queues of URLs for other crawlers: a durable frontier with the interface of URLFrontier 2.6 (gRPC).
//!
//! ```text
//! PutURLs ─▶ record of each URL in sorted runs ─▶ window of a queue: its URLs by due time ─▶ GetURLs, held for a time
//!               ▲ synced before the answer                ▲ refilled from the runs             │
//!               └──────────── PutURLs of what was fetched, with the next due time ◀────────────┘
//! ```
//!
//! A crawl has queues, a queue has URLs; both names are the client's. Politeness is the client's too: a queue has a pause
//! and can be blocked, and robots.txt is not read here. [`crate::frontier`] is the frontier of this project's own crawler.
//! Records and settings are durable before they are acknowledged. Holds and pauses are in memory: after a restart, a URL in
//! flight is due again.

mod key;
mod list;
mod options;
mod put;
mod queue;
#[expect(
    clippy::module_inception,
    reason = "the type has the name of the module"
)]
mod queues;
mod record;
mod remove;
mod service;
mod take;

#[cfg(test)]
mod tests;

pub use key::{QueueName, crawl_or_default};
pub use list::{Listed, QueueCounts, UrlFilter};
pub use options::QueuesOptions;
pub use put::{Put, PutStatus};
pub use queues::Queues;
pub use record::{Metadata, UrlRecord};
pub use service::{ServeError, serve};
pub use take::{Given, Take, Taking};
