//! Phrases of two words that titles have often: examples of queries that find something.

use index::{DocId, Field, Index, IndexError, Segment};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Upper limit on the titles read.
const TITLES_MAX: u32 = 256;
/// Upper limit on the phrases returned.
const PHRASES_MAX: usize = 3;
/// Share of the documents that hold a word of a phrase at most: other words stand everywhere.
const FREQUENT_SHARE: f64 = 0.02;
/// Upper limit on the phrases whose words are looked up, those of most titles.
const CANDIDATES_MAX: usize = 128;
/// Bytes of the titles of a phrase that show its language.
const TITLES_BYTES_MAX: usize = 400;
/// Documents of an index in which every word is rare enough.
const DOCUMENTS_FEW: u64 = 40;
const WORD_CHARS: std::ops::RangeInclusive<usize> = 3..=16;

type Phrase = [String; 2];

/// Returns the most frequent phrases of the titles of live documents, evenly drawn from `segments`: two words in lower case,
/// no word in two phrases. Phrases whose titles are foreign are left out.
///
/// # Errors
/// A file of the index that cannot be read.
pub fn frequent_phrases(
    index: &Index,
    segments: &[&Arc<Segment>],
    is_foreign: &dyn Fn(&str) -> bool,
) -> Result<Vec<[String; 2]>, IndexError> {
    let titles = titles_by_phrase(segments)?;
    let mut ranked: Vec<(Phrase, Titles)> = titles.into_iter().collect();
    ranked.sort_by_key(|(_, titles)| Reverse(titles.count));
    ranked.truncate(CANDIDATES_MAX);
    ranked.retain(|(_, titles)| !is_foreign(&titles.joined));
    // Of phrases of as many titles, that of the more frequent words finds more.
    let mut telling = Vec::new();
    for (phrase, titles) in ranked {
        if let Some(documents_count) = telling_documents(index, &phrase)? {
            telling.push((Reverse((titles.count, documents_count)), phrase));
        }
    }
    telling.sort();
    let mut chosen: Vec<[String; 2]> = Vec::new();
    for (_, phrase) in telling {
        let is_new = |word: &String| !chosen.iter().flatten().any(|known| known == word);
        if phrase.iter().all(is_new) && chosen.len() < PHRASES_MAX {
            chosen.push(phrase);
        }
    }
    Ok(chosen)
}

/// Returns the phrases of live titles, evenly drawn from `segments`.
fn titles_by_phrase(segments: &[&Arc<Segment>]) -> Result<BTreeMap<Phrase, Titles>, IndexError> {
    let documents_count: u64 = segments
        .iter()
        .map(|one| u64::from(one.documents_count()))
        .sum();
    let step = (documents_count / u64::from(TITLES_MAX)).max(1) as usize;
    let docs = segments
        .iter()
        .flat_map(|segment| (0..segment.documents_count()).map(move |doc| (segment, DocId(doc))));
    let mut counts: BTreeMap<Phrase, Titles> = BTreeMap::new();
    for (segment, doc) in docs.step_by(step) {
        if segment.is_deleted(doc) {
            continue;
        }
        let mut details = segment.details_reader();
        let title = details.title(doc)?;
        // A title counts once, whatever it repeats.
        for phrase in phrases(title).collect::<BTreeSet<_>>() {
            counts.entry(phrase).or_default().add(title);
        }
    }
    Ok(counts)
}

/// The titles that have a phrase.
#[derive(Default)]
struct Titles {
    count: u32,
    /// The first ones, as one text.
    joined: String,
}

impl Titles {
    fn add(&mut self, title: &str) {
        self.count += 1;
        if self.joined.len() < TITLES_BYTES_MAX {
            self.joined.push_str(title);
            self.joined.push('\n');
        }
    }
}

/// Returns the pairs of plain words that stand beside each other in a title, without a sign between them.
fn phrases(title: &str) -> impl Iterator<Item = [String; 2]> + '_ {
    let words = title.split_whitespace();
    let next = words.clone().skip(1);
    words.zip(next).filter_map(|pair| {
        let (first, second) = (
            pair.0,
            pair.1.trim_end_matches([',', '.', ':', ';', '?', '!']),
        );
        (first != second && is_plain(first) && is_plain(second))
            .then(|| [first.to_lowercase(), second.to_lowercase()])
    })
}

