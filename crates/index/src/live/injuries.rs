//! Injuries to every kind of file under an open index: no answer that passes its examination differs from the right one,
//! and nothing that was kept of changed bytes is believed after they were put back.

use super::files::Readers;
use super::{ReadStart, Trust};
use crate::sealed::Kind;
use crate::{
    BuildOptions, CodeRange, DocId, Field, Index, IndexError, Pairs, Segment, Writer, check,
};
use document::Document;
use std::fs::{self, OpenOptions};
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use vfs::{RealStorage, SharedStorage};

const DOCUMENTS: usize = 1500;
const LANGUAGES: [&str; 4] = ["de", "en", "fr", "it"];

/// Way to injure files of a kind under an open index; `None` for files that no open index reads. A new kind does not
/// compile before it is named here.
fn ending(kind: Kind) -> Option<&'static str> {
    match kind {
        // Read at opening alone, before there is an open index.
        Kind::Manifest => None,
        Kind::Segment => Some("index"),
        Kind::Documents => Some("documents"),
        Kind::Deletions => Some("deletions"),
        Kind::Statistics => Some("statistics"),
        Kind::Pairs => Some("pairs"),
        Kind::Columns => Some("columns"),
    }
}

fn document(number: usize, version: usize) -> Document {
    let fields = serde_json::json!({
        "rank": number * 31 % 977,
        "lang": LANGUAGES[number % 4],
        "tags": [format!("tag{}", number % 40), format!("tag{}", number % 7)],
        "note": format!("a note of number{number}"),
    });
    Document {
        url: format!("http://site-{}.test/{number}", number % 13),
        title: format!("title {number}"),
        body: format!("to be or not to be word{} ", number % 211).repeat(1 + number % 5)
            + &format!("version{version}"),
        fields: json::Value::from(fields).as_object().unwrap().clone(),
        ..Document::default()
    }
}

/// Directory with an index that has a file of every kind.
struct Bed {
    directory: TempDir,
}

impl Bed {
    fn new() -> Bed {
        let directory = tempfile::tempdir().unwrap();
        let storage = storage_of(directory.path());
        for (version, numbers) in [0..DOCUMENTS, DOCUMENTS - 200..DOCUMENTS + 100]
            .into_iter()
            .enumerate()
        {
            let options = BuildOptions {
                chunks: Some(1),
                pairs: Some(Pairs::All),
                small_terms_max: Some(0),
                ..BuildOptions::default()
            };
            let mut writer = Writer::open(storage.clone(), options).unwrap();
            for number in numbers {
                writer.add(document(number, version)).unwrap();
            }
            writer.commit().unwrap();
        }
        Bed { directory }
    }

    /// Opens the index; with `is_verified` all blocks are, so that only stamps show a change.
    fn open(&self, is_verified: bool) -> Index {
        let index = Index::open(storage_of(self.directory.path())).unwrap();
        if is_verified {
            index.verify_whole().unwrap();
        }
        index
    }

    /// Returns the files of a kind.
    fn files(&self, index: &Index, kind: Kind) -> Vec<(usize, PathBuf)> {
        let files = index.files.all.iter().enumerate();
        let files = files.filter(|(_, file)| file.kind == kind);
        files
            .map(|(number, file)| (number, file.path.clone()))
            .collect()
    }
}

fn storage_of(directory: &Path) -> SharedStorage {
    Arc::new(RealStorage::open(directory).unwrap())
}

/// Flips a bit of a file in place, as a program that writes to it would; returns the byte before.
fn flip(path: &Path, at: u64) -> u8 {
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    let byte = fs::read(path).unwrap()[at as usize];
    put(path, at, byte ^ 4);
    byte
}

fn put(path: &Path, at: u64, byte: u8) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&[byte], at).unwrap();
}

