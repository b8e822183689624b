//! A run of the crawl: visits that the frontier gives, until nothing is due.
//!
//! ```text
//! frontier.next ─► fetch, read, compress (beside) ─► archive: append, sync ─► frontier.finished ─► index
//!       ▲                                                                          │
//!       └── links, sitemaps ◄──────────────────────────────────────────────────────┘
//! every second: frontier.sync     every commit: archive, frontier, index, then the place up to which the index follows
//! ```
//!
//! Order of durability: an answer is in the archive before the frontier knows it, and in the frontier before the index has
//! it. After a crash the index catches up from the archive ([`catch_up`]).

mod answers;
mod archives;
mod catch_up;
mod collect;
mod crawl;
mod dates;
#[cfg(test)]
mod deletions;
mod discoveries;
mod figures;
mod giving;
mod handing;
mod outcome;
mod pings;
mod probe;
mod rate;
mod replay;
mod reread;
mod robots;
mod rules;
mod setup;
mod sharing;
mod state;
mod visit;

pub use catch_up::{Replayed, configuration};
pub use crawl::{Crawl, CrawlSetup};
pub use pings::ping;
pub(crate) use pings::{leave_ping, pings_waiting};
pub use replay::replay;
pub(crate) use setup::{fetch_options, now, opened_sites};
pub use setup::{is_running, members_of, progress_of, request_stop, status_of, time_text};
pub use sharing::MemberSetup;
pub(crate) use sharing::member_to_ask;
