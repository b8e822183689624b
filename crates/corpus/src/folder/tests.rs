use crate::{ReadOptions, Reader, ReaderError, Source};
use document::Document;
use std::io::Write;
use std::path::Path;

fn write(root: &Path, path: &str, bytes: &[u8]) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn read(root: &Path) -> (Vec<Document>, Reader) {
    let mut reader = Reader::open(
        vec![Source::Folder(root.to_path_buf())],
        ReadOptions::default(),
    )
    .unwrap();
    let mut documents = Vec::new();
    while let Some(document) = reader.next_document().unwrap() {
        documents.push(document);
    }
    (documents, reader)
}

#[test]
fn a_folder_is_read_in_the_order_of_paths() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(root, "b.txt", b"second");
    write(root, "a/z é.md", b"# First\nx");
    write(root, "c.html", b"<title>Third</title>y");
    write(root, ".hidden/d.txt", b"no");
    write(root, ".e.txt", b"no");
    write(root, "f.png", b"no");
    write(root, "g.txt", b"bin\0ary");
    write(root, "h.txt.gz", b"not gzip");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(b"Fourth").unwrap();
    write(root, "README.gz", &encoder.finish().unwrap());
    let (documents, reader) = read(root);
    let titles: Vec<_> = documents.iter().map(|d| d.title.as_str()).collect();
    assert_eq!(titles, ["Fourth", "First", "second", "Third"]);
    let url = &documents[1].url;
    assert!(
        url.starts_with("file:///") && url.ends_with("/a/z%20%C3%A9.md"),
        "{url}"
    );
    let progress = reader.progress();
    assert_eq!((progress.documents, progress.bad), (4, 2));
    assert_eq!(Some(progress.source_bytes), progress.source_bytes_total);
    assert_eq!(reader.left_out(), [(".png".to_owned(), 1)]);
    assert!(
        reader.bad_documents()[0]
            .to_string()
            .ends_with("g.txt: binary, not text")
    );
}

#[test]
fn a_file_that_is_named_is_read_as_one_of_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(root, "a.md", b"# First\nx");
    write(root, "b.txt", b"second");
    write(root, "notes", "größer, without an ending".as_bytes());
    write(root, "app.log", b"2024-01-01 one\n2024-01-01 two\n");
    write(root, "main.rs", b"fn main() {}");
    write(root, "c.html", b"<title>Third</title>y");
    let (of_folder, _) = read(root);
    let read_one = |name: &str| {
        let source = Source::parse(root.join(name).to_str().unwrap()).unwrap();
        assert!(matches!(source, Source::TextFile(_)), "{name}");
        let mut reader = Reader::open(vec![source], ReadOptions::default()).unwrap();
        let document = reader.next_document().unwrap().unwrap();
        assert_eq!(reader.next_document().unwrap(), None);
        document
    };
    for document in &of_folder {
        let path = url::Url::parse(&document.url)
            .unwrap()
            .to_file_path()
            .unwrap();
        let path = path.display().to_string();
        let name = path.split("!/").next().unwrap();
        assert_eq!(&read_one(name), document);
    }
    assert_eq!(of_folder.len(), 5);
    let notes = read_one("notes");
    assert_eq!(notes.title, "größer, without an ending");
    write(root, "binary", b"\x7fELF\0");
    write(root, "empty", b"");
    for name in ["binary", "empty"] {
        let refused = Source::parse(root.join(name).to_str().unwrap());
        assert!(matches!(refused, Err(ReaderError::Source { .. })), "{name}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/etc/hostname", root.join("link.txt")).unwrap();
        let linked = read_one("link.txt");
        assert!(linked.url.ends_with("/link.txt"), "{}", linked.url);
    }
}

#[test]
fn code_is_named_by_its_file_and_front_matter_is_no_text() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(
        root,
        "a.py",
        b"#!/usr/bin/env python3\n# Copyright\nprint('hello')",
    );
    write(
        root,
        "b.md",
        b"---\ntitle: \"A post\"\ndate: 2024-05-01\ntags:\n  - x\n---\n# Heading\nwords",
    );
    write(root, "c.md", b"+++\ntitle = 'Another'\n+++\nwords");
    write(root, "d.md", b"---\nA rule above\n\nwords");
    let (documents, _) = read(root);
    let shown: Vec<_> = documents
        .iter()
        .map(|one| (&*one.title, one.body.lines().next()))
        .collect();
    assert_eq!(
        shown,
        [
            ("a.py", Some("#!/usr/bin/env python3")),
            ("A post", Some("Heading")),
            ("Another", Some("words")),
            ("A rule above", Some("A rule above")),
        ]
    );
    assert_eq!(documents[1].fields["date"], "2024-05-01");
}

