//! Limits of a query, and the warnings of a typed one that exceeds them.

use fields::{FieldType, Schema, TITLE};

/// Upper limit on a query, in bytes; the rest is cut off.
pub const QUERY_BYTES_MAX: usize = 16 << 10;
/// Upper limit on the nesting of parentheses; deeper ones are ignored.
pub const DEPTH_MAX: usize = 32;
/// Upper limit on words, including those of phrases; further ones are ignored.
pub const CLAUSES_MAX: usize = 1024;
/// Upper limit on the words of a phrase; further ones are ignored.
pub const PHRASE_WORDS_MAX: usize = 64;
/// Upper limit on the other ways in which phrases are looked for, beside those as typed; further ones are ignored.
pub const WAYS_MAX: usize = 1024;
/// Upper limit on different prefixes, since each stands for thousands of words; further ones are
/// ignored.
pub const PATTERNS_MAX: usize = 16;
/// Upper limit on slop; a greater one is lowered to it.
pub const SLOP_MAX: u32 = 64;
/// Lowest boost of a clause.
pub const BOOST_MIN: f32 = 1e-6;
/// Highest boost of a clause: weights stay numbers, and their sums exact, in every combination within the limits.
pub const BOOST_MAX: f32 = 1e6;
/// Longest name of a clause, in bytes.
pub const NAME_BYTES_MAX: usize = 256;
/// Upper limit on named clauses.
pub const NAMES_MAX: usize = 64;
/// Upper limit on warnings.
pub const WARNINGS_MAX: usize = 16;

/// Distinct warnings of one query.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    pub(crate) list: Vec<String>,
}

impl Warnings {
    pub(crate) fn add(&mut self, warning: impl Into<String>) {
        let warning = warning.into();
        if self.list.len() < WARNINGS_MAX && !self.list.contains(&warning) {
            self.list.push(warning);
        }
    }
}

/// Returns the start of a typed text, for a warning.
pub(crate) fn shortened(typed: &str) -> String {
    const CHARACTERS_MAX: usize = 40;
    match typed.char_indices().nth(CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &typed[..end]),
        None => typed.to_owned(),
    }
}

/// Fields named in a warning.
const NAMES_TOLD: usize = 12;

/// Returns the fields that can be searched, for a warning.
pub(super) fn field_names(schema: &Schema) -> String {
    let can_be_asked =
        |name: &str, kind: FieldType| kind.is_columnar() || schema.searched(name).is_some();
    let fields = schema
        .iter()
        .filter(|(name, kind)| *name != TITLE && can_be_asked(name, *kind));
    let fields: Vec<&str> = fields.map(|(name, _)| name).collect();
    let told = fields.iter().take(NAMES_TOLD).copied();
    let mut names: Vec<String> = ["title", "site"]
        .into_iter()
        .chain(told)
        .map(|name| format!("`{name}:`"))
        .collect();
    let last = match fields.len() > NAMES_TOLD {
        true => format!("{} more", fields.len() - NAMES_TOLD),
        false => names.pop().unwrap_or_default(),
    };
    format!("{} and {last}", names.join(", "))
}
