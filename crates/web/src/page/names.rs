//! Names of classes that hide, and those that look as if they did.
//!
//! `hidden` is a word of many names: of what is not shown, of what is shown on wide screens alone (the view that is
//! read here), of a field without its label, and of a box that clips.

/// What a name says of whether its element is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// Nothing.
    Unsaid,
    /// It is not.
    No,
    /// It is on wide screens, whatever other names say.
    Wide,
}

/// Last words before `hidden` in names that do not hide: what else is hidden, and screens that are not wide.
#[rustfmt::skip]
const NOT_THE_ELEMENT: [&str; 17] = [
    "overflow", "x", "y", "label", "labels", "scrollbar", "bar", "backface", "elementor", // what else
    "mobile", "phone", "tablet", "small", "medium", "xs", "sm", "print", // screens, and paper
];
/// Widths of screens that are wide.
const WIDE: [&str; 6] = ["desktop", "lg", "xl", "large", "2xl", "xxl"];
/// Ways to show an element.
const WAYS: [&str; 7] = [
    "block",
    "flex",
    "grid",
    "inline",
    "inline-block",
    "inline-flex",
    "table",
];

/// Returns what a conditional name such as `md:hidden` or `lg:block` says; the condition is before the last colon.
pub(super) fn of_condition(name: &str) -> Shown {
    let Some((condition, style)) = name.rsplit_once(':') else {
        return Shown::Unsaid;
    };
    // A condition is a least width: it holds on all wider screens.
    let is_wide = WIDE.contains(&condition) || matches!(condition, "sm" | "md");
    match is_wide {
        true if style == "hidden" => Shown::No,
        true if WAYS.contains(&style) => Shown::Wide,
        _ => Shown::Unsaid,
    }
}

/// Returns whether a name hides its element, in which a word such as `hidden` stands at `start..end`.
pub(super) fn hides(name: &str, start: usize, end: usize) -> bool {
    // Without the marks that part it from the word.
    let edge = |text: &str| {
        text.trim_matches(|c: char| !c.is_ascii_alphanumeric())
            .to_ascii_lowercase()
    };
    let (before, after) = match (name.get(..start), name.get(end..)) {
        (Some(before), Some(after)) => (edge(before), edge(after)),
        _ => return false,
    };
    if name[start..end].eq_ignore_ascii_case("sr") {
        return after.starts_with("only");
    }
    if before.ends_with("visually") {
        return true;
    }
    if !after.is_empty() {
        let screens = after.trim_start_matches("on-").trim_start_matches("for-");
        return WIDE.contains(&screens) || screens.ends_with("-up");
    }
    let last = before.rsplit(['-', '_']).next().unwrap_or_default();
    !NOT_THE_ELEMENT.contains(&last) && before != "no-js"
}
