//! Byte quotations in the documentation of the format, compared with real files.

use crate::fixture::{BLOCKS, PAIRS, PARTITIONS, SEGMENT_1, SMALL, fixture};
use crate::format::ROWS;
use std::collections::BTreeMap;
use std::path::Path;

/// Quotation of the documentation.
struct Quotation {
    file: String,
    offset: usize,
    bytes: Vec<u8>,
}

/// Returns the lines `offset: bytes  explanation` of a document, each with the last file name before it that is alone
/// on a line.
fn quotations(markdown: &str, files: &[String]) -> Vec<Quotation> {
    let mut file = None;
    let mut found = Vec::new();
    for line in markdown.lines() {
        if let Some(name) = files.iter().find(|name| line.trim() == **name) {
            file = Some(name.clone());
        }
        let Some((offset, rest)) = line.split_once(": ") else {
            continue;
        };
        let Ok(offset) = usize::from_str_radix(offset, 16) else {
            continue;
        };
        let quoted = rest.split("  ").next().unwrap_or("").split(' ');
        let bytes: Result<_, _> = quoted.map(|byte| u8::from_str_radix(byte, 16)).collect();
        found.push(Quotation {
            file: file.clone().expect("a file's name before its bytes"),
            offset,
            bytes: bytes.unwrap_or_else(|error| panic!("{line:?}: {error}")),
        });
    }
    found
}

#[test]
fn the_documentation_quotes_true_bytes() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats/index.md");
    let markdown = std::fs::read_to_string(page).unwrap();
    let mut files = BTreeMap::new();
    let prefixed = |folder: &'static str| (folder, format!("{folder}/"));
    let folders = [
        (SMALL, String::new()),
        prefixed(BLOCKS),
        prefixed(PAIRS),
        prefixed(PARTITIONS),
        prefixed(ROWS),
    ];
    for (folder, prefix) in folders {
        let storage = fixture(folder);
        for name in storage.files() {
            let bytes = storage.read_raw(&name).unwrap();
            files.insert(format!("{prefix}{name}"), bytes);
        }
    }
    let names: Vec<String> = files.keys().cloned().collect();
    let found = quotations(&markdown, &names);
    for quotation in &found {
        let Quotation {
            file,
            offset,
            bytes,
        } = quotation;
        let there = files[file].get(*offset..offset + bytes.len());
        assert_eq!(there, Some(&bytes[..]), "{file} at {offset:#x}");
    }
    let kinds = [
        "MANIFEST-2",
        SEGMENT_1,
        "segment-00000001.documents",
        "segment-00000001-2.deletions",
        "statistics-2",
        "format-4-blocks/segment-00000001.index",
        "format-4-pairs/segment-00000001.pairs",
        "format-4-partitions/MANIFEST-1",
        "format-4-partitions/segment-00000001.index",
    ];
    for kind in kinds {
        let quoted = found.iter().filter(|quotation| quotation.file == kind);
        assert!(quoted.count() > 0, "nothing of {kind} is quoted");
    }
    assert!(found.len() > 70, "{} quotations", found.len());
}
