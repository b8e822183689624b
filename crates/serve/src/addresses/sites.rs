//! Names of sites within the text of a query.

use std::borrow::Cow;

const FIELD: &str = "site:";

/// Replaces the names of sites in a query by what `rename` returns; those for which it returns nothing stay.
///
/// A name is what follows `site:`, in quotation marks or up to white space, or each such name of a group in parentheses.
pub(super) fn renamed<'a>(query: &'a str, rename: impl Fn(&str) -> Option<String>) -> Cow<'a, str> {
    let lower = query.to_ascii_lowercase();
    if !lower.contains(FIELD) {
        return Cow::Borrowed(query);
    }
    let mut written = String::with_capacity(query.len());
    let mut at = 0;
    while let Some(found) = lower[at..].find(FIELD) {
        let names = at + found + FIELD.len();
        let is_field = !lower[..at + found].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        written.push_str(&query[at..names]);
        at = names;
        if is_field {
            at += push_names(&query[names..], &rename, &mut written);
        }
    }
    written.push_str(&query[at..]);
    Cow::Owned(written)
}

/// Writes the name, or the group of names, that a text begins with. Returns the bytes read.
fn push_names(text: &str, rename: &impl Fn(&str) -> Option<String>, written: &mut String) -> usize {
    if !text.starts_with('(') {
        return push_name(text, rename, written);
    }
    written.push('(');
    let mut at = 1;
    while let Some(next) = text[at..].chars().next() {
        if next == ')' {
            break;
        }
        if next.is_whitespace() || next == '(' {
            written.push(next);
            at += next.len_utf8();
        } else {
            at += push_name(&text[at..], rename, written);
        }
    }
    at
}

/// Writes the name that a text begins with. Returns the bytes read.
fn push_name(text: &str, rename: &impl Fn(&str) -> Option<String>, written: &mut String) -> usize {
    let (name, bytes) = match text.strip_prefix('"') {
        Some(quoted) => {
            let end = quoted.find('"').unwrap_or(quoted.len());
            (&quoted[..end], (end + 2).min(text.len()))
        }
        None => {
            let end = text.find(|c: char| c.is_whitespace() || matches!(c, '(' | ')'));
            let end = end.unwrap_or(text.len());
            (&text[..end], end)
        }
    };
    match rename(name) {
        Some(other) => {
            written.push('"');
            written.push_str(&other);
            written.push('"');
        }
        None => written.push_str(&text[..bytes]),
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(query: &str, expected: &str) {
        let rename = |name: &str| (name == "/docs/a").then(|| "/srv/docs/a".to_owned());
        assert_eq!(renamed(query, rename), expected);
    }

    #[test]
    fn names_of_sites() {
        check("owls site:/docs/a", "owls site:\"/srv/docs/a\"");
        check("SITE:\"/docs/a\" owls", "SITE:\"/srv/docs/a\" owls");
        check("-site:/docs/a x", "-site:\"/srv/docs/a\" x");
        check("(site:/docs/a OR b)", "(site:\"/srv/docs/a\" OR b)");
        check(
            "site:(/docs/a OR \"/docs/a\" x.org) y",
            "site:(\"/srv/docs/a\" OR \"/srv/docs/a\" x.org) y",
        );
        check(
            "site:/docs/ab website:/docs/a",
            "site:/docs/ab website:/docs/a",
        );
        check("no names", "no names");
        check("site:", "site:");
        check("site:\"/docs/a", "site:\"/srv/docs/a\"");
    }

    proptest! {
        #[test]
        fn other_queries_stay(query in "(site:|SITE:\\(|[\"() a-zé/:]){0,12}") {
            prop_assert_eq!(renamed(&query, |_| None), query.as_str());
        }
    }
}