fn is_plain(word: &str) -> bool {
    word.chars().all(char::is_alphabetic) && WORD_CHARS.contains(&word.chars().count())
}

/// Returns the number of documents that hold the rarest word of a phrase; `None` where a word stands everywhere.
fn telling_documents(index: &Index, phrase: &[String; 2]) -> Result<Option<u64>, IndexError> {
    let statistics = index.statistics();
    let documents_count = statistics.documents_count();
    let limit = match documents_count <= DOCUMENTS_FEW {
        true => documents_count,
        false => (documents_count as f64 * FREQUENT_SHARE).max(2.0) as u64,
    };
    let mut least = documents_count;
    for word in phrase {
        for term in index.analyzer().terms(word) {
            let held = statistics.document_frequency(Field::Text, &term)?;
            if held > limit {
                return Ok(None);
            }
            least = least.min(held);
        }
    }
    Ok(Some(least))
}

#[cfg(test)]
mod tests {
    use super::*;
    use index::{BuildOptions, Writer};
    use vfs::{MemoryStorage, SharedStorage};

    #[test]
    fn pairs_of_plain_words() {
        let found: Vec<_> = phrases("The Moon landing: of 1969, C++ code, moon landing!").collect();
        let expected = [["the", "moon"], ["moon", "landing"]].map(|pair| pair.map(str::to_owned));
        assert_eq!(
            found,
            [expected[0].clone(), expected[1].clone()]
                .into_iter()
                .chain([expected[1].clone()])
                .collect::<Vec<_>>()
        );
        assert_eq!(phrases("東京都 a be").count(), 0);
    }

    #[test]
    fn phrases_of_another_language_are_left_out() {
        let found = |analyzer| {
            let storage: SharedStorage = Arc::new(MemoryStorage::default());
            let options = BuildOptions {
                analyzer: Some(analyzer),
                ..BuildOptions::default()
            };
            let mut writer = Writer::open(storage.clone(), options).unwrap();
            for number in 0..1000 {
                let title = match number % 100 {
                    0 => "Ein Bericht über Wasserstraßen zwischen Hamburg und Berlin",
                    1 => "Page faults",
                    other => &format!("common {other}"),
                };
                let document = document::Document {
                    url: format!("https://s.example/{number}"),
                    title: title.to_owned(),
                    ..document::Document::default()
                };
                writer.add(document).unwrap();
            }
            writer.commit().unwrap();
            let index = Index::open(storage).unwrap();
            let segments: Vec<_> = index.segments(0..=index.chunks_count() - 1).collect();
            let is_foreign = |titles: &str| analyzer.finds_foreign(titles);
            let phrases = frequent_phrases(&index, &segments, &is_foreign).unwrap();
            let mut phrases: Vec<_> = phrases.into_iter().map(|one| one.join(" ")).collect();
            phrases.sort();
            phrases
        };
        assert_eq!(found(text::Analyzer::English), ["page faults"]);
        assert!(found(text::Analyzer::Plain).len() > 1);
    }

    #[test]
    fn the_most_frequent_phrases_of_live_titles() {
        let storage: SharedStorage = Arc::new(MemoryStorage::default());
        let add = |numbers: std::ops::Range<usize>| {
            let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
            for number in numbers {
                let title = match number % 100 {
                    0 => "The thread pool".to_owned(),
                    1 => "Page faults".to_owned(),
                    other => format!("The common words {other}"),
                };
                let document = document::Document {
                    url: format!("https://s.example/{number}"),
                    title,
                    ..document::Document::default()
                };
                writer.add(document).unwrap();
            }
            writer.commit().unwrap();
        };
        add(0..1000);
        let found = |storage: &SharedStorage| {
            let index = Index::open(storage.clone()).unwrap();
            let segments: Vec<_> = index.segments(0..=index.chunks_count() - 1).collect();
            let phrases = frequent_phrases(&index, &segments, &|_| false).unwrap();
            phrases
                .into_iter()
                .map(|phrase| phrase.join(" "))
                .collect::<Vec<_>>()
        };
        let mut expected = vec!["page faults", "thread pool"];
        let mut all = found(&storage);
        all.sort();
        assert_eq!(all, expected);
        let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
        for number in (0..1000).step_by(100) {
            writer.delete(&format!("https://s.example/{number}"));
        }
        writer.commit().unwrap();
        expected.pop();
        assert_eq!(found(&storage), expected);
    }
}
