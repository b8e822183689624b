//! Lines of robots.txt: keys and values, with the tolerance of Google's parser.
//!
//! line  := [key (":" | blank) value] ["#" comment] (LF | CR | CR LF | end)
//!
//! A byte-order mark is skipped, also a part of one. A NUL ends its line. HTML tags are taken out. Without a colon, a blank
//! separates if there are exactly two words. Bytes of a line beyond [`LINE_BYTES_MAX`] are ignored.

use std::borrow::Cow;

/// Greatest length of a line, in bytes: eight times the longest URL of old browsers.
pub const LINE_BYTES_MAX: usize = 2083 * 8 - 1;

/// Kinds of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    UserAgent,
    Allow,
    Disallow,
    Sitemap,
    CrawlDelay,
    Other,
}

/// A line with key and value.
#[derive(Debug)]
pub(super) struct Line<'a> {
    /// Number of the line, from 1.
    pub(super) number: u32,
    pub(super) key: Key,
    pub(super) name: Cow<'a, [u8]>,
    pub(super) value: Cow<'a, [u8]>,
    /// Whether bytes beyond the greatest length were ignored.
    pub(super) is_cut: bool,
}

/// Lines that have a key, in order.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let mark = text
        .iter()
        .zip(b"\xEF\xBB\xBF")
        .take_while(|(a, b)| a == b)
        .count();
    let mut rest = Some(&text[mark..]);
    let mut number = 0;
    std::iter::from_fn(move || {
        let text = rest?;
        let end = memchr::memchr2(b'\n', b'\r', text).unwrap_or(text.len());
        rest = match &text[end..] {
            [b'\r', b'\n', after @ ..] => Some(after),
            [_, after @ ..] => Some(after),
            [] => None,
        };
        number += 1;
        Some((number, &text[..end]))
    })
    .filter_map(|(number, line)| parsed(number, line))
}

fn parsed(number: u32, line: &[u8]) -> Option<Line<'_>> {
    let is_cut = line.len() > LINE_BYTES_MAX;
    let line = &line[..line.len().min(LINE_BYTES_MAX)];
    let line = &line[..memchr::memchr2(0, b'#', line).unwrap_or(line.len())];
    let (name, value) = match without_tags(line) {
        Some(line) => {
            let (name, value) = split(&line)?;
            (Cow::Owned(name.to_vec()), Cow::Owned(value.to_vec()))
        }
        None => {
            let (name, value) = split(line)?;
            (Cow::Borrowed(name), Cow::Borrowed(value))
        }
    };
    Some(Line {
        number,
        key: key(&name),
        name,
        value,
        is_cut,
    })
}

fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.trim_ascii();
    let (name, value) = match memchr::memchr(b':', line) {
        Some(colon) => (&line[..colon], &line[colon + 1..]),
        None => {
            let blank = memchr::memchr2(b' ', b'\t', line)?;
            let value = line[blank..].trim_ascii();
            if memchr::memchr2(b' ', b'\t', value).is_some() {
                return None;
            }
            (&line[..blank], value)
        }
    };
    let name = name.trim_ascii();
    (!name.is_empty()).then_some((name, value.trim_ascii()))
}

/// Returns `line` without `<tag …>`, or `None` where it has no tag.
fn without_tags(line: &[u8]) -> Option<Vec<u8>> {
    let mut from = memchr::memchr(b'<', line)?;
    let mut out = line[..from].to_vec();
    while from < line.len() {
        let is_tag = line
            .get(from + 1)
            .is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'/' | b'!'));
        let end = memchr::memchr(b'>', &line[from..])
            .filter(|_| is_tag)
            .map_or(from, |at| from + at + 1);
        // Without a closing bracket no further tag can end either.
        let next = if end == from && is_tag {
            line.len()
        } else {
            let begin = end.max(from + usize::from(end == from));
            memchr::memchr(b'<', &line[begin..]).map_or(line.len(), |at| begin + at)
        };
        out.extend(&line[end..next]);
        from = next;
    }
    Some(out)
}

/// Recognises a key by its begin, and by the typing errors that Google's parser accepts.
fn key(name: &[u8]) -> Key {
    let begins = |with: &str| {
        name.len() >= with.len() && name[..with.len()].eq_ignore_ascii_case(with.as_bytes())
    };
    let any = |all: &[&str]| all.iter().any(|with| begins(with));
    if any(&["user-agent", "useragent", "user agent"]) {
        Key::UserAgent
    } else if begins("allow") {
        Key::Allow
    } else if any(&[
        "disallow",
        "dissallow",
        "dissalow",
        "disalow",
        "diasllow",
        "disallaw",
    ]) {
        Key::Disallow
    } else if any(&["sitemap", "site-map"]) {
        Key::Sitemap
    } else if any(&["crawl-delay", "crawl delay", "crawldelay"]) {
        Key::CrawlDelay
    } else {
        Key::Other
    }
}

/// Returns the name of an extension in lower case, without `-` and other signs, and in the singular.
pub(super) fn extension_name(name: &[u8]) -> String {
    let signs = name.iter().filter(|b| b.is_ascii_alphanumeric());
    let name: String = signs.map(|b| b.to_ascii_lowercase() as char).collect();
    if name == "contentsignals" {
        "contentsignal".to_owned()
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &[u8], expected: &[&str]) {
        let show = |line: Line<'_>| {
            format!(
                "{} {}={}",
                line.number,
                String::from_utf8_lossy(&line.name),
                String::from_utf8_lossy(&line.value)
            )
        };
        assert_eq!(lines(text).map(show).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn ends_of_lines_comments_and_marks() {
        check(
            b"\xEF\xBB\xBFa: b # c\r\n\rd:e\n\n:x\nf g\nh i j",
            &["1 a=b", "3 d=e", "6 f=g"],
        );
        check(b"\xEFa:b\0c\n", &["1 a=b"]);
        check(b"", &[]);
    }

    #[test]
    fn tags_are_taken_out() {
        check(b"<BODY>Disallow: /<BR>\n", &["1 Disallow=/"]);
        check(
            b"Disallow: /a<b\nAllow: /<\nAllow: /<1>x<i>y",
            &["1 Disallow=/a<b", "2 Allow=/<", "3 Allow=/<1>xy"],
        );
    }

    #[test]
    fn long_lines_are_cut() {
        let text = [b"allow: /".as_slice(), &[b'x'; LINE_BYTES_MAX]].concat();
        let line = lines(&text).next().unwrap();
        assert!(line.is_cut);
        assert_eq!(line.value.len(), LINE_BYTES_MAX - 7);
    }

    proptest! {
        #[test]
        fn tags_are_taken_out_in_one_pass(text in "[<>/a ]{0,24}") {
            let found = without_tags(text.as_bytes()).unwrap_or_else(|| text.as_bytes().to_vec());
            prop_assert_eq!(String::from_utf8(found).unwrap(), slowly(&text));
        }
    }

    /// Searches each tag from the begin of the rest.
    fn slowly(text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let is_tag = c == '<'
                && rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!');
            match rest.find('>').filter(|_| is_tag) {
                Some(end) => rest = &rest[end + 1..],
                None => {
                    out.push(c);
                    rest = &rest[c.len_utf8()..];
                }
            }
        }
        out
    }
}
