//! Members of a crawl: processes that share its hosts. Each has a frontier, an archive and an index of its own.
//!
//! ```text
//! link ─► frontier ─► visit ─► whose host? ─┬─ own ─────────► fetch
//!             ▲                             └─ of another ──► hand over ─► its frontier, synced ─► visit ends
//!             └──────── handed over by others
//! ```
//!
//! - **Who visits a host.** The member that owns the bucket of its name looks its address up once; the member that owns the
//!   bucket of the address visits it, from then on. So one member visits all hosts of an address, and the politeness law
//!   holds for hosts and addresses as it does with one process. Buckets are owned by rendezvous hashing.
//! - **Nothing is lost.** A URL of another member's host is visited by handing it over. The visit ends when that member
//!   has the URL on its disk; until then it is in flight, and due again after a crash. No further log is kept.
//! - **The end** of a run is a property of all members: [`activity`].

mod activity;
mod client;
mod connections;
mod ends;
mod handing;
mod ownership;
mod service;

pub(crate) use activity::RunEnd;
pub(crate) use connections::Members;
pub(crate) use ends::{MemberEvent, Taken};
pub(crate) use ownership::Ownership;
