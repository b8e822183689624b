//! Times: `250ms`, `2s`, `5m`, `1h`.

use crate::number::{convert, split};
use std::fmt;
use std::time::Duration;

/// Unit of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Nanoseconds, `ns`.
    Nanoseconds,
    /// Microseconds, `us` or `µs`.
    Microseconds,
    /// Milliseconds, `ms`.
    Milliseconds,
    /// Seconds, `s`.
    Seconds,
    /// Minutes, `m` or `min`.
    Minutes,
    /// Hours, `h`.
    Hours,
    /// Days, `d`.
    Days,
}

impl TimeUnit {
    const ALL: [TimeUnit; 7] = [
        TimeUnit::Nanoseconds,
        TimeUnit::Microseconds,
        TimeUnit::Milliseconds,
        TimeUnit::Seconds,
        TimeUnit::Minutes,
        TimeUnit::Hours,
        TimeUnit::Days,
    ];

    /// Returns the short name.
    pub const fn name(self) -> &'static str {
        match self {
            TimeUnit::Nanoseconds => "ns",
            TimeUnit::Microseconds => "us",
            TimeUnit::Milliseconds => "ms",
            TimeUnit::Seconds => "s",
            TimeUnit::Minutes => "m",
            TimeUnit::Hours => "h",
            TimeUnit::Days => "d",
        }
    }

    const fn ns(self) -> u64 {
        match self {
            TimeUnit::Nanoseconds => 1,
            TimeUnit::Microseconds => 1_000,
            TimeUnit::Milliseconds => 1_000_000,
            TimeUnit::Seconds => 1_000_000_000,
            TimeUnit::Minutes => 60_000_000_000,
            TimeUnit::Hours => 3_600_000_000_000,
            TimeUnit::Days => 86_400_000_000_000,
        }
    }

    fn named(name: &str) -> Option<TimeUnit> {
        match name {
            "µs" | "μs" => Some(TimeUnit::Microseconds),
            "min" => Some(TimeUnit::Minutes),
            _ => TimeUnit::ALL.into_iter().find(|unit| unit.name() == name),
        }
    }
}

/// A time from 0 to a year, in the unit that it was written in: a number of milliseconds that was given in milliseconds is
/// the same number, bit by bit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Time {
    number: f64,
    unit: TimeUnit,
}

/// Upper limit on all times, so that sums of a few of them stay in range.
const MOST: Time = Time::new(366.0, TimeUnit::Days);

impl Time {
    /// Returns a number of units.
    pub const fn new(number: f64, unit: TimeUnit) -> Time {
        Time { number, unit }
    }

    /// Returns the time in `unit`.
    pub fn in_unit(self, unit: TimeUnit) -> f64 {
        convert(self.number, self.unit.ns(), unit.ns())
    }

    /// Returns the time in seconds.
    pub fn seconds(self) -> f64 {
        self.in_unit(TimeUnit::Seconds)
    }

    /// Returns the time in milliseconds.
    pub fn milliseconds(self) -> f64 {
        self.in_unit(TimeUnit::Milliseconds)
    }

    /// Returns the time in microseconds.
    pub fn microseconds(self) -> f64 {
        self.in_unit(TimeUnit::Microseconds)
    }

    /// Returns the time to the nearest nanosecond.
    pub fn duration(self) -> Duration {
        // A time is at most a year.
        Duration::try_from_secs_f64(self.seconds()).unwrap_or(Duration::MAX)
    }
}

/// As it is read: `250ms`.
impl fmt::Display for Time {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}{}", self.number, self.unit.name())
    }
}

/// Reader of times between two limits.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    plain: Option<TimeUnit>,
    least: Time,
    most: Time,
    is_above_zero: bool,
}

impl Times {
    /// Times from 0 to a year.
    pub const ANY: Times = Times {
        plain: None,
        least: Time::new(0.0, TimeUnit::Seconds),
        most: MOST,
        is_above_zero: false,
    };

    /// Times above 0.
    pub const POSITIVE: Times = Times {
        is_above_zero: true,
        ..Times::ANY
    };

    /// Also reads numbers without a unit, which are of this one.
    #[must_use]
    pub const fn plain(self, unit: TimeUnit) -> Times {
        Times {
            plain: Some(unit),
            ..self
        }
    }

    /// Refuses times below `least` and above `most`.
    #[must_use]
    pub const fn within(self, least: Time, most: Time) -> Times {
        Times {
            least,
            most,
            ..self
        }
    }

