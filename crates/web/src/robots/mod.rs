//! Robots exclusion: robots.txt (RFC 9309) and the directives of pages.
//!
//! ```text
//! bytes → lines → Robots (groups by product token) → Rules of one crawler → Verdict of one path
//! ```
//!
//! Line by line it reads as Google's parser does. Where Google's comparison (patterns as written) and that of RFC 9309
//! (percent-encoding normalised on both sides) differ, the stricter holds. What a crawler keeps of a host is the source bytes.

mod access;
mod agent;
mod directives;
mod escape;
mod lines;
mod parse;
mod rules;
mod unavailable;

pub use access::{Access, access};
pub use agent::is_product_token;
pub use directives::Directives;
pub use escape::{escaped_pattern, path_for_matching};
pub use lines::LINE_BYTES_MAX;
pub use parse::{ROBOTS_BYTES_MAX, Robots, Stats};
pub use rules::{Rule, Rules, Verdict};
