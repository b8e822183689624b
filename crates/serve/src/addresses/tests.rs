use super::*;
use proptest::prelude::*;
use serde_json::json;
use wire::{FacetAnswer, FacetBucket, Hit, SearchAnswer};

fn addresses(maps: &[&str], originals: &[&str], folders: &[&str]) -> Addresses {
    let options = AddressOptions {
        maps: maps
            .iter()
            .map(|map| parse_address_map(map).unwrap())
            .collect(),
        originals: originals.iter().map(PathBuf::from).collect(),
    };
    let folders: Vec<String> = folders.iter().map(|&folder| folder.to_owned()).collect();
    Addresses::new(&options, &folders)
}

#[test]
fn the_first_rule_that_fits_shows_an_address() {
    let addresses = addresses(
        &[
            "file:///srv/docs/public=https://intranet/public",
            "file:///srv/docs/public/old=https://archive",
        ],
        &["/data/scans"],
        &[
            "file:///srv/docs",
            "file:///home/ann/docs",
            "file:///srv/docs/inner",
        ],
    );
    for (url, shown) in [
        ("https://example.org/a", "https://example.org/a"),
        ("man:grep(1)", "man:grep(1)"),
        ("file:///srv/docs/a%20b.txt", "file:///docs/a%20b.txt"),
        ("file:///srv/docs/inner/x", "file:///docs/inner/x"),
        ("file:///home/ann/docs/c.txt", "file:///docs-2/c.txt"),
        (
            "file:///srv/docs/public/x.pdf",
            "https://intranet/public/x.pdf",
        ),
        ("file:///srv/docs/public/old/x.pdf", "https://archive/x.pdf"),
        ("file:///data/scans/1.pdf", "file:///scans/1.pdf"),
        ("/srv/docs/people.csv#3", "/docs/people.csv#3"),
    ] {
        assert_eq!(addresses.shown(url), shown);
        assert_eq!(addresses.real(shown)[0], url);
    }
    for url in ["file:///etc/motd", "/etc/people.csv#3", "FILE:///etc/motd"] {
        let shown = addresses.shown(url);
        assert!(!shown.contains("etc"), "{shown}");
        assert_eq!(hash_of(&shown), Some(document::url_hash(url)));
    }
}

#[test]
fn sites_of_files_are_shown_and_asked_for_likewise() {
    let addresses = addresses(
        &["file:///srv/docs/public=https://intranet/public"],
        &[],
        &["file:///srv/docs"],
    );
    for (site, shown) in [
        ("/srv/docs/a", "/docs/a"),
        ("/srv/docs/public/b", "intranet/public/b"),
    ] {
        assert_eq!(addresses.shown_site(site), shown);
        let query = format!("owls site:\"{shown}\"");
        assert_eq!(
            addresses.real_query(&query),
            format!("owls site:\"{site}\"")
        );
    }
    assert_eq!(addresses.shown_site("/home/ann/x"), "…/x");
    assert_eq!(addresses.shown_site("example.org"), "example.org");
    assert_eq!(addresses.real_query("site:example.org"), "site:example.org");
}

#[test]
fn an_answer_names_no_folder_of_the_server() {
    let addresses = addresses(&[], &[], &["file:///srv/docs"]);
    let hit = |url: &str, site: &str| Hit {
        id: url.to_owned(),
        url: url.to_owned(),
        site: site.to_owned(),
        sort: vec![site.into()],
        explanation: Some(
            json!({"description": format!("site {site}"), "details": [{"name": site}]}),
        ),
        ..hit_of_nothing()
    };
    let mut answer = SearchAnswer {
        query: "site:\"/srv/docs/a\"".into(),
        hits: vec![hit("file:///srv/docs/a/x.txt", "/srv/docs/a")],
        facets: vec![FacetAnswer {
            field: "site".into(),
            buckets: vec![
                FacetBucket {
                    value: "/srv/docs/a".into(),
                    filter: "site:\"/srv/docs/a\"".into(),
                    ..FacetBucket::default()
                },
                FacetBucket {
                    value: "/srv/elsewhere".into(),
                    filter: "site:\"/srv/elsewhere\"".into(),
                    ..FacetBucket::default()
                },
            ],
            ..FacetAnswer::default()
        }],
        warnings: vec!["`site:/srv/docs/a` weighs nothing".into()],
        ..SearchAnswer::default()
    };
    let mut with_cursor = SearchAnswer {
        after: Some("01".into()),
        ..answer.clone()
    };
    addresses.show(&mut answer, "site:/docs/a", "site").unwrap();
    let json = serde_json::to_string(&answer).unwrap();
    assert!(!json.contains("srv"), "{json}");
    assert_eq!(answer.query, "site:/docs/a");
    assert_eq!(answer.facets[0].buckets[0].filter, "site:\"/docs/a\"");
    assert_eq!(answer.facets[0].buckets[1].filter, "");
    assert!(addresses.show(&mut with_cursor, "x", "site:desc").is_err());
}

fn hit_of_nothing() -> Hit {
    serde_json::from_value(json!({
        "id": "", "url": "", "title": "", "site": "", "score": 0.0, "summary": "", "more_from_site": false
    }))
    .unwrap()
}

#[test]
fn only_files_below_the_folders_of_originals_are_sent() {
    let of = |originals: &[&str]| addresses(&[], originals, &["file:///srv/docs"]);
    let both = of(&["/srv/docs/public"]);
    assert_eq!(
        both.original("file:///docs/public/a.csv#3").unwrap(),
        "original/docs/public/a.csv%233"
    );
    assert_eq!(both.original("file:///docs/public-not/a"), None);
    assert_eq!(both.original("file:///docs/a"), None);
    assert_eq!(both.original("https://example.org/a"), None);
    assert_eq!(of(&[]).original("file:///docs/public/a"), None);
}

proptest! {
    #[test]
    fn every_address_is_found_again(path in "(/(a|b|docs|é|%20| ){1,3}){1,4}", scheme in "(file://|FILE://|https://h|)") {
        let addresses = addresses(
            &["file:///a/b=https://h/x", "https://h/docs=https://other"],
            &[],
            &["file:///a", "file:///docs/a", "file:///b/a"],
        );
        let url = format!("{scheme}{path}");
        let shown = addresses.shown(&url).into_owned();
        let is_found = hash_of(&shown) == Some(document::url_hash(&url))
            || addresses.real(&shown).contains(&url);
        prop_assert!(is_found, "{url} as {shown}");
    }
}
