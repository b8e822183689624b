//! Folders that hold one collection of records: BEIR, Pyserini, TREC, parts of a crawl.
//!
//! ```text
//! corpus.jsonl beside queries.jsonl or qrels/    BEIR: that file alone; queries are no documents
//! files of records alone                         all of them, in the order of their paths
//! anything else                                  a folder of texts
//! ```

use crate::extraction::Kind;
use crate::file::Markup;
use crate::source::{JSON_ENDINGS, Source, beginning_of, file_name, has_ending};
use crate::{trec, web_archive, wiki};
use std::fs;
use std::path::{Path, PathBuf};

/// Upper limit on the files of a collection, and on folders within folders.
const FILES_MAX: usize = 100_000;
const DEPTH_MAX: usize = 8;

/// Names of the file of documents in a folder of BEIR.
const BEIR: [&str; 2] = ["corpus.jsonl", "corpus.jsonl.gz"];

/// Returns whether a folder is a collection.
pub(crate) fn is_collection(folder: &Path) -> bool {
    beir(folder).is_some() || !files_of_records(folder).is_empty()
}

/// Returns the sources of a collection.
pub(crate) fn sources(folder: &Path) -> Vec<Source> {
    let files = match beir(folder) {
        Some(corpus) => vec![corpus],
        None => files_of_records(folder),
    };
    let sources = files.into_iter().map(Source::of_file);
    sources.filter_map(Result::ok).collect()
}

/// Returns the file of documents of a folder of BEIR.
fn beir(folder: &Path) -> Option<PathBuf> {
    let has = |name: &str| folder.join(name).exists();
    let is_judged = has("queries.jsonl") || has("queries.jsonl.gz") || has("qrels");
    let corpus = BEIR
        .iter()
        .map(|name| folder.join(name))
        .find(|path| path.is_file());
    corpus.filter(|_| is_judged)
}

/// Returns the files of a folder of which all hold records; none where one is another kind of document, or a first look
/// shows that none holds records.
fn files_of_records(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let is_whole = gather(folder, 0, &mut files);
    files.sort();
    match is_whole && !files.is_empty() {
        true => files,
        false => Vec::new(),
    }
}

/// Gathers the files below a folder; `false` where one is no file of records.
fn gather(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        // Links are for folders of texts, which say what they pass over.
        let Ok(kind) = entry.file_type() else {
            return false;
        };
        if file_name(&path).starts_with('.') {
            continue;
        }
        let is_taken = match () {
            () if kind.is_dir() => depth < DEPTH_MAX && gather(&path, depth + 1, files),
            () if kind.is_file() && files.len() < FILES_MAX && holds_records(&path) => {
                files.push(path);
                true
            }
            () => false,
        };
        if !is_taken {
            return false;
        }
    }
    true
}

/// Returns whether a file holds records of a collection. Single objects of JSON, as settings are, do not.
fn holds_records(path: &Path) -> bool {
    let name = file_name(path);
    if has_ending(path, &JSON_ENDINGS) {
        return is_json_of_records(path);
    }
    if has_ending(path, &web_archive::ENDINGS) || has_ending(path, &["parquet"]) {
        return true;
    }
    if Markup::of(&name).is_some() || Kind::of(&name).is_some() {
        return false;
    }
    let beginning = beginning_of(path);
    trec::is_trec(&beginning) || wiki::is_dump(&beginning)
}

/// Returns whether a file of JSON has lines or a list of objects with an id, or is one such object.
fn is_json_of_records(path: &Path) -> bool {
    let beginning = beginning_of(path);
    let text = String::from_utf8_lossy(&beginning);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let text = text.strip_prefix('[').unwrap_or(text).trim_start();
    let names = ["\"id\"", "\"_id\"", "\"docid\"", "\"url\"", "\"docno\""];
    text.starts_with('{') && names.iter().any(|name| text.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ReadOptions, Reader};
    use document::Document;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn read(folder: &Path) -> Vec<Document> {
        let source = Source::parse(folder.to_str().unwrap()).unwrap();
        let mut reader = Reader::open(vec![source], ReadOptions::default()).unwrap();
        let documents = std::iter::from_fn(|| reader.next_document().unwrap());
        documents.collect()
    }

    #[test]
    fn a_folder_of_beir_is_its_corpus() {
        let folder = folder(&[
            (
                "corpus.jsonl",
                "{\"_id\": \"7\", \"title\": \"Owls\", \"text\": \"They fly.\", \"metadata\": {}}\n",
            ),
            (
                "queries.jsonl",
                "{\"_id\": \"q1\", \"text\": \"what flies\"}\n",
            ),
            ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\t7\t1\n"),
        ]);
        let found = read(folder.path());
        assert_eq!(found.len(), 1);
        assert_eq!(
            (&*found[0].url, found[0].id.as_deref()),
            ("id:7", Some("7"))
        );
        assert_eq!((&*found[0].title, &*found[0].body), ("Owls", "They fly."));
    }

    #[test]
    fn a_folder_of_pyserini_is_all_its_files() {
        let folder = folder(&[
            (
                "b/docs01.jsonl",
                "{\"id\": \"2\", \"contents\": \"second\"}\n",
            ),
            (
                "a.json",
                "[{\"id\": \"0\", \"contents\": \"zeroth\"},\n {\"id\": \"1\", \"contents\": \"first\"}]",
            ),
            (".hidden", "x"),
        ]);
        let bodies: Vec<String> = read(folder.path())
            .into_iter()
            .map(|one| one.body)
            .collect();
        assert_eq!(bodies, ["zeroth", "first", "second"]);
    }

    #[test]
    fn files_without_endings_are_known_by_their_beginning() {
        let folder = folder(&[(
            "fbis1/FB396001",
            "<DOC>\n<DOCNO> FB-1 </DOCNO>\n<TEXT>\nwords\n</TEXT>\n</DOC>\n",
        )]);
        assert_eq!(read(folder.path())[0].url, "id:FB-1");
    }

    #[test]
    fn other_folders_are_folders_of_texts() {
        for files in [
            &[
                ("a.txt", "text"),
                ("b.jsonl", "{\"id\": 1, \"body\": \"x\"}"),
            ][..],
            &[("a.md", "text"), ("package.json", "{\"name\": \"x\"}")],
            &[("package.json", "{\"name\": \"x\"}")],
            &[("a.png", "x"), ("b.jsonl", "{\"id\": 1, \"body\": \"x\"}")],
            &[],
        ] {
            let folder = folder(files);
            let source = Source::parse(folder.path().to_str().unwrap()).unwrap();
            assert!(matches!(source, Source::Folder(_)), "{files:?}");
        }
    }
}
