//! Tests of parsed robots.txt.

use super::*;
use proptest::prelude::*;

/// `expected` is the sign and the deciding line, 0 for none.
fn check(robots: &str, token: &str, rows: &[(&str, &str)]) {
    let rules = Robots::parse(robots.as_bytes()).rules(token);
    for (path, expected) in rows {
        let verdict = rules.allows(path);
        let sign = if verdict.allowed { '+' } else { '-' };
        assert_eq!(
            format!("{sign}{}", verdict.rule.map_or(0, Rule::line)),
            *expected,
            "{path}"
        );
        assert_eq!(rules.allows_slowly(path), verdict, "{path}");
    }
}

#[test]
fn longest_rule_decides_and_allow_wins_ties() {
    let robots =
        "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /x$\nAllow: /x$\nDisallow: /*.gif$\n";
    check(
        robots,
        "bot",
        &[
            ("/a", "-2"),
            ("/a/b/c", "+3"),
            ("/x", "+5"),
            ("/x/", "+0"),
            ("/i.gif", "-6"),
            ("/i.gif?", "+0"),
        ],
    );
}

#[test]
fn groups_are_merged_and_the_wildcard_is_a_fallback() {
    let robots = "Disallow: /\nUser-agent: a\nUser-agent: b\nDisallow: /ab\nUser-agent: *\nDisallow: /all\nUser-agent: a\nDisallow: /a2\nAllow:\n";
    check(
        robots,
        "A",
        &[("/ab", "-4"), ("/a2", "-8"), ("/all", "+0"), ("/", "+0")],
    );
    check(robots, "b/2.0", &[("/ab", "-4"), ("/a2", "+0")]);
    check(robots, "c", &[("/all", "-6"), ("/ab", "+0")]);
}

#[test]
fn stricter_comparison_holds() {
    let robots = "User-agent: *\nDisallow: /%7Eme\nDisallow: /{x}\nDisallow: /%2A\nDisallow: /open/\nAllow: /open/%62\n";
    check(
        robots,
        "bot",
        &[
            ("/~me", "-2"),
            ("/%7Eme", "-2"),
            ("/%7Bx%7D", "-3"),
            ("/*", "-4"),
            ("/open/b", "-5"),
            ("/open/%62", "+6"),
        ],
    );
}

#[test]
fn robots_txt_itself_is_always_allowed() {
    check(
        "User-agent: *\nDisallow: /",
        "bot",
        &[("/robots.txt", "+0"), ("/robots.txt?", "-2"), ("/", "-2")],
    );
}

#[test]
fn delays_and_extensions_belong_to_the_lines_above() {
    let robots = "User-agent: a\nCrawl-delay: 2.5 s\nUser-agent: b\nDisallow: /x\nRequest-Rate: 1/5\nCrawl-delay: x\nHost: h\n";
    let robots = Robots::parse(robots.as_bytes());
    let (a, b) = (robots.rules("a"), robots.rules("b"));
    assert_eq!((a.crawl_delay(), b.crawl_delay()), (Some(2.5), None));
    assert_eq!((a.rules().len(), b.rules().len()), (1, 1));
    assert_eq!(b.extension("request-rate").collect::<Vec<_>>(), ["1/5"]);
    assert_eq!(
        a.extension("request_rate").count() + robots.rules("c").extension("request-rate").count(),
        0
    );
    assert_eq!(
        robots.rules("c").extension("HOST").collect::<Vec<_>>(),
        ["h"]
    );
    assert_eq!(a.rules()[0].to_string(), "Disallow: /x");
}

#[test]
fn bytes_beyond_the_limit_are_counted() {
    let mut bytes = b"User-agent: *\n".to_vec();
    bytes.resize(ROBOTS_BYTES_MAX, b'#');
    bytes.extend(b"\nDisallow: /");
    let robots = Robots::parse(&bytes);
    assert_eq!(robots.stats().ignored_bytes, 12);
    assert!(robots.rules("bot").allows("/").allowed);
}

#[test]
fn utf16_is_read() {
    let units = |order: fn(u16) -> [u8; 2]| {
        "\u{feff}User-agent: *\nDisallow: /é"
            .encode_utf16()
            .flat_map(order)
            .collect::<Vec<u8>>()
    };
    for bytes in [units(u16::to_le_bytes), units(u16::to_be_bytes)] {
        assert!(!Robots::parse(&bytes).rules("bot").allows("/%C3%A9").allowed);
    }
}

proptest! {
    #[test]
    fn verdicts_of_both_matchers_agree(
        rules in prop::collection::vec(("(Dis)?[aA]llow", "/[ab%62*$/é.]{0,6}(/index.html)?"), 0..12), path in "/[ab*$/%62.]{0,10}",
    ) {
        let text: String = rules.iter().map(|(key, pattern)| format!("{key}: {pattern}\n")).collect();
        let rules = Robots::parse(format!("User-agent: *\n{text}").as_bytes()).rules("bot");
        prop_assert_eq!(rules.allows(&path), rules.allows_slowly(&path));
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), path in "\\PC{0,20}") {
        let _ = Robots::parse(&bytes).rules("a").allows(&path);
        let lines = [b"user-agent:*\ndisallow:/".as_slice(), &bytes, b"\ncrawl-delay:", &bytes].concat();
        let rules = Robots::parse(&lines).rules("a");
        prop_assert_eq!(rules.allows(&path), rules.allows_slowly(&path));
    }
}
