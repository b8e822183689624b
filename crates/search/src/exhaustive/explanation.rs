//! Values of an explanation, with those that they were computed from.

use crate::plan::node::ClauseName;
use serde::Serialize;

/// Value with the values it was computed from. The root's value equals the hit's score bit by bit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The value.
    pub value: f32,
    /// The name of the clause, with those of the combinations around it, where the query gives any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Meaning of the value, with the formula.
    pub description: String,
    /// Values it was computed from.
    pub details: Vec<Explanation>,
}

impl Explanation {
    pub(super) fn leaf(value: f32, description: impl Into<String>) -> Explanation {
        Explanation {
            value,
            name: None,
            description: description.into(),
            details: Vec::new(),
        }
    }

    pub(super) fn named(mut self, name: &ClauseName) -> Explanation {
        self.name = name.as_deref().map(str::to_owned);
        self
    }
}

impl std::fmt::Display for Explanation {
    /// Writes one value on each line, with its details indented below it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        fn write(
            explanation: &Explanation,
            depth: usize,
            f: &mut std::fmt::Formatter<'_>,
        ) -> std::fmt::Result {
            let (value, description) = (explanation.value, &explanation.description);
            write!(f, "{:indent$}{value} ", "", indent = 2 * depth)?;
            if let Some(name) = &explanation.name {
                write!(f, "[{name}] ")?;
            }
            writeln!(f, "{description}")?;
            explanation
                .details
                .iter()
                .try_for_each(|detail| write(detail, depth + 1, f))
        }
        write(self, 0, f)
    }
}
