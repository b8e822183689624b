//! Wikitext as plain text.
//!
//! ```text
//! {{template|…}} {| table |} <ref>…</ref> <!-- … -->   left out, nested ones too
//! [[page|words]] [https://x words] '''bold''' == Heading ==   their words
//! ```
//!
//! One pass over the text with an explicit stack of what is open, so that no nesting overflows the program's and the time
//! is linear. What is never closed is left out up to the end of its paragraph.

use super::tags::Tags;

/// Upper limit on nested markup; deeper markup is text.
const DEPTH_MAX: usize = 64;

/// Markup that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Template,
    Table,
    /// A link to a page, with the place in the output where its words begin.
    Link(usize),
    /// A link to an address.
    External(usize),
}

/// Returns the text without its markup.
pub(super) fn plain_text(wikitext: &str) -> String {
    let text = Tags::stripped(wikitext);
    let mut out = String::with_capacity(text.len() / 2);
    let mut open: Vec<Open> = Vec::new();
    // Number of open templates and tables: their text is left out.
    let mut silent = 0;
    let mut rest = text.as_str();
    let mut at_line_start = true;
    // Something that is seen was left out: the next word is another one.
    let mut parts_words = false;
    while let Some(first) = rest.chars().next() {
        let is_start = std::mem::replace(&mut at_line_start, first == '\n');
        let mut take = first.len_utf8();
        match first {
            '{' if rest.starts_with("{{") && open.len() < DEPTH_MAX => {
                open.push(Open::Template);
                (silent, take) = (silent + 1, 2);
            }
            '{' if is_start && rest.starts_with("{|") && open.len() < DEPTH_MAX => {
                open.push(Open::Table);
                (silent, take) = (silent + 1, 2);
            }
            '}' if rest.starts_with("}}") && closes(&mut open, Open::Template, &mut silent) => {
                (take, parts_words) = (2, true);
            }
            '|' if rest.starts_with("|}")
                && is_start
                && closes(&mut open, Open::Table, &mut silent) =>
            {
                take = 2;
            }
            '[' if rest.starts_with("[[") && open.len() < DEPTH_MAX => {
                open.push(Open::Link(out.len()));
                take = 2;
            }
            ']' if rest.starts_with("]]") && matches!(open.last(), Some(Open::Link(_))) => {
                if let Some(Open::Link(start)) = open.pop() {
                    end_link(&mut out, start);
                    parts_words |= out.len() == start;
                }
                take = 2;
            }
            '[' if silent == 0 && is_address(&rest[1..]) && open.len() < DEPTH_MAX => {
                open.push(Open::External(out.len()));
            }
            ']' if matches!(open.last(), Some(Open::External(_))) => {
                if let Some(Open::External(start)) = open.pop() {
                    end_external(&mut out, start);
                }
            }
            '\n' => {
                // A link does not go on in the next paragraph.
                while let Some(Open::Link(_) | Open::External(_)) = open.last()
                    && rest.starts_with("\n\n")
                {
                    open.pop();
                }
                if silent == 0 {
                    out.push('\n');
                }
            }
            '\'' if rest.starts_with("''") => {
                take = rest.bytes().take_while(|&byte| byte == b'\'').count();
            }
            '_' if rest.starts_with("__") => match behaviour_switch(rest) {
                Some(bytes) => take = bytes,
                None if silent == 0 => out.push('_'),
                None => {}
            },
            c if silent == 0 => {
                if std::mem::take(&mut parts_words)
                    && c.is_alphanumeric()
                    && out.ends_with(char::is_alphanumeric)
                {
                    out.push(' ');
                }
                out.push(c);
            }
            _ => {}
        }
        rest = &rest[take..];
    }
    lines(&unescaped(&out))
}

/// Closes the innermost template or table, with the links within it; `false` where none is open.
fn closes(open: &mut Vec<Open>, kind: Open, silent: &mut usize) -> bool {
    let Some(at) = open.iter().rposition(|&one| one == kind) else {
        return false;
    };
    let closed = open[at..]
        .iter()
        .filter(|one| matches!(one, Open::Template | Open::Table));
    *silent -= closed.count();
    open.truncate(at);
    true
}

