//! Escapes within the text of a manual page.

use std::collections::HashMap;

/// Texts that the page defines by name.
pub(super) type Strings = HashMap<String, String>;

/// Appends text with its escapes resolved: fonts and motions are dropped, special characters become themselves.
pub(super) fn append_plain(text: &mut String, line: &str, strings: &Strings) {
    let mut rest = line;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = append_escape(text, &rest[at + 1..], strings);
    }
    text.push_str(rest);
}

/// Resolves one escape, given the text after its backslash, and returns the text after the escape.
fn append_escape<'a>(text: &mut String, rest: &'a str, strings: &Strings) -> &'a str {
    let mut characters = rest.chars();
    let Some(kind) = characters.next() else {
        return "";
    };
    let after = characters.as_str();
    match kind {
        '"' | '#' => "",
        '*' => {
            let (name, after) = after_name(after);
            match strings.get(name) {
                Some(defined) => text.push_str(defined),
                None => text.push_str(usual_string(name)),
            }
            after
        }
        'f' | 'F' | 'm' | 'M' | 'g' | 'k' => after_name(after).1,
        'n' => after_name(after.trim_start_matches(['+', '-'])).1,
        's' => {
            let after = after.trim_start_matches(['+', '-']);
            match after.starts_with(['(', '[']) {
                true => after_name(after).1,
                false => after.trim_start_matches(|c: char| c.is_ascii_digit()),
            }
        }
        'h' | 'v' | 'w' | 'l' | 'L' | 'D' | 'o' | 'b' | 'z' | 'x' | 'N' | 'R' | 'S' | 'X' | 'H' => {
            let quoted = after
                .strip_prefix('\'')
                .and_then(|inner| inner.split_once('\''));
            quoted.map_or(after, |(_, after)| after)
        }
        '(' | '[' => {
            let (name, after) = after_name(rest);
            push_special(text, name);
            after
        }
        '-' => {
            text.push('-');
            after
        }
        'e' | '\\' => {
            text.push('\\');
            after
        }
        ' ' | '~' | '0' | 't' => {
            text.push(' ');
            after
        }
        '\'' | '`' | '.' => {
            text.push(kind);
            after
        }
        // Zero-width marks: \& \| \^ \% \: \/ \, \c \{ \} \d \u and the like.
        _ => after,
    }
}

/// Splits off a name in one of the three forms `x`, `(xx`, `[xxx]`. Returns the name and the rest.
fn after_name(rest: &str) -> (&str, &str) {
    if let Some(inner) = rest.strip_prefix('[') {
        return inner.split_once(']').unwrap_or((inner, ""));
    }
    let (rest, characters) = match rest.strip_prefix('(') {
        Some(inner) => (inner, 2),
        None => (rest, 1),
    };
    let end = rest
        .char_indices()
        .nth(characters)
        .map_or(rest.len(), |(at, _)| at);
    rest.split_at(end)
}

/// Returns a text that macros define, or a translator to them.
fn usual_string(name: &str) -> &'static str {
    match name {
        "Aq" => "'",
        "lq" | "rq" | "L\"" | "R\"" => "\"",
        "R" => "®",
        "Tm" => "™",
        "--" => "-",
        _ => "",
    }
}

fn push_special(text: &mut String, name: &str) {
    let code = name.strip_prefix('u').filter(|code| code.len() >= 4);
    let named = code.and_then(|code| u32::from_str_radix(code, 16).ok());
    if let Some(c) = named.and_then(char::from_u32).filter(|c| !c.is_control()) {
        text.push(c);
        return;
    }
    let mut letters = name.chars();
    if let (Some(accent), Some(letter), None) = (letters.next(), letters.next(), letters.next())
        && let Some(c) = accented(accent, letter)
    {
        text.push(c);
        return;
    }
    text.push_str(special(name));
}

/// Returns a letter with an accent.
fn accented(accent: char, letter: char) -> Option<char> {
    let (letters, with) = match accent {
        ':' => ("aeiouyAEIOU", "äëïöüÿÄËÏÖÜ"),
        '\'' => ("aeiouyAEIOUYcC", "áéíóúýÁÉÍÓÚÝćĆ"),
        '`' => ("aeiouAEIOU", "àèìòùÀÈÌÒÙ"),
        '^' => ("aeiouAEIOU", "âêîôûÂÊÎÔÛ"),
        '~' => ("anoANO", "ãñõÃÑÕ"),
        ',' => ("cC", "çÇ"),
        'o' => ("aA", "åÅ"),
        '/' => ("oOlL", "øØłŁ"),
        'v' => ("cszCSZ", "čšžČŠŽ"),
        _ => return None,
    };
    let at = letters.chars().position(|one| one == letter)?;
    with.chars().nth(at)
}

fn special(name: &str) -> &'static str {
    match name {
        "aq" | "cq" | "oq" | "fm" => "'",
        "dq" | "lq" | "rq" | "Lq" | "Rq" => "\"",
        "hy" | "mi" | "en" => "-",
        "em" => " - ",
        "bu" => "*",
        "co" => "©",
        "rg" => "®",
        "tm" => "™",
        "ti" | "ap" => "~",
        "ha" | "a^" => "^",
        "ga" => "`",
        "rs" => "\\",
        "sl" => "/",
        "ba" | "or" => "|",
        "at" => "@",
        "sh" => "#",
        "Do" => "$",
        "lB" => "[",
        "rB" => "]",
        "lC" => "{",
        "rC" => "}",
        "la" | "<" => "<",
        "ra" | ">" => ">",
        "->" => "->",
        "<-" => "<-",
        "<=" => "<=",
        ">=" => ">=",
        "mu" => "×",
        "ss" => "ß",
        "de" => "°",
        "*m" | "mc" => "µ",
        "+-" => "±",
        "Fo" => "«",
        "Fc" => "»",
        "sc" => "§",
        "Eu" | "eu" => "€",
        "Po" => "£",
        _ => " ",
    }
}
