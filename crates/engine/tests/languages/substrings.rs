//! Substrings of one to six letters of Chinese and Japanese texts find exactly the documents that have them.
//!
//! By default the texts are paragraphs of the Universal Declaration of Human Rights. `SHORTTAIL_TEXTS=FOLDER` takes the
//! files below a folder instead, and 100,000 substrings of them.

use super::{code, documents, engine};
use document::Document;
use engine::SearchOptions;
use search::Operator;
use std::collections::BTreeMap;
use std::path::Path;
use text::Languages;
use unicode_normalization::UnicodeNormalization;

/// Upper limit on the letters of a substring.
const LETTERS_MAX: usize = 6;

fn document(number: usize, body: String) -> Document {
    Document {
        url: format!("text:{number}"),
        body,
        ..Document::default()
    }
}

/// Returns the documents, and how many substrings to search.
fn texts() -> (Vec<Document>, usize) {
    let mut texts = Vec::new();
    match std::env::var_os("SHORTTAIL_TEXTS") {
        Some(folder) => read(Path::new(&folder), &mut texts),
        None => {
            let declarations = documents();
            let chosen = declarations
                .iter()
                .filter(|document| ["ja", "zh"].contains(&code(document)));
            for document in chosen {
                texts.extend(document.body.split('\n').map(str::to_owned));
            }
        }
    }
    let tried_count = if texts.len() > 1000 { 100_000 } else { 1_000 };
    let texts = texts.into_iter().enumerate();
    (
        texts.map(|(number, text)| document(number, text)).collect(),
        tried_count,
    )
}

fn read(folder: &Path, texts: &mut Vec<String>) {
    let mut paths: Vec<_> = folder
        .read_dir()
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    for path in paths {
        match path.is_dir() {
            true => read(&path, texts),
            false => texts
                .push(String::from_utf8_lossy(&std::fs::read(&path).expect("a file")).into_owned()),
        }
    }
}

/// Letters that folding leaves as they are.
fn is_letter(character: char) -> bool {
    matches!(character, '\u{3041}'..='\u{3094}' | '\u{30A1}'..='\u{30FA}' | '\u{30FC}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}')
}

/// Returns a text as a search sees it: wide and narrow forms are one, a line break between letters is none.
fn seen(text: &str) -> String {
    let text: Vec<char> = text.replace("\r\n", "\n").nfkc().collect();
    let is_joint = |at: usize| {
        let is_at = |at: Option<usize>| {
            at.and_then(|at| text.get(at))
                .is_some_and(|&c| is_letter(c))
        };
        text[at] == '\n' && is_at(at.checked_sub(1)) && is_at(Some(at + 1))
    };
    (0..text.len())
        .filter(|&at| !is_joint(at))
        .map(|at| text[at])
        .collect()
}

#[test]
fn substrings_are_found_where_they_stand_and_nowhere_else() {
    let (documents, tried_count) = texts();
    let engine = engine(&documents, Languages::default());
    let seen: Vec<String> = documents
        .iter()
        .map(|document| seen(&document.body))
        .collect();
    let options = SearchOptions {
        operator: Operator::And,
        per_site: 0,
        ..SearchOptions::default()
    };
    // A linear congruential generator: texts, places and lengths in any order, the same in every run.
    let mut state = 1_u64;
    let mut below = |limit: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let letters: Vec<Vec<char>> = seen.iter().map(|text| text.chars().collect()).collect();
    let mut holders: BTreeMap<&[char], Vec<usize>> = BTreeMap::new();
    while holders.len() < tried_count {
        let letters = &letters[below(letters.len())];
        let (at, length) = (below(letters.len().max(1)), 1 + below(LETTERS_MAX));
        let part = letters.get(at..at + length);
        if let Some(part) = part.filter(|part| part.iter().all(|&c| is_letter(c))) {
            holders.insert(part, Vec::new());
        }
    }
    find_holders(&letters, &mut holders);
    let mut found = 0;
    for (part, holders) in holders {
        let part: String = part.iter().collect();
        let answer = engine.search(&part, &options).unwrap();
        let found_count = answer.total.value as usize;
        assert!(answer.total.exact);
        assert_eq!(found_count, holders.len(), "{part}: {:?}", answer.warnings);
        for hit in &answer.hits {
            let number: usize = hit.url.trim_start_matches("text:").parse().unwrap();
            assert!(holders.contains(&number), "{part} is not in {}", hit.url);
        }
        found += found_count;
    }
    println!(
        "{tried_count} substrings of {} texts, {found} times found",
        documents.len()
    );
}

/// Adds to each substring the texts that have it.
fn find_holders<'a>(texts: &'a [Vec<char>], holders: &mut BTreeMap<&'a [char], Vec<usize>>) {
    for (number, text) in texts.iter().enumerate() {
        for at in 0..text.len() {
            for length in 1..=LETTERS_MAX.min(text.len() - at) {
                let Some(holders) = holders.get_mut(&text[at..at + length]) else {
                    continue;
                };
                if holders.last() != Some(&number) {
                    holders.push(number);
                }
            }
        }
    }
}