/// Returns what answers of every sort read of an index, examined as a search and look-ups are.
fn answers(index: &Index) -> Result<Vec<u64>, IndexError> {
    let since = index.read_start();
    let read = read(index);
    examined(index, since)?;
    let mut read = read?;
    for number in [7, DOCUMENTS - 1, DOCUMENTS + 50] {
        let found = index.document(&document(number, 0).url)?.unwrap();
        read.push(hash(&found.body) ^ hash(&serde_json::to_string(&found.fields).unwrap()));
    }
    Ok(read)
}

fn examined(index: &Index, since: ReadStart) -> Result<(), IndexError> {
    let segments: Vec<Arc<Segment>> = index.segments(..).cloned().collect();
    index.verify_search(&segments, since)
}

fn hash(text: &str) -> u64 {
    document::url_hash(text)
}

fn read(index: &Index) -> Result<Vec<u64>, IndexError> {
    let mut read = Vec::new();
    for term in ["be", "to", "word62", "version1", "number7"] {
        let frequency = index.statistics().document_frequency(Field::Text, term)?;
        read.push(frequency);
    }
    for segment in index.segments(..) {
        let docs = || (0..segment.documents_count()).map(DocId);
        for field in ["rank", "lang", "tags"] {
            let column = segment.column(field)?.unwrap();
            let mut sum = column.codes_count();
            for doc in docs() {
                column.each_code(doc, |code| {
                    sum = sum.wrapping_mul(31) ^ code;
                    sum ^= column
                        .value(code)
                        .map_or(0, |value| hash(&value.to_string()));
                });
            }
            read.push(sum);
            let few = CodeRange { low: 3, high: 3 };
            for _ in 0..3 {
                let listed = segment.documents_with(field, &column, few);
                let scanned = docs().filter(|&doc| column.passes(doc, few));
                let scanned: Vec<u32> = scanned.map(|doc| doc.0).collect();
                read.push(scanned.iter().map(|&doc| u64::from(doc)).sum());
                let list = listed.map(|list| list.iter().map(|&doc| u64::from(doc)).sum());
                read.push(list.unwrap_or(read[read.len() - 1]));
            }
        }
        let names = segment.site_names()?;
        for doc in docs().step_by(97) {
            let (url, site) = segment.hashes(doc);
            read.extend([url, site, segment.site_code(names, doc)]);
            read.push(hash(&segment.details(doc)?.url));
            read.push(u64::from(segment.is_deleted(doc)));
        }
        read.push(
            segment
                .lengths(Field::Text)
                .iter()
                .map(|&l| u64::from(l))
                .sum(),
        );
        let further = segment.lengths(Field::Further(0));
        read.push(further.iter().map(|&l| u64::from(l)).sum());
        let words = ["to", "be"].map(|word| segment.term(Field::Text, word));
        if let [Ok(Some(to)), Ok(Some(be))] = words
            && let Some(pair) = segment.pair(&to, &be)
        {
            let mut blocks = segment.pair_blocks(&pair)?;
            for block in 0..blocks.blocks_count() {
                blocks.load(block);
                read.push(blocks.docs().iter().map(|&doc| u64::from(doc)).sum());
            }
            blocks.take_error().map_or(Ok(()), Err)?;
        }
    }
    Ok(read)
}

fn go_on(_: usize) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Offsets in the files of a kind: the beginning, which is verified at opening, tables at the end, and between.
fn offsets(bytes: u64) -> Vec<u64> {
    let last = bytes - 1;
    let mut offsets = vec![70, last.saturating_sub(60)];
    offsets.extend((1..5).map(|part| 64 + (last - 64) * part / 5));
    offsets.sort_unstable();
    offsets.dedup();
    offsets
}

