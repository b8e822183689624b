//! Time zones, and the periods of the calendar in them.
//!
//! ```text
//! period of an instant = [first instant of its civil unit, first instant of the next)
//!
//! the clock goes back over midnight     a day begins where its midnight is first; what comes back belongs to it
//! the clock leaves a midnight out       the day begins with the first instant after the gap
//! a zone leaves a day out               no instant is in it
//! the clock goes back within a day      hours are counted by the offset: the repeated one is an hour of its own
//! ```
//!
//! So periods follow each other without a gap and do not overlap, and of two instants the later one is in the same period or
//! in a later one. The zones are those of the database in this program, not of the machine, so that all servers of one
//! version agree.

use crate::calendar::Period;
use crate::dates;
use crate::test::BadTest;
use jiff::Timestamp;
use jiff::civil::{DateTime, Time};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};
use std::sync::LazyLock;

/// The database of this program.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// Last civil time that is a timestamp by the clock of any zone.
const LAST_OF_TIMESTAMPS: DateTime = DateTime::constant(9999, 12, 29, 0, 0, 0, 0);

/// Microseconds of an hour.
const HOUR: i64 = 3_600_000_000;

/// Time zone of a facet.
#[derive(Debug, Clone, PartialEq)]
pub struct Zone(Option<TimeZone>);

impl Zone {
    /// Coordinated universal time.
    pub const UTC: Zone = Zone(None);

    /// Returns the zone with a name, in any case of its letters; UTC without one.
    pub(crate) fn named(name: &str) -> Result<Zone, BadTest> {
        if name.is_empty() || name.eq_ignore_ascii_case("utc") {
            return Ok(Zone::UTC);
        }
        let zone = ZONES.get(name).map_err(|_| BadTest {
            reason: format!(
                "`{}` is no time zone; write a name of the IANA database, as Europe/Berlin",
                name.chars().take(40).collect::<String>()
            ),
        })?;
        Ok(Zone(Some(zone)))
    }

    /// Returns the name; `None` for UTC.
    pub fn name(&self) -> Option<&str> {
        self.0.as_ref().and_then(TimeZone::iana_name)
    }

    /// Returns the first instant of the period of `micros`; `micros` itself where the calendar does not reach.
    pub fn start(&self, period: Period, micros: i64) -> i64 {
        self.start_within(period, micros).unwrap_or(micros)
    }

    fn start_within(&self, period: Period, micros: i64) -> Option<i64> {
        let offset = self.offset(near(micros));
        if let (Period::Hour, Some(zone)) = (period, &self.0) {
            return Some(hour_start(zone, offset, micros));
        }
        let mut civil = clock(micros, offset)?;
        let mut start = self.first_instant(period.floor(civil)?)?;
        // Where the clock went back over the beginning of the next period, that has begun already.
        while let Some(next) = period.next(civil)
            && let Some(begun) = self.first_instant(next)
            && begun <= micros
        {
            (civil, start) = (next, begun);
        }
        Some(start)
    }

    /// Returns the first instant after the period that begins at `start`; `None` where the calendar ends with it.
    pub fn end(&self, period: Period, start: i64) -> Option<i64> {
        let instant = near(start);
        let offset = self.offset(instant);
        if let (Period::Hour, Some(zone)) = (period, &self.0) {
            let local = start.checked_add(offset_micros(offset))?;
            let end = start.checked_add(HOUR - local.rem_euclid(HOUR))?;
            let changes = zone.following(instant);
            let change =
                changes.map(|change| (change.timestamp().as_microsecond(), change.offset()));
            let mut before_end = change.take_while(|(at, _)| *at < end);
            let change = before_end.find(|(_, after)| *after != offset);
            return Some(change.map_or(end, |(at, _)| at));
        }
        let mut civil = clock(start, offset)?;
        loop {
            civil = period.next(civil)?;
            let end = self.first_instant(civil)?;
            // A unit that the zone leaves out begins where the one after it does.
            if end > start {
                return Some(end);
            }
        }
    }

