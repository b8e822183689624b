//! What is written today is, byte by byte, what the fixtures of format 4 have.

use crate::fixture::{BLOCKS, PAIRS, PARTITIONS, SEGMENT_1, SMALL, fixture, fixtures};
use crate::format::{LAYERS, MISFITS, VALUES, WORDS, blocks_line, files};
use document::Document;
use fields::{Declaration, FieldType};
use index::{BuildOptions, Pairs, Texts, Writer};
use std::sync::Arc;
use vfs::{MemoryStorage, SharedStorage};

const SEGMENT_2: &str = "segment-00000002.index";
/// Start of the details of each segment in its file. They are compressed, and a newer compressor may choose other bytes
/// for the same rows, so the comparison of bytes ends there.
const DETAILS_START: [(&str, usize); 2] = [(SEGMENT_1, 0x1b1), (SEGMENT_2, 0x13a)];
const BLOCKS_DETAILS_START: usize = 0x117c;

/// Returns the options of the fixtures of one chunk.
fn one_chunk(texts: Texts) -> BuildOptions {
    BuildOptions {
        chunks: Some(1),
        texts: Some(texts),
        ..BuildOptions::default()
    }
}

fn written_today<'a>(
    commits: impl IntoIterator<Item = &'a str>,
    options: &BuildOptions,
) -> MemoryStorage {
    let storage = Arc::new(MemoryStorage::new());
    for lines in commits {
        let shared: SharedStorage = storage.clone();
        let mut writer = Writer::open(shared, options.clone()).unwrap();
        for line in lines.lines() {
            let document = Document::from_json_line(line.as_bytes()).unwrap();
            writer.add(document).unwrap();
        }
        writer.commit().unwrap();
    }
    Arc::into_inner(storage).unwrap()
}

/// Returns the fixture, after checking that its files are those written today.
fn then_with_files_of(today: &MemoryStorage, folder: &str) -> Arc<MemoryStorage> {
    let then = fixture(folder);
    assert_eq!(files(today), files(&then));
    then
}

/// Returns the start of the footer in a file of one block.
fn footer_start(storage: &MemoryStorage, name: &str) -> usize {
    storage.read_raw(name).unwrap().len() - 28
}

/// Compares the bytes between the header and `end` of a file written today and in the fixture.
fn assert_same(today: &MemoryStorage, then: &MemoryStorage, name: &str, end: usize) {
    let part = |storage: &MemoryStorage| storage.read_raw(name).unwrap()[64..end].to_vec();
    assert_eq!(part(today), part(then), "{name}");
}

#[test]
fn what_is_written_today_is_what_was_written_then() {
    let lines = |name| std::fs::read_to_string(fixtures().join(name)).unwrap();
    let (first, second) = (lines("first.jsonl"), lines("second.jsonl"));
    let year = Declaration {
        searchable: Some(false),
        ..Declaration::of(FieldType::Integer)
    };
    let options = BuildOptions {
        fields: [("year".to_owned(), year)].into_iter().collect(),
        ..one_chunk(Texts::Stored)
    };
    let today = written_today([&*first, &*second], &options);
    let then = fixture(SMALL);
    // Written before there were columns.
    let mut names = files(&today);
    names.retain(|name| !name.ends_with(".columns"));
    assert_eq!(names, files(&then));
    for (name, details_start) in DETAILS_START {
        assert_same(&today, &then, name, details_start);
    }
    for name in ["segment-00000001-2.deletions", "statistics-2"] {
        assert_same(&today, &then, name, footer_start(&then, name));
    }
}

#[test]
fn columns_written_today_are_those_written_then() {
    let lines = std::fs::read_to_string(fixtures().join("columns.jsonl")).unwrap();
    let today = written_today([&*lines], &one_chunk(Texts::Stored));
    let then = then_with_files_of(&today, MISFITS);
    let name = "segment-00000001.columns";
    assert_same(&today, &then, name, footer_start(&then, name));
}

