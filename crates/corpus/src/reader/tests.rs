//! Tests of reading whole sources: counts, compression, truncation, strictness.

use super::*;
use crate::FileLimits;
use crate::records::is_stream;
use document::Mapper;
use proptest::prelude::*;
use std::io::{Cursor, Write};

fn lines(count: usize) -> String {
    (0..count)
        .map(|n| {
            format!("{{\"url\":\"http://a/{n}\",\"title\":\"t {n}\",\"body\":\"body {n}\"}}\n")
        })
        .collect()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    // Two streams, as `cat a.xz b.xz` makes.
    for half in [&bytes[..bytes.len() / 2], &bytes[bytes.len() / 2..]] {
        let options = lzma_rust2::XzOptions::with_preset(1);
        let mut writer = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
        writer.write_all(half).unwrap();
        out.extend(writer.finish().unwrap());
    }
    out
}

fn bz2(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for half in [&bytes[..bytes.len() / 2], &bytes[bytes.len() / 2..]] {
        let mut writer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        writer.write_all(half).unwrap();
        out.extend(writer.finish().unwrap());
    }
    out
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8], window_log: u32) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(window_log).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn read_all(reader: &mut Reader) -> Vec<Document> {
    let mut documents = Vec::new();
    while let Some(document) = reader.next_document().unwrap() {
        documents.push(document);
    }
    documents
}

fn read_bytes(bytes: &[u8]) -> (Vec<Document>, Reader) {
    let mut reader = Reader::from_reader("made.jsonl", Cursor::new(bytes.to_vec()));
    (read_all(&mut reader), reader)
}

fn read_file(name: &str, bytes: &[u8]) -> (Vec<Document>, Reader) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let source = Source::parse(path.to_str().unwrap()).unwrap();
    assert_eq!(source, Source::JsonLines(path));
    let mut reader = Reader::open(vec![source], ReadOptions::default()).unwrap();
    (read_all(&mut reader), reader)
}

#[test]
fn a_reader_moves_to_a_thread() {
    fn is_send<T: Send>() {}
    is_send::<Reader>();
}

#[test]
fn windows_lines_empty_lines_mark_and_missing_newline() {
    let text = "\u{feff}{\"url\":\"a\",\"body\":\"1\"}\r\n\r\n  \n\n{\"url\":\"b\",\"body\":\"2\"}";
    let (documents, reader) = read_bytes(text.as_bytes());
    assert_eq!(
        documents.iter().map(|d| d.url.as_str()).collect::<Vec<_>>(),
        ["a", "b"]
    );
    assert_eq!(reader.progress().bad, 0);
    assert_eq!(reader.progress().source_bytes, text.len() as u64);
    assert_eq!(read_bytes(b"").0, []);
    assert_eq!(read_bytes(b"\xef\xbb\xbf").0, []);
}

#[test]
fn bad_lines_are_counted_and_the_first_ten_kept() {
    let mut text = String::new();
    for n in 0..15 {
        text += &format!("{{\"url\":\"{n}\",\"body\":\"\"}}\nwords\n");
    }
    let (documents, reader) = read_bytes(text.as_bytes());
    assert_eq!((documents.len(), reader.progress().bad), (15, 15));
    assert_eq!(reader.progress().documents, 15);
    assert_eq!(reader.bad_documents().len(), 10);
    let shown = reader.bad_documents()[1].to_string();
    assert!(
        shown.starts_with("made.jsonl:4: not a JSON object at byte 0"),
        "{shown}"
    );
}

#[test]
fn strict_stops_at_the_first_bad_line() {
    let text = "{\"url\":\"a\",\"body\":\"\"}\nbad\n{\"url\":\"b\",\"body\":\"\"}\n";
    let mut reader = Reader::from_reader("x", Cursor::new(text)).strict(true);
    assert!(reader.next_document().unwrap().is_some());
    let error = reader.next_document().unwrap_err();
    assert!(
        matches!(&error, ReaderError::Strict(bad) if bad.line == 2),
        "{error}"
    );
    assert!(reader.next_document().unwrap().is_none());
}

