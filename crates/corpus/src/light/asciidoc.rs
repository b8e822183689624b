//! AsciiDoc: headings with equals signs, delimited blocks, macros with brackets.

use super::inline::{replaced, without_pairs};
use super::plain::Plain;
use std::collections::HashMap;

/// Upper limit on the attributes of a text that are kept.
const ATTRIBUTES_MAX: usize = 200;

/// Returns the text without its markup.
pub(super) fn plain(text: &str) -> Plain {
    let mut plain = Plain::default();
    let mut attributes = HashMap::new();
    let (mut heading, mut in_comment) = (None, false);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let bare = line.trim();
        if bare.len() >= 4 && bare.bytes().all(|byte| byte == b'/') {
            in_comment = !in_comment;
            continue;
        }
        if in_comment || bare.starts_with("//") && !bare.starts_with("///") || is_delimiter(bare) {
            continue;
        }
        if let Some((name, value)) = attribute(bare) {
            plain.set(name, value);
            if attributes.len() < ATTRIBUTES_MAX {
                attributes.insert(name.to_owned(), value.to_owned());
            }
            continue;
        }
        if is_block_line(bare) {
            continue;
        }
        if let Some(words) = heading_of(line) {
            let words = inline(words, &attributes);
            heading = heading.or_else(|| Some(words.clone()));
            plain.push(&words);
            continue;
        }
        // The old form: a line underlined, as long as its rule.
        if let Some(rule) = lines.peek().map(|next| next.trim_end())
            && is_underline(rule, line)
        {
            lines.next();
            let words = inline(bare, &attributes);
            heading = heading.or_else(|| Some(words.clone()));
            plain.push(&words);
            continue;
        }
        if let Some(macro_text) = block_macro(bare) {
            plain.push(&inline(macro_text, &attributes));
            continue;
        }
        let cells = match bare.starts_with('|') {
            true => bare
                .split('|')
                .map(str::trim)
                .collect::<Vec<_>>()
                .join("  "),
            false => item_of(line).to_owned(),
        };
        plain.push(&inline(cells.trim_start(), &attributes));
    }
    plain.title = heading;
    plain
}

fn is_delimiter(bare: &str) -> bool {
    let Some(first) = bare.chars().next() else {
        return false;
    };
    let is_run = |signs: &str| signs.contains(first) && bare.chars().all(|c| c == first);
    bare == "--"
        || bare.len() >= 4 && is_run("-.=*_+")
        || bare.starts_with("|===")
        || bare == "!==="
        || bare.starts_with("```")
}

/// Reads `:name: value`.
fn attribute(bare: &str) -> Option<(&str, &str)> {
    let (name, value) = bare.strip_prefix(':')?.split_once(':')?;
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'!'));
    let is_value = value.is_empty() || value.starts_with(' ');
    (is_name && is_value).then(|| (name, value.trim()))
}

/// Returns whether a line only describes the block below it: `[source,rust]`, `[[anchor]]`, a `+` alone.
fn is_block_line(bare: &str) -> bool {
    bare == "+" || bare.starts_with('[') && bare.ends_with(']') && !bare.contains("](")
}

fn heading_of(line: &str) -> Option<&str> {
    let words = line.trim_start_matches(['=', '#']);
    let level = line.len() - words.len();
    ((1..=6).contains(&level) && words.starts_with(' ')).then(|| {
        let words = words.trim();
        words.trim_end_matches('=').trim_end()
    })
}

/// Returns whether a line of signs underlines a title: the lengths differ by two at most.
fn is_underline(rule: &str, title: &str) -> bool {
    let Some(sign) = rule.chars().next().filter(|sign| "=-~^+".contains(*sign)) else {
        return false;
    };
    let (title, length) = (title.trim_end(), rule.chars().count());
    let is_rule = length >= 3 && rule.chars().all(|c| c == sign);
    is_rule && title.contains(char::is_alphanumeric) && title.chars().count().abs_diff(length) <= 2
}

/// Returns the text of a macro that stands alone in its line: that of an image, and nothing of `include::` and the like.
fn block_macro(bare: &str) -> Option<&str> {
    let (name, rest) = bare.split_once("::")?;
    let inside = rest.strip_suffix(']')?.split_once('[')?.1;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric());
    is_name.then(|| match name {
        "image" | "video" | "audio" => inside.split(',').next().unwrap_or_default(),
        _ => "",
    })
}

/// Returns a line without the signs of a list, and a title of a block without its dot.
fn item_of(line: &str) -> &str {
    let bare = line.trim_start();
    let item = bare.trim_start_matches(['*', '.', '-']);
    match bare.len() - item.len() {
        1..=5 if item.starts_with(' ') => item.trim_start(),
        1 if bare.starts_with('.') && item.starts_with(char::is_alphanumeric) => item,
        _ => line,
    }
}

fn inline(line: &str, attributes: &HashMap<String, String>) -> String {
    let line = line.strip_suffix(" +").unwrap_or(line);
    let line = replaced(line, "{", "}", |name| match attributes.get(name) {
        Some(value) => Some(value.clone()),
        None => {
            let is_name = !name.is_empty()
                && name
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
            is_name.then(String::new)
        }
    });
    let line = replaced(&line, "<<", ">>", |inside| {
        let words = inside.split_once(',').map_or(inside, |(_, words)| words);
        Some(words.trim().trim_start_matches('#').to_owned())
    });
    let line = replaced(&line, "[[", "]]", |_| Some(String::new()));
    let line = without_macros(&line);
    let line = replaced(&line, "<", ">", |inside| {
        let is_callout =
            !inside.is_empty() && inside.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        is_callout.then(String::new)
    });
    without_pairs(&line, &['`', '*', '_', '#', '+'])
}

/// Replaces `link:address[words]`, `https://address[words]`, `xref:`, `image:` and the like by their words.
fn without_macros(line: &str) -> String {
    if !line.contains('[') {
        return line.to_owned();
    }
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(open) = rest.find('[') {
        let before = &rest[..open];
        let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let target = before[start..].trim_start_matches(['(', '"', '\'']);
        let is_macro = target.contains(':')
            && target.starts_with(char::is_alphabetic)
            && !target.ends_with(':') | target.starts_with("footnote");
        let Some(close) = rest[open..].find(']').filter(|_| is_macro) else {
            text.push_str(&rest[..=open]);
            rest = &rest[open + 1..];
            continue;
        };
        let words = rest[open + 1..open + close].trim_end_matches('^');
        text.push_str(&rest[..open - target.len()]);
        match words.is_empty() {
            true => text.push_str(target.strip_prefix("link:").unwrap_or(target)),
            false => text.push_str(words),
        }
        rest = &rest[open + close + 1..];
    }
    text.push_str(rest);
    text
}
