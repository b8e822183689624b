//! Politeness law: the instants at which a host or an address may be visited.
//!
//! ```text
//! gap      = max(clamp(2 × average fetch time, 0.5 s, 30 s), Crawl-delay, backoff)   end of a visit to the next one
//! backoff  : 429 and 503 without Retry-After double it up to 1 h; 10 good answers halve it
//! in flight: 1; hosts of our own at most 8, by additive increase and multiplicative decrease on latency
//! ```
//!
//! Pure: time comes in, instants come out. The frontier holds one [`Pace`] per host and one per address.

mod pace;
mod time_ms;
mod traps;

pub use pace::{Law, Pace};
pub use time_ms::TimeMs;
pub use traps::{ShapeBudget, TrapDetector};
