//! Seeded random numbers and statistics of samples, for measurements, simulations and tests. Pure: no clock, no files.
//!
//! - [`random`]: independent streams of one seed;
//! - [`student`]: mean, deviation and confidence interval of independent values;
//! - [`quantile`]: quantiles of a sorted sample, by nearest rank;
//! - [`roots`], by bisection.

pub mod quantile;
pub mod random;
pub mod roots;
pub mod student;

pub use quantile::{nearest_rank, quantile_rank};
pub use random::Random;
pub use student::{Estimate, student_p, student_quantile};
