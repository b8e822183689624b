//! Warnings of a typed query, and the limits that it may exceed.

pub use crate::query::limits::{
    BOOST_MAX, BOOST_MIN, CLAUSES_MAX, DEPTH_MAX, NAME_BYTES_MAX, NAMES_MAX, PATTERNS_MAX,
    PHRASE_WORDS_MAX, QUERY_BYTES_MAX, SLOP_MAX, URLS_MAX, WARNINGS_MAX, WAYS_MAX,
};
use fields::{FieldType, Schema, TITLE};

/// Distinct warnings of one query, and the rules of the index that it was read by.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    pub(crate) list: Vec<String>,
    pub(super) rules: Vec<String>,
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
