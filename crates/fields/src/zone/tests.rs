//! Tests of time zones and of periods in them.

use super::*;
use crate::dates;
use proptest::prelude::*;

/// Zone, period, an instant and the first instant of its period, found with Python's zoneinfo second by second: over
/// changes of the clock at midnight, around it, by half an hour, of a whole day, and by seconds.
const PERIODS: &str = include_str!("periods.tsv");

#[test]
fn periods_in_zones_begin_where_another_implementation_has_them() {
    for line in PERIODS.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let zone = Zone::named(columns[0]).unwrap();
        let period = Period::of_name(columns[1]).unwrap();
        let instant = dates::parse(columns[2]).unwrap();
        let start = dates::parse(columns[3]).unwrap();
        let found = zone.start(period, instant);
        assert_eq!(dates::text(found), dates::text(start), "{line}");
        let end = zone.end(period, start).unwrap();
        assert!(end > instant, "{line}: ends at {}", dates::text(end));
    }
}

#[test]
fn periods_begin_where_the_calendar_says() {
    let start = |period: Period, text: &str| {
        dates::text(Zone::UTC.start(period, dates::parse(text).unwrap()))
    };
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

#[test]
fn the_last_days_of_the_calendar_are_in_periods() {
    for zone in [
        "UTC",
        "Europe/Berlin",
        "America/New_York",
        "Pacific/Kiritimati",
    ] {
        let zone = Zone::named(zone).unwrap();
        for text in [
            "9999-12-29T12:00:00Z",
            "9999-12-31",
            "9999-12-31T23:59:59.999999Z",
        ] {
            let micros = dates::parse(text).unwrap();
            let year = zone.start(Period::Year, micros);
            assert_eq!(zone.text(Period::Year, year), "9999", "{zone:?} {text}");
            for period in Period::ALL {
                let start = zone.start(period, micros);
                assert!(start <= micros, "{zone:?} {period:?} {text}");
                assert_eq!(
                    zone.start(period, start),
                    start,
                    "{zone:?} {period:?} {text}"
                );
                let end = zone.end(period, start).unwrap_or(dates::END);
                assert!(micros < end, "{zone:?} {period:?} {text}");
            }
        }
    }
}

#[test]
fn periods_are_named_by_the_clock_of_the_zone() {
    let berlin = Zone::named("europe/berlin").unwrap();
    assert_eq!(berlin.name(), Some("Europe/Berlin"));
    let start = dates::parse("2024-10-27T01:00:00Z").unwrap();
    assert_eq!(
        berlin.text(Period::Hour, start),
        "2024-10-27T02:00:00+01:00"
    );
    let day = dates::parse("2024-10-26T22:00:00Z").unwrap();
    assert_eq!(berlin.text(Period::Day, day), "2024-10-27");
    assert_eq!(berlin.text(Period::Month, day), "2024-10");
    assert_eq!(Zone::UTC.text(Period::Hour, day), "2024-10-26T22:00:00Z");
    assert!(Zone::named("Europe/Bonn").is_err());
    assert_eq!(Zone::named("UTC").unwrap(), Zone::UTC);
}

proptest! {
    #[test]
    fn every_instant_is_in_its_period(
        micros in -62_000_000_000_000_000i64..253_000_000_000_000_000,
        // Where clocks change.
        recent in -2_500_000_000_000_000i64..2_500_000_000_000_000,
        name in prop::sample::select(vec![
            "", "Europe/Berlin", "Pacific/Apia", "Australia/Lord_Howe", "Atlantic/Azores", "America/St_Johns",
            "Africa/Monrovia", "Europe/Dublin", "America/Havana", "Asia/Kolkata", "Africa/Casablanca",
        ]),
    ) {
        let zone = Zone::named(name).unwrap();
        for micros in [micros, recent] {
            for period in Period::ALL {
                let start = zone.start(period, micros);
                let end = zone.end(period, start).unwrap();
                prop_assert!(start <= micros && micros < end, "{period:?} {start} {micros} {end}");
                prop_assert_eq!(zone.start(period, end - 1), start, "{:?}", period);
                prop_assert_eq!(zone.start(period, end), end, "{:?}", period);
                prop_assert_eq!(zone.start(period, start), start, "{:?}", period);
            }
        }
    }
}
