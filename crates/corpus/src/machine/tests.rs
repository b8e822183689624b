//! Tests on a synthetic machine: crates, manual pages, documentation folders, and odd files among them.

use super::*;
use crate::Reader;
use document::site_of;

fn write(root: &Path, path: &str, bytes: &[u8]) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn read_all(roots: &MachineRoots) -> (Vec<Document>, crate::Progress) {
    let mut reader = Reader::open_machine(roots);
    let mut documents = Vec::new();
    while let Some(document) = reader.next_document().unwrap() {
        documents.push(document);
    }
    (documents, reader.progress())
}

#[test]
fn crates_manual_and_folders() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let docs = "//! Values.\n".to_owned() + &"/// one two three four five\nfn f() {}\n".repeat(5);
    write(root, "src/index/serde-1.0.9/README.md", b"# Old\n");
    write(
        root,
        "src/index/serde-1.0.10-rc.1/README.md",
        b"# Preview\n",
    );
    write(root, "src/index/serde-1.0.10/README.md", b"# Serde\nwords");
    write(root, "src/index/serde-1.0.10/LICENSE.md", b"licence");
    write(
        root,
        "src/index/serde-1.0.10/src/de/value.rs",
        docs.as_bytes(),
    );
    write(
        root,
        "src/index/serde-1.0.10/src/bare.rs",
        b"/// few words\nfn f() {}",
    );
    write(root, "src/index/serde-1.0.10/tests/t.rs", docs.as_bytes());
    write(
        root,
        "src/index/base64-0.22.1/CHANGELOG.md",
        b"# Changes\nx",
    );
    write(root, "src/index/no version/README.md", b"# No\n");
    write(
        root,
        "man/man1/grep.1",
        b".TH GREP 1\n.SH NAME\ngrep \\- find\n",
    );
    write(root, "man/man1/egrep.1", b".so man1/grep.1\n");
    write(root, "man/man1/bad.1.gz", b"not gzip");
    write(root, "man/de/man1/grep.1", b"nein");
    write(root, "doc/bash/FAQ", b"Questions\n");
    write(root, "doc/bash/copyright", b"no\n");
    write(root, "doc/bash/x.txt", b"bin\0ary");
    let roots = MachineRoots {
        cargo_registry: Some(root.join("src")),
        man: Some(root.join("man")),
        doc: Some(root.join("doc")),
    };
    let (documents, progress) = read_all(&roots);
    let titles: Vec<_> = documents.iter().map(|d| d.title.as_str()).collect();
    assert_eq!(
        titles,
        [
            "base64: Changes",
            "Serde",
            "serde::de::value: Values.",
            "grep(1)",
            "Questions"
        ]
    );
    assert_eq!(documents[2].url, "crate://serde/1.0.10/src/de/value.rs");
    assert_eq!(site_of(&documents[2].url), "serde");
    assert_eq!(site_of(&documents[3].url), "man:grep(1)");
    assert!(site_of(&documents[4].url).ends_with("/doc/bash"));
    assert_eq!((progress.documents, progress.bad), (5, 0));
    assert_eq!(Some(progress.source_bytes), progress.source_bytes_total);
}

#[test]
fn nothing_on_the_machine_is_no_error() {
    assert_eq!(read_all(&MachineRoots::default()).0, []);
    let gone = Some(PathBuf::from("/no/such/folder"));
    let roots = MachineRoots {
        cargo_registry: gone.clone(),
        man: gone.clone(),
        doc: gone,
    };
    assert_eq!(read_all(&roots).0, []);
}

#[test]
fn versions() {
    assert_eq!(
        split_version("wasi-0.11.0+wasi-snap-1"),
        Some(("wasi", "0.11.0+wasi-snap-1"))
    );
    assert_eq!(
        split_version("a-b2-c-1.2.3-rc.1"),
        Some(("a-b2-c", "1.2.3-rc.1"))
    );
    assert_eq!(
        split_version("windows-64-0.5.0"),
        Some(("windows-64", "0.5.0"))
    );
    assert_eq!(split_version("words"), None);
    assert!(version_key("1.0.10") > version_key("1.0.9"));
    assert!(version_key("1.0.10") > version_key("1.0.10-rc.1"));
}
