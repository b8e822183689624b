//! URLs of the web platform's own tests, and of another crawler's normaliser.

use serde_json::Value;
use url::Url;
use web::address::{CanonicalUrl, whatwg};

/// Bytes of a shared test set, or `None` where it is skipped.
fn shared(name: &str) -> Option<Vec<u8>> {
    let path = tier::shared_data("crawler")?.join(name);
    Some(std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

fn is_http(text: &str) -> bool {
    let text = text
        .trim_start_matches(|c: char| c <= ' ')
        .to_ascii_lowercase();
    text.starts_with("http:") || text.starts_with("https:")
}

#[test]
fn all_http_rows_of_the_standard_pass() {
    let Some(bytes) = shared("urls-whatwg.json") else {
        return;
    };
    let rows: Value = serde_json::from_slice(&bytes).unwrap();
    let (mut count, mut canonical) = (0, 0);
    for row in rows
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row.is_object())
    {
        let (input, base, expected) = (
            row["input"].as_str().unwrap(),
            row["base"].as_str(),
            row["href"].as_str(),
        );
        if !is_http(input) && !base.is_some_and(is_http) && !expected.is_some_and(is_http) {
            continue;
        }
        count += 1;
        let parsed = base.map(Url::parse).transpose();
        let found = parsed.and_then(|base| whatwg::href(input, base.as_ref()));
        assert_eq!(found.as_deref().ok(), expected, "{input:?} on {base:?}");
        // What is canonical parses to itself, and keeps host and scheme.
        let Some(url) = expected.and_then(|text| CanonicalUrl::parse(text).ok()) else {
            continue;
        };
        canonical += 1;
        assert_eq!(CanonicalUrl::parse(url.as_str()).as_ref(), Ok(&url));
        assert_eq!(
            CanonicalUrl::from_frontier_key(&url.frontier_key()).as_ref(),
            Ok(&url)
        );
        let host = row["hostname"].as_str().unwrap();
        assert_eq!(
            url.host(),
            host.strip_suffix('.').unwrap_or(host),
            "{input:?}"
        );
    }
    println!("{count} http rows pass, {canonical} of them give a canonical URL");
    assert!(count >= 477 && canonical >= 200, "{count} {canonical}");
}

/// Class of a row on which the other normaliser decides otherwise, by what it does to the URL.
fn class(row: &Value) -> &'static str {
    let (url, expected) = (
        row["url"].as_str().unwrap(),
        row["normalized"].as_str().unwrap_or_default(),
    );
    let after_host = |text: &str| {
        text.split_once("://")
            .map_or("", |(_, rest)| rest)
            .to_owned()
    };
    let sorted = |text: &str| {
        let mut parts: Vec<String> = text
            .split(['?', '&', '#'])
            .map(|part| part.trim_end_matches('=').to_owned())
            .collect();
        parts.sort();
        parts.retain(|part| !part.is_empty());
        parts
    };
    match row["idn"].as_str() {
        Some(_) => "hosts stay punycode",
        None if !url.contains("://") && !is_http(url)
            || url.starts_with("ftp")
            || url.starts_with("file") =>
        {
            "a scheme is neither guessed nor other than http"
        }
        None if row["normalized"].is_null() || expected == "http:/" => {
            "other URLs without a host are refused"
        }
        None if url.contains("[") => {
            "brackets, and IPv6 addresses, are written as the standard writes them"
        }
        None if after_host(url).contains("//") => "empty segments of a path stay",
        None if url.contains('&')
            && sorted(url.split('#').next().unwrap_or(url)) == sorted(expected)
            || url.contains("&=1")
            || url.contains("?=1") =>
        {
            "parameters stay in their order, also empty ones"
        }
        None => "characters that the standard leaves alone are not encoded",
    }
}

#[test]
fn differences_to_another_normaliser_are_of_known_classes() {
    let Some(bytes) = shared("url-normalizer.jsonl") else {
        return;
    };
    let (mut same, mut resolved) = (0, 0);
    let mut classes = std::collections::BTreeMap::<&str, usize>::new();
    for line in std::str::from_utf8(&bytes)
        .unwrap()
        .split('\n')
        .filter(|line| !line.is_empty())
    {
        let row: Value = serde_json::from_str(line).unwrap();
        let url = row["url"].as_str().unwrap();
        if let Some(expected) = row["resolved"].as_str() {
            let base = Url::parse(row["base"].as_str().unwrap()).ok();
            resolved += 1;
            assert_eq!(
                whatwg::href(url, base.as_ref()).as_deref(),
                Ok(expected),
                "{line}"
            );
            continue;
        }
        let found = CanonicalUrl::parse(url).ok().map(|url| url.to_string());
        if found.as_deref() == row["normalized"].as_str() {
            same += 1;
        } else {
            println!(
                "{}: {url} found {found:?} expected {}",
                class(&row),
                row["normalized"]
            );
            *classes.entry(class(&row)).or_default() += 1;
        }
    }
    println!("{same} the same, {resolved} resolved; {classes:?}");
    let differences: usize = classes.values().sum();
    assert!(
        same >= 101 && resolved == 22 && differences <= 38,
        "{same} {resolved} {differences}"
    );
}
