//! Elements of TREC's SGML, by name, without a tree.

use json::{Map, Value};

/// Elements that hold the title, in order of preference.
const TITLES: [&str; 8] = [
    "headline", "title", "hl", "head", "hh", "ttl", "ti", "doctitle",
];
/// Elements that hold text, where a document has any of them.
const TEXTS: [&str; 10] = [
    "text", "leadpara", "lp", "abs", "abstract", "summary", "graphic", "caption", "subject", "in",
];
/// Elements that are kept as fields, with the names of the fields.
const FIELDS: [(&str, &str); 6] = [
    ("date", "date"),
    ("dd", "date"),
    ("date1", "date"),
    ("byline", "author"),
    ("author", "author"),
    ("source", "source"),
];
/// Elements whose text is not part of the body in documents without a text element.
const HEADS: [&str; 3] = ["docno", "docid", "parent"];

/// Title, text and fields of a document.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Text {
    pub(super) title: String,
    pub(super) body: String,
    pub(super) fields: Map<String, Value>,
}

/// Returns the title, the text and the fields of a document.
pub(super) fn text(document: &str) -> Text {
    let bytes = document.as_bytes();
    let inner = |name: &str| element(bytes, name).and_then(|inner| std::str::from_utf8(inner).ok());
    let title_element = TITLES.iter().find(|name| inner(name).is_some());
    let title = title_element
        .and_then(|name| inner(name))
        .map(one_line)
        .unwrap_or_default();
    let mut fields = Map::new();
    for (name, field) in FIELDS {
        let value = inner(name).map(one_line).filter(|value| !value.is_empty());
        if let Some(value) = value {
            fields
                .entry(field.to_owned())
                .or_insert(Value::String(value));
        }
    }
    let mut parts = Vec::new();
    for name in TEXTS.iter().filter(|name| Some(*name) != title_element) {
        let mut rest = bytes;
        while let Some((inner, after)) = element_and_rest(rest, name) {
            parts.push(without_tags(&String::from_utf8_lossy(inner)));
            rest = after;
        }
    }
    let body = match parts.is_empty() {
        false => parts.join("\n"),
        true => {
            let mut whole = document.to_owned();
            for name in HEADS.iter().chain(title_element) {
                whole = without_element(&whole, name);
            }
            without_tags(&whole)
        }
    };
    Text {
        title,
        body: body.trim().to_owned(),
        fields,
    }
}

/// Returns the place of the tag `name` (`/name` for an end) at or after `from`, in any case.
pub(super) fn find_tag(text: &[u8], name: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    memchr::memchr_iter(b'<', rest)
        .map(|at| from + at)
        .find(|&at| {
            let end = at + 1 + name.len();
            let is_name = text
                .get(at + 1..end)
                .is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()));
            is_name
                && text
                    .get(end)
                    .is_none_or(|byte| !byte.is_ascii_alphanumeric())
        })
}

/// Returns the contents of the first element of a name.
pub(super) fn element<'t>(text: &'t [u8], name: &str) -> Option<&'t [u8]> {
    element_and_rest(text, name).map(|(inner, _)| inner)
}

/// Returns the contents of the first element of a name, and the text after it. An element without an end reaches to the
/// end of the text.
pub(super) fn element_and_rest<'t>(text: &'t [u8], name: &str) -> Option<(&'t [u8], &'t [u8])> {
    let (start, end, after) = bounds(text, name)?;
    Some((&text[start..end], &text[after..]))
}

/// Returns the bounds of the inside of the first element of a name, and the place behind it.
fn bounds(text: &[u8], name: &str) -> Option<(usize, usize, usize)> {
    let tag = find_tag(text, name, 0)?;
    let start = tag + memchr::memchr(b'>', &text[tag..])? + 1;
    let end = find_tag(text, &format!("/{name}"), start).unwrap_or(text.len());
    let after = memchr::memchr(b'>', &text[end..]).map_or(text.len(), |close| end + close + 1);
    Some((start, end, after))
}

fn without_element(text: &str, name: &str) -> String {
    match bounds(text.as_bytes(), name) {
        Some((start, _, after)) => {
            let tag = text[..start].rfind('<').unwrap_or(start);
            format!("{} {}", &text[..tag], &text[after..])
        }
        None => text.to_owned(),
    }
}

/// Returns a text without tags, its entities decoded. A tag begins with a letter, `/` or `!`.
pub(super) fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        out.push_str(&rest[..open]);
        let inside = &rest[open + 1..];
        let is_tag = inside.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!');
        match inside.find('>').filter(|_| is_tag) {
            Some(close) => {
                if matches!(
                    inside.get(..2),
                    Some("P>" | "p>" | "/P" | "/p" | "BR" | "br")
                ) {
                    out.push('\n');
                }
                rest = &inside[close + 1..];
            }
            None => {
                out.push('<');
                rest = inside;
            }
        }
    }
    out.push_str(rest);
    decoded(&out)
}

/// Decodes entities, those of the collections too.
fn decoded(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let text = text
        .replace("&hyph;", "-")
        .replace("&blank;", " ")
        .replace("&sect;", "§")
        .replace("&cir;", "○");
    #[cfg(feature = "html")]
    return html_escape::decode_html_entities(&text).into_owned();
    #[cfg(not(feature = "html"))]
    return text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
}

fn one_line(text: &str) -> String {
    let text = without_tags(text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
