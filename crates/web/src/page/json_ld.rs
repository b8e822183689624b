//! Facts of JSON-LD: date, author and breadcrumbs, without a tree.
//!
//! One pass over the tokens of the JSON text; broken JSON gives what stands before the damage. The first
//! date and the first author win; breadcrumbs are the names within a `BreadcrumbList`.

use super::text::clean;

/// Breadcrumbs taken, at most.
const BREADCRUMBS_MAX: usize = 32;

/// Facts found so far; several scripts of a page add to one.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) published: Option<String>,
    pub(super) author: Option<String>,
    pub(super) headline: Option<String>,
    pub(super) breadcrumbs: Vec<String>,
    /// Whether the page is said to be a discussion of its readers.
    pub(super) is_discussion: bool,
}

impl Facts {
    /// Reads one script; linear in its length.
    pub(super) fn read(&mut self, json: &str) {
        let mut depth = 0usize;
        let (mut key, mut author_depth, mut crumbs_depth) = ("", None, None);
        let bytes = json.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                b'{' | b'[' => {
                    depth += 1;
                    if key == "author" && author_depth.is_none() {
                        author_depth = Some(depth);
                    }
                    at += 1;
                }
                b'}' | b']' => {
                    author_depth = author_depth.filter(|&from| depth > from);
                    crumbs_depth = crumbs_depth.filter(|&from| depth > from);
                    depth = depth.saturating_sub(1);
                    at += 1;
                }
                b',' => {
                    key = "";
                    at += 1;
                }
                b'"' => {
                    let (string, end) = string_at(json, at);
                    at = end;
                    let colon = bytes[at..].iter().position(|b| !b.is_ascii_whitespace());
                    if let Some(colon) = colon.filter(|&colon| bytes[at + colon] == b':') {
                        key = string;
                        at += colon + 1;
                        continue;
                    }
                    if key == "@type" && string == "BreadcrumbList" {
                        crumbs_depth = Some(depth);
                    }
                    self.is_discussion |= key == "@type" && is_discussion(string);
                    self.value(key, string, author_depth.is_some(), crumbs_depth.is_some());
                }
                _ => at += 1,
            }
        }
    }

    fn value(&mut self, key: &str, raw: &str, in_author: bool, in_crumbs: bool) {
        let first = |slot: &mut Option<String>, chars_max: usize| {
            if slot.is_none() {
                *slot = Some(unescaped(raw, chars_max)).filter(|text| !text.is_empty());
            }
        };
        match key {
            "datePublished" => first(&mut self.published, 64),
            "headline" => first(&mut self.headline, 300),
            "author" => first(&mut self.author, 200),
            "name" if in_author => first(&mut self.author, 200),
            "name" if in_crumbs && self.breadcrumbs.len() < BREADCRUMBS_MAX => {
                self.breadcrumbs.push(unescaped(raw, 100));
            }
            _ => {}
        }
    }
}

/// Returns whether a type of schema.org is that of a page of posts, or of a question and its answers.
pub(super) fn is_discussion(kind: &str) -> bool {
    matches!(kind, "DiscussionForumPosting" | "QAPage")
}

/// Returns the raw content of the string that begins at `at`, and the position after it.
fn string_at(json: &str, at: usize) -> (&str, usize) {
    let mut end = at + 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &json.as_bytes()[end..]) {
        end += found;
        if json.as_bytes()[end] == b'"' {
            return (&json[at + 1..end], end + 1);
        }
        end = (end + 2).min(json.len());
    }
    (&json[at + 1..], json.len())
}

/// Resolves escapes of JSON, and then of HTML, since many sites write both.
fn unescaped(raw: &str, chars_max: usize) -> String {
    let mut out = String::new();
    let mut rest = raw.chars().take(chars_max * 8);
    while let Some(found) = rest.next() {
        if found != '\\' {
            out.push(found);
            continue;
        }
        match rest.next() {
            Some('u') => {
                let code: String = rest.by_ref().take(4).collect();
                let code = u32::from_str_radix(&code, 16).ok();
                out.push(
                    code.and_then(char::from_u32)
                        .unwrap_or(char::REPLACEMENT_CHARACTER),
                );
            }
            Some('n' | 't' | 'r' | 'f' | 'b') => out.push(' '),
            Some(other) => out.push(other),
            None => {}
        }
    }
    clean(&out, chars_max)
}
