//! Text without its markup, as readers put it together.

use json::{Map, Value};

/// A text without its markup.
#[derive(Debug, Default)]
pub(crate) struct Plain {
    /// Title, where the text has one.
    pub(crate) title: Option<String>,
    /// Metadata of the text, as author and date.
    pub(crate) fields: Map<String, Value>,
    pub(crate) text: String,
}

impl Plain {
    /// Adds a line; several empty ones are one.
    pub(super) fn push(&mut self, line: &str) {
        let line = line.trim_end();
        if line.is_empty() && (self.text.is_empty() || self.text.ends_with("\n\n")) {
            return;
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Keeps a setting that is a known field.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        let name = name.to_ascii_lowercase();
        if matches!(&*name, "author" | "date" | "version" | "language") && !value.is_empty() {
            self.fields.insert(name, Value::String(value.to_owned()));
        }
    }
}

/// Returns the number of blanks that a line begins with, in bytes.
pub(super) fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}
