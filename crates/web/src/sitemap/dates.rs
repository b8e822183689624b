//! Dates of sitemaps (W3C) and of feeds (RFC 822 with its common variants) as instants.

use jiff::Timestamp;
use jiff::civil::DateTime;

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// Zones of RFC 822 with their offsets in minutes.
const ZONES: [(&str, i32); 12] = [
    ("gmt", 0),
    ("ut", 0),
    ("utc", 0),
    ("z", 0),
    ("est", -300),
    ("edt", -240),
    ("cst", -360),
    ("cdt", -300),
    ("mst", -420),
    ("mdt", -360),
    ("pst", -480),
    ("pdt", -420),
];

/// Parses a date of a sitemap or of Atom: a year, a month, a day, or a time with or without seconds. A time without a
/// zone is taken as UTC. `None` for anything else.
pub fn parse_w3c_date(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let (day, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (text.get(..at)?, Some(text.get(at + 1..)?)),
        None => (text, None),
    };
    let mut parts = day.split('-');
    let year = number(parts.next()?, 4)?;
    let month = parts.next().map_or(Some(1), |part| number(part, 2))?;
    let of_month = parts.next().map_or(Some(1), |part| number(part, 2))?;
    if parts.next().is_some() {
        return None;
    }
    let Some(time) = time else {
        return instant((year, month, of_month), (0, 0, 0), 0, 0);
    };
    let zone_at = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
    let (clock, zone) = (time.get(..zone_at)?.trim(), time.get(zone_at..)?);
    let offset_minutes = match zone {
        "" => 0,
        zone => zone_minutes(zone)?,
    };
    let (clock, fraction) = clock.split_once(['.', ',']).unwrap_or((clock, ""));
    let mut parts = clock.split(':');
    let hour = number(parts.next()?, 2)?;
    let minute = number(parts.next()?, 2)?;
    let second = parts.next().map_or(Some(0), |part| number(part, 2))?;
    if parts.next().is_some() {
        return None;
    }
    let nanosecond = nanoseconds(fraction)?;
    instant(
        (year, month, of_month),
        (hour, minute, second),
        nanosecond,
        offset_minutes,
    )
}

/// Parses a date of RSS: `Thu, 05 Jan 2017 12:34:50 GMT`, with or without the day of the week, with two digits of the
/// year or four. `None` for anything else, also where the zone is missing.
pub fn parse_rss_date(text: &str) -> Option<Timestamp> {
    let text = text.rsplit_once(',').map_or(text, |(_, rest)| rest);
    let mut words = text.split_ascii_whitespace();
    let day = small_number(words.next()?)?;
    let name = words.next()?.to_ascii_lowercase();
    let month = MONTHS.iter().position(|known| name.starts_with(known))? + 1;
    let year_text = words.next()?;
    let year = match (year_text.len(), small_number(year_text)?) {
        // As RFC 5322 says.
        (2, year @ 0..50) => 2000 + year,
        (2 | 3, year) => 1900 + year,
        (4, year) => year,
        _ => return None,
    };
    let mut clock = words.next()?.split(':');
    let hour = small_number(clock.next()?)?;
    let minute = small_number(clock.next()?)?;
    let second = clock.next().map_or(Some(0), small_number)?;
    let offset_minutes = zone_minutes(words.next()?)?;
    let month = i16::try_from(month).ok()?;
    instant(
        (year, month, day),
        (hour, minute, second),
        0,
        offset_minutes,
    )
}

fn number(text: &str, digits: usize) -> Option<i16> {
    (text.len() == digits).then(|| small_number(text))?
}

fn small_number(text: &str) -> Option<i16> {
    let is_number = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

fn nanoseconds(fraction: &str) -> Option<i32> {
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = fraction.bytes().chain(std::iter::repeat(b'0')).take(9);
    Some(digits.fold(0, |sum, digit| sum * 10 + i32::from(digit - b'0')))
}

/// Parses `Z`, `+01:00`, `+0100`, `+01` or a name.
fn zone_minutes(zone: &str) -> Option<i32> {
    let zone = zone.trim();
    let sign = match zone.bytes().next()? {
        b'+' => 1,
        b'-' => -1,
        _ => {
            let name = zone.to_ascii_lowercase();
            let mut known = ZONES.iter();
            return known
                .find(|(zone, _)| *zone == name)
                .map(|(_, offset)| *offset);
        }
    };
    let digits = zone.get(1..)?.replace(':', "");
    let (hours, minutes) = match digits.len() {
        2 => (number(&digits, 2)?, 0),
        4 => (number(digits.get(..2)?, 2)?, number(digits.get(2..)?, 2)?),
        _ => return None,
    };
    (hours <= 18 && minutes < 60).then(|| sign * (i32::from(hours) * 60 + i32::from(minutes)))
}

fn instant(
    (year, month, day): (i16, i16, i16),
    (hour, minute, second): (i16, i16, i16),
    nanosecond: i32,
    offset_minutes: i32,
) -> Option<Timestamp> {
    let small = |number: i16| i8::try_from(number).ok();
    // A leap second is the second before.
    let second = second.min(if second == 60 { 59 } else { second });
    let civil = DateTime::new(
        year,
        small(month)?,
        small(day)?,
        small(hour)?,
        small(minute)?,
        small(second)?,
        nanosecond,
    );
    let offset = jiff::tz::Offset::from_seconds(offset_minutes * 60).ok()?;
    offset.to_timestamp(civil.ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dates() {
        let check = |text: &str, expected: Option<&str>| {
            let found = parse_w3c_date(text).map(|date| date.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        check("2014-06", Some("2014-06-01T00:00:00Z"));
        check(" 2014-06-03 ", Some("2014-06-03T00:00:00Z"));
        check(
            "2014-06-03T10:30:45.82+0130",
            Some("2014-06-03T09:00:45.82Z"),
        );
        check("2014-06-03 10:30:45", Some("2014-06-03T10:30:45Z"));
        check("2014-13-03", None);
        check("2014-06-03T10", None);
        check("2014-06-03T10:30é", None);
        check("", None);
        let rss = |text: &str| parse_rss_date(text).map(|date| date.to_string());
        let expected = Some("1994-11-06T13:49:37Z".to_owned());
        assert_eq!(rss("Sun, 06 Nov 1994 08:49:37 EST"), expected);
        assert_eq!(rss("Sun, 06 Nov 1994 08:49:37"), None);
        assert_eq!(rss("6 November 94 13:49:37 Z"), expected);
    }

    proptest! {
        #[test]
        fn any_text_is_a_date_or_none(text in "[-0-9TZ:+., a-zé]{0,40}", any in ".{0,40}") {
            for text in [&*text, &*any] {
                parse_w3c_date(text);
                parse_rss_date(text);
            }
        }
    }
}
