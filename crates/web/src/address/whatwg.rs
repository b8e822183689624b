//! URL parsing of the WHATWG standard for http and https.
//!
//! The crate `url` (2.5.8) deviates from the standard's own tests on two kinds of http addresses (7 and 7 rows), mended here:
//! - `///host` against a base: the standard ignores further slashes before the authority of an http URL; `url` finds an empty host;
//! - `https://xn--/`: the standard keeps ASCII labels that begin with `xn--` and are no valid names; `url` refuses them.
//!   [`href`] keeps them; [`resolve`] refuses them, since such names cannot be registered.

use std::borrow::Cow;

use url::{ParseError, Url};

/// Parses `input`, relative to `base` where given.
pub fn resolve(input: &str, base: Option<&Url>) -> Result<Url, ParseError> {
    match base {
        Some(base) if matches!(base.scheme(), "http" | "https") => {
            base.join(&one_pair_of_slashes(input))
        }
        Some(base) => base.join(input),
        None => Url::parse(input),
    }
}

/// Returns the serialised URL that the standard demands for `input`, relative to `base` where given.
pub fn href(input: &str, base: Option<&Url>) -> Result<String, ParseError> {
    match resolve(input, base) {
        Ok(url) => Ok(url.into()),
        Err(ParseError::IdnaError) => with_broken_labels(input, base),
        Err(error) => Err(error),
    }
}

/// Shortens the slashes that begin a relative reference to two, where there are more.
fn one_pair_of_slashes(input: &str) -> Cow<'_, str> {
    let ignored = |c: char| matches!(c, '\t' | '\n' | '\r');
    let trimmed = input.trim_start_matches(|c: char| c <= ' ');
    let rest = trimmed.trim_start_matches(|c: char| ignored(c) || matches!(c, '/' | '\\'));
    let slashes = trimmed[..trimmed.len() - rest.len()]
        .chars()
        .filter(|c| !ignored(*c))
        .count();
    if slashes > 2 {
        Cow::Owned(format!("//{rest}"))
    } else {
        Cow::Borrowed(input)
    }
}

/// Parses with placeholders for the labels that begin with `xn--`, and puts the labels back.
fn with_broken_labels(input: &str, base: Option<&Url>) -> Result<String, ParseError> {
    const PLACEHOLDER: &str = "xn0q7zbroken";
    let lower = input.to_ascii_lowercase();
    if lower.contains(PLACEHOLDER) {
        return Err(ParseError::IdnaError);
    }
    let mut replaced = String::with_capacity(input.len() + 16);
    let mut labels: Vec<&str> = Vec::new();
    let mut from = 0;
    for (at, _) in lower.match_indices("xn--") {
        // Labels of one host only: behind it the same letters are part of a path.
        if !labels.is_empty() && lower[from..at].contains(['/', '\\', '?', '#']) {
            break;
        }
        let rest = &lower[at..];
        let end = at
            + rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
                .unwrap_or(rest.len());
        let before = at.checked_sub(1).map(|i| lower.as_bytes()[i]);
        if !lower[end..].starts_with(['.', ':', '/', '\\', '?', '#']) && end < lower.len() {
            return Err(ParseError::IdnaError);
        }
        if before.is_none_or(|b| b".:/\\@".contains(&b)) {
            replaced.push_str(&input[from..at]);
            replaced.push_str(PLACEHOLDER);
            labels.push(&lower[at..end]);
            from = end;
        }
    }
    replaced.push_str(&input[from..]);
    let mut href = String::from(resolve(&replaced, base)?);
    for label in labels {
        href = href.replacen(PLACEHOLDER, label, 1);
    }
    Ok(href)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expected: &str) {
        let base = Url::parse("http://example.org/a/b").unwrap();
        assert_eq!(
            href(input, Some(&base)).as_deref(),
            Ok(expected),
            "{input:?}"
        );
    }

    #[test]
    fn further_slashes_before_a_host_are_ignored() {
        check("///test", "http://test/");
        check(" \t//\n/\\test/x", "http://test/x");
        check("//test/", "http://test/");
        check("/test//x", "http://example.org/test//x");
        check("x///y", "http://example.org/a/x///y");
    }

    #[test]
    fn ascii_labels_of_invalid_names_are_kept() {
        check("https://xn--/", "https://xn--/");
        check("https://a.XN--:8080/xn--", "https://a.xn--:8080/xn--");
        check(
            "https://10.XN--pokxncvks.a.xn--/",
            "https://10.xn--pokxncvks.a.xn--/",
        );
        check("https://xn--bcher-kva.de/", "https://xn--bcher-kva.de/");
        assert!(resolve("https://xn--/", None).is_err());
        assert!(href("https://xn--é/", None).is_err());
    }
}
