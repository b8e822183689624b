//! Fetcher of one URL within limits.
//!
//! One fetch is one hop: a redirect is returned, since robots rules and scope are checked for each hop by the caller.
//!
//! Invariants: a connection is opened only to an address that [`AddressGuard`] permitted, exactly to that address, whatever
//! form the host has; no fetch takes more memory, bytes or time than [`Limits`] permits; extra headers are sent only to the
//! origin for which they are configured.

mod body;
mod coding;
mod connect;
mod connection;
mod error;
mod fetched;
mod fetcher;
mod guard;
mod head;
mod limits;
mod messages;
mod options;
mod pool;
mod resolve;
mod tap;

pub use error::{FetchError, TimeLimit};
pub use fetched::{Fetched, HttpVersion, Outcome, Phases, Truncated};
pub use fetcher::Fetcher;
pub use guard::{AddressGuard, Denial};
pub use limits::Limits;
pub use options::{AcceptedTypes, FetchOptions, FetchRequest, OptionsError, OriginHeaders};
pub use resolve::{CachedResolver, Resolve, Resolved, Resolving, SystemResolver};
