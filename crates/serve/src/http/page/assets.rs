//! Files of the page: style sheet, script and picture, with paths that change with their contents.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

/// Script of the page, which works without it.
pub(crate) const SCRIPT: &str = include_str!("../../../assets/page.js");
/// Picture of the page.
pub(crate) const FAVICON: &str = include_str!("../../../assets/favicon.svg");

/// Style sheet, with a class for every width of the bar of phases, because the security policy forbids
/// inline styles.
pub(crate) static STYLE_SHEET: LazyLock<String> = LazyLock::new(|| {
    let mut css = include_str!("../../../assets/style.css").to_owned();
    for share in 1..=100 {
        css.push_str(&format!(".bar .grow-{share}{{flex-grow:{share}}}"));
    }
    css
});

/// Path of the style sheet; it changes with the contents, so that browsers can cache it.
pub(super) static STYLE_HREF: LazyLock<String> =
    LazyLock::new(|| versioned("/style.css", &STYLE_SHEET));

/// Path of the script, likewise.
pub(super) static SCRIPT_HREF: LazyLock<String> = LazyLock::new(|| versioned("/page.js", SCRIPT));

fn versioned(path: &str, contents: &str) -> String {
    let mut hasher = DefaultHasher::new();
    contents.hash(&mut hasher);
    format!("{path}?v={:016x}", hasher.finish())
}

/// Paths of the files that every page names.
pub(super) struct Files {
    pub(super) style: &'static str,
    pub(super) script: &'static str,
}

impl Files {
    pub(super) fn new() -> Files {
        Files {
            style: &STYLE_HREF,
            script: &SCRIPT_HREF,
        }
    }
}
