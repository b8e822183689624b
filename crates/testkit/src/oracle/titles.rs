//! Titles that begin with a text.

use text::{Pattern, folded_words};

/// Returns the score of a title that begins with `start`, or within `edits` of it; `None` for another.
pub(super) fn title_start(title: &str, start: &str, edits: u8) -> Option<f32> {
    let title = folded_words(title);
    let key = format!("{title} ");
    let is_near = || edits > 0 && Pattern::near_start(start, edits).matches(&key);
    let most = match key.starts_with(start) {
        true => 2.0,
        false if is_near() => 1.0,
        false => return None,
    };
    let characters = title.chars().count().min(255) as f32;
    (!title.is_empty()).then_some(most - characters / 256.0)
}
