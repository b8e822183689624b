//! Tags and comments within wikitext: what is left out with its inside, what without, and what is text as it stands.
//!
//! ```text
//! <ref>…</ref> <math>…</math> <!-- … -->    left out; but for comments, they part the words around them
//! <nowiki>{{x}}</nowiki> <pre>…</pre>       the inside is text: its signs become references, which are decoded in the end
//! <ruby>漢<rt>かん</rt></ruby>              the reading follows its line
//! ```

use std::collections::HashMap;

/// Elements whose inside is text, whatever signs it has.
const LITERAL: [&str; 4] = ["nowiki", "pre", "syntaxhighlight", "source"];

/// Elements that break the line.
const BLOCKS: [&str; 27] = [
    "br",
    "p",
    "div",
    "li",
    "tr",
    "hr",
    "blockquote",
    "pre",
    "syntaxhighlight",
    "poem",
    "table",
    "caption",
    "td",
    "th",
    "ul",
    "ol",
    "dl",
    "dt",
    "dd",
    "center",
    "section",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
];

/// Elements that are left out with their contents.
const WITH_INSIDE: [&str; 15] = [
    "rp",
    "ref",
    "math",
    "chem",
    "gallery",
    "timeline",
    "score",
    "hiero",
    "graph",
    "imagemap",
    "templatedata",
    "style",
    "script",
    "references",
    "mapframe",
];

/// Cutter of tags, which knows where each element's next end is, so that its time is linear.
pub(super) struct Tags<'t> {
    text: &'t str,
    /// The next end of an element at or after the place that was asked for last.
    ends: HashMap<&'static str, Option<usize>>,
    /// Readings of words of the line.
    readings: String,
}

impl<'t> Tags<'t> {
    /// Returns the text without comments and tags.
    pub(super) fn stripped(text: &'t str) -> String {
        let mut tags = Tags {
            text,
            ends: HashMap::new(),
            readings: String::new(),
        };
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(found) = memchr::memchr(b'<', &text.as_bytes()[at..]) {
            tags.push(&text[at..at + found], &mut out);
            at += found;
            match tags.end_of(at, &mut out) {
                Some(end) => at = end,
                None => {
                    out.push('<');
                    at += 1;
                }
            }
        }
        tags.push(&text[at..], &mut out);
        tags.end_line(&mut out);
        out
    }

    /// Appends text between tags; readings follow the line that they are in.
    fn push(&mut self, text: &str, out: &mut String) {
        match text.split_once('\n').filter(|_| !self.readings.is_empty()) {
            Some((line, rest)) => {
                out.push_str(line);
                self.end_line(out);
                out.push('\n');
                out.push_str(rest);
            }
            None => out.push_str(text),
        }
    }

    fn end_line(&mut self, out: &mut String) {
        let readings = std::mem::take(&mut self.readings);
        if !readings.trim_end().is_empty() {
            out.push('\n');
            out.push_str(readings.trim_end());
        }
    }

    /// Returns the end of the tag, element or comment that begins at `at`; `None` for a `<` that is text.
    fn end_of(&mut self, at: usize, out: &mut String) -> Option<usize> {
        let text = self.text;
        let rest = &text[at..];
        if rest.starts_with("<!--") {
            return Some(self.find("-->", at + 4).unwrap_or(text.len()));
        }
        let name_from = 1 + usize::from(rest.starts_with("</"));
        let name_bytes = rest[name_from..]
            .bytes()
            .take_while(u8::is_ascii_alphanumeric)
            .count();
        let name = rest[name_from..name_from + name_bytes].to_ascii_lowercase();
        if name.is_empty() || !rest.as_bytes()[name_from].is_ascii_alphabetic() {
            return None;
        }
        // A tag is no longer than this.
        let window = &rest.as_bytes()[..rest.len().min(2_000)];
        let close = at + memchr::memchr(b'>', window)?;
        let is_whole = text.as_bytes()[close - 1] == b'/' || name_from == 2;
        if BLOCKS.contains(&&*name) {
            self.end_line(out);
            out.push('\n');
        }
        if name == "ruby" && !self.readings.is_empty() {
            self.readings.push(' ');
        }
        let named = |names: &'static [&'static str]| names.iter().find(|known| **known == name);
        let end = if let Some(known) = named(&WITH_INSIDE) {
            let end = match is_whole {
                true => close + 1,
                false => self
                    .inside(known, close + 1)
                    .map_or(close + 1, |(_, end)| end),
            };
            if *known != "rp" {
                part_words(out, &text[end..]);
            }
            end
        } else if let Some(known) = named(&LITERAL).filter(|_| !is_whole)
            && let Some((inside, end)) = self.inside(known, close + 1)
        {
            push_literal(&text[close + 1..inside], out);
            if BLOCKS.contains(known) {
                out.push('\n');
            }
            end
        } else if let Some(known) = named(&["rt"]).filter(|_| !is_whole)
            && let Some((inside, end)) = self.inside(known, close + 1)
        {
            self.readings.push_str(&text[close + 1..inside]);
            end
        } else {
            close + 1
        };
        Some(end)
    }

    /// Returns where the next `</name>` after `from` begins and ends; `None` for an element that is never closed, of which
    /// the tag alone is left out.
    fn inside(&mut self, name: &'static str, from: usize) -> Option<(usize, usize)> {
        let close = match self.ends.get(name) {
            Some(Some(end)) if *end >= from => Some(*end),
            Some(None) => None,
            _ => {
                let bytes = &self.text.as_bytes()[from..];
                let mut ends = memchr::memchr_iter(b'<', bytes).map(|end| from + end);
                ends.find(|&end| {
                    let tag = self.text.as_bytes()[end..].get(2..2 + name.len());
                    self.text[end..].starts_with("</")
                        && tag.is_some_and(|tag| tag.eq_ignore_ascii_case(name.as_bytes()))
                })
            }
        };
        self.ends.insert(name, close);
        let close = close?;
        let end = memchr::memchr(b'>', &self.text.as_bytes()[close..]);
        Some((close, end.map_or(self.text.len(), |end| close + end + 1)))
    }

    fn find(&self, what: &str, from: usize) -> Option<usize> {
        let found = memchr::memmem::find(
            &self.text.as_bytes()[from.min(self.text.len())..],
            what.as_bytes(),
        );
        found.map(|at| from + at + what.len())
    }
}

/// Ends the word before something that is seen and left out, where another would follow at once.
fn part_words(out: &mut String, rest: &str) {
    if rest.starts_with(char::is_alphanumeric) && out.ends_with(char::is_alphanumeric) {
        out.push(' ');
    }
}

/// Signs that may be markup.
pub(super) const LITERAL_SIGNS: [char; 14] = [
    '{', '}', '[', ']', '|', '\'', '_', '<', '>', '=', '*', '#', ':', ';',
];

/// Appends text whose signs are no markup, as references to its signs.
fn push_literal(text: &str, out: &mut String) {
    for character in text.chars() {
        match LITERAL_SIGNS.contains(&character) {
            true => out.push_str(&format!("&#{};", u32::from(character))),
            false => out.push(character),
        }
    }
}
