//! Shapes of paths: URLs that one template of a site may have made.

use super::canonical::CanonicalUrl;

/// Shortest run of hexadecimal digits that is an identifier, in bytes.
const HEX_ID_BYTES_MIN: usize = 8;

/// Shortest run of letters and digits that is an identifier where it mixes them, in bytes.
const MIXED_ID_BYTES_MIN: usize = 16;

/// Returns the path of `url` with `0` for each number and `*` for each identifier, and the sorted names of its parameters.
///
/// Example: `/post/123-my-title/9f86d081884c?page=2&id=7` is `/post/0-my-title/*?id&page`.
pub fn path_shape(url: &CanonicalUrl) -> String {
    let path = url.path();
    let mut shape = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(first) = rest.chars().next() {
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(rest.len());
        if end == 0 {
            shape.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            push_word(&mut shape, &rest[..end]);
            rest = &rest[end..];
        }
    }
    if let Some(query) = url.query() {
        let mut names: Vec<&str> = query
            .split('&')
            .map(|part| part.split('=').next().unwrap_or(part))
            .collect();
        names.sort_unstable();
        names.dedup();
        shape.push('?');
        shape.push_str(&names.join("&"));
    }
    shape
}

fn push_word(shape: &mut String, word: &str) {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let hex = word.len() >= HEX_ID_BYTES_MIN && word.bytes().all(|b| b.is_ascii_hexdigit());
    if digits == word.len() {
        shape.push('0');
    } else if digits > 0 && (hex || word.len() >= MIXED_ID_BYTES_MIN) {
        shape.push('*');
    } else {
        let mut number = false;
        for c in word.chars() {
            if !c.is_ascii_digit() {
                shape.push(c);
            } else if !number {
                shape.push('0');
            }
            number = c.is_ascii_digit();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: &str) {
        assert_eq!(
            path_shape(&CanonicalUrl::parse(&format!("https://h{path}")).unwrap()),
            expected
        );
    }

    #[test]
    fn numbers_and_identifiers_collapse() {
        check(
            "/post/123-my-title/9f86d081884c?page=2&id=7",
            "/post/0-my-title/*?id&page",
        );
        check("/calendar/2024/01", "/calendar/0/0");
        check("/v2/a1b22c", "/v0/a0b0c");
        check("/a/deadbeef/x", "/a/deadbeef/x");
        check("/s/abcdefghijklmno7", "/s/*");
        check("/%C3%A9", "/%C0%A0");
    }
}
