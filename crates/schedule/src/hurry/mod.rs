//! Hurry-up: requests that take long move from little cores to big ones (Nishtala et al. 2019, Algorithm 1).
//!
//! ```text
//!   bytes ──Lines──► Line {tid, rid, ms} ──Mapper::line──► requests that run now, and since when
//!                                                             │  every 25 ms
//!                      Move {tid, to} ◄──Mapper::sample── exchanges(little, big): over 50 ms, longest first
//! ```
//!
//! [`exchanges`] is the one decision: [`Mapper`] asks it about threads of other programs, the simulator about
//! its cores, the policy of the [board](crate::board::HurryUp) about its handlers. Pure: instants come in as milliseconds, moves are returned.
//!
//! Invariants: a big core has one thread at most, so never two requests; a thread that leaves a big core takes
//! the little core that the other one left; memory is bounded by the threads and requests allowed.

mod choose;
mod line;
mod mapper;
mod requests;

pub use choose::{BigCore, Exchange, LittleThread, Rule, exchanges};
pub use line::{LINE_BYTES_MAX, Line, LineError, Lines, RID_BYTES_MAX, TID_MAX};
pub use mapper::{Mapper, MapperError, MapperSettings, Move, Reason};
pub use requests::Noted;
