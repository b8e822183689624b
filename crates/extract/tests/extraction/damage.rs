//! Damaged files: each is read or named, within the limits, and none ends the pool.

use crate::made;
use crate::support::{pool, results};
use corpus::Extracted;
use std::io::Write;
use std::time::{Duration, Instant};

/// Pseudo-random numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

fn damaged(bytes: &[u8], kind: usize, numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    match kind {
        0 => bytes.truncate(numbers.below(bytes.len())),
        1 => {
            for _ in 0..1 + numbers.below(8) {
                let at = numbers.below(bytes.len());
                bytes[at] ^= 1 << numbers.below(8);
            }
        }
        2 => {
            let from = numbers.below(bytes.len());
            let to = (from + 1 + numbers.below(64)).min(bytes.len());
            bytes[from..to].fill(numbers.below(256) as u8);
        }
        _ => {
            let from = numbers.below(bytes.len());
            let piece = bytes[from..(from + 40).min(bytes.len())].to_vec();
            let at = numbers.below(bytes.len());
            bytes.splice(at..at, piece);
        }
    }
    bytes
}

#[test]
fn five_hundred_damaged_files_are_read_or_named() {
    let text = b"Words of a text, again and again. ".repeat(40);
    let members: [(&str, &[u8]); 2] = [("a.txt", &text), ("b/c.html", b"<p>x</p>")];
    let whole = [
        ("a.docx", made::docx("<w:p><w:t>words</w:t></w:p>")),
        ("a.pptx", made::pptx()),
        ("a.xlsx", made::xlsx("<row><c t='s'><v>0</v></c></row>")),
        ("a.odt", made::odt()),
        ("a.epub", made::epub()),
        ("a.pdf", made::pdf("words", "title")),
        ("a.eml", made::message("words")),
        ("a.mbox", made::mailbox()),
        ("a.zip", made::zip(&members)),
        ("a.tar", made::tar(&members)),
        ("a.tar.gz", made::gzip(&made::tar(&members))),
    ];
    let pool = pool();
    let mut numbers = Numbers(0x5eed);
    let (mut read, mut named) = (0, 0);
    for round in 0..504 {
        let (name, bytes) = &whole[round % whole.len()];
        let bytes = damaged(bytes, round / whole.len() % 4, &mut numbers);
        let since = Instant::now();
        let found = results(&pool, name, &bytes);
        assert!(
            since.elapsed() < Duration::from_secs(10),
            "{name}, round {round}"
        );
        let is_bad = |one: &Extracted| matches!(one, Extracted::Bad { .. });
        match found.iter().any(is_bad) {
            true => named += 1,
            false => read += 1,
        }
        assert!(!found.is_empty(), "{name}, round {round}: nothing is said");
    }
    assert!(named > 150 && read > 30, "{named} named, {read} read");
    for (name, bytes) in &whole {
        let found = results(&pool, name, bytes);
        assert!(
            matches!(found[0], Extracted::Document { .. }),
            "{name}: {found:?}"
        );
    }
}

/// Returns a PDF whose page has this content stream, beside objects of its own from number 6.
fn pdf_of_stream(stream: &[u8], filter: &str, others: &[&str]) -> Vec<u8> {
    let mut page = format!("<< /Length {} {filter} >>\nstream\n", stream.len()).into_bytes();
    page.extend_from_slice(stream);
    page.extend_from_slice(b"\nendstream");
    let mut objects: Vec<Vec<u8>> = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 5 0 R \
         /Resources << /XObject << /X 6 0 R >> >> >>",
        "<< >>",
    ]
    .map(|object| object.as_bytes().to_vec())
    .to_vec();
    objects.push(page);
    objects.extend(others.iter().map(|object| object.as_bytes().to_vec()));
    made::pdf_file(&objects)
}

#[test]
fn pdfs_without_a_right_table_of_objects_are_read() {
    let whole = made::pdf_of(&["(first page) Tj", "(second page) Tj"], "");
    let replaced = |from: &str, to: &str| {
        let (from, to) = (from.as_bytes(), to.as_bytes());
        let at = whole
            .windows(from.len())
            .position(|window| window == from)
            .unwrap();
        [&whole[..at], to, &whole[at + from.len()..]].concat()
    };
    let table = whole
        .windows(5)
        .position(|window| window == b"xref\n")
        .unwrap();
    let broken = [
        ("no table", whole[..table].to_vec()),
        ("a table of other places", replaced("00000 n", "00007 n")),
        (
            "lines before the header",
            [b"X-Mail: 1\r\n\r\n", &whole[..]].concat(),
        ),
        ("another start", replaced("startxref", "startxref 1")),
        (
            "a comment more",
            replaced("%PDF-1.4\n", "%PDF-1.4\n% more than there was\n"),
        ),
    ];
    let pool = pool();
    for (what, bytes) in broken {
        let found = results(&pool, "a.pdf", &bytes);
        let [Extracted::Document { body, .. }] = &found[..] else {
            panic!("{what}: {found:?}");
        };
        assert!(
            body.contains("first page") && body.contains("second page"),
            "{what}: {body}"
        );
    }
}

#[test]
fn hostile_pdfs_cost_themselves() {
    let mut bomb = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    for _ in 0..400 {
        bomb.write_all(&vec![b' '; 1 << 20]).unwrap();
    }
    let bomb = pdf_of_stream(&bomb.finish().unwrap(), "/Filter /FlateDecode", &[]);
    assert!(bomb.len() < 1 << 20);
    let form = "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length 5 \
                /Resources << /XObject << /X 6 0 R >> >> >>\nstream\n/X Do\nendstream";
    let recursive = pdf_of_stream(b"/X Do", "", &[form]);
    let nested = pdf_of_stream(&b"[".repeat(1 << 20), "", &[]);
    let kids = String::from_utf8(made::pdf("x", "")).unwrap();
    let loops = kids.replace("/Kids [5 0 R]", "/Kids [2 0 R]").into_bytes();
    let pool = pool();
    for (what, bytes, part) in [
        ("bomb", bomb, "more than 256 MiB of memory"),
        ("recursive", recursive, "its parts are nested too deep"),
        ("nested", nested, "its reader failed"),
        ("loops", loops, "the PDF has no text"),
    ] {
        let since = Instant::now();
        let found = results(&pool, "a.pdf", &bytes);
        let [Extracted::Bad { reason, .. }] = &found[..] else {
            panic!("{what}: {found:?}")
        };
        assert!(reason.contains(part), "{what}: {reason}");
        assert!(since.elapsed() < Duration::from_secs(10), "{what}");
    }
    let found = results(&pool, "a.pdf", &made::pdf("fine", ""));
    assert!(matches!(found[0], Extracted::Document { .. }), "{found:?}");
}