/// Injures each kind of file and calls `check` with the index, the number of the file, whether its readers are examined,
/// the right answers and a way to put the byte back.
fn each_injury(
    is_verified: bool,
    is_read_before: bool,
    check: impl Fn(&Index, usize, Readers, &[u64], &dyn Fn()),
) {
    let bed = Bed::new();
    let good = answers(&bed.open(false)).unwrap();
    for kind in Kind::ALL {
        if ending(kind).is_none() {
            continue;
        }
        let first = bed.open(false);
        let files = bed.files(&first, kind);
        assert!(!files.is_empty(), "the index has no file of {kind:?}");
        for (_, path) in files {
            for at in offsets(fs::metadata(&path).unwrap().len()) {
                let index = bed.open(is_verified);
                if is_read_before {
                    assert_eq!(answers(&index).unwrap(), good);
                }
                let (number, _) = bed
                    .files(&index, kind)
                    .into_iter()
                    .find(|(_, other)| *other == path)
                    .unwrap();
                let byte = flip(&path, at);
                check(&index, number, kind.readers(), &good, &|| {
                    put(&path, at, byte)
                });
                put(&path, at, byte);
            }
        }
    }
    assert_eq!(answers(&bed.open(true)).unwrap(), good);
    assert!(
        check::check(storage_of(bed.directory.path()), 10)
            .unwrap()
            .1
            .is_empty()
    );
}

#[test]
fn no_answer_rests_on_a_changed_file_of_any_kind() {
    for (is_verified, is_read_before) in [(true, true), (true, false), (false, false)] {
        each_injury(
            is_verified,
            is_read_before,
            |index, number, readers, good, _| {
                let path = index.examine_nothing(number);
                match answers(index) {
                    // In memory since the opening: the change does not matter.
                    Ok(found) if readers == Readers::None => assert_eq!(found, good, "{path:?}"),
                    Ok(found) => panic!("{path:?}: believed; right: {}", found == good),
                    Err(error) => {
                        assert_ne!(readers, Readers::None, "{path:?}: {error}");
                        assert!(
                            matches!(
                                error,
                                IndexError::Damaged { .. } | IndexError::Changed { .. }
                            ),
                            "{path:?}: {error}"
                        );
                    }
                }
            },
        );
    }
}

#[test]
fn nothing_kept_of_changed_bytes_is_believed_later() {
    each_injury(true, false, |index, number, _, good, put_back| {
        for _ in 0..3 {
            // Tables, names, lengths and lists are read now, of which some would be kept.
            let _ = read(index);
        }
        let _ = answers(index);
        put_back();
        index.examine(number);
        index.verify_again(number, &mut go_on).unwrap();
        assert_eq!(index.examine(number).unwrap().1, Trust::Trusted);
        assert_eq!(
            answers(index).unwrap(),
            good,
            "{:?}",
            index.examine_nothing(number)
        );
    });
}

#[test]
fn decisions_examine_what_was_read_of_any_kind() {
    each_injury(true, true, |index, number, readers, _, _| {
        let since = index.read_start();
        let decided = read(index).and_then(|_| index.verify_all_read(since));
        // The set of deletions was read at opening, and counts as read.
        assert!(
            decided.is_err(),
            "{:?} {readers:?}",
            index.examine_nothing(number)
        );
    });
}

#[test]
fn a_file_that_nobody_reads_costs_no_examination() {
    let bed = Bed::new();
    let index = bed.open(true);
    let is_read = |kind| {
        index
            .files
            .all
            .iter()
            .filter(move |file| file.kind == kind)
            .any(|file| file.is_read())
    };
    assert!(!is_read(Kind::Columns) && !is_read(Kind::Pairs));
    let segment = index.segments(..).next().unwrap();
    segment.column("rank").unwrap();
    assert!(is_read(Kind::Columns) && !is_read(Kind::Pairs));
    let word = |word| segment.term(Field::Text, word).unwrap().unwrap();
    segment.pair(&word("to"), &word("be"));
    assert!(is_read(Kind::Pairs));
}

impl Index {
    /// Returns the path of a file without looking at it.
    fn examine_nothing(&self, number: usize) -> &Path {
        &self.files.all[number].path
    }
}
