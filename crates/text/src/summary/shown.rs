//! Display of characters: as themselves, as white space, or not at all.

/// Display of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// Shown unchanged.
    Itself,
    /// Shown as one space, together with its neighbours of the same kind.
    Space,
    /// Not shown: control characters, and characters that change the direction of the surrounding text.
    Nothing,
}

pub(super) fn shown(character: char) -> Shown {
    match character {
        '!'..='~' => Shown::Itself,
        _ if character.is_whitespace() => Shown::Space,
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => Shown::Nothing,
        _ if character.is_control() => Shown::Nothing,
        _ => Shown::Itself,
    }
}

/// Returns whether any character of `text` is shown.
pub(super) fn is_visible(text: &str) -> bool {
    text.chars()
        .any(|character| shown(character) == Shown::Itself)
}
