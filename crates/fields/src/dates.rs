//! Dates as text and as microseconds since 1970 in UTC.

use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::temporal::Pieces;
use jiff::{SignedDuration, Span, Timestamp};

/// First instant of the year 0, and the first one after the year 9999: what four digits can write.
const FIRST: i64 = -62_167_219_200_000_000;
/// First instant that has no text: the one after the year 9999.
pub const END: i64 = 253_402_300_800_000_000;

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
        return Some(micros(
            text.parse::<Date>().ok()?.to_datetime(Time::midnight()),
        ));
    }
    if !matches!(bytes[10], b'T' | b't' | b' ') || !shape(13, b':') {
        return None;
    }
    if let Ok(instant) = text.parse::<Timestamp>() {
        return written(floor_micros(instant));
    }
    // Text with a time zone in brackets is no RFC 3339.
    if text[10..].contains('[') {
        return None;
    }
    if !text[10..].contains(['Z', 'z', '+', '-']) {
        return Some(micros(text.parse::<DateTime>().ok()?));
    }
    // Timestamps end a day before the calendar does, so that every offset can be added to them.
    let pieces = Pieces::parse(text).ok()?;
    let civil = pieces.date().to_datetime(pieces.time()?);
    let offset_s = i64::from(pieces.to_numeric_offset()?.seconds());
    written(micros(civil) - offset_s * 1_000_000)
}

/// Returns an instant if it has a text: years are of four digits.
fn written(micros: i64) -> Option<i64> {
    (FIRST..END).contains(&micros).then_some(micros)
}

/// Returns the instant of a number of seconds since 1970, or of milliseconds where it is large; `None` out of range.
pub fn of_epoch(number: i64) -> Option<i64> {
    let micros = match number.unsigned_abs() >= MILLISECONDS_MIN.unsigned_abs() {
        true => number.checked_mul(1_000)?,
        false => number.checked_mul(1_000_000)?,
    };
    written(micros)
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
    let start = micros(first.to_datetime(Time::midnight()));
    let end = match first.checked_add(length) {
        Ok(end) => micros(end.to_datetime(Time::midnight())),
        Err(_) => END,
    };
    Some((start, end))
}

/// Returns the shortest text that `parse` reads back: a day, or an instant in UTC.
pub fn text(micros: i64) -> String {
    match civil(micros) {
        None => micros.to_string(),
        Some(civil) if civil.time() == Time::midnight() => civil.date().to_string(),
        Some(civil) => format!("{civil}Z"),
    }
}

/// Returns the civil time in UTC; `None` beyond the calendar.
pub(crate) fn civil(micros: i64) -> Option<DateTime> {
    let epoch = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
    epoch.checked_add(SignedDuration::from_micros(micros)).ok()
}

/// Returns the instant of a civil time in UTC. Fractions below a microsecond are cut.
pub(crate) fn micros(civil: DateTime) -> i64 {
    let seconds = civil.duration_since(DateTime::constant(1970, 1, 1, 0, 0, 0, 0));
    // Of 9,999 years; before 1970, the conversion must not cut towards 1970.
    seconds.as_nanos().div_euclid(1_000) as i64
}

/// Returns whether a timestamp can be an instant, whatever offset is added to it.
pub(crate) fn is_timestamp(micros: i64) -> bool {
    Timestamp::from_microsecond(micros).is_ok()
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
    fn the_calendar_has_four_digits_of_years() {
        for (text, micros) in [
            ("9999-12-31", Some(END - DAY)),
            ("9999-12-31T23:59:59Z", Some(END - 1_000_000)),
            ("9999-12-31 23:59:59.999999", Some(END - 1)),
            ("9999-12-31T23:59:59.9999999Z", Some(END - 1)),
            ("9999-12-31T23:59:59+01:00", Some(END - 3_601_000_000)),
            ("9999-12-31T22:59:59-01:00", Some(END - 1_000_000)),
            ("9999-12-31T23:00:00-01:00", None),
            ("9999-12-31T23:59:59-12:00", None),
            ("0000-01-01", Some(FIRST)),
            ("0001-01-01T00:00:00Z", Some(FIRST + 366 * DAY)),
            ("0000-01-01T00:00:00+01:00", None),
            ("0000-01-01T00:00:00-01:00", Some(FIRST + 3_600_000_000)),
            ("10000-01-01", None),
            ("99999-12-31", None),
            ("+010000-01-01", None),
            ("-0044-03-15", None),
            ("9999-13-31", None),
            ("9999-12-32", None),
            ("9999-12-31T24:00:00Z", None),
            ("9999-12-31T23:59:59Z[UTC]", None),
        ] {
            assert_eq!(parse(text), micros, "{text}");
        }
        assert_eq!(text(END - DAY), "9999-12-31");
        assert_eq!(text(END - 1), "9999-12-31T23:59:59.999999Z");
        assert_eq!(text(FIRST), "0000-01-01");
        assert_eq!(of_epoch(253_402_300_799_000), Some(END - 1_000_000));
        assert_eq!(of_epoch(253_402_300_800_000), None);
    }

    #[test]
    fn spans_end_where_the_next_begins() {
        assert_eq!(span("1970"), Some((0, 365 * DAY)));
        assert_eq!(span("1970-02"), Some((31 * DAY, 59 * DAY)));
        assert_eq!(span("1970-01-01"), Some((0, DAY)));
        assert_eq!(span("1970-01-01T00:00:00Z"), Some((0, 1)));
        assert_eq!(span("2024-02").map(|(a, b)| (b - a) / DAY), Some(29));
        assert_eq!(span("9999").map(|(_, end)| end), Some(END));
        assert_eq!(span("9999-12-31"), Some((END - DAY, END)));
        assert_eq!(span("9999-12-31T23:59:59.999999Z"), Some((END - 1, END)));
        assert_eq!(span("19700"), None);
        assert_eq!(span("last week"), None);
        assert_eq!(of_epoch(1), Some(1_000_000));
        assert_eq!(of_epoch(1_700_000_000_000), of_epoch(1_700_000_000));
        assert_eq!(of_epoch(i64::MAX), None);
    }

    proptest! {
        #[test]
        fn texts_come_back(micros in FIRST..END, near in 0..2 * DAY) {
            prop_assert_eq!(parse(&text(END - 1 - near)), Some(END - 1 - near));
            prop_assert_eq!(parse(&text(micros)), Some(micros), "{}", text(micros));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9TZ:+. -]{0,30}|.{0,20}") {
            let _ = (parse(&text), span(&text));
        }
    }
}
