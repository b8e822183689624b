//! Format 4, read as in its fixtures, and refusal of older formats by version.
//!
//! The fixtures are never rebuilt: an index of three documents, and a second commit that replaces the third; one of 400
//! documents, whose lists have full blocks; one with stored pairs; one of four chunks laid out for two partitions;
//! one whose second commit wrote statistics in layers; one of documents with fields, one whose fields of text are
//! searched, and one whose values are; one with details in rows, which the others have in blocks. A change of format gets a new
//! version and new fixtures beside these.

use crate::fixture::{BLOCKS, PAIRS, PARTITIONS, SEGMENT_1, SMALL, fixture};
use index::{BuildOptions, DocId, Field, Index, IndexError, Layout, Segment, Writer, check};
use std::sync::Arc;
use vfs::MemoryStorage;

pub(crate) const LAYERS: &str = "format-4-layers";
/// Four documents with fields of every type.
pub(crate) const COLUMNS: &str = "format-4-columns";
/// The same documents, in columns that count the values which do not fit.
pub(crate) const MISFITS: &str = "format-4-misfits";
/// Three documents with further fields of text.
pub(crate) const WORDS: &str = "format-4-words";
/// Two documents with keywords, dates and numbers whose words are searched.
pub(crate) const VALUES: &str = "format-4-values";
/// 120 documents with details in rows, whose URLs are in symbols.
pub(crate) const ROWS: &str = "format-4-rows";

fn open(folder: &str) -> Index {
    Index::open(fixture(folder)).unwrap()
}

/// Returns the documents, frequencies and positions of a term.
fn postings(segment: &Segment, field: Field, term: &str) -> Vec<(u32, u32, Vec<u32>)> {
    let record = segment.term(field, term).unwrap().unwrap();
    let mut postings = segment.postings(&record).unwrap();
    let mut found = Vec::new();
    while postings.doc() != DocId::END {
        let mut positions = Vec::new();
        postings.positions(&mut positions);
        found.push((postings.doc().0, postings.frequency(), positions));
        postings.next();
    }
    assert!(postings.take_error().is_none());
    assert_eq!(found.len() as u32, record.documents_count);
    found
}

#[test]
fn the_fixture_is_whole() {
    let (report, damages) = check(fixture(SMALL), 10).unwrap();
    assert!(damages.is_empty(), "{damages:?}");
    assert_eq!(
        (report.generation, report.segments, report.documents),
        (2, 2, 3)
    );
    assert_eq!(
        (report.terms, report.postings, report.positions),
        (36, 40, 44)
    );
}

#[test]
fn details_of_all_documents() {
    let index = open(SMALL);
    let segments: Vec<_> = index.segments(0..1).collect();
    assert_eq!(segments.iter().map(|s| s.id()).collect::<Vec<_>>(), [1, 2]);
    let shown = |segment: &Segment, doc: u32| {
        let details = segment.details(DocId(doc)).unwrap();
        [details.id, details.url, details.title, details.site]
    };
    let lynx = "https://example.org/lynx";
    assert_eq!(shown(segments[0], 0), [lynx, lynx, "Lynx", "example.org"]);
    let hare = "https://example.org/hare";
    assert_eq!(shown(segments[0], 1), [hare, hare, "Hare", "example.org"]);
    let comet = [
        "comet-1",
        "https://example.net/comet",
        "Comet",
        "example.net",
    ];
    assert_eq!(shown(segments[0], 2), comet);
    assert_eq!(shown(segments[1], 0), comet);

    let deleted = |segment: &Segment| {
        let docs = (0..segment.documents_count()).map(DocId);
        docs.filter(|&doc| segment.is_deleted(doc))
            .collect::<Vec<_>>()
    };
    assert_eq!(deleted(segments[0]), [DocId(2)]);
    assert_eq!(deleted(segments[1]), []);
    assert_eq!(segments[0].lengths(Field::Text), [8, 7, 9]);
    assert_eq!(segments[0].lengths(Field::Title), [1, 1, 1]);
}

#[test]
fn postings_and_positions() {
    let index = open(SMALL);
    let segments: Vec<_> = index.segments(0..1).collect();
    assert_eq!(
        postings(segments[0], Field::Text, "tail"),
        [(0, 1, vec![3]), (1, 1, vec![6]), (2, 2, vec![2, 6])]
    );
    assert_eq!(
        postings(segments[0], Field::Text, "ears"),
        [(0, 1, vec![5]), (1, 1, vec![2])]
    );
    assert_eq!(
        postings(segments[1], Field::Text, "tail"),
        [(0, 2, vec![2, 10])]
    );
    assert_eq!(
        postings(segments[0], Field::Title, "hare"),
        [(1, 1, vec![0])]
    );
    assert_eq!(
        postings(segments[0], Field::Site, "example.org"),
        [(0, 1, vec![]), (1, 1, vec![])]
    );
    assert_eq!(segments[0].term(Field::Title, "tail").unwrap(), None);
}

