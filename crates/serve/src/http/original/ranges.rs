//! Which bytes of a file a client wants, if any (RFC 9110, 13 and 14).

use axum::http::header::{self, HeaderMap, HeaderName};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime};

/// Version of a file: its length and its times, which change when it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) bytes: u64,
    /// Entity tag, in quotation marks.
    pub(super) tag: String,
    /// Time of the last change, in seconds since 1970.
    modified_s: u64,
}

impl Version {
    pub(super) fn of(file: &Metadata) -> Version {
        let (bytes, modified_s) = (file.len(), u64::try_from(file.mtime()).unwrap_or(0));
        // The time of the inode's change cannot be set back.
        let times = [
            file.mtime(),
            file.mtime_nsec(),
            file.ctime(),
            file.ctime_nsec(),
        ];
        let times = times.map(|time| format!("{time:x}")).join("-");
        Version {
            bytes,
            tag: format!("\"{:x}-{bytes:x}-{times}\"", file.ino()),
            modified_s,
        }
    }

    /// Returns the time of the last change as a header says it.
    pub(super) fn modified(&self) -> String {
        httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_secs(self.modified_s))
    }

    /// Returns whether a list of tags names this version. Weak tags are as good as strong ones for a copy.
    fn is_among(&self, tags: &str) -> bool {
        let mut tags = tags.split(',').map(|tag| tag.trim());
        tags.any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == self.tag)
    }

    /// Returns whether the file is as old as a time that a client gives; `None` where that is none.
    fn is_since(&self, time: &str) -> Option<bool> {
        let time = httpdate::parse_http_date(time).ok()?;
        let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        Some(self.modified_s <= since.as_secs())
    }
}

/// Bytes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) first: u64,
    /// Offset after the last byte.
    pub(super) end: u64,
}

impl Range {
    pub(super) fn whole(bytes: u64) -> Range {
        Range {
            first: 0,
            end: bytes,
        }
    }

    pub(super) fn bytes(self) -> u64 {
        self.end - self.first
    }
}

/// What of a file is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Whole,
    Part(Range),
    /// The client has this version.
    Nothing,
    /// The range is none of this file.
    Beyond,
}

/// Returns what a request wants of a file of this version.
pub(super) fn wanted(asked: &HeaderMap, version: &Version) -> Wanted {
    let text = |name: HeaderName| asked.get(name).and_then(|value| value.to_str().ok());
    let has_it = match text(header::IF_NONE_MATCH) {
        Some(tags) => version.is_among(tags),
        None => {
            text(header::IF_MODIFIED_SINCE).and_then(|time| version.is_since(time)) == Some(true)
        }
    };
    if has_it {
        return Wanted::Nothing;
    }
    let is_same =
        |condition: &str| match condition.starts_with(['"', 'W']) && condition.ends_with('"') {
            true => condition == version.tag,
            false => version.modified() == condition,
        };
    match text(header::RANGE) {
        Some(range) if text(header::IF_RANGE).is_none_or(is_same) => part(range, version.bytes),
        _ => Wanted::Whole,
    }
}

/// Reads a range. Of several ranges, and of what is none, the whole file is sent, as a server may.
fn part(range: &str, bytes: u64) -> Wanted {
    let parsed = || {
        let (first, last) = range.trim().strip_prefix("bytes=")?.split_once('-')?;
        let number = |text: &str| match text.bytes().all(|byte| byte.is_ascii_digit()) {
            true => Some(text.parse().unwrap_or(u64::MAX)),
            false => None,
        };
        match (first.trim(), last.trim()) {
            ("", "") => None,
            ("", last) => Some((bytes.saturating_sub(number(last)?), bytes)),
            (first, "") => Some((number(first)?, bytes)),
            (first, last) => {
                let (first, last): (u64, u64) = (number(first)?, number(last)?);
                (first <= last).then(|| (first, last.saturating_add(1).min(bytes)))
            }
        }
    };
    match parsed() {
        Some((first, end)) if first < end => Wanted::Part(Range { first, end }),
        Some(_) => Wanted::Beyond,
        None => Wanted::Whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;
    use proptest::prelude::*;

    fn version() -> Version {
        Version {
            bytes: 100,
            tag: "\"tag\"".into(),
            modified_s: 784_111_777,
        }
    }

    fn check(headers: &[(HeaderName, &'static str)], expected: Wanted) {
        let headers = headers.iter();
        let asked = headers.map(|(name, value)| (name.clone(), HeaderValue::from_static(value)));
        let asked: HeaderMap = asked.collect();
        assert_eq!(wanted(&asked, &version()), expected, "{asked:?}");
    }

    #[test]
    fn ranges() {
        let of = |first, end| Wanted::Part(Range { first, end });
        for (range, expected) in [
            ("bytes=0-0", of(0, 1)),
            ("bytes=10-", of(10, 100)),
            ("bytes=10-999", of(10, 100)),
            ("bytes=-30", of(70, 100)),
            ("bytes=-300", of(0, 100)),
            ("bytes=99-99999999999999999999999", of(99, 100)),
            ("bytes=100-", Wanted::Beyond),
            ("bytes=-0", Wanted::Beyond),
            ("bytes=20-10", Wanted::Whole),
            ("bytes=0-1,5-6", Wanted::Whole),
            ("bytes=+1-5", Wanted::Whole),
            ("bytes=-", Wanted::Whole),
            ("lines=1-2", Wanted::Whole),
            ("", Wanted::Whole),
        ] {
            check(&[(header::RANGE, range)], expected);
        }
    }

    #[test]
    fn conditions() {
        const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
        const LATER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";
        const EARLIER: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
        assert_eq!(version().modified(), DATE);
        let part = Wanted::Part(Range { first: 5, end: 6 });
        let range = (header::RANGE, "bytes=5-5");
        for tags in ["\"tag\"", "W/\"tag\"", "\"x\", \"tag\"", "*"] {
            check(
                &[(header::IF_NONE_MATCH, tags), range.clone()],
                Wanted::Nothing,
            );
        }
        check(
            &[
                (header::IF_NONE_MATCH, "\"x\""),
                (header::IF_MODIFIED_SINCE, LATER),
            ],
            Wanted::Whole,
        );
        for (time, expected) in [
            (DATE, Wanted::Nothing),
            (LATER, Wanted::Nothing),
            (EARLIER, Wanted::Whole),
            ("now", Wanted::Whole),
        ] {
            check(&[(header::IF_MODIFIED_SINCE, time)], expected);
        }
        for (condition, expected) in [
            ("\"tag\"", part),
            (DATE, part),
            ("\"other\"", Wanted::Whole),
            ("W/\"tag\"", Wanted::Whole),
            (LATER, Wanted::Whole),
        ] {
            check(&[(header::IF_RANGE, condition), range.clone()], expected);
        }
    }

    proptest! {
        #[test]
        fn a_range_lies_in_the_file(range in "(bytes=)?[0-9,-]{0,24}", bytes in 0u64..50) {
            if let Wanted::Part(range) = part(&range, bytes) {
                prop_assert!(range.first < range.end && range.end <= bytes);
            }
        }
    }
}
