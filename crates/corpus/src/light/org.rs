//! Org: headings with stars, drawers, blocks, links in double brackets.

use super::inline::{replaced, without_pairs};
use super::plain::Plain;

/// Words before a heading that say how far it is.
const STATES: [&str; 9] = [
    "TODO",
    "DONE",
    "NEXT",
    "WAITING",
    "HOLD",
    "CANCELLED",
    "CANCELED",
    "STARTED",
    "IN-PROGRESS",
];

/// Returns the text without its markup.
pub(super) fn plain(text: &str) -> Plain {
    let mut plain = Plain::default();
    let (mut heading, mut in_drawer) = (None, false);
    for line in text.lines() {
        let bare = line.trim();
        if in_drawer {
            in_drawer = !bare.eq_ignore_ascii_case(":END:");
            continue;
        }
        if let Some(keyword) = bare.strip_prefix("#+") {
            let (name, value) = keyword.split_once(':').unwrap_or((keyword, ""));
            match name.to_ascii_lowercase().as_str() {
                "title" if plain.title.is_none() => {
                    plain.title = Some(inline(value.trim()));
                }
                "caption" => plain.push(&inline(value.trim())),
                name => plain.set(name, value.trim()),
            }
            continue;
        }
        let is_comment = bare == "#" || bare.starts_with("# ");
        let is_planning = ["SCHEDULED:", "DEADLINE:", "CLOSED:", "CLOCK:"]
            .iter()
            .any(|word| bare.starts_with(word));
        if is_comment || is_planning {
            continue;
        }
        if is_drawer(bare) {
            in_drawer = true;
            continue;
        }
        if let Some(words) = heading_of(line) {
            let words = inline(&words);
            heading = heading.or_else(|| Some(words.clone()));
            plain.push(&words);
            continue;
        }
        if bare.starts_with('|') {
            if !bare.starts_with("|-") {
                let cells = bare.split('|').map(str::trim);
                let cells: Vec<&str> = cells.filter(|cell| !cell.is_empty()).collect();
                plain.push(&inline(&cells.join("  ")));
            }
            continue;
        }
        plain.push(&inline(item_of(line)));
    }
    plain.title = plain.title.take().or(heading);
    plain
}

/// Returns whether a line begins a drawer, as `:PROPERTIES:` does.
fn is_drawer(bare: &str) -> bool {
    let name = bare
        .strip_prefix(':')
        .and_then(|rest| rest.strip_suffix(':'));
    name.is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_')
    })
}

/// Returns the words of a heading, without state, priority and tags.
fn heading_of(line: &str) -> Option<String> {
    let words = line.trim_start_matches('*');
    if words.len() == line.len() || !words.starts_with(' ') {
        return None;
    }
    let mut words = words.trim();
    if let Some((first, rest)) = words.split_once(' ')
        && STATES.contains(&first)
    {
        words = rest.trim_start();
    }
    if let Some((_, rest)) = words
        .strip_prefix("[#")
        .and_then(|rest| rest.split_once(']'))
    {
        words = rest.trim_start();
    }
    if let Some((before, tags)) = words.rsplit_once(char::is_whitespace)
        && tags.len() > 2
        && tags.starts_with(':')
        && tags.ends_with(':')
    {
        words = before.trim_end();
    }
    Some(words.to_owned())
}

/// Returns a line without the sign of a list.
fn item_of(line: &str) -> &str {
    let bare = line.trim_start();
    let item = bare.strip_prefix("- ").or_else(|| bare.strip_prefix("+ "));
    let Some(item) = item else {
        return line;
    };
    let boxes = ["[ ] ", "[X] ", "[x] ", "[-] "];
    boxes
        .iter()
        .find_map(|mark| item.strip_prefix(mark))
        .unwrap_or(item)
}

fn inline(line: &str) -> String {
    let linked = replaced(line, "[[", "]]", |inside| {
        Some(match inside.split_once("][") {
            Some((_, words)) => words.to_owned(),
            None => inside.trim_start_matches("file:").to_owned(),
        })
    });
    let noted = replaced(&linked, "[fn:", "]", |_| Some(String::new()));
    without_pairs(&noted, &['*', '/', '_', '=', '~', '+'])
}
