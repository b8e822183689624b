//! How a score came about.
use serde::Serialize;

/// A value and the values it was made from. The root's value equals the hit's score bit by bit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The value.
    pub value: f32,
    /// What it is, with the formula.
    pub description: String,
    /// What it was made from.
    pub details: Vec<Explanation>,
}
