//! Tests of decoding: each rule of the order, published prescan rows, legacy files.

use encoding_rs::Encoding;
use proptest::prelude::*;

use super::*;

/// Asserts text, encoding and reason.
#[track_caller]
fn check(bytes: &[u8], http: Option<&str>, text: &str, encoding: &str, how: How) {
    let decoded = decode(bytes, http);
    assert_eq!(
        (&*decoded.text, decoded.encoding, decoded.how),
        (text, encoding, how)
    );
}

#[test]
fn the_order_of_sources() {
    check(b"\xef\xbb\xbfa", Some("koi8-r"), "a", "UTF-8", How::Bom);
    check(b"\xff\xfea\0", None, "a", "UTF-16LE", How::Bom);
    check(
        b"<meta charset=koi8-r>\xe9",
        Some("\"latin1\""),
        "<meta charset=koi8-r>é",
        "windows-1252",
        How::Http,
    );
    check(
        b"<meta charset=koi8-r>\xc1",
        Some("unknown"),
        "<meta charset=koi8-r>а",
        "KOI8-R",
        How::Meta,
    );
    check("é".as_bytes(), None, "é", "UTF-8", How::Utf8);
    check(b"", None, "", "UTF-8", How::Utf8);
    check(
        b"\x1b$B%3!<%I\x1b(B",
        None,
        "コード",
        "ISO-2022-JP",
        How::Guess,
    );
    check(b"a\0b\0c\0\xe9\0", None, "abcé", "UTF-16LE", How::Guess);
    check(b"\0a\0b\0c", None, "abc", "UTF-16BE", How::Guess);
    check(b"a \x1b[31m b", None, "a \u{1b}[31m b", "UTF-8", How::Utf8);
}

#[test]
fn malformed_sequences_are_reported() {
    let decoded = decode(b"a\xffb", Some("utf-8"));
    assert_eq!((&*decoded.text, decoded.malformed), ("a\u{fffd}b", true));
    assert!(!decode(b"ab", Some("utf-8")).malformed);
}

#[test]
fn only_the_first_1024_bytes_declare() {
    let at =
        |before: usize| prescan(format!("{}<meta charset=koi8-r>", " ".repeat(before)).as_bytes());
    assert_eq!(at(1024 - 21), Some(encoding_rs::KOI8_R));
    assert_eq!(at(1024 - 20), None);
}

/// Rows of one JSON Lines file of the shared test sets; `None` where they are not installed.
fn rows(name: &str) -> Option<Vec<serde_json::Value>> {
    let folder = tier::shared_data("crawler")?;
    let text = std::fs::read_to_string(folder.join(name)).expect("test set is readable");
    Some(
        text.split('\n')
            .filter(|l| !l.is_empty())
            .map(|l| serde_json::from_str(l).expect("JSON"))
            .collect(),
    )
}

/// Decodes base64 with padding.
fn base64(text: &str) -> Vec<u8> {
    let (mut bits, mut width, mut out) = (0u32, 0, Vec::new());
    for byte in text.bytes().filter(|&b| b != b'=') {
        let digit = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
            .iter()
            .position(|&b| b == byte)
            .expect("base64 digit");
        bits = bits << 6 | digit as u32;
        width += 6;
        if width >= 8 {
            width -= 8;
            out.push((bits >> width) as u8);
        }
    }
    out
}

