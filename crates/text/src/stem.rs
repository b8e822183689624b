//! Words to stems, remembering the stems of frequent words.
//!
//! Stemming costs about half a microsecond; a text's words follow Zipf's law, so a small table of the
//! words seen last answers most of them in a few nanoseconds. The table is direct-mapped and of fixed
//! size: whatever the corpus, it stays in the second-level cache and never has to be emptied.
//! It only remembers a pure function, so nothing can tell that it is there, but a clock.
use rust_stemmers::{Algorithm, Stemmer};
use std::cell::RefCell;

const SLOTS_COUNT: usize = 1 << 13;
/// Longer words are stemmed anew each time; about one word in a hundred is longer.
const WORD_BYTES_MAX: usize = 15;

#[derive(Clone, Copy, Default)]
struct Slot {
    word_bytes: u8,
    stem_bytes: u8,
    word: [u8; WORD_BYTES_MAX],
    stem: [u8; WORD_BYTES_MAX],
}

struct Stems {
    stemmer: Stemmer,
    slots: Vec<Slot>,
}

thread_local! {
    static STEMS: RefCell<Stems> = RefCell::new(Stems {
        stemmer: Stemmer::create(Algorithm::English),
        slots: vec![Slot::default(); SLOTS_COUNT],
    });
}

/// Puts the stem of `word`, which is lower-case and not empty, into `stem`.
pub(crate) fn english_into(word: &str, stem: &mut String) {
    stem.clear();
    STEMS.with_borrow_mut(|stems| stems.stem_into(word, stem));
}

/// Replaces a lower-case word, not empty, by its stem.
pub(crate) fn english_in_place(word: &mut String) {
    STEMS.with_borrow_mut(|stems| {
        let stem = stems.stem_of(word);
        match stem {
            Found::Remembered(slot) => {
                let stem = stems.slots[slot].stem();
                word.clear();
                word.push_str(stem);
            }
            Found::New(stem) => *word = stem,
        }
    });
}

enum Found {
    Remembered(usize),
    New(String),
}

impl Slot {
    fn new(word: &str, stem: &str) -> Slot {
        let mut slot = Slot {
            word_bytes: word.len() as u8,
            stem_bytes: stem.len() as u8,
            ..Slot::default()
        };
        slot.word[..word.len()].copy_from_slice(word.as_bytes());
        slot.stem[..stem.len()].copy_from_slice(stem.as_bytes());
        slot
    }

    fn is_for(&self, word: &[u8]) -> bool {
        self.word_bytes as usize == word.len() && &self.word[..word.len()] == word
    }

    fn stem(&self) -> &str {
        // Whole strings are put in, so whole strings come out; the empty one cannot occur.
        std::str::from_utf8(&self.stem[..self.stem_bytes as usize]).unwrap_or_default()
    }
}

impl Stems {
    fn stem_into(&mut self, word: &str, stem: &mut String) {
        match self.stem_of(word) {
            Found::Remembered(slot) => stem.push_str(self.slots[slot].stem()),
            Found::New(new) => stem.push_str(&new),
        }
    }

    fn stem_of(&mut self, word: &str) -> Found {
        if word.len() > WORD_BYTES_MAX {
            return Found::New(self.stemmer.stem(word).into_owned());
        }
        let at = slot_of(word.as_bytes());
        if self.slots[at].is_for(word.as_bytes()) {
            return Found::Remembered(at);
        }
        let stem = self.stemmer.stem(word).into_owned();
        if stem.len() > WORD_BYTES_MAX {
            return Found::New(stem);
        }
        self.slots[at] = Slot::new(word, &stem);
        Found::Remembered(at)
    }
}

/// Fibonacci hashing of the word's bytes, eight at a time.
fn slot_of(word: &[u8]) -> usize {
    let mut padded = [0u8; 16];
    padded[..word.len()].copy_from_slice(word);
    let [low, high] = [0, 8].map(|from| {
        let mut half = [0u8; 8];
        half.copy_from_slice(&padded[from..from + 8]);
        u64::from_le_bytes(half)
    });
    let mixed =
        (low ^ high.rotate_left(29) ^ word.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (mixed >> 40) as usize % SLOTS_COUNT
}
