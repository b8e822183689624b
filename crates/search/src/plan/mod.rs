//! Plan of a query: weights, clauses and scores from the statistics of one snapshot.

pub(crate) mod cost;
pub(crate) mod node;
pub(crate) mod norms;
pub(crate) mod planner;
pub mod ranking;
mod rewrite;
pub(crate) mod scorer;

pub use cost::{PlanCost, PlanKind};
pub use planner::Plan;
pub use ranking::Ranking;
