//! Percent-encoding in its normal form (RFC 3986, section 6.2.2).

/// Returns the octet that the two hexadecimal digits after a `%` at `at` stand for.
pub fn octet(text: &[u8], at: usize) -> Option<u8> {
    let digit = |b: u8| (b as char).to_digit(16).map(|d| d as u8);
    Some(digit(*text.get(at + 1)?)? << 4 | digit(*text.get(at + 2)?)?)
}

/// Returns whether `byte` means the same encoded and not (RFC 3986, section 2.3).
pub fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Appends `%XX` for `byte`.
pub fn push_encoded(to: &mut Vec<u8>, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    to.extend([
        b'%',
        DIGITS[usize::from(byte >> 4)],
        DIGITS[usize::from(byte & 15)],
    ]);
}

/// Returns `text` with unreserved octets decoded, hexadecimal digits in upper case and `%25` for each `%` without digits.
///
/// Idempotent. All other bytes stay as they are.
pub fn normal(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len() + 8);
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], octet(bytes, at)) {
            (b'%', Some(byte)) => {
                if is_unreserved(byte) {
                    out.push(byte);
                } else {
                    push_encoded(&mut out, byte);
                }
                at += 3;
                continue;
            }
            (b'%', None) => push_encoded(&mut out, b'%'),
            (byte, _) => out.push(byte),
        }
        at += 1;
    }
    // Only ASCII octets are decoded, so what was UTF-8 still is.
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(normal(text), expected, "{text}");
    }

    #[test]
    fn unreserved_octets_are_decoded_and_stray_percent_signs_encoded() {
        check("/%7euser/%2f/%c3%a9", "/~user/%2F/%C3%A9");
        check("/90%+of", "/90%25+of");
        check("/%%34%31", "/%2541");
        check("%", "%25");
        check("%4", "%254");
    }

    proptest! {
        #[test]
        fn normal_form_is_a_fixed_point(text in "[%0-9a-fA-F/é.]{0,40}") {
            let once = normal(&text);
            prop_assert_eq!(normal(&once), once);
        }
    }
}
