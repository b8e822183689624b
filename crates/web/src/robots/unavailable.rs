//! Dates of `unavailable_after`: RFC 2822, RFC 850 and ISO 8601, in lower case too.
//!
//! date := [weekday] day ("-" | " ") month ("-" | " ") year [hour ":" minute [":" second]] [zone]
//!       | year "-" month "-" day ["T" hour ":" minute [":" second] [zone]]

use jiff::civil::{Date, DateTime};

const MONTHS: &[&str] = &[
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// Zones with a name (RFC 2822, section 4.3) and their hours before Greenwich.
const ZONES: &[(&str, i64)] = &[
    ("z", 0),
    ("gmt", 0),
    ("utc", 0),
    ("ut", 0),
    ("bst", 1),
    ("cet", 1),
    ("cest", 2),
    ("est", -5),
    ("edt", -4),
    ("cst", -6),
    ("cdt", -5),
    ("mst", -7),
    ("mdt", -6),
    ("pst", -8),
    ("pdt", -7),
];

/// Returns the instant that `date` names, in seconds since 1970; without a zone it is in UTC.
pub(super) fn instant_s(date: &str) -> Option<i64> {
    let date = date.trim().to_ascii_lowercase();
    let iso = date.len() >= 10 && date.as_bytes()[..4].iter().all(u8::is_ascii_digit);
    let (day, rest) = if iso {
        iso_day(&date)?
    } else {
        named_day(&date)?
    };
    let (time, zone) = split_zone(rest.trim());
    let (hour, minute, second) = clock(time.trim())?;
    let local = DateTime::from_parts(day, jiff::civil::Time::new(hour, minute, second, 0).ok()?);
    let utc = local.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(utc.timestamp().as_second() - zone_s(zone.trim())?)
}

fn iso_day(date: &str) -> Option<(Date, &str)> {
    let (day, rest) = date.split_at_checked(10)?;
    Some((day.parse().ok()?, rest.trim_start_matches(['t', ' '])))
}

fn named_day(date: &str) -> Option<(Date, &str)> {
    let date = date.trim_start_matches(|c: char| !c.is_ascii_digit());
    let (day, rest) = word(date)?;
    let (month, rest) = word(rest)?;
    let (year, rest) = word(rest)?;
    let month = MONTHS.iter().position(|name| month.starts_with(name))? as i8 + 1;
    let year = match year.parse::<i16>().ok()? {
        year @ 0..70 => 2000 + year,
        year @ 70..100 => 1900 + year,
        year => year,
    };
    Some((Date::new(year, month, day.parse().ok()?).ok()?, rest))
}

/// Splits off a word that ends in `-`, a comma or a blank.
fn word(text: &str) -> Option<(&str, &str)> {
    let end = text.find(['-', ' ', ',']).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    (!word.is_empty()).then(|| (word, rest.trim_start_matches(['-', ' ', ','])))
}

/// Splits `15:00:00+01:00` or `15:00 PST` into time and zone.
fn split_zone(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, ':' | '.')))
        .unwrap_or(text.len());
    text.split_at(end)
}

fn clock(time: &str) -> Option<(i8, i8, i8)> {
    if time.is_empty() {
        return Some((0, 0, 0));
    }
    let mut parts = time
        .split(':')
        .map(|part| part.split('.').next().unwrap_or(part).parse::<i8>().ok());
    let clock = (
        parts.next()??,
        parts.next()??,
        parts.next().unwrap_or(Some(0))?,
    );
    parts.next().is_none().then_some(clock)
}

fn zone_s(zone: &str) -> Option<i64> {
    if zone.is_empty() {
        return Some(0);
    }
    if let Some((_, hours)) = ZONES.iter().find(|(name, _)| *name == zone) {
        return Some(hours * 3_600);
    }
    let (sign, digits) = match zone.split_at_checked(1)? {
        ("+", digits) => (1, digits.replace(':', "")),
        ("-", digits) => (-1, digits.replace(':', "")),
        _ => return None,
    };
    let (hours, minutes) = digits.split_at_checked(2)?;
    let hours: i64 = hours.parse().ok()?;
    let minutes: i64 = if minutes.is_empty() {
        0
    } else {
        minutes.parse().ok()?
    };
    let in_range = (0..=15).contains(&hours) && (0..60).contains(&minutes);
    in_range.then_some(sign * (hours * 3_600 + minutes * 60))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn forms_of_dates() {
        for (date, expected) in [
            ("25 Jun 2010 15:00:00 PST", Some(1_277_506_800)),
            ("Saturday 26-Jun-10 15:00 GMT", Some(1_277_564_400)),
            ("1 September 2010", Some(1_283_299_200)),
            ("2010-06-25 15:00", Some(1_277_478_000)),
            ("2010-06-25T15:00:00.5Z", Some(1_277_478_000)),
            ("2010-06-25T15:00-0130", Some(1_277_483_400)),
            ("2010-06-31", None),
            ("25 Jun 2010 25:00", None),
            ("25 Jun 2010 15:00 XYZ", None),
            ("never", None),
            ("", None),
        ] {
            assert_eq!(instant_s(date), expected, "{date}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(date in "[0-9a-zé:+., -]{0,30}", free in "\\PC{0,30}") {
            let _ = (instant_s(&date), instant_s(&free));
        }
    }
}