#[test]
fn a_long_line_is_passed_over_without_being_kept() {
    let text = format!(
        "{}{{\"url\":\"{}\"}}\n{}",
        lines(1),
        "x".repeat(500_000),
        lines(1)
    );
    let meter = Meter::default();
    let input = Input::from_reader(Cursor::new(text), &meter);
    let mut stream = JsonLines::new("x".to_owned(), input, 100, Mapper::default());
    assert!(matches!(stream.next().unwrap(), Step::Good { .. }));
    let Step::Bad { bad, text_bytes } = stream.next().unwrap() else {
        panic!()
    };
    assert_eq!((bad.line, text_bytes), (2, 500_011));
    assert_eq!(
        bad.reason,
        "the line is 500011 bytes long; at most 100 are taken"
    );
    assert!(matches!(stream.next().unwrap(), Step::Good { .. }));
    assert!(matches!(stream.next().unwrap(), Step::End));
}

#[test]
fn compressed_is_the_same_as_uncompressed() {
    let text = lines(3000);
    let (first, second) = text.as_bytes().split_at(70_001);
    let expected = read_bytes(text.as_bytes()).0;
    assert_eq!(expected.len(), 3000);
    for (name, bytes) in [
        ("a.jsonl", text.clone().into_bytes()),
        ("a.ndjson", text.clone().into_bytes()),
        ("a.jsonl.gz", gzip(text.as_bytes())),
        ("members.JSONL.gz", [gzip(first), gzip(second)].concat()),
        ("a.jsonl.zst", zstd(text.as_bytes(), 27)),
        (
            "frames.json.zst",
            [zstd(first, 20), zstd(second, 27)].concat(),
        ),
    ] {
        let (documents, reader) = read_file(name, &bytes);
        assert!(documents == expected, "{name}");
        let progress = reader.progress();
        assert_eq!(progress.text_bytes, text.len() as u64, "{name}");
        assert_eq!(progress.source_bytes, bytes.len() as u64, "{name}");
        assert_eq!(
            progress.source_bytes_total,
            Some(bytes.len() as u64),
            "{name}"
        );
    }
}

#[test]
fn a_truncated_file_keeps_the_documents_before() {
    let text = lines(3000);
    for (name, bytes) in [
        ("a.jsonl.gz", gzip(text.as_bytes())),
        ("a.jsonl.zst", zstd(text.as_bytes(), 20)),
    ] {
        let (documents, reader) = read_file(name, &bytes[..bytes.len() - 20]);
        assert!(documents.len() < 3000, "{name}");
        assert!(
            documents.len() > 1000 || name.ends_with("zst"),
            "{name}: {}",
            documents.len()
        );
        assert_eq!(reader.progress().bad, 1, "{name}");
        let bad = &reader.bad_documents()[0];
        assert!(bad.reason.starts_with("file ends early"), "{name}: {bad}");
        assert_eq!(bad.line, documents.len() as u64 + 1);
    }
}

#[test]
fn damaged_compression_is_a_bad_document() {
    for name in ["a.jsonl.gz", "a.jsonl.zst"] {
        let (documents, reader) = read_file(name, b"this is not compressed at all");
        assert_eq!((documents.len(), reader.progress().bad), (0, 1));
        let reason = &reader.bad_documents()[0].reason;
        assert!(reason.contains("damaged"), "{reason}");
    }
    let (_, reader) = read_file("wide.jsonl.zst", &zstd(lines(2000).as_bytes(), 27));
    assert_eq!(reader.progress().bad, 0);
}

/// Reads a file under limits and returns the documents and the one bad document.
fn read_within(name: &str, bytes: &[u8], limits: FileLimits) -> (Vec<Document>, BadDocument) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let options = ReadOptions {
        limits,
        ..ReadOptions::default()
    };
    let mut reader = Reader::open(vec![Source::JsonLines(path)], options).unwrap();
    let documents = read_all(&mut reader);
    assert_eq!(reader.progress().bad, 1, "{name}");
    (documents, reader.bad_documents()[0].clone())
}