#[test]
fn statistics_count_the_living() {
    let index = open(SMALL);
    let statistics = index.statistics();
    let frequency = |field, term| statistics.document_frequency(field, term).unwrap();
    assert_eq!(statistics.documents_count(), 3);
    assert_eq!(frequency(Field::Text, "tail"), 3);
    assert_eq!(frequency(Field::Text, "one"), 1);
    assert_eq!(frequency(Field::Text, "comet"), 1);
    assert_eq!(frequency(Field::Text, "ears"), 2);
    assert_eq!(frequency(Field::Site, "example.org"), 2);
    assert_eq!(frequency(Field::Text, "unicorn"), 0);
    assert_eq!(statistics.average_length(Field::Text), 31.0 / 3.0);
}

#[test]
fn texts_of_all_documents() {
    let index = open(SMALL);
    let stored = |url: &str| index.documents().document(url).unwrap().unwrap();
    assert_eq!(
        stored("https://example.org/lynx").body,
        "A short tail, tufted ears: the lynx."
    );
    let comet = stored("https://example.net/comet");
    assert_eq!(
        comet.body,
        "One tail of dust and one of gas: the tail points away from the sun."
    );
    assert_eq!(
        (comet.id.as_str(), &comet.fields["year"]),
        ("comet-1", &1986.into())
    );
    assert_eq!(
        index.documents().document("https://example.net/").unwrap(),
        None
    );
}

/// An index opened before the second commit reads the older generation.
#[test]
fn the_generation_before_is_kept() {
    let storage = fixture(SMALL);
    let before = MemoryStorage::new();
    for name in ["MANIFEST-1", SEGMENT_1, "segment-00000001.documents"] {
        before.write_raw(name, storage.read_raw(name).unwrap());
    }
    let index = Index::open(Arc::new(before)).unwrap();
    assert_eq!(index.generation(), 1);
    let comet = index.documents().document("https://example.net/comet");
    assert_eq!(comet.unwrap().unwrap().fields["year"], 1910);
}