    /// Returns the text of the beginning of a period as people write it: `2024`, `2024-05`, a day; an hour with its
    /// offset, unless that is UTC.
    pub fn text(&self, period: Period, start: i64) -> String {
        let offset = self.offset(near(start));
        let Some(civil) = clock(start, offset) else {
            return start.to_string();
        };
        let date = civil.date().to_string();
        match period {
            Period::Year => date.get(..4).unwrap_or(&date).to_owned(),
            Period::Month => date.get(..7).unwrap_or(&date).to_owned(),
            Period::Quarter | Period::Week | Period::Day => date,
            Period::Hour if self.0.is_none() && civil.time() == Time::midnight() => date,
            Period::Hour => match (&self.0, Timestamp::from_microsecond(start)) {
                (Some(_), Ok(instant)) => instant.display_with_offset(offset).to_string(),
                _ => dates::text(start),
            },
        }
    }

    fn offset(&self, instant: Timestamp) -> Offset {
        match &self.0 {
            None => Offset::UTC,
            Some(zone) => zone.to_offset(instant),
        }
    }

    /// Returns the first instant at which the clock shows `civil` or, where it leaves that out, a later time.
    fn first_instant(&self, civil: DateTime) -> Option<i64> {
        let Some(zone) = &self.0 else {
            return Some(dates::micros(civil));
        };
        if civil > LAST_OF_TIMESTAMPS {
            let offset = zone.to_offset(Timestamp::MAX);
            return Some(dates::micros(civil) - offset_micros(offset));
        }
        let ambiguous = zone.to_ambiguous_timestamp(civil);
        if let AmbiguousOffset::Gap { after, .. } = ambiguous.offset() {
            // By the offset after the gap, the time is before it; the gap ends where the offset changes.
            let before = after.to_timestamp(civil).ok()?;
            let mut changes = zone.following(before);
            let change = changes.find(|change| change.offset() == after)?;
            return Some(change.timestamp().as_microsecond());
        }
        Some(ambiguous.earlier().ok()?.as_microsecond())
    }
}

/// Returns the instant, or the nearest one that a timestamp can be: those of the last day are beyond.
fn near(micros: i64) -> Timestamp {
    let (least, greatest) = (
        Timestamp::MIN.as_microsecond(),
        Timestamp::MAX.as_microsecond(),
    );
    Timestamp::from_microsecond(micros.clamp(least, greatest)).unwrap_or(Timestamp::MAX)
}

/// Returns the local time of an instant; at the end of the calendar, the last local time.
fn clock(micros: i64, offset: Offset) -> Option<DateTime> {
    let local = micros.checked_add(offset_micros(offset))?;
    match local >= dates::END {
        true => Some(DateTime::MAX),
        false => dates::civil(local),
    }
}

/// Returns the beginning of an hour of the clock, or of what a change of the clock left of one.
fn hour_start(zone: &TimeZone, offset: Offset, micros: i64) -> i64 {
    let local = micros.saturating_add(offset_micros(offset));
    let start = micros.saturating_sub(local.rem_euclid(HOUR));
    let Ok(after) = Timestamp::from_microsecond(micros.saturating_add(1)) else {
        return start;
    };
    let changes = zone.preceding(after);
    let changes = changes.map(|change| change.timestamp());
    let within = changes.take_while(|change| change.as_microsecond() > start);
    // Some changes are of names alone.
    let offset_before = |change: &Timestamp| {
        let before = Timestamp::from_microsecond(change.as_microsecond() - 1);
        before.map(|before| zone.to_offset(before)).ok()
    };
    let mut within = within.filter(|change| offset_before(change) != Some(zone.to_offset(*change)));
    within
        .next()
        .map_or(start, |change| change.as_microsecond())
}

fn offset_micros(offset: Offset) -> i64 {
    i64::from(offset.seconds()) * 1_000_000
}

#[cfg(test)]
mod tests;