#[test]
fn blocks_written_today_are_those_written_then() {
    let lines: Vec<String> = (0..400).map(blocks_line).collect();
    let today = written_today([&*lines.join("\n")], &one_chunk(Texts::None));
    let then = then_with_files_of(&today, BLOCKS);
    assert_same(&today, &then, SEGMENT_1, BLOCKS_DETAILS_START);
}

#[test]
fn pairs_written_today_are_those_written_then() {
    let lines = std::fs::read_to_string(fixtures().join("pairs.jsonl")).unwrap();
    let options = BuildOptions {
        pairs: Some(Pairs::All),
        ..one_chunk(Texts::None)
    };
    let today = written_today([&*lines], &options);
    let then = then_with_files_of(&today, PAIRS);
    let name = "segment-00000001.pairs";
    assert_same(&today, &then, name, footer_start(&then, name));
}

/// Returns the start of the details in a segment's file of one block, from its table of sections.
fn details_start(storage: &MemoryStorage, name: &str) -> usize {
    let file = storage.read_raw(name).unwrap();
    let row = &file[footer_start(storage, name) - 12 * 16 + 9 * 16..][..8];
    64 + u64::from_le_bytes(row.try_into().unwrap()) as usize
}

#[test]
fn partitions_written_today_are_those_written_then() {
    let lines = std::fs::read_to_string(fixtures().join("first.jsonl")).unwrap();
    let options = BuildOptions {
        chunks: Some(4),
        partitions: Some(2),
        pairs: Some(Pairs::None),
        ..one_chunk(Texts::None)
    };
    let today = written_today([&*lines], &options);
    let then = then_with_files_of(&today, PARTITIONS);
    for name in [SEGMENT_1, SEGMENT_2] {
        assert_same(&today, &then, name, details_start(&then, name));
    }
}

/// Returns the lines of a commit of the fixture with layers: each document has two words of its own.
fn layers_lines(numbers: std::ops::RangeInclusive<u32>, more: &str) -> String {
    let line = |number| {
        format!(
            r#"{{"url":"https://example.org/{number}","body":"all one{number} two{number}{more}"}}"#
        )
    };
    numbers.map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn layers_written_today_are_those_written_then() {
    let options = BuildOptions {
        small_terms_max: Some(0),
        ..one_chunk(Texts::None)
    };
    let (first, second) = (layers_lines(1..=40, ""), layers_lines(40..=41, " more"));
    let today = written_today([&*first, &*second], &options);
    let then = then_with_files_of(&today, LAYERS);
    for name in ["statistics-2", "segment-00000001-2.deletions"] {
        assert_same(&today, &then, name, footer_start(&then, name));
    }
}

/// Returns the options of the fixture with further fields of text.
fn with_words() -> BuildOptions {
    let declared = [
        ("abstract", None, Some(2.0), Some(0.5)),
        ("notes", None, Some(0.0), None),
        ("raw", Some(false), None, None),
    ];
    let fields = declared.map(|(name, searchable, weight, b)| {
        let declared = Declaration {
            searchable,
            weight,
            b,
            ..Declaration::of(FieldType::Text)
        };
        (name.to_owned(), declared)
    });
    BuildOptions {
        fields: fields.into_iter().collect(),
        pairs: Some(Pairs::None),
        ..one_chunk(Texts::Stored)
    }
}

#[test]
fn words_of_fields_written_today_are_those_written_then() {
    let lines = std::fs::read_to_string(fixtures().join("words.jsonl")).unwrap();
    let today = written_today([&*lines], &with_words());
    let then = then_with_files_of(&today, WORDS);
    assert_same(&today, &then, SEGMENT_1, details_start(&then, SEGMENT_1));
}

#[test]
fn words_of_values_written_today_are_those_written_then() {
    let lines = std::fs::read_to_string(fixtures().join("values.jsonl")).unwrap();
    let options = BuildOptions {
        pairs: Some(Pairs::None),
        ..one_chunk(Texts::Stored)
    };
    let today = written_today([&*lines], &options);
    let then = then_with_files_of(&today, VALUES);
    assert_same(&today, &then, SEGMENT_1, details_start(&then, SEGMENT_1));
}
