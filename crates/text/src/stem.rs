//! Stemming with a cache of the stems of frequent words.
//!
//! Stemming costs about half a microsecond. The words of a text follow Zipf's law, so a small cache of recent words
//! answers most of them in a few nanoseconds. The table is direct-mapped and of fixed size, one megabyte a thread and
//! stemmer, for any corpus, and never needs to be emptied. It caches a pure function, so it changes speed alone.
//!
//! An entry is the length of the prefix that the stem shares with its word, and a short tail (`dying` → `d` and `ie`).
//! Most stems have no tail and are returned as a slice of the word.
use crate::language::Language;
use rust_stemmers::{Algorithm, Stemmer};
use std::borrow::Cow;
use std::cell::RefCell;

const SLOTS_COUNT: usize = 1 << 15;
/// Upper limit on the bytes of a cached word; about one word in a hundred is longer and is stemmed each time.
const WORD_BYTES_MAX: usize = 16;
const TAIL_BYTES_MAX: usize = 5;

/// Difference of a stem from its word: the first `kept_bytes` bytes of the word, then the tail.
#[derive(Clone, Copy, Default)]
struct Shape {
    kept_bytes: u8,
    tail_bytes: u8,
    tail: [u8; TAIL_BYTES_MAX],
}

/// A word of up to 16 bytes: its first and its last eight bytes, which may overlap.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Key {
    first: u64,
    last: u64,
    word_bytes: u8,
}

/// Stemmer of an analyzer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stemming {
    /// Snowball English as of 2018, which `english` keeps.
    English,
    /// The language's Snowball stemmer.
    Language(Language),
}

impl Stemming {
    /// Returns the stem of a word; the word where nothing is left of it.
    fn stem(self, word: &str) -> Cow<'_, str> {
        let stem = match self {
            Stemming::English => Stemmer::create(Algorithm::English).stem(word),
            Stemming::Language(language) => language.stemmer().stem(word),
        };
        match stem.is_empty() {
            true => word.into(),
            false => stem,
        }
    }
}

struct Stems {
    stemming: Stemming,
    slots: Vec<(Key, Shape)>,
}

thread_local! {
    /// A cache for each stemmer that the thread uses.
    static STEMS: RefCell<Vec<Stems>> = const { RefCell::new(Vec::new()) };
}

/// Returns the stem of `word`, which is lower-case and not empty. The stem is a slice of `word` or is in `buffer`.
#[inline]
pub(crate) fn stem<'a>(stemming: Stemming, word: &'a str, buffer: &'a mut String) -> &'a str {
    match shape_of(stemming, word) {
        Some(shape) if shape.tail_bytes == 0 => &word[..shape.kept_bytes as usize],
        Some(shape) => {
            buffer.clear();
            buffer.push_str(&word[..shape.kept_bytes as usize]);
            buffer.push_str(shape.tail());
            buffer
        }
        None => {
            *buffer = stemming.stem(word).into_owned();
            buffer
        }
    }
}

/// Replaces a lower-case word, not empty, by its stem.
pub(crate) fn stem_in_place(stemming: Stemming, word: &mut String) {
    match shape_of(stemming, word) {
        Some(shape) => {
            word.truncate(shape.kept_bytes as usize);
            word.push_str(shape.tail());
        }
        None => *word = stemming.stem(word).into_owned(),
    }
}

#[inline]
fn shape_of(stemming: Stemming, word: &str) -> Option<Shape> {
    let key = Key::of(word.as_bytes())?;
    STEMS.with_borrow_mut(|caches| {
        let known = caches.iter().position(|stems| stems.stemming == stemming);
        let at = known.unwrap_or_else(|| {
            caches.push(Stems::new(stemming));
            caches.len() - 1
        });
        let stems = &mut caches[at];
        let (known, shape) = &stems.slots[key.slot()];
        if *known == key {
            return Some(*shape);
        }
        stems.remember(word, key)
    })
}

impl Stems {
    #[cold]
    fn new(stemming: Stemming) -> Stems {
        Stems {
            stemming,
            slots: vec![(Key::default(), Shape::default()); SLOTS_COUNT],
        }
    }

