//! Tests of facets.

use super::*;
use crate::dates;
use crate::field_type::FieldType;
use crate::schema::Schema;
use crate::value::Value;

/// One value, of code 1.
struct Only(Value);

impl CodedValues for Only {
    fn value(&self, code: u64) -> Option<Value> {
        (code == 1).then(|| self.0.clone())
    }
}

fn schema() -> Schema {
    let fields = FieldType::ALL.map(|kind| (kind.name().to_owned(), kind));
    fields.into_iter().collect()
}

#[test]
fn facets_are_read_and_shown_as_they_are_written() {
    for (text, shown) in [
        ("keyword", "keyword:terms:10"),
        ("keyword:terms:3", "keyword:terms:3"),
        ("site", "site:terms:10"),
        ("bool", "bool:terms:10"),
        ("i64", "i64:stats"),
        ("i64:step:10", "i64:step:10"),
        ("f64:step:0.5", "f64:step:0.5"),
        ("f64:ranges: ..1 ; 1..2;>2", "f64:ranges:..1;1..2;>2"),
        ("date", "date:year"),
        ("date:month", "date:month"),
        ("date:month:UTC", "date:month"),
        ("date:hour:europe/berlin", "date:hour:Europe/Berlin"),
        ("keyword:distinct", "keyword:distinct"),
        ("site:distinct", "site:distinct"),
        ("i64:percentiles", "i64:percentiles:1,5,25,50,75,95,99"),
        ("f64:percentiles: 50, 99.9", "f64:percentiles:50,99.9"),
        ("date:step:365d", "date:step:365d"),
        ("date:step:12h", "date:step:12h"),
        ("date:step:48h", "date:step:2d"),
        ("date:stats", "date:stats"),
        ("bool:missing", "bool:missing"),
        ("site:missing{site:missing}", "site:missing{site:missing}"),
        ("date:ranges:..2020;2021..", "date:ranges:..2020;2021.."),
        (
            "site:terms:5 { date:year { i64 }, i64:percentiles:5, 50 , f64 }",
            "site:terms:5{date:year{i64:stats},i64:percentiles:5,50,f64:stats}",
        ),
        (
            "date{keyword{bool{f64:step:0.5}}}",
            "date:year{keyword:terms:10{bool:terms:10{f64:step:0.5}}}",
        ),
        (
            "i64:ranges:..5;6..{site}",
            "i64:ranges:..5;6..{site:terms:10}",
        ),
    ] {
        let facet = Facet::parse(text, &schema()).unwrap();
        assert_eq!(facet.to_string(), shown, "{text}");
        assert_eq!(Facet::parse(shown, &schema()), Ok(facet));
    }
}

#[test]
fn what_is_no_facet_is_explained() {
    for (text, said) in [
        ("none", "there is no field `none`"),
        ("text", "long texts"),
        ("keyword:stats", "`stats` is no facet"),
        ("keyword:month", "`month` is no facet"),
        ("date:percentiles", "`percentiles` is no facet"),
        ("i64:percentiles:101", "from 0 to 100"),
        ("i64:percentiles:nan", "from 0 to 100"),
        ("i64:distinct:3", "`distinct` is no facet"),
        ("date:month:Europe/Bonn", "no time zone"),
        ("date:step:1d:UTC", "no interval"),
        ("i64:step:0", "no width"),
        ("i64:step:x", "no width"),
        ("date:step:", "no interval"),
        ("date:step:10", "no interval"),
        ("date:step:0d", "no interval"),
        ("date:step:-1h", "no interval"),
        ("date:step:1.5d", "no interval"),
        ("date:step:9999999999999999d", "no interval"),
        ("bool:step:1d", "`step` is no facet"),
        ("i64:ranges:", "give 1 to"),
        ("i64:ranges:a..b", "no whole number"),
        ("keyword:terms:0", "no number of values"),
        ("keyword:terms:99999999", "no number of values"),
        (
            "i64:stats{keyword}",
            "`i64:stats` has no buckets to count `keyword` in",
        ),
        ("i64:distinct{keyword}", "has no buckets"),
        ("keyword{none}", "there is no field `none`"),
        ("keyword{}", "names no facet in braces"),
        ("keyword{ , }", "names no facet in braces"),
        ("keyword{bool", "braces of `keyword{bool` do not match"),
        ("keyword{bool}}", "do not match"),
        ("keyword}bool{i64}", "do not match"),
        ("keyword}", "do not match"),
        ("keyword{bool}{i64}", "do not match"),
        ("keyword{bool}:terms:3", "do not match"),
        ("keyword{bool{keyword{bool{i64}}}}", "up to 4 deep"),
    ] {
        let error = Facet::parse(text, &schema()).unwrap_err().to_string();
        assert!(error.contains(said), "{text}: {error}");
    }
}

#[test]
fn buckets_begin_at_multiples_of_the_width() {
    let bucket = |facet: &str, value: Value| {
        let facet = Facet::parse(facet, &schema()).unwrap();
        let counts = [(1, 1)];
        let spans = facet.kind.as_buckets()?.spans(&Only(value), &counts)?;
        spans.name(0).cloned()
    };
    assert_eq!(
        bucket("i64:step:10", Value::Integer(-1)),
        Some(Value::Integer(-10))
    );
    assert_eq!(
        bucket("i64:step:10", Value::Integer(19)),
        Some(Value::Integer(10))
    );
    assert_eq!(bucket("i64:step:10", Value::Integer(i64::MIN)), None);
    assert_eq!(
        bucket("i64:step:0.5", Value::Integer(3)),
        Some(Value::Float(3.0))
    );
    assert_eq!(
        bucket("f64:step:0.5", Value::Float(-0.25)),
        Some(Value::Float(-0.5))
    );
    let date = |text: &str| Value::Date(dates::parse(text).unwrap());
    for (facet, text, start) in [
        ("date:step:365d", "1970-12-31", "1970-01-01"),
        ("date:step:365d", "1972-12-31", "1972-12-31"),
        ("date:step:365d", "1972-12-30", "1972-01-01"),
        ("date:step:30d", "1969-12-31T23:59:59Z", "1969-12-02"),
        (
            "date:step:12h",
            "2024-05-06T12:00:00Z",
            "2024-05-06T12:00:00Z",
        ),
        ("date:step:12h", "2024-05-06T11:59:59Z", "2024-05-06"),
    ] {
        assert_eq!(bucket(facet, date(text)), Some(date(start)), "{text}");
    }
    assert_eq!(bucket("date:step:365d", Value::Date(i64::MIN)), None);
    assert_eq!(bucket("date:step:365d", Value::Integer(3)), None);
    assert_eq!(bucket("keyword", Value::Integer(3)), None);
}

#[test]
fn commas_part_facets_but_not_percentiles() {
    let listed = |text| split_list(text).join(" | ");
    assert_eq!(listed("a, b,,c"), "a | b | c");
    assert_eq!(
        listed("n:percentiles:50,99.9,lang,7"),
        "n:percentiles:50,99.9 | lang | 7"
    );
    assert_eq!(listed("n:percentiles,50"), "n:percentiles | 50");
    assert_eq!(
        listed("a{b,n:percentiles:5,6{,}},7, c {d}"),
        "a{b,n:percentiles:5,6{,}} | 7 | c {d}"
    );
    assert_eq!(listed("a},b{c,d"), "a} | b{c,d");
}
