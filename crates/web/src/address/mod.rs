//! Canonical addresses of pages, and the scope that a crawl may visit.
//!
//! ```text
//! text of a link → whatwg → clean (percent-encoding, parameters) → CanonicalUrl → scope, trap → frontier key
//! ```
//!
//! Invariants: the text of a [`CanonicalUrl`] has at most [`URL_BYTES_MAX`] bytes, is ASCII, has no fragment, user or default
//! port, and parses to itself. Two links that differ only in tracking or session parameters have one canonical URL.

mod canonical;
mod clean;
mod error;
mod frontier_key;
pub mod percent;
mod rule;
mod scope;
mod shape;
mod trap;
pub mod whatwg;
pub mod wildcard;

pub use canonical::{Base, CanonicalUrl, INPUT_BYTES_MAX, URL_BYTES_MAX};
pub use clean::{ParameterSet, SESSION_PARAMETERS, TRACKING_PARAMETERS};
pub use error::AddressError;
pub use rule::{Rule, RuleForm};
pub use scope::{Decision, Reason, Scope, ScopeForm, Within};
pub use shape::path_shape;
pub use trap::{DEPTH_MAX, REPEATS_MAX, Trap, trap};
