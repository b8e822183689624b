//! The synthetic web: pages computed from a seed, host, path and time, a server of them, and a judge of its log.
//!
//! Sizes and links follow BUbiNG's test web: log-uniform hosts, lognormal degrees, 10 % external and 1 % dead links; beside
//! them stand classes of hosts that crawlers meet ([`HostClass`]). Page 0 is the root of a tree with four children a page,
//! so every page of a host is reachable from its root.

mod judge;
mod options;
mod pages;
mod respond;
mod serve;
mod text;
mod tls;
mod traps;
mod truth;
mod web;

pub use judge::{JudgeOptions, LogRecord, Verdict, judge, read_log};
pub use options::{HostClass, Reason, SyntheticOptions, TRAPS, Trap};
pub use respond::{RequestFacts, Response};
pub use serve::{SyntheticResolver, listen, serve, serve_with};
pub use tls::{SyntheticAuthority, TlsError};
pub use truth::{Expected, Forbidden, Via};
pub use web::{Host, Place, SyntheticWeb};
