//! Texts of rules.

/// Returns whether a text has a letter or digit.
pub(super) fn has_letters(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

/// Shortens a text for a message.
pub(super) fn brief(text: &str) -> String {
    text.chars().take(60).collect()
}
