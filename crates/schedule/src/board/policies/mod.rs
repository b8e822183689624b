//! The policies.

mod adaptive;
mod boost;
mod earliest_deadline;
mod few_to_many;
mod fifo;
mod help_and_yield;
mod help_if_idle;
mod hurry_up;
mod idle_share;
mod least_left;
mod order;
mod shortest_first;
mod target;

pub use adaptive::Adaptive;
pub use boost::Boost;
pub use earliest_deadline::EarliestDeadline;
pub use few_to_many::FewToMany;
pub use fifo::Fifo;
pub use help_and_yield::HelpAndYield;
pub use help_if_idle::HelpIfIdle;
pub use hurry_up::HurryUp;
pub use idle_share::IdleShare;
pub use least_left::LeastLeft;
pub use shortest_first::ShortestFirst;
pub use target::Target;