    #[inline(never)]
    fn remember(&mut self, word: &str, key: Key) -> Option<Shape> {
        let stem = self.stemming.stem(word);
        // What is kept is copied as text.
        if !stem.is_ascii() {
            return None;
        }
        let pairs = word.bytes().zip(stem.bytes());
        let kept_bytes = pairs.take_while(|(word, stem)| word == stem).count();
        let tail = &stem.as_bytes()[kept_bytes..];
        let mut shape = Shape {
            kept_bytes: kept_bytes as u8,
            tail_bytes: tail.len() as u8,
            tail: [0; TAIL_BYTES_MAX],
        };
        shape.tail.get_mut(..tail.len())?.copy_from_slice(tail);
        self.slots[key.slot()] = (key, shape);
        Some(shape)
    }
}

impl Shape {
    fn tail(&self) -> &str {
        // Only ASCII words are cached, and stemming inserts only ASCII letters.
        std::str::from_utf8(&self.tail[..self.tail_bytes as usize]).unwrap_or_default()
    }
}

impl Key {
    /// Returns the key of a word; `None` where it is too long or not ASCII.
    #[inline]
    fn of(word: &[u8]) -> Option<Key> {
        let (first, last) = match word.len() {
            8..=WORD_BYTES_MAX => (
                u64::from_le_bytes(*word.first_chunk()?),
                u64::from_le_bytes(*word.last_chunk()?),
            ),
            4..=7 => (
                u32::from_le_bytes(*word.first_chunk()?).into(),
                u32::from_le_bytes(*word.last_chunk()?).into(),
            ),
            1..=3 => {
                let middle = word[word.len() / 2];
                let ends = u16::from_le_bytes([word[0], word[word.len() - 1]]);
                (ends.into(), middle.into())
            }
            _ => return None,
        };
        let is_ascii = (first | last) & 0x8080_8080_8080_8080 == 0;
        is_ascii.then_some(Key {
            first,
            last,
            word_bytes: word.len() as u8,
        })
    }

    #[inline]
    fn slot(self) -> usize {
        let mixed = (self.first ^ self.last.rotate_left(29) ^ u64::from(self.word_bytes))
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (mixed >> 40) as usize % SLOTS_COUNT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of the Universal Declaration of Human Rights in 24 languages, with the stems that Snowball's own stemmers
    /// give (its Python package `snowballstemmer` 3.1.1).
    const SNOWBALL: &str = include_str!("snowball.tsv");

    #[test]
    fn stems_are_those_of_snowball() {
        let mut buffer = String::new();
        let mut others = Vec::new();
        for line in SNOWBALL.lines() {
            let [code, word, expected] = *line.split('\t').collect::<Vec<_>>() else {
                panic!("three fields: {line}");
            };
            let language = Language::of_code(code).expect("a language of this crate");
            // Twice: the second time from the cache.
            for _ in 0..2 {
                let found = stem(Stemming::Language(language), word, &mut buffer);
                let expected = if expected.is_empty() { word } else { expected };
                if found != expected {
                    others.push(format!("{line}: {found}"));
                }
            }
        }
        assert!(others.is_empty(), "{others:#?}");
        assert!(SNOWBALL.lines().count() > 3_000);
    }

    /// `SHORTTAIL_SNOWBALL_DATA=FOLDER` has the vocabularies of github.com/snowballstem/snowball-data: in a folder for each
    /// language, `voc.txt` and `output.txt` have a word and its stem in each line.
    #[test]
    fn stems_of_whole_vocabularies_are_those_of_snowball() {
        let Some(folder) = std::env::var_os("SHORTTAIL_SNOWBALL_DATA") else {
            return;
        };
        let mut buffer = String::new();
        let mut others = Vec::new();
        let (mut words_count, mut languages_count) = (0, 0);
        for language in Language::all() {
            let folder = std::path::Path::new(&folder).join(language.name().to_lowercase());
            let read = |name: &str| std::fs::read_to_string(folder.join(name));
            let (Ok(words), Ok(stems)) = (read("voc.txt"), read("output.txt")) else {
                println!("no vocabulary of {}", language.name());
                continue;
            };
            assert_eq!(words.lines().count(), stems.lines().count());
            languages_count += 1;
            for (word, expected) in words.lines().zip(stems.lines()) {
                words_count += 1;
                let found = stem(Stemming::Language(language), word, &mut buffer);
                // A word of which nothing is left stays whole.
                let expected = if expected.is_empty() { word } else { expected };
                if found != expected {
                    others.push(format!("{}: {word} {expected} {found}", language.name()));
                }
            }
        }
        println!(
            "{words_count} words of {languages_count} languages, {} other stems",
            others.len()
        );
        others.iter().take(60).for_each(|other| println!("{other}"));
        // Vocabularies and stemmers may be of other versions of Snowball.
        assert!(words_count > 0 && others.len() <= words_count / 10_000);
    }
}
