//! Tiny documents in which rare cases are common: one-letter words, repeated words, empty bodies, the same address
//! twice.
use corpus::Document;
use proptest::collection::vec;
use proptest::prelude::*;

/// Words of documents and queries. Some share a start, so that a prefix covers several.
pub const VOCABULARY: [&str; 10] = ["a", "b", "c", "d", "ab", "abc", "ba", "ca", "é", "1"];

/// A word; early words of the vocabulary are more frequent.
pub fn words() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        4 => (0usize..2).prop_map(|word| VOCABULARY[word]),
        3 => (0usize..5).prop_map(|word| VOCABULARY[word]),
        2 => (0usize..VOCABULARY.len()).prop_map(|word| VOCABULARY[word]),
    ]
}

fn texts(words_max: usize) -> impl Strategy<Value = String> {
    let separators = prop_oneof![
        8 => Just(" "),
        1 => Just(", "),
        1 => Just("-"),
        1 => Just("\n"),
    ];
    vec((words(), separators, any::<bool>()), 0..words_max).prop_map(|words| {
        let mut text = String::new();
        for (word, separator, upper) in words {
            if upper {
                text.push_str(&word.to_uppercase());
            } else {
                text.push_str(word);
            }
            text.push_str(separator);
        }
        text
    })
}

/// Addresses: few enough that some come twice, on few sites.
pub fn urls() -> impl Strategy<Value = String> {
    prop_oneof![
        9 => (0u8..4, 0u8..12).prop_map(|(site, page)| format!("http://s{site}.test/{page}")),
        1 => (0u8..3).prop_map(|page| format!("file:///Folder/{page}.txt")),
        1 => (0u8..3).prop_map(|page| format!("note-{page}")),
    ]
}

/// One document.
pub fn document() -> impl Strategy<Value = Document> {
    // Mostly short; now and then long enough for lengths that a byte cannot hold exactly.
    let body = prop_oneof![6 => texts(12), 1 => texts(90)];
    (urls(), texts(4), body).prop_map(|(url, title, body)| Document {
        url,
        title,
        body,
        ..Document::default()
    })
}

/// A pile of documents, possibly empty.
pub fn documents(count_max: usize) -> impl Strategy<Value = Vec<Document>> {
    vec(document(), 0..count_max)
}

/// Documents as commits add them: some batches, possibly empty ones.
pub fn batches(commits_max: usize, count_max: usize) -> impl Strategy<Value = Vec<Vec<Document>>> {
    vec(documents(count_max), 1..=commits_max)
}
