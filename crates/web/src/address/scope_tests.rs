//! Tests of the scope of a crawl.

use super::*;

fn url(text: &str) -> CanonicalUrl {
    CanonicalUrl::parse(text).unwrap()
}

/// `form` is JSON: TOML gives serde the same values.
fn check(seeds: &[&str], form: &str, rows: &[(&str, &str)]) {
    let seeds: Vec<_> = seeds.iter().map(|seed| url(seed)).collect();
    let scope = Scope::new(&seeds, serde_json::from_str(form).unwrap()).unwrap();
    for (text, expected) in rows {
        let decision = scope.decide(&url(text));
        let sign = if decision.allowed { "+" } else { "-" };
        assert_eq!(format!("{sign} {}", decision.reason), *expected, "{text}");
    }
}

#[test]
fn one_seed_keeps_to_its_host() {
    check(
        &["https://docs.example.org/a/b"],
        "{}",
        &[
            (
                "https://docs.example.org/",
                "+ within the hosts of the seeds",
            ),
            (
                "http://docs.example.org/x",
                "+ within the hosts of the seeds",
            ),
            (
                "https://docs.example.org:8443/",
                "- outside of the hosts of the seeds",
            ),
            (
                "https://example.org/",
                "- outside of the hosts of the seeds",
            ),
        ],
    );
}

#[test]
fn boundaries_of_folders_and_sites() {
    let seeds = [
        "https://h.example.org/docs/v1/x",
        "https://h.example.org/docs/",
        "https://h.example.org/docs-more/y",
        "https://h.example.org/a/",
    ];
    check(
        &seeds,
        r#"{"within": "path"}"#,
        &[
            (
                "https://h.example.org/docs/z/x",
                "+ within the folders of the seeds",
            ),
            (
                "https://h.example.org/docs-more/z",
                "+ within the folders of the seeds",
            ),
            (
                "https://h.example.org/a/z",
                "+ within the folders of the seeds",
            ),
            (
                "https://h.example.org/docs",
                "- outside of the folders of the seeds",
            ),
            (
                "https://h.example.org/b/",
                "- outside of the folders of the seeds",
            ),
            (
                "https://other.example.org/docs/",
                "- outside of the folders of the seeds",
            ),
        ],
    );
    check(
        &["https://a.example.co.uk/"],
        r#"{"within": "site"}"#,
        &[
            (
                "http://b.example.co.uk:81/",
                "+ within the sites of the seeds",
            ),
            (
                "https://other.co.uk/",
                "- outside of the sites of the seeds",
            ),
        ],
    );
    check(
        &[],
        r#"{"within": "any"}"#,
        &[("https://x/", "+ within all hosts")],
    );
}

#[test]
fn first_matching_rule_decides() {
    let form = r#"{"rules": [{"allow": "/private/open/"}, {"deny": "/private/"}, {"deny": ".zip"},
        {"allow": "https://cdn.example/docs/*.html$"}, {"allow": "*"}]}"#;
    check(
        &["https://h/"],
        form,
        &[
            (
                "https://h/private/open/1.zip",
                "+ rule 1: allow /private/open/",
            ),
            ("https://h/private/x", "- rule 2: deny /private/"),
            ("https://h/a.ZIP?x", "- rule 3: deny .zip"),
            (
                "https://cdn.example/docs/a.html",
                "+ rule 4: allow https://cdn.example/docs/*.html$",
            ),
            (
                "https://cdn.example/docs/a.js",
                "- outside of the hosts of the seeds",
            ),
            ("https://h/x", "+ rule 5: allow *"),
        ],
    );
}

#[test]
fn forms_with_errors_are_refused() {
    assert!(serde_json::from_str::<ScopeForm>(r#"{"withn": "host"}"#).is_err());
    assert!(serde_json::from_str::<ScopeForm>(r#"{"rules": [{"block": "/"}]}"#).is_err());
    let form = ScopeForm {
        rules: vec![RuleForm::Deny("/".into()), RuleForm::Deny("x".into())],
        ..Default::default()
    };
    let error = Scope::new(&[], form).unwrap_err();
    assert_eq!(
        error.to_string(),
        "rule 2: pattern \"x\" must begin with /, *, . or http; correct the rule"
    );
}

#[test]
fn folders_contain_no_other() {
    let mut folders = BTreeSet::new();
    for folder in ["/b/", "/a/x/", "/a/", "/a/y/", "/"] {
        insert_folder(&mut folders, folder);
        let listed: Vec<_> = folders.iter().cloned().collect();
        assert!(
            listed.windows(2).all(|pair| !pair[1].starts_with(&pair[0])),
            "{listed:?}"
        );
    }
    assert_eq!(folders.len(), 1);
}
