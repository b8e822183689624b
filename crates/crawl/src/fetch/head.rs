//! Heads of HTTP/1 messages as bytes: their end, their header lines.

/// Returns the length of the head at the start of `bytes`, its empty line included, if it is complete.
/// `from` is how far an earlier call has searched in vain.
pub(super) fn head_len(bytes: &[u8], from: usize) -> Option<usize> {
    let start = from.saturating_sub(3).min(bytes.len());
    for (offset, &byte) in bytes[start..].iter().enumerate() {
        if byte != b'\n' {
            continue;
        }
        let next = start + offset + 1;
        match bytes.get(next..) {
            Some([b'\n', ..]) => return Some(next + 1),
            Some([b'\r', b'\n', ..]) => return Some(next + 2),
            _ => {}
        }
    }
    None
}

/// Returns whether `head` is that of an interim response, 1xx.
pub(super) fn is_interim(head: &[u8]) -> bool {
    head.starts_with(b"HTTP/1.")
        && head.get(8..10) == Some(b" 1")
        && head.get(9..12) != Some(b"101")
}

/// Returns the header lines of `head` in their order, names as received. A folded line continues its value; a line without
/// a colon is left out.
pub(super) fn header_lines(head: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut lines: Vec<(String, Vec<u8>)> = Vec::new();
    for line in head.split(|&byte| byte == b'\n').skip(1) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            break;
        }
        if matches!(line[0], b' ' | b'\t') {
            if let Some((_, value)) = lines.last_mut() {
                value.push(b' ');
                value.extend_from_slice(line.trim_ascii());
            }
            continue;
        }
        if let Some(colon) = line.iter().position(|&byte| byte == b':') {
            let name = String::from_utf8_lossy(line[..colon].trim_ascii()).into_owned();
            lines.push((name, line[colon + 1..].trim_ascii().to_vec()));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_keep_order_and_case() {
        let head = b"HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nX: 1\r\n  2\r\nnonsense\r\nset-cookie:b\r\n\r\nbody";
        let len = head_len(head, 0).unwrap();
        assert_eq!(&head[len..], b"body");
        let expected: Vec<(String, Vec<u8>)> =
            [("Set-Cookie", "a"), ("X", "1 2"), ("set-cookie", "b")]
                .map(|(name, value)| (name.to_owned(), value.into()))
                .into();
        assert_eq!(header_lines(&head[..len]), expected);
    }

    proptest! {
        #[test]
        fn a_search_in_pieces_finds_the_same_end(bytes in proptest::collection::vec(
            prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'a')], 0..40)) {
            let whole = head_len(&bytes, 0);
            let found = (1..=bytes.len()).find_map(|len| head_len(&bytes[..len], len - 1));
            prop_assert_eq!(whole, found);
            header_lines(&bytes);
        }
    }
}
