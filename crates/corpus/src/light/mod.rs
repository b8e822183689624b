//! Light markup as plain text: reStructuredText, AsciiDoc and Org.
//!
//! Each reader goes line by line and never fails: what is no markup stays as it is written. Marks, addresses of links,
//! settings and comments are left out, so that none shows in a summary.

mod asciidoc;
mod inline;
mod org;
mod plain;
mod rst;
#[cfg(test)]
mod tests;

pub(crate) use plain::Plain;

/// Kind of light markup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Light {
    Rst,
    AsciiDoc,
    Org,
}

impl Light {
    /// Returns the text without its markup.
    pub(crate) fn plain(self, text: &str) -> Plain {
        let mut plain = match self {
            Light::Rst => rst::plain(text),
            Light::AsciiDoc => asciidoc::plain(text),
            Light::Org => org::plain(text),
        };
        plain.text.truncate(plain.text.trim_end().len());
        plain.title = plain.title.filter(|title| !title.trim().is_empty());
        plain
    }
}
