//! Tests of canonical URLs.

use super::*;
use proptest::prelude::*;

fn check(text: &str, expected: &str) {
    assert_eq!(
        CanonicalUrl::parse(text).as_ref().map(CanonicalUrl::as_str),
        Ok(expected),
        "{text}"
    );
}

#[test]
fn what_never_changes_a_page_is_dropped() {
    check(
        "HTTP://User:pw@Example.ORG:80/a/../b?#top",
        "http://example.org/b",
    );
    check(
        "https://example.org./?utm_source=x&q=1&fbclid=y",
        "https://example.org/?q=1",
    );
    check(
        "https://example.org/a;jsessionid=1?x",
        "https://example.org/a?x",
    );
    check(
        "https://example.org/a/.;jsessionid=1/b/..;jsessionid=2",
        "https://example.org/a/",
    );
    check(
        "https://bücher.example/%7Ea%2fb?%75tm_term=1",
        "https://xn--bcher-kva.example/~a%2Fb",
    );
    check("http://0x7f.1:8080", "http://127.0.0.1:8080/");
}

#[test]
fn parts_are_those_of_the_text() {
    let url = CanonicalUrl::parse("https://a.docs.example.co.uk:8443/x/y?q=1").unwrap();
    assert_eq!(
        (url.scheme(), url.host(), url.port()),
        ("https", "a.docs.example.co.uk", 8443)
    );
    assert_eq!(
        (url.origin(), url.site()),
        ("https://a.docs.example.co.uk:8443", "example.co.uk")
    );
    assert_eq!(
        (url.path_and_query(), url.path(), url.query()),
        ("/x/y?q=1", "/x/y", Some("q=1"))
    );
    let six = CanonicalUrl::parse("http://[::1]:8000/").unwrap();
    assert_eq!(
        (six.host(), six.port(), six.site(), six.is_ip()),
        ("[::1]", 8000, "[::1]", true)
    );
    for (text, site) in [
        ("http://127.0.0.1/", "127.0.0.1"),
        ("http://localhost/", "localhost"),
        ("http://co.uk/", "co.uk"),
    ] {
        assert_eq!(CanonicalUrl::parse(text).unwrap().site(), site);
    }
    assert_eq!(CanonicalUrl::parse("http://a/").unwrap().port(), 80);
    assert_eq!(CanonicalUrl::parse("https://a/").unwrap().port(), 443);
}

#[test]
fn links_are_resolved_and_bases_too() {
    let base = CanonicalUrl::parse("https://example.org/a/b?q").unwrap();
    for (link, expected) in [
        ("../c", "https://example.org/c"),
        ("?x", "https://example.org/a/b?x"),
        ("///h/p", "https://h/p"),
    ] {
        assert_eq!(base.join(link).unwrap().as_str(), expected, "{link}");
    }
    assert!(matches!(
        base.join("mailto:a@b"),
        Err(AddressError::Scheme { .. })
    ));
    assert!(matches!(
        base.join("http://"),
        Err(AddressError::Syntax { .. })
    ));
}

#[test]
fn further_parameters_are_dropped_by_name() {
    let set = ParameterSet::new(["lang", "view_*"]);
    for (text, expected) in [
        ("https://a/?lang=en&p=1&view_as=x", "https://a/?p=1"),
        ("https://a/x?lang", "https://a/x"),
        ("https://a/x?language=1", "https://a/x?language=1"),
    ] {
        let url = CanonicalUrl::parse(text).unwrap().without(&set);
        assert_eq!(url.as_str(), expected);
        assert_eq!(CanonicalUrl::parse(expected).unwrap(), url);
    }
}

#[test]
fn hosts_outside_the_domain_name_system_and_long_urls_are_refused() {
    for text in [
        "http://a..b/",
        "http://../",
        "http://a,b/",
        "http://a!b/",
        &format!("http://{}/", "a".repeat(64)),
    ] {
        assert!(
            matches!(CanonicalUrl::parse(text), Err(AddressError::Host { .. })),
            "{text}"
        );
    }
    let fits = format!("http://a/{}", "x".repeat(URL_BYTES_MAX - 9));
    assert_eq!(
        CanonicalUrl::parse(&fits).unwrap().as_str().len(),
        URL_BYTES_MAX
    );
    assert!(matches!(
        CanonicalUrl::parse(&format!("{fits}x")),
        Err(AddressError::TooLong { .. })
    ));
    assert!(CanonicalUrl::parse(&format!("{fits}?utm_source=1")).is_ok());
}

#[test]
fn canonical_urls_are_strings_in_json() {
    let url = CanonicalUrl::parse("https://a/b").unwrap();
    let json = serde_json::to_string(&url).unwrap();
    assert_eq!(json, "\"https://a/b\"");
    assert_eq!(serde_json::from_str::<CanonicalUrl>(&json).unwrap(), url);
    assert!(serde_json::from_str::<CanonicalUrl>("\"ftp://a\"").is_err());
}

proptest! {
    #[test]
    fn canonical_urls_parse_to_themselves(tail in "[-/\\\\.;%?&=#a-f0-9:@~é \\[\\]|^'\"<>{}utm_sidjeon]{0,60}") {
        if let Ok(url) = CanonicalUrl::parse(&format!("http://h.example{tail}")) {
            let again = CanonicalUrl::parse(url.as_str());
            prop_assert_eq!(again.as_ref(), Ok(&url));
        }
    }

    #[test]
    fn sessions_in_paths_leave_a_fixed_point(parts in prop::collection::vec(
        prop::sample::select(vec!["/", ".", "..", ";jsessionid=1", ";sid", "%2e", "%", "3b", "a", "?", "&", "utm_x", "=", "%3B"]), 0..12)) {
        if let Ok(url) = CanonicalUrl::parse(&format!("http://h/{}", parts.concat())) {
            let again = CanonicalUrl::parse(url.as_str());
            prop_assert_eq!(again.as_ref(), Ok(&url));
            prop_assert!(!url.path().contains(";jsessionid"));
        }
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,80}", base in "\\PC{0,40}") {
        let _ = CanonicalUrl::parse(&text);
        if let Ok(base) = CanonicalUrl::parse(&format!("http://h/{base}")) {
            let _ = base.join(&text);
        }
    }
}
