//! Front matter of Markdown: the block of settings before the text, as static site generators write it.
//!
//! ```text
//! ---                 or +++ and `title = "A post"`
//! title: "A post"
//! date: 2024-05-01
//! ---
//! ```
//!
//! Settings of one line are fields of the document; lists and blocks are left out.

use json::{Map, Value};

/// Upper limit on the lines of front matter.
const LINES_MAX: usize = 200;

/// Front matter of a text.
#[derive(Debug, Default)]
pub(crate) struct FrontMatter {
    pub(crate) title: Option<String>,
    pub(crate) fields: Map<String, Value>,
    /// Bytes of the text that it takes; 0 where there is none.
    pub(crate) bytes: usize,
}

/// Reads the front matter of a text.
pub(crate) fn front_matter(text: &str) -> FrontMatter {
    let (mark, separator) = match text.lines().next().map(str::trim_end) {
        Some(mark @ "---") => (mark, ':'),
        Some(mark @ "+++") => (mark, '='),
        _ => return FrontMatter::default(),
    };
    let mut matter = FrontMatter::default();
    let mut bytes = 0;
    for (number, line) in text.split_inclusive('\n').enumerate().take(LINES_MAX) {
        bytes += line.len();
        let line = line.trim_end();
        if number == 0 || line.is_empty() || line.starts_with([' ', '\t', '#', '-']) && line != mark
        {
            continue;
        }
        if line == mark || line == "..." && separator == ':' {
            matter.bytes = bytes;
            return matter;
        }
        let Some((name, value)) = line.split_once(separator) else {
            // Text below a rule.
            break;
        };
        let (name, value) = (name.trim(), unquoted(value.trim()));
        match (name.eq_ignore_ascii_case("title"), value) {
            (_, "") => {}
            (true, title) => matter.title = Some(title.to_owned()),
            (false, value) => {
                matter.fields.insert(name.to_owned(), value.into());
            }
        }
    }
    FrontMatter::default()
}

fn unquoted(value: &str) -> &str {
    let within = |mark: char| value.strip_prefix(mark)?.strip_suffix(mark);
    within('"').or_else(|| within('\'')).unwrap_or(value)
}
