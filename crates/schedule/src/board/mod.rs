//! Board of the queries of a server: which handler works on which query.
//!
//! ```text
//!            arrives            turn: Begin            opened: cut into ranges
//!   client ─────────► waiting ─────────────► begun ──────────────────────────► open ──► finished
//!                                                                             ▲ │  ▲
//!                                                       turn: Resume          │ │  └─ turn: Help (further handlers)
//!                                                                       parked ◄┘ leave at the end of a range
//! ```
//!
//! A query is cut into ranges, and any number of handlers take its ranges from a shared counter. A handler looks at the
//! board when it is free ([`Board::turn`]) and, without a lock, at the end of each range ([`Policy::stays`]). Under the
//! default policy a query is one range, until an idle handler asks for a half of what is left of it ([`Policy::gives`],
//! [`Board::shares`]). The board
//! is a value without clock and threads: instants are parameters. The servers keep it behind a lock, the simulator
//! keeps it as it is, and both make the same decisions on the same script of events.

mod claimable;
mod entry;
mod events;
mod guard;
mod handlers;
mod law;
mod name;
mod policies;
mod policy;
mod progress;
pub mod script;
mod seat;
mod seats;
mod signals;
mod state;
mod traffic;
mod visit;

pub use entry::{Arrival, Entry, Help, QueryId, Stage};
pub use events::Left;
pub use handlers::Handler;
pub use law::Learnt;
pub use name::{PolicyChoice, PolicyNameError, policy_named, policy_names};
pub use policies::{
    Adaptive, Boost, EarliestDeadline, FewToMany, Fifo, HelpAndYield, HelpIfIdle, HurryUp,
    IdleShare, LeastLeft, ShortestFirst, Target,
};
pub use policy::{BLOCK_NS, Give, Load, RANGES_MAX, Start, Turn, UNHEARD_NS};
pub use progress::Progress;
pub use seat::Seat;
pub use signals::{Seen, Signals};
pub use state::{Board, Policy};
pub use traffic::Traffic;
pub use visit::Visit;
