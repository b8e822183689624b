//! Heads of records: of WARC, and the one line of ARC.

use super::http::{Lines, push_field, text};
use super::record::Kind;
use jiff::Timestamp;
use jiff::civil::DateTime;

/// Upper limit on the number of header fields of a record.
const FIELDS_MAX: usize = 1_000;

/// Head of a record, with the fields that WARC and ARC share.
pub(crate) struct Head {
    pub(crate) kind: Kind,
    pub(crate) uri: Option<String>,
    pub(crate) date: Option<Timestamp>,
    pub(crate) headers: Vec<(String, String)>,
    /// Length of the block; `None` where it is missing or no number.
    pub(crate) block_bytes: Option<u64>,
}

/// Returns whether these bytes begin a WARC record.
pub(crate) fn begins_warc(bytes: &[u8]) -> bool {
    bytes.starts_with(b"WARC/1.") || bytes.starts_with(b"WARC/0.")
}

/// Parses the head of a WARC record, version line included.
pub(crate) fn parse_warc(bytes: &[u8]) -> Head {
    let mut lines = Lines { bytes, at: 0 };
    lines.next();
    let mut headers = Vec::new();
    while let Some(line) = lines.next() {
        if line.is_empty() {
            break;
        }
        push_field(&mut headers, line, FIELDS_MAX);
    }
    let value = |name: &str| super::http::find(&headers, name);
    let uri = value("WARC-Target-URI").map(|uri| {
        // WARC 1.0 was read to ask for the brackets; wget writes them.
        let bare = uri
            .strip_prefix('<')
            .and_then(|uri| uri.strip_suffix('>'))
            .unwrap_or(uri);
        bare.replace(' ', "%20")
    });
    Head {
        kind: Kind::parse(value("WARC-Type").unwrap_or("")),
        uri,
        date: value("WARC-Date").and_then(|date| date.parse().ok()),
        block_bytes: value("Content-Length").and_then(|length| length.parse().ok()),
        headers,
    }
}

/// Parses a line of an ARC file: `uri ip date type length`. `None` for any other line.
pub(crate) fn parse_arc(line: &[u8]) -> Option<Head> {
    let line = text(line.trim_ascii_end());
    // The address may hold spaces, so the fields are cut from behind.
    let mut fields = line.rsplitn(5, ' ');
    let (length, media_type, date, ip, uri) = (
        fields.next()?,
        fields.next()?,
        fields.next()?,
        fields.next()?,
        fields.next()?,
    );
    let is_date = (8..=20).contains(&date.len()) && date.bytes().all(|byte| byte.is_ascii_digit());
    if !is_date || !uri.contains(':') || !uri.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let kind = match uri.starts_with("filedesc:") {
        true => Kind::ArcHeader,
        false => Kind::Response,
    };
    let headers = [
        ("WARC-IP-Address", ip),
        ("Content-Type", media_type),
        ("Content-Length", length),
        ("Archive-Date", date),
    ];
    Some(Head {
        kind,
        uri: Some(uri.to_owned()),
        date: arc_date(date),
        headers: headers
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
        block_bytes: length.parse().ok(),
    })
}

/// Parses `yyyymmddhhmmss`; further digits are ignored.
fn arc_date(digits: &str) -> Option<Timestamp> {
    let number = |from: usize, to: usize| digits.get(from..to)?.parse::<i16>().ok();
    let small = |from: usize| i8::try_from(number(from, from + 2)?).ok();
    let civil = DateTime::new(
        number(0, 4)?,
        small(4)?,
        small(6)?,
        small(8).unwrap_or(0),
        small(10).unwrap_or(0),
        small(12).unwrap_or(0),
        0,
    );
    let zoned = civil.ok()?.to_zoned(jiff::tz::TimeZone::UTC);
    zoned.ok().map(|zoned| zoned.timestamp())
}
