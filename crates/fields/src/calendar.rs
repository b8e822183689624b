//! Periods of the calendar, in UTC.

use jiff::civil::{DateTime, Time, Weekday};
use jiff::tz::Offset;
use jiff::{Timestamp, ToSpan};

/// Period of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    /// Year.
    Year,
    /// Quarter of a year.
    Quarter,
    /// Month.
    Month,
    /// Week, from Monday on.
    Week,
    /// Day.
    Day,
    /// Hour.
    Hour,
}

impl Period {
    /// All periods, the longest first.
    pub const ALL: [Period; 6] = [
        Period::Year,
        Period::Quarter,
        Period::Month,
        Period::Week,
        Period::Day,
        Period::Hour,
    ];

    /// Returns the name, as in a facet.
    pub fn name(self) -> &'static str {
        match self {
            Period::Year => "year",
            Period::Quarter => "quarter",
            Period::Month => "month",
            Period::Week => "week",
            Period::Day => "day",
            Period::Hour => "hour",
        }
    }

    /// Returns the period with a name.
    pub fn of_name(name: &str) -> Option<Period> {
        Period::ALL.into_iter().find(|period| period.name() == name)
    }

    /// Returns the first instant of the period of `micros`; `micros` itself where the calendar does not reach.
    pub fn start(self, micros: i64) -> i64 {
        let start = || {
            let civil = Offset::UTC.to_datetime(Timestamp::from_microsecond(micros).ok()?);
            instant(self.floor(civil)?)
        };
        start().unwrap_or(micros)
    }

    /// Returns the first instant after the period that begins at `start`.
    pub fn end(self, start: i64) -> Option<i64> {
        let civil = Offset::UTC.to_datetime(Timestamp::from_microsecond(start).ok()?);
        let length = match self {
            Period::Year => 1.year(),
            Period::Quarter => 3.months(),
            Period::Month => 1.month(),
            Period::Week => 1.week(),
            Period::Day => 1.day(),
            Period::Hour => 1.hour(),
        };
        instant(civil.checked_add(length).ok()?)
    }

    fn floor(self, civil: DateTime) -> Option<DateTime> {
        let date = civil.date();
        let first_of_month = |month: i8| jiff::civil::Date::new(date.year(), month, 1).ok();
        let date = match self {
            Period::Year => first_of_month(1)?,
            Period::Quarter => first_of_month((date.month() - 1) / 3 * 3 + 1)?,
            Period::Month => date.first_of_month(),
            Period::Week => {
                let days = date.weekday().since(Weekday::Monday);
                date.checked_sub(i32::from(days).days()).ok()?
            }
            Period::Day => date,
            Period::Hour => {
                let hour = Time::new(civil.hour(), 0, 0, 0).ok()?;
                return Some(date.to_datetime(hour));
            }
        };
        Some(date.to_datetime(Time::midnight()))
    }
}

fn instant(civil: DateTime) -> Option<i64> {
    Some(Offset::UTC.to_timestamp(civil).ok()?.as_microsecond())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dates;
    use proptest::prelude::*;

    #[test]
    fn periods_begin_where_the_calendar_says() {
        let start =
            |period: Period, text: &str| dates::text(period.start(dates::parse(text).unwrap()));
        let text = "2024-02-29T13:14:15Z";
        assert_eq!(start(Period::Year, text), "2024-01-01");
        assert_eq!(start(Period::Quarter, "2024-06-30"), "2024-04-01");
        assert_eq!(start(Period::Month, text), "2024-02-01");
        assert_eq!(start(Period::Week, text), "2024-02-26");
        assert_eq!(start(Period::Week, "2024-02-26"), "2024-02-26");
        assert_eq!(start(Period::Day, text), "2024-02-29");
        assert_eq!(start(Period::Hour, text), "2024-02-29T13:00:00Z");
        assert_eq!(
            start(Period::Month, "1969-12-31T23:59:59.999999Z"),
            "1969-12-01"
        );
    }

    proptest! {
        #[test]
        fn every_instant_is_in_its_period(micros in -62_000_000_000_000_000i64..253_000_000_000_000_000) {
            for period in Period::ALL {
                let start = period.start(micros);
                let end = period.end(start).unwrap();
                prop_assert!(start <= micros && micros < end);
                prop_assert_eq!(period.start(end - 1), start);
                prop_assert_eq!(period.start(end), end);
            }
        }
    }
}
