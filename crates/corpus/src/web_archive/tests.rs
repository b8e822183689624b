//! Tests of WARC files as a source.

use crate::{ReadOptions, Reader, Source};
use document::Document;
use std::io::Write;
use std::path::Path;
use web::warc::{About, Profile, Writer};

const HTML: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n";

fn about(uri: &str) -> About<'_> {
    About {
        uri,
        date: "2026-11-23T10:00:00Z".parse().unwrap(),
        ip: None,
    }
}

fn head(lines: &str) -> Vec<u8> {
    format!("{lines}\r\n").into_bytes()
}

/// Writes a file with pages of several kinds.
fn archive() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), 0, 1);
    let date = about("").date;
    writer.warcinfo(date, "a.warc.gz", &[]).unwrap();
    let html = head(HTML);
    let page = |text: &str| format!("<title>Title</title><p>{text}").into_bytes();
    let first = about("http://example.com/a");
    writer
        .request(&first, b"GET /a HTTP/1.1\r\n\r\n", b"", None)
        .unwrap();
    writer.response(&first, &html, &page("old"), None).unwrap();
    let plain = head("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n");
    let second = about("http://example.com/notes/b.txt");
    writer.response(&second, &plain, b"", None).unwrap();
    let missing = head("HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n");
    writer
        .response(&about("http://example.com/c"), &missing, b"no", None)
        .unwrap();
    let image = head("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n");
    writer
        .response(&about("http://example.com/d.png"), &image, b"\x89PNG", None)
        .unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(&page("packed")).unwrap();
    let packed = head(&format!("{HTML}Content-Encoding: gzip\r\n"));
    let third = about("http://example.com/e");
    writer
        .response(&third, &packed, &gzip.finish().unwrap(), None)
        .unwrap();
    let same = Profile::NotModified;
    writer
        .revisit(&first, &html, same, (None, None, None))
        .unwrap();
    writer.response(&first, &html, &page("new"), None).unwrap();
    writer.into_inner()
}

fn read(path: &Path) -> (Vec<Document>, Reader) {
    let source = Source::parse(path.to_str().unwrap()).unwrap();
    let mut reader = Reader::open(vec![source], ReadOptions::default()).unwrap();
    let mut documents = Vec::new();
    while let Some(document) = reader.next_document().unwrap() {
        documents.push(document);
    }
    (documents, reader)
}

fn shown(documents: &[Document]) -> Vec<(&str, &str, &str)> {
    documents
        .iter()
        .map(|one| (&*one.url, &*one.title, &*one.body))
        .collect()
}

const PAGES: [(&str, &str, &str); 4] = [
    ("http://example.com/a", "Title", "old"),
    ("http://example.com/notes/b.txt", "b.txt", ""),
    ("http://example.com/e", "Title", "packed"),
    ("http://example.com/a", "Title", "new"),
];

#[test]
fn pages_are_documents_and_the_rest_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pages.warc.gz");
    std::fs::write(&path, archive()).unwrap();
    let (documents, reader) = read(&path);
    assert_eq!(shown(&documents), PAGES);
    assert_eq!(documents[0].fields["date"], "2026-11-23T10:00:00Z");
    let mut left_out = reader.left_out();
    left_out.sort();
    let expected = [
        "image/png",
        "request record",
        "revisit record",
        "status 404",
        "warcinfo record",
    ];
    let expected: Vec<_> = expected
        .iter()
        .map(|kind| ((*kind).to_owned(), 1))
        .collect();
    assert_eq!(left_out, expected);
    let progress = reader.progress();
    assert_eq!((progress.documents, progress.bad), (4, 0));
    assert_eq!(Some(progress.source_bytes), progress.source_bytes_total);
}

#[test]
fn any_compression_holds_the_same_pages() {
    let folder = tempfile::tempdir().unwrap();
    let mut plain = Vec::new();
    let bytes = archive();
    let mut decoder = flate2::read::MultiGzDecoder::new(&bytes[..]);
    std::io::Read::read_to_end(&mut decoder, &mut plain).unwrap();
    let path = folder.path().join("a.warc");
    std::fs::write(&path, &plain).unwrap();
    assert_eq!(shown(&read(&path).0), PAGES);
    let path = folder.path().join("a.warc.zst");
    std::fs::write(&path, zstd::encode_all(&plain[..], 1).unwrap()).unwrap();
    assert_eq!(shown(&read(&path).0), PAGES);
}

#[test]
fn a_damaged_or_torn_record_costs_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pages.warc.gz");
    let mut bytes = archive();
    bytes.truncate(bytes.len() - 5);
    std::fs::write(&path, &bytes).unwrap();
    let (documents, reader) = read(&path);
    assert_eq!(shown(&documents), PAGES[..3]);
    let reason = reader.bad_documents()[0].to_string();
    assert!(
        reason.contains("the file ends inside this record"),
        "{reason}"
    );
}
