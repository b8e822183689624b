//! Table of places: one line per handler, with aligned columns.

use super::request::{HandlerPlace, Places};
use std::fmt;

/// Columns of [`HandlerPlace::row`].
pub const PLACES_HEADER: [&str; 7] = [
    "partition",
    "handler",
    "cpu",
    "core",
    "socket",
    "node",
    "why",
];

impl HandlerPlace {
    /// Returns the handler's row of the table: a dash for unknown or unfixed values, `any` for all
    /// CPUs.
    pub fn row(&self) -> [String; 7] {
        let or_dash = |value: Option<u32>| value.map_or("–".into(), |value| value.to_string());
        [
            self.partition.to_string(),
            self.handler.to_string(),
            if self.cpus.is_empty() {
                "any".into()
            } else {
                self.cpus.to_string()
            },
            or_dash(self.core),
            or_dash(self.socket),
            or_dash(self.node),
            self.why.to_string(),
        ]
    }
}

impl fmt::Display for Places {
    /// Writes the whole table, then spare CPUs and notes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows: Vec<[String; 7]> = std::iter::once(PLACES_HEADER.map(String::from))
            .chain(self.handlers.iter().map(HandlerPlace::row))
            .collect();
        let widths: [usize; 7] = std::array::from_fn(|column| {
            let widths = rows.iter().map(|row| row[column].chars().count());
            widths.max().unwrap_or(0)
        });
        for row in &rows {
            for (cell, width) in row[..6].iter().zip(widths) {
                write!(f, "{cell:>width$}  ")?;
            }
            writeln!(f, "{}", row[6])?;
        }
        if !self.spare.is_empty() {
            writeln!(f, "spare: {}", self.spare)?;
        }
        self.notes
            .iter()
            .try_for_each(|note| writeln!(f, "note: {note}"))
    }
}
