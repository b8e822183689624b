//! Periods of the calendar, as civil times without a zone.

use jiff::ToSpan;
use jiff::civil::{DateTime, Time, Weekday};

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

    /// Returns the first civil time of the next period, given one of a period.
    pub(crate) fn next(self, civil: DateTime) -> Option<DateTime> {
        let length = match self {
            Period::Year => 1.year(),
            Period::Quarter => 3.months(),
            Period::Month => 1.month(),
            Period::Week => 1.week(),
            Period::Day => 1.day(),
            Period::Hour => 1.hour(),
        };
        self.floor(civil)?.checked_add(length).ok()
    }

    /// Returns the first civil time of the period of `civil`.
    pub(crate) fn floor(self, civil: DateTime) -> Option<DateTime> {
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
