//! Hints of an element: its name, and what its attributes say of its part in the page.

use super::hints::{self, Hints};
use super::tags::Tag;
use super::tokens::Tokens;

/// Returns the hints of an element's name and attributes.
pub(super) fn element_hints(tag: Tag, tokens: &Tokens<'_>) -> Hints {
    let mut hints = match tag {
        Tag::Nav | Tag::Menu | Tag::Search => Hints::NAVIGATION,
        Tag::Aside => Hints::SIDE,
        Tag::Footer => Hints::FOOTER,
        Tag::Header => Hints::HEADER,
        Tag::Figcaption => Hints::CAPTION,
        Tag::Dialog | Tag::Form | Tag::Button => Hints::DIALOG,
        Tag::Article => Hints::CONTENT,
        Tag::Main => Hints::CONTENT.with(Hints::MAIN),
        Tag::Template => Hints::HIDDEN,
        _ => Hints::default(),
    };
    for &(name, value) in tokens.attributes() {
        let found = match name.len() {
            // A part that React sends late, and moves to its place when it comes.
            2 if name.eq_ignore_ascii_case("id") && value.starts_with("S:") => Hints::UNFOLDS,
            2 if name.eq_ignore_ascii_case("id") => hints::of_value(value),
            4 if name.eq_ignore_ascii_case("role") && value == "main" => {
                Hints::MAIN.with(Hints::CONTENT)
            }
            4 if name.eq_ignore_ascii_case("role") => hints::of_value(value),
            5 if name.eq_ignore_ascii_case("class") => hints::of_value(value),
            5 if name.eq_ignore_ascii_case("style") && hides(value) => Hints::HIDDEN,
            6 if name.eq_ignore_ascii_case("hidden") => Hints::HIDDEN,
            8 if name.eq_ignore_ascii_case("itemprop") => {
                hints::of_value(&value.to_ascii_lowercase())
            }
            11 if name.eq_ignore_ascii_case("aria-hidden") && value == "true" => Hints::HIDDEN,
            _ => continue,
        };
        hints = hints.with(found);
    }
    hints
}

fn hides(style: &str) -> bool {
    let Some(at) = memchr::memmem::find(style.as_bytes(), b"display") else {
        return false;
    };
    style[at + 7..]
        .trim_start_matches([' ', ':'])
        .starts_with("none")
}
