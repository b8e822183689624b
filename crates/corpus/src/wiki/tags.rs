//! Tags and comments within wikitext: what is left out with its inside, and what without.

use std::collections::HashMap;

/// Elements that are left out with what they hold.
const WITH_INSIDE: [&str; 14] = [
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
}

impl<'t> Tags<'t> {
    /// Returns the text without comments and tags.
    pub(super) fn stripped(text: &'t str) -> String {
        let mut tags = Tags {
            text,
            ends: HashMap::new(),
        };
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(found) = memchr::memchr(b'<', &text.as_bytes()[at..]) {
            out.push_str(&text[at..at + found]);
            at += found;
            match tags.end_of(at, &mut out) {
                Some(end) => at = end,
                None => {
                    out.push('<');
                    at += 1;
                }
            }
        }
        out.push_str(&text[at..]);
        out
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
        if matches!(
            &*name,
            "br" | "p" | "div" | "li" | "tr" | "hr" | "blockquote"
        ) {
            out.push('\n');
        }
        let known = WITH_INSIDE.iter().find(|known| **known == name);
        Some(match known.filter(|_| !is_whole) {
            Some(known) => self.end_of_element(known, close + 1),
            None => close + 1,
        })
    }

    /// Returns the place behind the next `</name>` after `from`; the end of the text where there is none.
    fn end_of_element(&mut self, name: &'static str, from: usize) -> usize {
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
        match close {
            Some(close) => {
                let end = memchr::memchr(b'>', &self.text.as_bytes()[close..]);
                end.map_or(self.text.len(), |end| close + end + 1)
            }
            // Never closed: the tag alone is left out.
            None => from,
        }
    }

    fn find(&self, what: &str, from: usize) -> Option<usize> {
        let found = memchr::memmem::find(
            &self.text.as_bytes()[from.min(self.text.len())..],
            what.as_bytes(),
        );
        found.map(|at| from + at + what.len())
    }
}