/// Returns the line of JSON of document `number` of the fixture with blocks.
pub(crate) fn blocks_line(number: u32) -> String {
    let said = |word: &str, is_said: bool| {
        if is_said {
            format!(" {word}")
        } else {
            String::new()
        }
    };
    let body = [
        "all".to_owned(),
        said("all", number.is_multiple_of(10)),
        said("all", number.is_multiple_of(100)),
        said("most", number % 4 != 3),
        said("ends", !(200..340).contains(&number)),
    ];
    let body = body.concat();
    format!(r#"{{"url":"https://example.org/{number}","body":"{body}"}}"#)
}

/// Returns the files of an index, without the lock.
pub(crate) fn files(storage: &MemoryStorage) -> Vec<String> {
    let mut names = storage.files();
    names.retain(|name| name != "writer.lock");
    names
}

#[test]
fn columns_are_read() {
    columns_of_are_read(COLUMNS);
    columns_of_are_read(MISFITS);
}

fn columns_of_are_read(folder: &str) {
    let (_, damages) = check(fixture(folder), 10).unwrap();
    assert!(damages.is_empty(), "{damages:?}");
    let index = open(folder);
    let segment = index.segments(0..1).next().unwrap();
    let fields: Vec<String> = index
        .fields()
        .columnar()
        .map(|(name, kind)| {
            let column = segment.column(name).unwrap().unwrap();
            let of = |doc| {
                let mut values = Vec::new();
                column.each_code(DocId(doc), |code| {
                    values.push(column.value(code).unwrap().to_string())
                });
                values.join(",")
            };
            let rows: Vec<String> = (0..4).map(of).collect();
            format!("{name} {kind}: {}", rows.join(" | "))
        })
        .collect();
    assert_eq!(
        fields,
        [
            "day date: 2024-02-29 | 1969-07-20T20:17:40Z |  | 2024-03-01",
            "from.city keyword: Bonn |  |  | Köln",
            "odd f64: 0.1234567891 | 1e300 |  | ",
            "price f64: 1.25 | -3 | 1000.5 | ",
            "sold bool: true | false |  | true",
            "stars i64: 4 | 3,5,5 |  | ",
            "tags keyword: ear,tail | tail |  | ear,paw",
        ]
    );
}

#[test]
fn details_in_rows_are_read() {
    assert!(check(fixture(ROWS), 10).unwrap().1.is_empty());
    let index = open(ROWS);
    let segment = index.segments(0..1).next().unwrap();
    assert_eq!(segment.documents_count(), 120);
    for doc in 0..120 {
        let details = segment.details(DocId(doc)).unwrap();
        let url = format!("https://example.org/{}/page-{doc}.html", doc % 7);
        let id = match doc % 40 {
            1 => format!("id-{doc}"),
            _ => url.clone(),
        };
        let title = format!("Page {doc}");
        assert_eq!(
            [details.id, details.url, details.title],
            [id, url.clone(), title]
        );
        assert_eq!(segment.details_reader().url(DocId(doc)).unwrap(), url);
    }
}

#[test]
fn pairs_are_read() {
    let index = open(PAIRS);
    let segment = index.segments(0..1).next().unwrap();
    let word = |word| segment.term(Field::Text, word).unwrap().unwrap();
    let documents = |first, second| {
        let pair = segment.pair(&word(first), &word(second)).unwrap();
        let mut blocks = segment.pair_blocks(&pair).unwrap();
        blocks.load(0);
        let (docs, frequencies) = blocks.postings();
        let found = docs.iter().copied().zip(frequencies.iter().copied());
        found.collect::<Vec<_>>()
    };
    assert_eq!(documents("to", "be"), [(0, 2), (1, 2), (2, 1)]);
    assert_eq!(documents("not", "to"), [(0, 1), (2, 1)]);
    assert_eq!(documents("be", "be"), []);
    assert!(check(fixture(PAIRS), 10).unwrap().1.is_empty());
}

#[test]
fn partitions_are_read() {
    let (report, damages) = check(fixture(PARTITIONS), 10).unwrap();
    assert!(damages.is_empty(), "{damages:?}");
    assert_eq!((report.segments, report.documents), (2, 3));
    let index = open(PARTITIONS);
    let (chunks, partitions) = (4, 2);
    assert_eq!(index.layout(), Layout { chunks, partitions });
    let segments: Vec<_> = index.segments(0..4).collect();
    assert_eq!(segments[0].chunks(), 0..=1);
    assert_eq!(segments[1].chunks(), 2..=3);
    assert_eq!(postings(segments[0], Field::Text, "tail").len(), 2);
    assert_eq!(postings(segments[1], Field::Text, "tail").len(), 1);
}

#[test]
fn layers_are_read() {
    let (report, damages) = check(fixture(LAYERS), 10).unwrap();
    assert!(damages.is_empty(), "{damages:?}");
    assert_eq!((report.segments, report.documents), (2, 41));
    let index = open(LAYERS);
    let documents = |word| {
        let statistics = index.statistics();
        statistics.document_frequency(Field::Text, word).unwrap()
    };
    let words = ["all", "one39", "one40", "one41", "more", "none"];
    assert_eq!(words.map(documents), [41, 1, 1, 1, 2, 0]);
}

#[test]
fn words_of_fields_are_read() {
    let (_, damages) = check(fixture(WORDS), 10).unwrap();
    assert!(damages.is_empty(), "{damages:?}");
    let index = open(WORDS);
    let segment = index.segments(0..1).next().unwrap();
    let [abstracts, notes] = [3, 4].map(Field::of_number);
    assert_eq!(index.fields().searched("raw"), None);
    assert_eq!(index.fields().searched("abstract").unwrap().weight, 2.0);
    // The text is title, body and abstract.
    assert_eq!(
        postings(segment, Field::Text, "tail"),
        [(0, 2, vec![3, 8]), (2, 1, vec![2])]
    );
    assert_eq!(postings(segment, abstracts, "tail"), [(0, 1, vec![8])]);
    assert_eq!(postings(segment, notes, "tail"), [(0, 1, vec![13])]);
    assert_eq!(segment.term(Field::Text, "winter").unwrap(), None);
    assert_eq!(segment.term(Field::Text, "searched").unwrap(), None);
    assert_eq!(segment.lengths(Field::Text), [9, 3, 8]);
    assert_eq!(segment.lengths(abstracts), [5, 0, 3]);
    assert_eq!(segment.lengths(notes), [7, 0, 0]);
    assert_eq!(index.statistics().average_length(abstracts), 8.0 / 3.0);
    assert_eq!(segment.lengths(Field::of_number(5)), [0u8; 0]);
}

#[test]
fn words_of_values_are_read() {
    let (_, damages) = check(fixture(VALUES), 10).unwrap();
    assert!(damages.is_empty(), "{damages:?}");
    let index = open(VALUES);
    let segment = index.segments(0..1).next().unwrap();
    let is_searched =
        ["alive", "animal", "seen", "weight"].map(|name| index.fields().is_searched(name));
    assert_eq!(is_searched, [false, true, true, true]);
    let animal = Field::of_number(index.fields().searched("animal").unwrap().number);
    // Lynx | A short tail. | Lynx lynx | cat | 2024-03-05 | 21.50, with an empty place before each value.
    let lynx = postings(segment, Field::Text, "lynx");
    assert_eq!(lynx, [(0, 3, vec![0, 5, 6])]);
    assert_eq!(postings(segment, animal, "lynx"), [(0, 2, vec![5, 6])]);
    assert_eq!(postings(segment, animal, "cat"), [(0, 1, vec![8])]);
    let march = postings(segment, Field::Text, "03");
    assert_eq!(march, [(0, 1, vec![11]), (1, 1, vec![7])]);
    assert_eq!(postings(segment, Field::Text, "50"), [(0, 1, vec![15])]);
    assert_eq!(segment.lengths(Field::Text), [16, 9]);
    assert_eq!(segment.lengths(animal), [3, 1]);
    for absent in ["08", "true"] {
        assert_eq!(segment.term(Field::Text, absent).unwrap(), None);
    }
}

#[test]
fn blocks_are_read() {
    let (report, damages) = check(fixture(BLOCKS), 10).unwrap();
    assert!(damages.is_empty(), "{damages:?}");
    assert_eq!((report.documents, report.terms), (400, 4));
    let index = open(BLOCKS);
    let segment = index.segments(0..1).next().unwrap();
    for term in ["all", "most", "ends"] {
        let expected: Vec<_> = (0..400u32)
            .filter_map(|doc| {
                let line = blocks_line(doc);
                let body = line.split('"').nth(7).unwrap();
                let places: Vec<u32> = (0..)
                    .zip(body.split(' '))
                    .filter(|(_, word)| *word == term)
                    .map(|(place, _)| place)
                    .collect();
                (!places.is_empty()).then_some((doc, places.len() as u32, places))
            })
            .collect();
        assert_eq!(postings(segment, Field::Text, term), expected, "{term}");
    }
    let pairs = |pairs: &[index::Impact]| -> Vec<(u32, u8)> {
        let used = pairs.iter().filter(|pair| pair.frequency > 0);
        used.map(|pair| (pair.frequency, pair.length)).collect()
    };
    let record = segment.term(Field::Text, "all").unwrap().unwrap();
    let bounds = segment.blocks(&record).unwrap().bounds();
    assert_eq!(bounds.blocks_count(), 2);
    for impacts in [bounds.impacts(0), bounds.impacts(1), bounds.list_impacts()] {
        assert_eq!(pairs(&impacts), [(1, 1), (2, 3), (3, 4)]);
    }
    assert_eq!(pairs(&bounds.floors(10)), [(1, 1); 3]);
    assert_eq!(pairs(&bounds.floors(11)), [(1, 2); 3]);
    assert_eq!(pairs(&bounds.floors(101)), []);
    let most = segment.term(Field::Text, "most").unwrap().unwrap();
    let mut blocks = segment.blocks(&most).unwrap();
    blocks.load(0);
    assert!(blocks.bits().is_some());
}

/// Readers, checks and writers refuse them, and change nothing.
#[test]
fn older_formats_are_refused_by_name() {
    let folders = [
        ("format-1", 1, "MANIFEST-2"),
        ("format-2", 2, "MANIFEST-2"),
        ("format-2-blocks", 2, "MANIFEST-1"),
        ("format-3", 3, "MANIFEST-2"),
        ("format-3-blocks", 3, "MANIFEST-1"),
    ];
    for (folder, version, manifest) in folders {
        let refused = |error: IndexError| {
            let told = error.to_string();
            assert!(
                matches!(error, IndexError::OtherVersion { found, read: 4, .. } if found == version),
                "{told}"
            );
            let named = format!("format version {version}");
            for part in [manifest, &named, "version 4", "rebuild the index"] {
                assert!(told.contains(part), "{part:?} in {told:?}");
            }
        };
        let storage = fixture(folder);
        let before = files(&storage);
        refused(Index::open(storage.clone()).unwrap_err());
        refused(check(storage.clone(), 10).unwrap_err());
        refused(
            Writer::open(storage.clone(), BuildOptions::default())
                .err()
                .unwrap(),
        );
        assert_eq!(files(&storage), before);
    }
}