#[test]
fn published_prescan_rows() {
    let Some(rows) = rows("charset-prescan.jsonl") else {
        return;
    };
    let mut wrong = Vec::new();
    for row in &rows {
        let bytes = base64(row["bytes_b64"].as_str().expect("bytes"));
        let expected = match row["needs"].as_str() {
            Some(_) => "windows-1252",
            None => row["encoding"].as_str().expect("encoding"),
        };
        // Two rows begin with a byte-order mark, which comes before any prescan.
        let bom = Encoding::for_bom(&bytes).map(|(encoding, _)| encoding);
        let found = bom
            .or_else(|| prescan(&bytes))
            .map_or("windows-1252", Encoding::name);
        if !found.eq_ignore_ascii_case(expected) {
            wrong.push(format!("{}: {found}, not {expected}", row["source"]));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
}

#[test]
fn legacy_files_decode_at_least_as_well_as_by_guessing() {
    let Some(rows) = rows("charset-files.jsonl") else {
        return;
    };
    let path = tier::shared_data("crawler/charset-files.tar.zst").expect("as the rows");
    let file = std::fs::File::open(path).expect("archive");
    let mut decoder = zstd::stream::read::Decoder::new(file).expect("zstd");
    decoder.window_log_max(27).expect("window");
    let mut archive = tar::Archive::new(decoder);
    let (mut total, mut right, mut guessed_right) = (0, 0, 0);
    for entry in archive.entries().expect("tar") {
        let mut entry = entry.expect("entry");
        let name = entry.path().expect("path").to_string_lossy().into_owned();
        let Some(row) = rows
            .iter()
            .find(|row| name.ends_with(row["file"].as_str().expect("file")))
        else {
            continue;
        };
        let Some(expected) = row["whatwg"]
            .as_str()
            .and_then(|l| Encoding::for_label(l.as_bytes()))
        else {
            continue;
        };
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut bytes).expect("readable");
        let expected = expected.decode(&bytes).0;
        let found = decode(&bytes, None);
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
        detector.feed(&bytes, true);
        let alone = detector.guess(None, Utf8Detection::Allow).decode(&bytes).0;
        total += 1;
        right += usize::from(found.text == expected);
        guessed_right += usize::from(alone == expected);
        if found.text != expected {
            println!(
                "{name}: {} by {:?}; guessing alone {}",
                found.encoding,
                found.how,
                alone == expected
            );
        }
    }
    println!("{right} of {total} right; chardetng alone {guessed_right}");
    assert!(
        total == 395 && right >= guessed_right,
        "{right} of {total}, chardetng alone {guessed_right}"
    );
}

proptest! {
    #[test]
    fn any_bytes_decode(bytes in prop::collection::vec(any::<u8>(), 0..200), http in "[a-z0-9-]{0,12}") {
        let decoded = decode(&bytes, Some(&http));
        prop_assert!(decoded.text.len() <= 3 * bytes.len() + 3);
    }

    #[test]
    fn any_markup_is_prescanned(text in "(<meta |<!--|-->|charset|=|\"|'|>|</|http-equiv|content|utf-8|;| ){0,40}") {
        prescan(text.as_bytes());
    }
}

#[test]
fn texts_about_pages_declare_nothing() {
    let text = "caf\u{e9} <meta charset=iso-8859-1>".as_bytes();
    assert_eq!(decode_text(text, None).how, How::Utf8);
    assert_eq!(decode(text, None).how, How::Meta);
    let decoded = decode_text(b"It\x92s \x93late\x94 \x96 caf\xe9, 5 \x80", None);
    assert_eq!(
        decoded.text,
        "It\u{2019}s \u{201c}late\u{201d} \u{2013} caf\u{e9}, 5 \u{20ac}"
    );
    assert_eq!(
        (decoded.encoding, decoded.how),
        ("windows-1252", How::Guess)
    );
}

/// Reads a stream that comes in pieces of `step` bytes; returns its text and the encoding that was guessed.
fn streamed(bytes: &[u8], encodings: Encodings, step: usize) -> (Vec<u8>, Option<&'static str>) {
    use std::io::Read;
    struct Pieces<'b>(&'b [u8], usize);
    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let taken = self.0.len().min(self.1).min(buffer.len());
            buffer[..taken].copy_from_slice(&self.0[..taken]);
            self.0 = &self.0[taken..];
            Ok(taken)
        }
    }
    let (mut text, mut guessed) = (Vec::new(), None);
    let mut reader = Utf8Reader::new(Pieces(bytes, step), encodings, |name| {
        assert_eq!(guessed.replace(name), None);
    });
    reader.read_to_end(&mut text).unwrap();
    drop(reader);
    (text, guessed)
}

#[test]
fn streams_are_decoded_however_they_are_cut() {
    let wide = |text: &str, mark: &[u8], unit: fn(u16) -> [u8; 2]| {
        let units = text.encode_utf16().flat_map(unit);
        mark.iter().copied().chain(units).collect::<Vec<u8>>()
    };
    let text = "name,caf\u{e9}\n\u{20ac} \u{1f600},x\n";
    let ascii = "a,b\n".repeat(100_000);
    let cases: [(Vec<u8>, String, Option<&str>); 9] = [
        (text.into(), text.into(), None),
        (
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            text.into(),
            None,
        ),
        (wide(text, b"\xff\xfe", u16::to_le_bytes), text.into(), None),
        (wide(text, b"\xfe\xff", u16::to_be_bytes), text.into(), None),
        (
            wide(text, b"", u16::to_le_bytes),
            text.into(),
            Some("UTF-16LE"),
        ),
        (
            b"It\x92s caf\xe9, 5 \x80".into(),
            "It\u{2019}s caf\u{e9}, 5 \u{20ac}".into(),
            Some("windows-1252"),
        ),
        // The first letter beyond ASCII is far from the beginning.
        (
            [ascii.as_bytes(), b"caf\xe9,don\x92t"].concat(),
            format!("{ascii}caf\u{e9},don\u{2019}t"),
            Some("windows-1252"),
        ),
        // Texts of two encodings in one file.
        (
            [text.as_bytes(), b"don\x92t"].concat(),
            format!("{text}don\u{2019}t"),
            Some("windows-1252"),
        ),
        (b"".into(), "".into(), None),
    ];
    for (bytes, expected, guess) in cases {
        for step in [1, 7, 4096, usize::MAX] {
            if bytes.len() > 10_000 && step < 100 {
                continue;
            }
            let (text, guessed) = streamed(&bytes, Encodings::Any, step);
            assert_eq!(String::from_utf8(text).unwrap(), expected);
            assert_eq!(guessed, guess, "{expected:.20}");
        }
    }
    let (text, guessed) = streamed(b"caf\xe9", Encodings::Unicode, 1);
    assert_eq!((&text[..], guessed), (&b"caf\xe9"[..], None));
    let json = wide("{\"a\":1}", b"\xff\xfe", u16::to_le_bytes);
    assert_eq!(streamed(&json, Encodings::Unicode, 3).0, b"{\"a\":1}");
}
