//! Declarations of fields, by which a person decides instead of the documents.
//!
//! ```text
//! views = "i64"                                                 a type
//! abstract = { type = "text", weight = 2.0, b = 0.5 }           a text with settings of its words
//! code = { type = "text", analyzer = "plain" }                  a text with an analyzer of its own
//! raw = { type = "text", searchable = false }                   stored only
//! likes = { type = "i64", prior = { weight = 2, pivot = 50 } }  a number that adds to every score
//! ```

mod declaration;
#[cfg(test)]
mod tests;
mod written;

pub use declaration::{Declaration, Declarations, DeclaredPrior};
