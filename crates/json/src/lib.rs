//! JSON of documents: values whose numbers are kept as they were written.
//!
//! ```text
//! text ──parse──► Value ──to_string──► the same text, without white space, names in order, escapes in one form
//!
//! 12345678901234567890123   1e-5000   1.10   -0   1E5       numbers come back byte for byte
//! ```
//!
//! Refused with the path and the reason: lists and objects nested deeper than [`DEPTH_MAX`], a name that occurs twice in
//! an object (choosing one would be a guess), lone surrogates, and what is not JSON.
//!
//! Why not `serde_json::Value`: it rounds numbers to 64 bits. What programs say to each other stays with `serde_json`.

mod number;
mod parse;
mod serial;
mod value;

pub use number::Number;
pub use parse::{DEPTH_MAX, ParseError, Problem, parse, parse_object};
pub use value::{Map, Value};
