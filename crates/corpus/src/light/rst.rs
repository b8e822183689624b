//! reStructuredText: adorned headings, directives, roles and references.

use super::inline::{replaced, without_pairs};
use super::plain::{Plain, indent};

/// Directives whose indented block is no text: settings, lists of files, formulas.
const WITHOUT_TEXT: [&str; 19] = [
    "image",
    "include",
    "toctree",
    "contents",
    "raw",
    "math",
    "index",
    "highlight",
    "only",
    "currentmodule",
    "automodule",
    "autoclass",
    "autofunction",
    "literalinclude",
    "default-role",
    "role",
    "sectnum",
    "meta",
    "graphviz",
];

/// Directives whose argument is no text either: the language of code.
const WITHOUT_ARGUMENT: [&str; 6] = [
    "code-block",
    "code",
    "sourcecode",
    "figure",
    "list-table",
    "rst-class",
];

/// Returns the text without its markup.
pub(super) fn plain(text: &str) -> Plain {
    let mut plain = Plain::default();
    let mut heading = None;
    // Indentation of a block that is left out, or whose options are.
    let (mut dropped, mut options): (Option<usize>, Option<usize>) = (None, None);
    let lines: Vec<&str> = text.lines().collect();
    for (number, &line) in lines.iter().enumerate() {
        let bare = line.trim();
        let depth = indent(line);
        if let Some(from) = dropped {
            if bare.is_empty() || depth > from {
                continue;
            }
            dropped = None;
        }
        if let Some(from) = options {
            if depth > from && is_field(bare) {
                continue;
            }
            if !bare.is_empty() {
                options = None;
            }
        }
        if let Some(explicit) = bare
            .strip_prefix("..")
            .filter(|rest| rest.is_empty() || rest.starts_with(' '))
        {
            match explicit_markup(explicit.trim()) {
                Explicit::Text(words) => {
                    options = Some(depth);
                    if !words.is_empty() {
                        plain.push(&inline(words));
                    }
                }
                Explicit::Dropped => dropped = Some(depth),
            }
            continue;
        }
        if is_rule(bare) {
            continue;
        }
        let next = lines.get(number + 1).map_or("", |next| next.trim_end());
        if heading.is_none() && is_adornment(next) && bare.contains(char::is_alphanumeric) {
            heading = Some(inline(bare));
        }
        // A list of fields at the beginning says who wrote the text.
        if let Some((name, value)) = bare
            .strip_prefix(':')
            .and_then(|rest| rest.split_once(": "))
            && depth == 0
            && !name.contains('`')
        {
            plain.set(name, value.trim());
            plain.push(&format!("{name}: {}", inline(value.trim())));
            continue;
        }
        let cells = match bare.starts_with('|') && bare.ends_with('|') && bare.len() > 1 {
            true => bare
                .split('|')
                .map(str::trim)
                .collect::<Vec<_>>()
                .join("  "),
            false => line.trim_start_matches("| ").to_owned(),
        };
        let item = ["- ", "* ", "+ ", "#. "];
        let bare_cells = cells.trim_start();
        let cells = item
            .iter()
            .find_map(|mark| bare_cells.strip_prefix(mark))
            .unwrap_or(&cells);
        plain.push(&inline(cells));
    }
    plain.title = heading;
    plain
}

enum Explicit<'t> {
    /// Words to keep; the indented block is text below its options.
    Text(&'t str),
    /// The line and its indented block.
    Dropped,
}

/// Reads the markup after `..`: a directive, a footnote, a target, a substitution or a comment.
fn explicit_markup(explicit: &str) -> Explicit<'_> {
    if let Some(footnote) = explicit.strip_prefix('[') {
        return Explicit::Text(footnote.split_once(']').map_or("", |(_, text)| text.trim()));
    }
    let Some((name, argument)) = explicit.split_once("::") else {
        return Explicit::Dropped;
    };
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_:.".contains(&b));
    let name = name.rsplit(':').next().unwrap_or(name);
    match is_name {
        _ if explicit.starts_with(['_', '|']) => Explicit::Dropped,
        true if WITHOUT_TEXT.contains(&name) => Explicit::Dropped,
        true if WITHOUT_ARGUMENT.contains(&name) => Explicit::Text(""),
        true => Explicit::Text(argument.trim()),
        false => Explicit::Dropped,
    }
}

/// Returns whether a line is an option or a field: `:name:` or `:name: value`.
fn is_field(bare: &str) -> bool {
    let name = bare.strip_prefix(':').and_then(|rest| rest.split_once(':'));
    name.is_some_and(|(name, _)| !name.is_empty() && !name.contains(' '))
}

/// Returns whether a line is of one sign, three times or more.
fn is_adornment(line: &str) -> bool {
    let Some(first) = line.chars().next() else {
        return false;
    };
    line.len() >= 3 && first.is_ascii_punctuation() && line.chars().all(|c| c == first)
}

/// Returns whether a line only draws: an adornment, the border of a table.
fn is_rule(bare: &str) -> bool {
    let is_border = bare.len() >= 3
        && bare.contains(['-', '='])
        && bare
            .bytes()
            .all(|b| matches!(b, b'+' | b'-' | b'=' | b' ' | b'|'));
    is_adornment(bare) && bare != "..." || is_border
}

fn inline(line: &str) -> String {
    let line = match line.trim_end().strip_suffix("::") {
        Some("") => "",
        Some(_) => &line.trim_end()[..line.trim_end().len() - 1],
        None => line,
    };
    if !line.contains(['`', '*', '|', '[']) {
        return line.to_owned();
    }
    let line = replaced(line, "``", "``", |code| Some(code.to_owned()));
    let line = without_roles(&line);
    let line = replaced(&line, "|", "|", |name| {
        let is_name = !name.is_empty() && !name.starts_with(' ') && !name.ends_with(' ');
        is_name.then(|| name.to_owned())
    });
    let line = replaced(&line, "[", "]_", |note| {
        let is_note = !note.is_empty()
            && note
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"#*".contains(&b));
        is_note.then(String::new)
    });
    without_pairs(&line, &['*'])
}

/// Replaces `` :role:`words <target>` `` and `` `words <target>`_ `` by their words.
fn without_roles(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(open) = rest.find('`') {
        let Some(length) = rest[open + 1..].find('`') else {
            break;
        };
        let before = &rest[..open];
        let inside = &rest[open + 1..open + 1 + length];
        text.push_str(without_role(before));
        let words = match inside.rsplit_once('<') {
            Some((words, target)) if target.ends_with('>') && !words.trim().is_empty() => {
                words.trim_end()
            }
            _ => inside.trim_start_matches('<').trim_end_matches('>'),
        };
        text.push_str(words.trim_start_matches(['~', '!']));
        rest = rest[open + length + 2..].trim_start_matches('_');
        // A role may stand behind, too.
        if let Some((role, after)) = rest
            .strip_prefix(':')
            .and_then(|after| after.split_once(':'))
            && is_role(role)
        {
            rest = after;
        }
    }
    text.push_str(rest);
    text
}

fn without_role(before: &str) -> &str {
    let Some(named) = before.strip_suffix(':') else {
        return before;
    };
    let start = named.rfind(|c: char| !(c.is_ascii_alphanumeric() || "-_.:+".contains(c)));
    let start = start.map_or(0, |at| {
        at + named[at..].chars().next().map_or(1, char::len_utf8)
    });
    match named[start..].starts_with(':') && is_role(&named[start + 1..]) {
        true => &before[..start],
        false => before,
    }
}

fn is_role(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_.:+".contains(&b))
}
