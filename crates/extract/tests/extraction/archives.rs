//! Zip and tar archives: members, archives inside archives, and limits.

use crate::made::{self, gzip, tar, zip};
use crate::support::{Short, bad, documents, pool, results};
use corpus::Extracted;
use std::io::Write;

fn short(path: &str, title: &str, body: &str) -> Short {
    (path.to_owned(), title.to_owned(), body.to_owned())
}

fn members() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("notes/a.txt", b"First line\nsecond".to_vec()),
        ("b.html", b"<title>Page</title><p>words".to_vec()),
        ("photo.png", b"\x89PNG".to_vec()),
        (".hidden/c.txt", b"no".to_vec()),
        ("__MACOSX/d.txt", b"no".to_vec()),
        (
            "deep/report.docx",
            made::docx("<w:p><w:t>inside</w:t></w:p>"),
        ),
        ("README.gz", gzip(b"Read me")),
        ("bad.txt", b"bin\0ary".to_vec()),
        ("e.md", "# Über\nx".into()),
    ]
}

fn check(name: &str, bytes: &[u8]) {
    let found = results(&pool(), name, bytes);
    let mut documents = Vec::new();
    let mut others = Vec::new();
    for result in found {
        match result {
            Extracted::Document {
                path, title, body, ..
            } => documents.push((path, title, body)),
            Extracted::Bad { path, reason } => others.push(format!("{path}: {reason}")),
            Extracted::LeftOut { name } => others.push(name),
        }
    }
    let expected = [
        short("notes/a.txt", "First line", "First line\nsecond"),
        short("b.html", "Page", "words"),
        short("deep/report.docx", "Lynx & owl", "inside\nA note."),
        short("README.gz", "Read me", "Read me"),
        short("e.md", "Über", "Über\nx"),
    ];
    assert_eq!(documents, expected, "{name}");
    assert_eq!(others, ["photo.png", "bad.txt: binary, not text"], "{name}");
}

#[test]
fn every_member_is_a_document() {
    let members = members();
    let members: Vec<(&str, &[u8])> = members
        .iter()
        .map(|(name, bytes)| (*name, &**bytes))
        .collect();
    check("a.zip", &zip(&members));
    check("a.tar", &tar(&members));
    check("a.tar.gz", &gzip(&tar(&members)));
    check("A.TGZ", &gzip(&tar(&members)));
    check(
        "a.tar.zst",
        &zstd::encode_all(&tar(&members)[..], 1).unwrap(),
    );
    check("a.tar.xz", &xz(&tar(&members)));
    check("a.tbz2", &bzip2(&tar(&members)));
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut writer = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut writer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

#[test]
fn encrypted_members_are_named_and_others_are_read() {
    let mut archive = zip(&[("a.txt", b"read"), ("b.txt", b"secret")]);
    // The first bit of the flags says that a member is encrypted: of the second, in both of its headers.
    for (mark, flags) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
        let headers: Vec<usize> = (0..archive.len() - 4)
            .filter(|&at| archive[at..].starts_with(mark))
            .collect();
        archive[headers[1] + flags] |= 1;
    }
    let found = results(&pool(), "a.zip", &archive);
    let [
        Extracted::Document { body, .. },
        Extracted::Bad { path, reason },
    ] = &found[..]
    else {
        panic!("{found:?}")
    };
    assert_eq!((&**body, &**path), ("read", "b.txt"));
    assert!(reason.contains("cannot be unpacked"), "{reason}");
}

#[test]
fn archives_inside_archives_are_three_deep() {
    let one = zip(&[
        ("a.txt", b"deepest"),
        ("b.zip", &zip(&[("c.txt", b"too deep")])),
    ]);
    let two = gzip(&tar(&[("one.zip", &one)]));
    let three = zip(&[("two.tar.gz", &two), ("last.txt", b"last")]);
    let found = results(&pool(), "three.zip", &three);
    let paths: Vec<String> = found
        .iter()
        .map(|result| match result {
            Extracted::Document { path, .. } => path.clone(),
            Extracted::Bad { path, reason } => format!("{path}? {reason}"),
            Extracted::LeftOut { name } => name.clone(),
        })
        .collect();
    assert_eq!(
        paths,
        [
            "two.tar.gz!/one.zip!/a.txt",
            "two.tar.gz!/one.zip!/b.zip? more than 3 archives deep",
            "last.txt",
        ]
    );
}

#[test]
fn members_before_damage_are_kept() {
    let whole = tar(&[("a.txt", b"kept"), ("b.txt", &[b'x'; 5000])]);
    let pool = pool();
    for (name, bytes) in [
        ("a.tar", whole[..2000].to_vec()),
        ("a.tar.gz", {
            let mut bytes = gzip(&whole);
            bytes.truncate(bytes.len() - 12);
            bytes
        }),
    ] {
        let found = results(&pool, name, &bytes);
        assert!(
            matches!(&found[0], Extracted::Document { body, .. } if body == "kept"),
            "{found:?}"
        );
        let last = found.last().unwrap();
        assert!(
            matches!(last, Extracted::Bad { reason, .. } if reason.contains("damaged")),
            "{found:?}"
        );
    }
}

#[test]
fn bombs_end_at_the_limits() {
    let pool = pool();
    // 80 MiB of zeros, 1,000 times smaller: one member is too long, the budget ends the rest.
    let zeros = vec![0u8; 60 << 20];
    let bomb = zip(&[
        ("a.txt", &zeros),
        ("b.txt", &zeros),
        ("c.txt", b"not reached"),
    ]);
    assert!(bomb.len() < 200_000);
    let found = bad(&pool, "bomb.zip", &bomb);
    let (path, reason) = found.last().unwrap();
    assert_eq!(path, "", "{found:?}");
    assert!(
        reason.contains("more than 200 for each; the rest is left out"),
        "{found:?}"
    );
    let found = bad(
        &pool,
        "bomb.docx",
        &zip(&[("word/document.xml", &vec![b' '; 65 << 20])]),
    );
    assert!(found[0].1.contains("more than 200 for each"), "{found:?}");
    let mut many = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored = zip::write::SimpleFileOptions::default();
    for number in 0..100_001 {
        many.start_file(format!("{number}"), stored).unwrap();
    }
    let many = many.finish().unwrap().into_inner();
    let found = bad(&pool, "many.zip", &many);
    assert!(found[0].1.contains("more than 100000 members"), "{found:?}");
    // The pool goes on.
    assert_eq!(documents("a.zip", &zip(&[("a.txt", b"fine")])).len(), 1);
}
