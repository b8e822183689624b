//! Percent-encoding of patterns and of paths, before they are compared.

use crate::address::percent::{is_unreserved, octet, push_encoded};

/// Returns `pattern` as Google compares it: octets outside of ASCII encoded, hexadecimal digits in upper case, else as written.
pub fn escaped_pattern(pattern: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(pattern.len());
    let mut at = 0;
    while at < pattern.len() {
        match (pattern[at], octet(pattern, at)) {
            (b'%', Some(byte)) => {
                push_encoded(&mut out, byte);
                at += 2;
            }
            (byte @ 0x80.., _) => push_encoded(&mut out, byte),
            (byte, _) => out.push(byte),
        }
        at += 1;
    }
    out
}

/// Returns a pattern in the normal form of RFC 9309, section 2.2.2. `*`, and `$` at the end, keep their meaning.
pub(super) fn normal_pattern(pattern: &[u8]) -> Vec<u8> {
    let (pattern, anchored) = match pattern.split_last() {
        Some((b'$', rest)) => (rest, true),
        _ => (pattern, false),
    };
    let mut out = normal(pattern, true);
    if anchored {
        out.push(b'$');
    }
    out
}

/// Returns a path in the normal form of RFC 9309: `*` and `$` encoded, since they stand for themselves.
pub(super) fn normal_path(path: &[u8]) -> Vec<u8> {
    normal(path, false)
}

/// Decodes unreserved octets and encodes all that is neither reserved nor unreserved.
fn normal(text: &[u8], keep_star: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 8);
    let mut at = 0;
    while at < text.len() {
        let (byte, encoded) = match (text[at], octet(text, at)) {
            (b'%', Some(byte)) => {
                at += 2;
                (byte, true)
            }
            (byte, _) => (byte, false),
        };
        at += 1;
        let plain = if encoded {
            is_unreserved(byte)
        } else {
            is_unreserved(byte)
                || b":/?#[]@!&'()+,;=".contains(&byte)
                || (byte == b'*' && keep_star)
        };
        if plain {
            out.push(byte);
        } else {
            push_encoded(&mut out, byte);
        }
    }
    out
}

/// Returns the part of `url`, canonical or as written, that rules are compared with: path, parameters and query,
/// without the fragment.
pub fn path_for_matching(url: &str) -> String {
    let authority = if let Some(rest) = url.strip_prefix("//") {
        rest
    } else {
        let early = url.find(['/', '?', ';']).unwrap_or(url.len());
        match url.find("://") {
            Some(colon) if early > colon => &url[colon + 3..],
            _ => url,
        }
    };
    let end = authority.find('#').unwrap_or(authority.len());
    let Some(begin) = authority[..end].find(['/', '?', ';']) else {
        return "/".to_owned();
    };
    let path = &authority[begin..end];
    if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("/{path}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_patterns_and_paths() {
        for (text, written, pattern, path) in [
            ("/%62%61%7a", "/%62%61%7A", "/baz", "/baz"),
            ("/ü%2f", "/%C3%BC%2F", "/%C3%BC%2F", "/%C3%BC%2F"),
            ("/a*b$", "/a*b$", "/a*b$", "/a%2Ab%24"),
            ("/%2a$x%24", "/%2A$x%24", "/%2A%24x%24", "/%2A%24x%24"),
            ("/{a}%", "/{a}%", "/%7Ba%7D%25", "/%7Ba%7D%25"),
        ] {
            let text = text.as_bytes();
            assert_eq!(String::from_utf8(escaped_pattern(text)).unwrap(), written);
            assert_eq!(String::from_utf8(normal_pattern(text)).unwrap(), pattern);
            assert_eq!(String::from_utf8(normal_path(text)).unwrap(), path);
        }
    }
}
