//! Documentation comments of a Rust source file.
//!
//! Works on lines, not on syntax: a line of documentation begins with `///` or `//!`, a block with `/**` or `/*!`. A
//! string literal with such a line is taken too, which is rare and harmless. The documentation of an item is followed
//! by the item's first line, because people search for its name.

/// Upper limit on the characters of an item line.
const ITEM_CHARS_MAX: usize = 160;

/// Returns the documentation of a Rust source file; empty where there is none.
pub(crate) fn read_text(source: &str) -> String {
    let mut text = String::new();
    let mut in_block = false;
    let mut item_wanted = false;
    for line in source.lines() {
        let line = line.trim();
        if in_block {
            let (words, ended) = match line.split_once("*/") {
                Some((words, _)) => (words, true),
                None => (line, false),
            };
            append_line(&mut text, words.strip_prefix('*').unwrap_or(words));
            in_block = !ended;
        } else if let Some(words) = line_comment(line) {
            append_line(&mut text, words);
            item_wanted = line.starts_with("///");
        } else if let Some(words) = block_comment(line) {
            item_wanted = line.starts_with("/**");
            in_block = !words.contains("*/");
            append_line(&mut text, words.split("*/").next().unwrap_or(words));
        } else if item_wanted
            && !line.is_empty()
            && !line.starts_with("#[")
            && !line.starts_with("//")
        {
            item_wanted = false;
            let item: String = line
                .trim_end_matches(['{', ' '])
                .chars()
                .take(ITEM_CHARS_MAX)
                .collect();
            append_line(&mut text, &item);
            text.push('\n');
        }
    }
    text
}

fn append_line(text: &mut String, words: &str) {
    text.push_str(words.strip_prefix(' ').unwrap_or(words));
    text.push('\n');
}

/// Returns the words of `/// words` and `//! words`, but not of the rule `////////`.
fn line_comment(line: &str) -> Option<&str> {
    let words = line
        .strip_prefix("///")
        .or_else(|| line.strip_prefix("//!"))?;
    (!words.starts_with('/')).then_some(words)
}

/// Returns the words of `/** words` and `/*! words`, but not of `/***` or of the empty `/**/`.
fn block_comment(line: &str) -> Option<&str> {
    let words = line
        .strip_prefix("/**")
        .or_else(|| line.strip_prefix("/*!"))?;
    (!words.starts_with(['*', '/'])).then_some(words)
}

/// Returns the module path of a file of a crate: `serde`, `src/de/value.rs` → `serde::de::value`.
pub(crate) fn module_path(crate_name: &str, file: &str) -> String {
    let file = file.strip_prefix("src/").unwrap_or(file);
    let file = file.strip_suffix(".rs").unwrap_or(file);
    let mut parts: Vec<&str> = vec![crate_name];
    parts.extend(file.split('/'));
    if matches!(parts.last(), Some(&("mod" | "lib" | "main"))) {
        parts.pop();
    }
    parts.join("::")
}

/// Returns the first line of the file's own documentation (`//!`).
pub(crate) fn own_first_line(source: &str) -> Option<String> {
    let own = source.lines().find_map(|line| {
        let words = line.trim().strip_prefix("//!")?.trim();
        words.chars().any(char::is_alphanumeric).then_some(words)
    })?;
    crate::file::first_line(own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn documentation_and_the_items_it_is_about() {
        let source = "//! A crate.\n\n//////\n/// Adds.\n///\n/// Much.\n#[inline]\npub fn add(a: u8) -> u8 {\n    // no\n}\n\
                      /** Block\n * more */\nstruct S;\n/**/\n/*** no */\n/*! own */\n";
        assert_eq!(
            read_text(source),
            "A crate.\nAdds.\n\nMuch.\npub fn add(a: u8) -> u8\n\nBlock\nmore \nstruct S;\n\nown \n"
        );
        assert_eq!(own_first_line(source).unwrap(), "A crate.");
    }

    #[test]
    fn module_paths() {
        assert_eq!(module_path("serde", "src/lib.rs"), "serde");
        assert_eq!(module_path("serde", "src/de/value.rs"), "serde::de::value");
        assert_eq!(module_path("serde", "src/de/mod.rs"), "serde::de");
        assert_eq!(module_path("serde", "build.rs"), "serde::build");
    }

    proptest! {
        #[test]
        fn any_text_is_a_source(source in "([/*! \n]{0,5}[aé\0]?){0,30}") {
            let _ = (read_text(&source), own_first_line(&source));
        }
    }
}