/// Replaces the inside of `[[…]]`, which the output has from `start` on, by the words of the link. Files and categories
/// have none.
fn end_link(out: &mut String, start: usize) {
    let inside = out.split_off(start.min(out.len()));
    let target = inside.split('|').next().unwrap_or_default();
    let (space, page) = target
        .trim_start_matches(':')
        .split_once(':')
        .unwrap_or(("", target));
    let space = space.trim().to_lowercase();
    let is_shown = target.starts_with(':') || !SPACES_WITHOUT_WORDS.contains(&&*space);
    // Links to other languages stand alone: `[[de:Eule]]`.
    let is_language = !inside.contains('|')
        && (2..=3).contains(&space.len())
        && space.bytes().all(|byte| byte.is_ascii_lowercase())
        && !page.starts_with(' ');
    if !is_shown || is_language {
        return;
    }
    let words = inside
        .split_once('|')
        .map_or(inside.as_str(), |(_, words)| words);
    out.push_str(words.trim_start_matches(':'));
}

/// Namespaces of files and categories in large wikis.
const SPACES_WITHOUT_WORDS: [&str; 30] = [
    "file",
    "image",
    "category",
    "media",
    "datei",
    "bild",
    "kategorie",
    "fichier",
    "catégorie",
    "archivo",
    "imagen",
    "categoría",
    "immagine",
    "categoria",
    "ficheiro",
    "imagem",
    "bestand",
    "afbeelding",
    "categorie",
    "plik",
    "kategoria",
    "файл",
    "изображение",
    "категория",
    "файл",
    "ファイル",
    "画像",
    "文件",
    "分类",
    "分類",
];

/// Replaces the inside of `[address words]` by its words.
fn end_external(out: &mut String, start: usize) {
    let inside = out.split_off(start.min(out.len()));
    let words = inside
        .split_once([' ', '\t'])
        .map_or("", |(_, words)| words);
    out.push_str(words.trim());
}

fn is_address(text: &str) -> bool {
    text.starts_with("//")
        || [
            "http://", "https://", "ftp://", "mailto:", "news:", "irc://",
        ]
        .iter()
        .any(|scheme| text.starts_with(scheme))
}

/// Returns the length of `__NOTOC__` and the like.
fn behaviour_switch(text: &str) -> Option<usize> {
    let inner = text[2..].bytes().take_while(u8::is_ascii_uppercase).count();
    let end = 2 + inner;
    (inner > 0 && text[end..].starts_with("__")).then_some(end + 2)
}

/// Decodes entities.
fn unescaped(text: &str) -> String {
    #[cfg(feature = "html")]
    return html_escape::decode_html_entities(text).into_owned();
    #[cfg(not(feature = "html"))]
    {
        let mut text = text.replace("&nbsp;", " ");
        for sign in super::tags::LITERAL_SIGNS {
            text = text.replace(
                &format!("&#{};", u32::from(sign)),
                sign.encode_utf8(&mut [0; 4]),
            );
        }
        text.replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&")
    }
}

/// Cleans lines: headings and items without their signs, empty lines once.
fn lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.trim();
        let heading = line
            .strip_prefix("==")
            .and_then(|rest| rest.strip_suffix("=="));
        let line = heading.map_or(line, |rest| rest.trim_matches('=').trim());
        let line = match line {
            rule if rule.starts_with("----") => rule.trim_start_matches('-'),
            item => item.trim_start_matches(['*', '#', ';', ':']),
        };
        let line = line.trim();
        // What templates leave behind: brackets and signs without a word.
        let is_empty = !line.chars().any(char::is_alphanumeric);
        if is_empty && (out.is_empty() || out.ends_with("\n\n")) {
            continue;
        }
        if !is_empty {
            out.push_str(&line.replace("()", "").replace("  ", " "));
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out
}
