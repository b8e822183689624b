//! Robots cases of Google and of crawler-commons, with our decision on each row on which they contradict each other.

use std::collections::BTreeMap;

use serde_json::Value;
use url::Url;
use web::address::CanonicalUrl;
use web::robots::{
    Access, Robots, Rules, access, escaped_pattern, is_product_token, path_for_matching,
};

/// Rows of crawler-commons with a reason on which we decide as Google does and not as they do. On the other 74 of 88, the
/// stricter comparison of percent-encoding, `/robots.txt` itself, UTF-16, HTML tags and names with digits, we decide as they do.
const OTHER_DECISIONS: &[&str] = &[
    // A name of several words is no token.
    "Google/GoogleOnly_AcceptUserAgentUpToFirstSpace:1",
    // An allow rule that only one of two comparisons matches allows nothing.
    "Google/ID_Encoding:3",
    // `User-Agent: Agent2 Agent3` names the first only; for the second, the rules for all hold.
    "testNutchCases2:32",
    "testNutchCases2:33",
    "testNutchCases2:36",
    "testNutchCases2:39",
    // A user-agent line names one crawler.
    "testMultiAgentNames:1",
    // A long delay closes no site: the crawler parks the host and says so.
    "testBigCrawlDelay:1",
    // Misspelt keys beyond those that Google accepts are unknown.
    "testDirectiveTypos:1",
    "testDirectiveTypos:4",
    "testSpacesInMultipleUserAgentNames:2",
    "testSpacesInMultipleUserAgentNames:3",
    "testMatchingUserAgentNamesHttpHeader:2",
    "testMatchingUserAgentNamesHttpHeader:3",
];