#[test]
fn a_file_beyond_its_bytes_keeps_the_documents_before() {
    let text = lines(3000);
    let limits = FileLimits {
        decoded_bytes_max: Some(text.len() as u64 / 2),
        ..FileLimits::default()
    };
    for (name, bytes) in [
        ("a.jsonl", text.clone().into_bytes()),
        ("a.jsonl.gz", gzip(text.as_bytes())),
        ("a.jsonl.zst", zstd(text.as_bytes(), 20)),
    ] {
        let (documents, bad) = read_within(name, &bytes, limits);
        assert_eq!(bad.line, documents.len() as u64 + 1, "{name}");
        assert!((1400..1600).contains(&documents.len()), "{name}");
        assert!(bad.reason.contains("--file-size-max"), "{name}: {bad}");
        // A limit equal to the length leaves nothing out.
        let limits = FileLimits {
            decoded_bytes_max: Some(text.len() as u64),
            ..FileLimits::default()
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, &bytes).unwrap();
        let options = ReadOptions {
            limits,
            ..ReadOptions::default()
        };
        let mut reader = Reader::open(vec![Source::JsonLines(path)], options).unwrap();
        assert_eq!(read_all(&mut reader).len(), 3000, "{name}");
        assert_eq!(reader.progress().bad, 0, "{name}");
    }
}

#[test]
fn a_bomb_ends_early_and_keeps_the_documents_before() {
    let newlines = vec![b'\n'; 80 << 20];
    for (name, bytes) in [
        (
            "bomb.jsonl.gz",
            gzip(&[lines(5).as_bytes(), &newlines].concat()),
        ),
        (
            "bomb.jsonl.zst",
            zstd(&[lines(5).as_bytes(), &newlines].concat(), 20),
        ),
    ] {
        assert!(bytes.len() < 1 << 20, "{name}: {}", bytes.len());
        let (documents, bad) = read_within(name, &bytes, FileLimits::default());
        assert_eq!(documents.len(), 5, "{name}");
        assert!(
            bad.reason.contains("more than 200 for each"),
            "{name}: {bad}"
        );
        assert!(bad.line > 60 << 20 && bad.line < 70 << 20, "{name}: {bad}");
    }
}

#[test]
fn a_file_beyond_its_time_is_left_and_the_next_is_read() {
    let limits = FileLimits {
        time_max: std::time::Duration::ZERO,
        ..FileLimits::default()
    };
    let (documents, bad) = read_within("a.jsonl", lines(3).as_bytes(), limits);
    assert_eq!((documents.len(), bad.line), (0, 1));
    assert!(bad.reason.contains("--file-time-max"), "{bad}");
}

#[test]
fn a_long_stretch_without_documents_says_where_it_is() {
    let text = [
        &vec![b'\n'; 5 << 20][..],
        &vec![b'x'; 5 << 20],
        b"\n",
        lines(1).as_bytes(),
    ]
    .concat();
    let mut reader = Reader::from_reader("long", Cursor::new(text.clone()));
    let mut places = Vec::new();
    loop {
        match reader.read_on().unwrap() {
            Next::Document(_) => break,
            Next::Meanwhile => places.extend(reader.place().cloned()),
            Next::End => panic!("no document"),
        }
    }
    assert!(places.len() >= 10, "{}", places.len());
    assert!(places.iter().all(|place| place.file == "long"));
    let read: Vec<u64> = places.iter().map(|place| place.decoded_bytes).collect();
    assert!(read.is_sorted() && read[5] >= 4 << 20, "{read:?}");
    assert_eq!(places[places.len() - 1].line, (5 << 20) + 1);
}

#[test]
fn a_source_that_is_no_file_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let good = folder.path().join("a.jsonl");
    std::fs::write(&good, lines(2)).unwrap();
    let fifo = folder.path().join("pipe.jsonl");
    let mode = rustix::fs::Mode::RUSR;
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, kind, mode, 0).unwrap();
    let named = [&fifo, &PathBuf::from("/dev/zero"), &good];
    let sources = named.map(|path| Source::parse(path.to_str().unwrap()).unwrap());
    let mut reader = Reader::open(sources.to_vec(), ReadOptions::default()).unwrap();
    assert_eq!(read_all(&mut reader).len(), 2);
    assert_eq!(
        (reader.progress().bad, reader.progress().passed_over),
        (0, 2)
    );
    let said = reader.passed_over()[0].to_string();
    assert!(
        said.contains("pipe.jsonl") && said.contains("standard input"),
        "{said}"
    );
}

