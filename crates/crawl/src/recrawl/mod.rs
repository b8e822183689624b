//! Recrawl law: the value of a visit, change rates, the threshold that keeps a budget.
//!
//! ```text
//! V = (m / d) (1 − e^(−dt) (1 + dt))      m importance, t age in days, d changes a day
//! d = −ln((U + ½) / (N + ½)) / mean gap   U of N revisits unchanged, shrunk to the mean of the host
//! ```
//!
//! A page is due when V reaches a threshold, at the latest after 60 days. Visits at equal V are the optimum
//! when the rates are known (Azar et al. 2018); [`optimum`] computes it for comparison.

mod due;
mod optimum;
mod rate;
pub mod simulation;
mod value;

pub use due::{RecrawlLaw, Threshold};
pub use optimum::{freshness, optimum, uniform};
pub use rate::{HostRate, change_rate};
pub use value::{age_at_value, value};