fn rows() -> Option<Vec<Value>> {
    let path = tier::shared_data("crawler/robots-cases.jsonl")?;
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Some(
        text.split('\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
    )
}

fn robots(row: &Value) -> Robots {
    match (row["robots"].as_str(), row["robots_b64"].as_str()) {
        (Some(text), _) => Robots::parse(text.as_bytes()),
        (None, Some(encoded)) => Robots::parse(&base64(encoded)),
        (None, None) => Robots::default(),
    }
}

fn base64(text: &str) -> Vec<u8> {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut out) = (0_u32, 0, Vec::new());
    for digit in text
        .bytes()
        .filter_map(|byte| digits.iter().position(|d| *d == byte))
    {
        (bits, count) = (bits << 6 | digit as u32, count + 6);
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}

/// Rules for the agents of `row`: those of all that a group names, else those for `*`.
fn all_rules(row: &Value) -> Vec<Rules> {
    let robots = robots(row);
    let names: Vec<&str> = match &row["agent"] {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        name => name.as_str().into_iter().collect(),
    };
    let rules = names.iter().map(|name| (*name, robots.rules(name)));
    let named: Vec<Rules> = rules
        .filter(|(name, rules)| rules.is_specific() || *name == "*")
        .map(|(_, rules)| rules)
        .collect();
    if named.is_empty() {
        vec![robots.rules("")]
    } else {
        named
    }
}

fn rules(row: &Value) -> Rules {
    all_rules(row).swap_remove(0)
}

/// Our answer to what `row` asks, in the form of its expectation.
fn answer(row: &Value) -> (&'static str, Value) {
    if let Some(status) = row["http_status"].as_u64() {
        let access = access(status as u16);
        let key = if row.get("defer").is_some() {
            "defer"
        } else {
            "allowed"
        };
        return (
            key,
            Value::from((access == Access::Wait) == (key == "defer")),
        );
    }
    let has = |key: &str| row.get(key).is_some();
    match () {
        () if has("allowed") => {
            // Google's URLs are compared as they are, those of crawler-commons as a crawl has them.
            let url = row["url"].as_str().unwrap();
            let canonical = CanonicalUrl::parse(url)
                .ok()
                .filter(|_| !row["source"].as_str().unwrap().starts_with("google"));
            let sent = canonical.map_or(url.to_owned(), String::from);
            let path = path_for_matching(&sent);
            let allowed = all_rules(row).iter().all(|rules| {
                // The twin takes seconds for the rows with lines of 16 KB.
                if path.len() < 2_000 {
                    assert_eq!(rules.allows(&path), rules.allows_slowly(&path), "{row}");
                }
                rules.allows(&path).allowed
            });
            ("allowed", allowed.into())
        }
        () if has("defer") => ("defer", false.into()),
        () if has("crawl_delay_s") => ("crawl_delay_s", rules(row).crawl_delay().into()),
        () if has("sitemaps") => ("sitemaps", sitemaps(row)),
        () if has("agent_valid") => (
            "agent_valid",
            row["agent"].as_str().is_some_and(is_product_token).into(),
        ),
        () if has("path_for_matching") => (
            "path_for_matching",
            path_for_matching(row["url"].as_str().unwrap()).into(),
        ),
        () if has("escaped") => {
            let pattern = escaped_pattern(row["pattern"].as_str().unwrap().as_bytes());
            ("escaped", String::from_utf8(pattern).unwrap().into())
        }
        () if has("rules") => ("rules", rules(row).rules().len().into()),
        () if has("matched_wildcard") => ("matched_wildcard", (!rules(row).is_specific()).into()),
        () if has("extension") => ("values", extension(row)),
        () => {
            let stats = robots(row).stats();
            assert!(
                row.get("last_line_seen")
                    .is_none_or(|line| *line == stats.last_line),
                "{row}"
            );
            assert!(
                row.get("unknown_directives")
                    .is_none_or(|n| *n == stats.unknown_directives),
                "{row}"
            );
            ("valid_directives", stats.valid_directives.into())
        }
    }
}

fn sitemaps(row: &Value) -> Value {
    let base = row["robots_url"]
        .as_str()
        .and_then(|base| Url::parse(base).ok());
    let resolved = |text: &String| match &base {
        Some(base) => base.join(text).map_or(text.clone(), String::from),
        None => text.clone(),
    };
    robots(row)
        .sitemaps()
        .iter()
        .map(resolved)
        .collect::<Vec<_>>()
        .into()
}

fn extension(row: &Value) -> Value {
    let name = row["extension"].as_str().unwrap();
    let rules = rules(row);
    let values: Vec<&str> = rules.extension(name).collect();
    let is_enabled = row["enabled"]
        .as_array()
        .unwrap()
        .iter()
        .any(|enabled| enabled == name);
    if values.is_empty() || !is_enabled {
        Value::Null
    } else {
        values.into()
    }
}

#[test]
fn rows_of_google_and_of_crawler_commons() {
    let Some(rows) = rows() else { return };
    let mut google = 0;
    let mut commons = 0;
    let mut why = BTreeMap::<&str, (u32, u32)>::new();
    let mut failed = Vec::new();
    let mut differing = Vec::new();
    for row in &rows {
        let (key, found) = answer(row);
        let source = row["source"].as_str().unwrap();
        let expected = row[key].clone();
        if let Some(reason) = row["why"].as_str() {
            let counts = why.entry(reason).or_default();
            counts.0 += u32::from(found == expected);
            counts.1 += 1;
            if found != expected {
                differing.push(source.trim_start_matches("crawler-commons:"));
            }
        } else if found == expected {
            *(if source.starts_with("google") {
                &mut google
            } else {
                &mut commons
            }) += 1;
        } else {
            failed.push(format!("{source}: {key} found {found} expected {expected}"));
        }
    }
    println!(
        "google {google}, crawler-commons {commons} of those that contradict nothing; with a reason, (as crawler-commons, all): {why:?}"
    );
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert_eq!((google, commons), (191, 484));
    assert_eq!(differing, OTHER_DECISIONS);
}