#[test]
fn what_is_not_a_source_says_what_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("picture.png");
    std::fs::write(&path, "a\0b").unwrap();
    let error = Source::parse(path.to_str().unwrap())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("picture.png") && error.contains(".jsonl"),
        "{error}"
    );
    let error = Source::parse("/no/such/file.jsonl").unwrap_err();
    assert!(matches!(error, ReaderError::Io { .. }));
    assert_eq!(Source::parse("-").unwrap(), Source::StandardInput);
    let here = folder.path().to_path_buf();
    assert_eq!(
        Source::parse(here.to_str().unwrap()).unwrap(),
        Source::Folder(here)
    );
    let gone = Source::JsonLines("/no/such/file.jsonl".into());
    assert!(matches!(
        Reader::open(vec![gone], ReadOptions::default()),
        Err(ReaderError::Io { .. })
    ));
}

#[test]
fn sources_are_read_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let sources = ["b", "a"].map(|name| {
        let path = folder.path().join(format!("{name}.jsonl"));
        std::fs::write(&path, format!("{{\"url\":\"{name}\",\"body\":\"\"}}")).unwrap();
        Source::JsonLines(path)
    });
    let mut reader = Reader::open(sources.to_vec(), ReadOptions::default()).unwrap();
    let urls: Vec<_> = read_all(&mut reader).into_iter().map(|d| d.url).collect();
    assert_eq!(urls, ["b", "a"]);
}

/// Lines of all kinds, as bytes.
fn any_line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(br#"{"url":"u","body":"b"}"#.to_vec()),
        Just(br#"{"url":"u","body":5}"#.to_vec()),
        Just(b" \r".to_vec()),
        prop::collection::vec(any::<u8>(), 0..40),
    ]
}

proptest! {
    #[test]
    fn any_bytes_are_documents_and_bad_lines(parts in prop::collection::vec(any_line(), 0..30)) {
        let bytes = parts.join(&b'\n');
        // An array, or an object over several lines, is not divided at newlines.
        prop_assume!(!is_stream(&bytes));
        let (documents, reader) = read_bytes(&bytes);
        let without_mark = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        let expected = without_mark
            .split(|&b| b == b'\n')
            .filter(|line| !line.iter().all(u8::is_ascii_whitespace))
            .count();
        prop_assert_eq!(documents.len() as u64 + reader.progress().bad, expected as u64);
        prop_assert_eq!(documents.len() as u64, reader.progress().documents);
        prop_assert_eq!(reader.progress().text_bytes as usize <= bytes.len(), true);
    }

    #[test]
    fn any_bytes_as_a_compressed_file(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for name in ["a.jsonl.gz", "a.jsonl.zst", "a.jsonl.xz", "a.jsonl.bz2"] {
            let (documents, reader) = read_file(name, &bytes);
            prop_assert_eq!(documents.len() as u64, reader.progress().documents);
        }
    }

    #[test]
    fn compression_changes_nothing(parts in prop::collection::vec(any_line(), 0..30)) {
        let bytes = parts.join(&b'\n');
        let (plain, plain_reader) = read_bytes(&bytes);
        for (name, packed) in [
            ("a.jsonl.gz", gzip(&bytes)),
            ("a.jsonl.zst", zstd(&bytes, 20)),
            ("a.jsonl.xz", xz(&bytes)),
            ("a.jsonl.bz2", bz2(&bytes)),
        ] {
            let (documents, reader) = read_file(name, &packed);
            prop_assert_eq!(&documents, &plain);
            prop_assert_eq!(reader.progress().bad, plain_reader.progress().bad);
            prop_assert_eq!(reader.progress().text_bytes, plain_reader.progress().text_bytes);
        }
    }
}
