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

/// Name of the style sheet; it changes with the contents, so that browsers can cache it.
static STYLE_HREF: LazyLock<String> = LazyLock::new(|| versioned("style.css", &STYLE_SHEET));

/// Name of the script, likewise.
static SCRIPT_HREF: LazyLock<String> = LazyLock::new(|| versioned("page.js", SCRIPT));

fn versioned(name: &str, contents: &str) -> String {
    let mut hasher = DefaultHasher::new();
    contents.hash(&mut hasher);
    format!("{name}?v={:016x}", hasher.finish())
}

/// Files that every page names, with relative paths: pages are the same whatever the path of their index, at this server
/// or at a proxy before it.
pub(super) struct Files {
    /// Path of the folder of the files, from that of the page: empty, or parents.
    pub(super) folder: String,
    pub(super) style: &'static str,
    pub(super) script: &'static str,
}

impl Files {
    /// Returns the files for a page beside them.
    pub(super) fn new() -> Files {
        Files {
            folder: String::new(),
            style: &STYLE_HREF,
            script: &SCRIPT_HREF,
        }
    }

    /// Returns the files for a page at any path of the server.
    pub(super) fn for_page_at(path: &str) -> Files {
        let depth = path.matches('/').count().saturating_sub(1);
        Files {
            folder: "../".repeat(depth),
            ..Files::new()
        }
    }
}
