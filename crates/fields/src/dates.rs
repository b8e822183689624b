//! Dates as text and as microseconds since 1970 in UTC.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;
use jiff::{Span, Timestamp};

/// Least epoch that is read as milliseconds; lower ones are seconds (until the year 5138).
const MILLISECONDS_MIN: i64 = 100_000_000_000;

/// Returns the instant of `YYYY-MM-DD` (its midnight) or of an RFC 3339 date and time; without an offset, in UTC.
/// Fractions below a microsecond are cut. `None` for anything else.
pub fn parse(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    // The shape first: the parser also reads other forms of ISO 8601.
    let shape = |at: usize, byte: u8| bytes.get(at) == Some(&byte);
    if bytes.len() < 10
        || !shape(4, b'-')
        || !shape(7, b'-')
        || !bytes[..4].iter().all(u8::is_ascii_digit)
    {
        return None;
    }
    if bytes.len() == 10 {
        return micros(text.parse::<Date>().ok()?.to_datetime(Time::midnight()));
    }
    if !matches!(bytes[10], b'T' | b't' | b' ') || !shape(13, b':') {
        return None;
    }
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Some(floor_micros(instant));
    }
    // `Z` and offsets are read above; text with a time zone in brackets is no RFC 3339.
    match text[10..].contains(['Z', 'z', '[', '+', '-']) {
        true => None,
        false => micros(text.parse::<DateTime>().ok()?),
    }
}

/// Returns the instant of a number of seconds since 1970, or of milliseconds where it is large; `None` out of range.
pub fn of_epoch(number: i64) -> Option<i64> {
    let micros = match number.unsigned_abs() >= MILLISECONDS_MIN.unsigned_abs() {
        true => number.checked_mul(1_000)?,
        false => number.checked_mul(1_000_000)?,
    };
    Timestamp::from_microsecond(micros).ok()?;
    Some(micros)
}

/// Returns the first instant of what `text` names, and the first after it: a year (`2024`), a month (`2024-05`), a day,
/// or an instant (one microsecond).
pub fn span(text: &str) -> Option<(i64, i64)> {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = text.split('-').collect();
    let (first, length) = match parts[..] {
        [year] if year.len() == 4 && is_digits(year) => (
            Date::new(year.parse().ok()?, 1, 1).ok()?,
            Span::new().years(1),
        ),
        [year, month]
            if year.len() == 4 && month.len() == 2 && is_digits(year) && is_digits(month) =>
        {
            let first = Date::new(year.parse().ok()?, month.parse().ok()?, 1).ok()?;
            (first, Span::new().months(1))
        }
        _ => {
            let start = parse(text)?;
            if text.len() > 10 {
                return Some((start, start.checked_add(1)?));
            }
            (text.parse::<Date>().ok()?, Span::new().days(1))
        }
    };
    let start = micros(first.to_datetime(Time::midnight()))?;
    // After the last day that there is, the end is the last instant.
    let end = match first.checked_add(length) {
        Ok(end) => micros(end.to_datetime(Time::midnight()))?,
        Err(_) => Timestamp::MAX.as_microsecond(),
    };
    Some((start, end))
}

/// Returns the shortest text that `parse` reads back: a day, or an instant in UTC.
pub fn text(micros: i64) -> String {
    let Ok(instant) = Timestamp::from_microsecond(micros) else {
        return micros.to_string();
    };
    let civil = Offset::UTC.to_datetime(instant);
    match civil.time() == Time::midnight() {
        true => civil.date().to_string(),
        false => instant.to_string(),
    }
}

/// Returns the instant of a civil time in UTC.
fn micros(civil: DateTime) -> Option<i64> {
    Some(Offset::UTC.to_timestamp(civil).ok()?.as_microsecond())
}

fn floor_micros(instant: Timestamp) -> i64 {
    let micros = instant.as_microsecond();
    // Before 1970, the conversion cuts towards 1970.
    match instant.subsec_nanosecond() % 1_000 < 0 {
        true => micros - 1,
        false => micros,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DAY: i64 = 86_400_000_000;

    #[test]
    fn days_and_instants_are_read() {
        assert_eq!(parse("1970-01-02"), Some(DAY));
        assert_eq!(parse("1969-12-31"), Some(-DAY));
        assert_eq!(parse("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(parse("1970-01-01T01:00:00+01:00"), Some(0));
        assert_eq!(parse("1970-01-01 00:00:01.5"), Some(1_500_000));
        assert_eq!(parse("1970-01-01t00:00:00.1234567z"), Some(123_456));
        assert_eq!(parse("1969-12-31T23:59:59.9999999Z"), Some(-1));
        assert_eq!(parse("2016-12-31T23:59:60Z"), parse("2016-12-31T23:59:59Z"));
        for bad in [
            "",
            "2024",
            "2024-05",
            "2024-13-01",
            "2023-02-29",
            "20240506",
            "2024-W05",
            "2024-05-06T",
            "2024-05-06T25:00:00Z",
            "128.0.",
            "+002024-05-06",
            "2024-05-06T10:00:00[Europe/Berlin]",
            "2024-05-06x",
            "2024-05-06T10",
            "éé24-05-06",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn spans_end_where_the_next_begins() {
        assert_eq!(span("1970"), Some((0, 365 * DAY)));
        assert_eq!(span("1970-02"), Some((31 * DAY, 59 * DAY)));
        assert_eq!(span("1970-01-01"), Some((0, DAY)));
        assert_eq!(span("1970-01-01T00:00:00Z"), Some((0, 1)));
        assert_eq!(span("2024-02").map(|(a, b)| (b - a) / DAY), Some(29));
        assert!(span("9999").is_some_and(|(start, end)| end > start));
        assert_eq!(span("19700"), None);
        assert_eq!(span("last week"), None);
        assert_eq!(of_epoch(1), Some(1_000_000));
        assert_eq!(of_epoch(1_700_000_000_000), of_epoch(1_700_000_000));
        assert_eq!(of_epoch(i64::MAX), None);
    }

    proptest! {
        #[test]
        fn texts_come_back(micros in -377_000_000_000_000_000i64 / 2..253_000_000_000_000_000i64) {
            // Years before 0 have no text of four digits.
            prop_assume!(micros > -62_135_596_800_000_000);
            prop_assert_eq!(parse(&text(micros)), Some(micros), "{}", text(micros));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9TZ:+. -]{0,30}|.{0,20}") {
            let _ = (parse(&text), span(&text));
        }
    }
}