    /// Reads a time.
    ///
    /// # Errors
    /// A sentence that says what is wrong and what to write.
    pub fn read(&self, text: &str) -> Result<Time, String> {
        const EXAMPLES: &str = "write 300ms, 20s or 5m";
        let Some((number, unit)) = self.plain_number(text).or_else(|| split(text)) else {
            return Err(format!("`{text}` is no time; {EXAMPLES}"));
        };
        let unit = match (unit, self.plain) {
            ("", Some(unit)) => unit,
            ("", None) if number == 0.0 => TimeUnit::Seconds,
            ("", None) => return Err(format!("`{text}` has no unit of time; {EXAMPLES}")),
            (name, _) => TimeUnit::named(name)
                .ok_or_else(|| format!("`{name}` is no unit of time; {EXAMPLES}"))?,
        };
        let time = Time { number, unit };
        let (least, most) = (self.least.seconds(), self.most.seconds());
        match time.seconds() {
            s if self.is_above_zero && s <= 0.0 => Err("give a time above 0".to_owned()),
            s if (least..=most).contains(&s) => Ok(time),
            _ => Err(format!("give a time from {} to {}", self.least, self.most)),
        }
    }

    /// Reads a number without a unit as numbers were read before, also `1e3`.
    fn plain_number(&self, text: &str) -> Option<(f64, &'static str)> {
        self.plain?;
        let number: f64 = text.trim().parse().ok()?;
        (number.is_finite() && number >= 0.0).then_some((number, ""))
    }

    /// Returns [`Times::read`] as a function, for parsers of arguments.
    pub fn reader(self) -> impl Fn(&str) -> Result<Time, String> + Clone + Send + Sync + 'static {
        move |text| self.read(text)
    }

    /// Returns a function as [`Times::reader`] that reads durations.
    pub fn durations(
        self,
    ) -> impl Fn(&str) -> Result<Duration, String> + Clone + Send + Sync + 'static {
        move |text| self.read(text).map(Time::duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_are_read_or_refused() {
        let check = |text: &str, us: Option<u64>| {
            let read = Times::ANY.read(text).ok().map(Time::duration);
            assert_eq!(read, us.map(Duration::from_micros), "{text:?}");
        };
        check("300ms", Some(300_000));
        check("1.5 s", Some(1_500_000));
        check("20us", Some(20));
        check("20µs", Some(20));
        check("5m", Some(300_000_000));
        check("5min", Some(300_000_000));
        check("1h", Some(3_600_000_000));
        check("2d", Some(172_800_000_000));
        check("0", Some(0));
        let wrong = [
            "",
            "5",
            "s",
            "-1s",
            "1e9h",
            "99999999h",
            "1.2.3s",
            "5 days",
            "NaNs",
            "5S",
        ];
        for wrong in wrong {
            check(wrong, None);
        }
    }

    #[test]
    fn plain_numbers_are_of_their_unit_where_they_are_read() {
        let plain = Times::ANY.plain(TimeUnit::Milliseconds);
        assert_eq!(plain.read("25").unwrap().to_string(), "25ms");
        assert_eq!(plain.read("0.1").unwrap().milliseconds(), 0.1);
        assert_eq!(plain.read("1e3").unwrap().milliseconds(), 1000.0);
        assert!(plain.read("-1").is_err() && plain.read("NaN").is_err());
        assert_eq!(plain.read("2s").unwrap().milliseconds(), 2000.0);
        let refused = Times::ANY.read("2000").unwrap_err();
        assert_eq!(
            refused,
            "`2000` has no unit of time; write 300ms, 20s or 5m"
        );
    }

    #[test]
    fn limits_are_told() {
        let seconds = |number| Time::new(number, TimeUnit::Seconds);
        let times = Times::ANY.within(
            Time::new(100.0, TimeUnit::Milliseconds),
            Time::new(1.0, TimeUnit::Hours),
        );
        assert_eq!(times.read("1s"), Ok(seconds(1.0)));
        assert_eq!(times.read("1h").unwrap().seconds(), 3600.0);
        let said = "give a time from 100ms to 1h";
        assert_eq!(times.read("99ms").unwrap_err(), said);
        assert_eq!(times.read("61m").unwrap_err(), said);
        assert_eq!(
            Times::POSITIVE.read("0").unwrap_err(),
            "give a time above 0"
        );
    }

    proptest! {
        /// What is shown is read again as the same.
        #[test]
        fn shown_times_are_read(number in 0_u32..1_000_000, unit in 0_usize..5) {
            let time = Time::new(f64::from(number) / 16.0, TimeUnit::ALL[unit]);
            prop_assume!(time.seconds() <= MOST.seconds());
            prop_assert_eq!(Times::ANY.read(&time.to_string()), Ok(time));
        }
    }
}
