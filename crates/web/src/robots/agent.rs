//! Names of crawlers in robots.txt and in directives.

/// Returns whether `name` is a product token: letters, `-` and `_` (RFC 9309, section 2.2.1).
pub fn is_product_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(is_token_byte)
}

/// Returns the token of a crawler's own name: `bot/2.0` asks for the rules of `bot`. A name of several words is no token.
pub(super) fn own_token(name: &str) -> &str {
    let is_word = !name.contains(char::is_whitespace);
    name.split('/').next().filter(|_| is_word).unwrap_or(name)
}

/// Returns whether a user-agent line with `value` speaks of all crawlers. Text after a space is ignored.
pub(super) fn is_wildcard(value: &[u8]) -> bool {
    value.first() == Some(&b'*') && value.get(1).is_none_or(u8::is_ascii_whitespace)
}

/// Returns whether a user-agent line with `value` speaks of the crawler `token`.
///
/// The line's name ends at the first byte that a product token cannot have. Crawlers whose own name has such bytes (digits)
/// are also named by the whole first word.
pub(super) fn is_named(value: &[u8], token: &str) -> bool {
    let end = value
        .iter()
        .position(|b| !is_token_byte(*b))
        .unwrap_or(value.len());
    let ends_word = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'/' | b',' | b';');
    let word = value.iter().position(ends_word).unwrap_or(value.len());
    let same = |name: &[u8]| !name.is_empty() && name.eq_ignore_ascii_case(token.as_bytes());
    same(&value[..end]) || same(&value[..word])
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_lines() {
        for (value, token, expected) in [
            ("FooBot", "foobot", true),
            ("foobot/2.1", "foobot", true),
            ("foo bar", "foo", true),
            ("foo bar", "foo bar", false),
            ("foobot2", "foobot", true),
            ("MJ12bot/1", "mj12bot", true),
            ("mj12bot", "mj", true),
            ("foo", "foobot", false),
            ("*", "", false),
        ] {
            assert_eq!(
                is_named(value.as_bytes(), token),
                expected,
                "{value} {token}"
            );
        }
        assert!(
            is_wildcard(b"*") && is_wildcard(b"* x") && !is_wildcard(b"*x") && !is_wildcard(b"")
        );
    }
}