#[cfg(unix)]
#[test]
fn links_that_loop_end() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(root, "a/b.txt", b"x");
    std::os::unix::fs::symlink(root, root.join("a/loop")).unwrap();
    std::os::unix::fs::symlink(root.join("a"), root.join("again")).unwrap();
    std::os::unix::fs::symlink("nowhere", root.join("gone.txt")).unwrap();
    assert_eq!(read(root).0.len(), 1);
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_folder_is_counted_and_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("in");
    write(&root, "a.txt", b"kept");
    write(folder.path(), "secret.txt", b"secret");
    std::os::unix::fs::symlink("../secret.txt", root.join("notes.txt")).unwrap();
    let (documents, reader) = read(&root);
    assert_eq!(documents.len(), 1);
    let progress = reader.progress();
    assert_eq!((progress.bad, progress.passed_over), (0, 1));
    let named = reader.passed_over()[0].to_string();
    assert!(named.contains("notes.txt: passed over: a link"), "{named}");
    assert!(named.contains("secret.txt; --follow-links"), "{named}");
    let options = ReadOptions {
        follow_links: true,
        ..ReadOptions::default()
    };
    let mut reader = Reader::open(vec![Source::Folder(root)], options).unwrap();
    let mut bodies = Vec::new();
    while let Some(document) = reader.next_document().unwrap() {
        bodies.push(document.body);
    }
    assert_eq!(bodies, ["kept", "secret"]);
}

#[test]
fn a_folder_without_documents_says_what_it_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.pdf", b"x");
    let error = Reader::open(
        vec![Source::Folder(folder.path().to_path_buf())],
        ReadOptions::default(),
    );
    let Err(ReaderError::Source { reason, .. }) = error else {
        panic!()
    };
    assert!(reason.contains(".md"), "{reason}");
}

/// Returns titles and the ends of URLs from the name of the folder on.
fn in_short(documents: &[Document], root: &Path) -> Vec<(String, String)> {
    let root = format!("{}/", super::file_url(&root.canonicalize().unwrap()));
    let short = documents.iter().map(|document| {
        let url = document.url.strip_prefix(&root).unwrap_or(&document.url);
        (url.to_owned(), document.title.clone())
    });
    short.collect()
}

#[test]
fn records_among_texts_are_documents() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(root, "a.txt", b"text");
    write(root, "more people.csv", b"id,name\n1,Ann\n2,Bo\n");
    write(root, "other.tsv", b"id\tname\n1\tCem\n");
    write(
        root,
        "lines.jsonl",
        b"{\"name\": \"Dag\"}\n\n{\"name\": \"Eva\"}\n",
    );
    write(
        root,
        "array.json",
        b"[{\"url\": \"https://e.org/f\", \"name\": \"Fay\"}]",
    );
    write(root, "settings.json", b"{\n  \"name\": \"Gus\"\n}\n");
    write(root, "bad.csv", b"name,age\nHal\n");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(b"name\nIda\n").unwrap();
    write(root, "z.csv.gz", &encoder.finish().unwrap());
    let (documents, reader) = read(root);
    let expected = [
        ("a.txt", "text"),
        ("https://e.org/f", "Fay"),
        ("lines.jsonl#1", "Dag"),
        ("lines.jsonl#3", "Eva"),
        ("more%20people.csv#1", "Ann"),
        ("more%20people.csv#2", "Bo"),
        ("other.tsv#1", "Cem"),
        ("settings.json", "settings.json"),
        ("z.csv.gz#2", "Ida"),
    ];
    let expected = expected.map(|(url, title)| (url.to_owned(), title.to_owned()));
    assert_eq!(in_short(&documents, root), expected);
    let bad = reader.bad_documents()[0].to_string();
    assert!(bad.contains("bad.csv:2: the row has 1 fields"), "{bad}");
    let progress = reader.progress();
    assert_eq!(Some(progress.source_bytes), progress.source_bytes_total);
    assert!(reader.fields_found().any(|found| found == "title = name"));
}

#[test]
fn a_file_of_a_folder_has_a_limit_of_records() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let rows = "x\n".repeat(crate::records::RECORDS_MAX as usize + 5);
    write(root, "a.csv", format!("name\n{rows}").as_bytes());
    write(root, "b.txt", b"after");
    let (documents, reader) = read(root);
    assert_eq!(documents.len() as u64, crate::records::RECORDS_MAX + 1);
    let bad = reader.bad_documents();
    assert_eq!(bad.len(), 1);
    assert!(
        bad[0].reason.contains("at most 100000 records"),
        "{}",
        bad[0]
    );
}

#[test]
fn manual_pages_are_text() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(
        root,
        "lynx.1",
        b".TH LYNX 1\n.SH NAME\nlynx \\- a cat\n.SH DESCRIPTION\n.B short\ntail\n",
    );
    write(root, "cat.1", b".so man1/lynx.1\n");
    write(root, "lib.so.1", b"\x7fELF\0");
    let (documents, reader) = read(root);
    assert_eq!(
        in_short(&documents, root),
        [("lynx.1".to_owned(), "lynx(1): a cat".to_owned())]
    );
    assert_eq!(
        documents[0].body,
        "\nNAME\nlynx - a cat\n\nDESCRIPTION\nshort\ntail\n"
    );
    assert_eq!(reader.left_out(), [(".1".to_owned(), 2)]);
    assert_eq!(reader.progress().bad, 0);
}
