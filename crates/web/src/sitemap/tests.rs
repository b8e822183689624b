//! Tests of limits, lenience and hostile input.

use super::*;
use proptest::prelude::*;
use url::Url;

fn read(bytes: &[u8], options: Options) -> (Vec<Entry>, Counts, Option<SitemapError>) {
    let url = Url::parse("https://example.com/sitemap.xml").unwrap();
    let mut reader = match SitemapReader::new(bytes, &url, options) {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), Counts::default(), Some(error)),
    };
    let mut entries = Vec::new();
    loop {
        match reader.next() {
            Ok(Some(entry)) => entries.push(entry),
            Ok(None) => return (entries, reader.counts(), None),
            Err(error) => return (entries, reader.counts(), Some(error)),
        }
    }
}

#[test]
fn what_lies_beyond_a_limit_is_counted() {
    let one = |n: usize| format!("<url><loc>https://example.com/{n}</loc></url>");
    let text = format!("<urlset>{}</urlset>", (0..10).map(one).collect::<String>());
    let options = Options {
        entries_max: 7,
        ..Options::default()
    };
    let (entries, counts, error) = read(text.as_bytes(), options);
    assert_eq!(
        (entries.len(), counts.beyond_limit, counts.is_cut),
        (7, 3, false)
    );
    assert!(error.is_none());
    let options = Options {
        bytes_max: 60,
        ..Options::default()
    };
    let (entries, counts, _) = read(text.as_bytes(), options);
    assert_eq!(
        (entries.len(), counts.decoded_bytes, counts.is_cut),
        (1, 60, true)
    );
}

#[test]
fn a_torn_address_is_no_entry_and_a_bare_ampersand_is_text() {
    let (entries, counts, _) = read(
        b"<urlset><url><loc>https://example.com/?a=1&b=\xff2</loc></url><url><loc>https://example.com/to",
        Options::default(),
    );
    let found: Vec<_> = entries.iter().map(|entry| entry.loc.as_str()).collect();
    assert_eq!(found, ["https://example.com/?a=1&b=%EF%BF%BD2"]);
    assert_eq!(counts.bad_addresses, 1);
}

#[test]
fn an_endless_element_costs_bounded_memory() {
    let text = format!(
        "<urlset><url><loc>https://example.com/</loc></url><a b='{}'/>",
        "x".repeat(3 << 20)
    );
    let (entries, _, error) = read(text.as_bytes(), Options::default());
    assert_eq!(entries.len(), 1);
    assert!(matches!(error, Some(SitemapError::Xml { .. })), "{error:?}");
}

#[test]
fn outside_files_stand_for_nothing() {
    let text = b"<!DOCTYPE urlset [<!ENTITY x SYSTEM 'file:///do-not-visit.txt'>]>\
        <urlset><url><loc>&x;</loc></url></urlset>";
    let (_, _, error) = read(text, Options::default());
    assert!(
        matches!(error, Some(SitemapError::DocumentType)),
        "{error:?}"
    );
    let options = Options {
        allow_document_type: true,
        ..Options::default()
    };
    let (entries, counts, error) = read(text, options);
    assert_eq!((entries.len(), counts.bad_addresses), (0, 1));
    assert!(error.is_none());
}

proptest! {
    #[test]
    fn any_bytes_are_read(
        parts in prop::collection::vec(
            prop_oneof![
                "</?(urlset|url|loc|sitemapindex|sitemap|rss|item|link|image:loc|lastmod|x)>",
                "[<>&;/!\\[\\]a-z \n\u{feff}é]{0,12}",
                Just("https://example.com/".to_owned()),
                Just("<![CDATA[".to_owned()),
            ],
            0..40,
        ),
        bytes in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let options = Options { extensions: true, allow_document_type: true, ..Options::default() };
        read(parts.concat().as_bytes(), options);
        read(&bytes, options);
        let mut xml = b"<urlset>".to_vec();
        xml.extend_from_slice(&bytes);
        read(&xml, options);
    }
}
