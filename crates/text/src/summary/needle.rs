//! Search needles: the common prefix of all words of a stem.
//!
//! A Snowball English stem is mostly a prefix of its words, but not always. Reading the rules:
//! - deleting a suffix leaves a prefix; so does a replacement by a prefix of what it replaces
//!   (`sses→ss`, `tional→tion`, `iciti→ic`, `fulness→ful`, …);
//! - step 1b adds `e` after a deletion (`hoping→hope`), step 1c and 2 end in `i` or `e` instead of
//!   `y`, `i` or `a` (`happy→happi`, `ency→ence`, `ization→ize`, `ivity→ive`): the last letter differs;
//! - `bility→ble` differs in two letters; step 5 may then delete the `e`, leaving `bl` with one;
//! - later steps only delete from the end, so no more than these letters ever differ;
//! - of the exceptions, `dying lying tying` (in newer versions any consonant with `ying`) share one letter with their
//!   stems, `skies` two with `sky`.
//!
//! The test compares stems with words made of these very suffixes.
use crate::Analyzer;
use crate::language::{Language, Script};

/// Upper limit on the needles that are tried one by one: then the search costs more than the comparisons.
const TRIED_MAX: usize = 8;

/// Returns the prefix shared by all words whose term is `term` or, for a prefix, starts with it. Valid for terms of
/// ASCII letters and digits, and words of them. Each candidate is verified by analysing its word.
pub(super) fn needle(analyzer: Analyzer, term: &str, prefix: bool) -> &str {
    let Some(language) = analyzer.language(Script::Latin) else {
        return term;
    };
    let kept_bytes = match prefix {
        // The first letter of other stems is that of the word.
        _ if language != Language::English => return term.get(..1).unwrap_or(""),
        // A stem with this prefix may be one letter longer than the prefix, or equal to it.
        true => term.len().saturating_sub(2),
        false => match term {
            _ if term.len() == 3 && term.ends_with("ie") => 1,
            "sky" => 2,
            _ if term.ends_with("ble") => term.len() - 2,
            _ if term.ends_with("bl") || term.ends_with(['e', 'i']) => term.len() - 1,
            _ => term.len(),
        },
    };
    // Other terms may end within a character.
    term.get(..kept_bytes.max(1)).unwrap_or("")
}

/// Needles of a query, for the lookup of a word.
#[derive(Debug)]
pub(super) struct Needles {
    /// Sorted; none is a prefix of another, so the only one that a word can begin with is the last that is not greater.
    sorted: Vec<Box<[u8]>>,
    /// A bit for each two first bytes that a needle admits, where needles are not tried one by one: most words end there.
    starts: Vec<u64>,
}

/// Returns the place of the bit of two first bytes.
#[inline]
fn start_bit(first: u8, second: u8) -> (usize, u64) {
    let at = usize::from(first) << 8 | usize::from(second);
    (at / 64, 1 << (at % 64))
}

impl Needles {
    pub(super) fn new<'a>(needles: impl Iterator<Item = &'a str>) -> Needles {
        let mut sorted: Vec<Box<[u8]>> = needles
            .map(|needle| needle.to_ascii_lowercase().into_bytes().into())
            .collect();
        sorted.sort_unstable();
        sorted.dedup_by(|next, before| next.starts_with(before));
        let mut starts = Vec::new();
        if sorted.len() > TRIED_MAX {
            starts.resize(1 << 10, 0);
            for needle in &sorted {
                let seconds = match **needle {
                    [] | [_] => 0..=u8::MAX,
                    [_, second, ..] => second..=second,
                };
                let firsts = needle.first().map_or(0..=u8::MAX, |&first| first..=first);
                for (first, second) in
                    firsts.flat_map(|first| seconds.clone().map(move |second| (first, second)))
                {
                    let (at, bit) = start_bit(first, second);
                    starts[at] |= bit;
                }
            }
        }
        Needles { sorted, starts }
    }

    /// Returns whether `word` begins with a needle, whatever the case of its ASCII letters.
    #[inline]
    pub(super) fn begin(&self, word: &[u8]) -> bool {
        let is_prefix = |needle: &[u8]| {
            let start = word.get(..needle.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(needle))
        };
        if self.sorted.len() <= TRIED_MAX {
            return self.sorted.iter().any(|needle| is_prefix(needle));
        }
        if let [first, second, ..] = *word {
            let (at, bit) = start_bit(first.to_ascii_lowercase(), second.to_ascii_lowercase());
            if self.starts[at] & bit == 0 {
                return false;
            }
        }
        let lowered = || word.iter().map(u8::to_ascii_lowercase);
        let after = self
            .sorted
            .partition_point(|needle| needle.iter().copied().le(lowered()));
        after > 0 && is_prefix(&self.sorted[after - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Languages;
    use proptest::prelude::*;

    fn assert_begins(word: &str) {
        let standard = Languages::default().with(Language::English);
        for analyzer in [Analyzer::English, Analyzer::Standard(standard)] {
            let stems = analyzer.terms(word);
            let [stem] = &stems[..] else {
                panic!("{word:?} is not one word")
            };
            let start = needle(analyzer, stem, false);
            assert!(word.starts_with(start), "{word} → {stem}, needle {start}");
            for cut in 1..=stem.len() {
                let start = needle(analyzer, &stem[..cut], true);
                assert!(word.starts_with(start), "{word} → {stem}, needle {start}");
            }
        }
    }

    #[test]
    fn published_examples() {
        // The exceptions and the examples of the algorithm's description.
        for word in "skis skies dying lying tying idly gently ugly early only singly sky news howe atlas \
            cosmos bias andes inning outing canning herring earring proceed exceed succeed generate \
            general generic communism arsenic ties cries gas this gaps kiwis caresses ponies cats \
            feed agreed plastered bled motoring sing luxuriated troubled sized hopping tanned falling \
            hissing fizzed failing filing hoped happy cry by say enjoy relational conditional rational \
            valency hesitancy digitizer conformably radically differently vilely analogously \
            vietnamization predication operator feudalism decisiveness hopefulness callousness \
            formality sensitivity sensibility analogy triplicate formative formalize electricity \
            electrical hopeful goodness revival allowance inference airliner adjustable defensible \
            irritant replacement adjustment dependent adoption homologous communicate probate rate \
            cease controlling roll possibility possibly possible knightly consist consolingly knaves"
            .split_whitespace()
        {
            assert_begins(word);
        }
    }

    proptest! {
        #[test]
        fn needles_are_found_in_any_number(
            needles in prop::collection::vec("[ab]{0,3}é?[abc]{0,3}", 0..40),
            words in prop::collection::vec("[abAB]{0,3}[éÉ]?[abcABC]{0,4}", 1..20),
        ) {
            let found = Needles::new(needles.iter().map(String::as_str));
            for word in words {
                let lowered = word.to_ascii_lowercase();
                let begins = needles.iter().any(|needle| lowered.starts_with(needle.as_str()));
                prop_assert_eq!(found.begin(word.as_bytes()), begins, "{}", word);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn words_begin_with_the_needle_of_their_stem(
            word in "[a-z]{0,2}[aeiouy]?[a-z]{0,3}(ble|bl|iz|at|tt|bb|iv|og|al|ic|ous|ful|less)?(sses|ied|ies|s|eedly|eed|edly|ed|ingly|ing|y|tional|enci|ency|anci|ancy|abli|ably|entli|ently|izer|ization|ational|ation|ator|alism|aliti|ality|alli|ally|fulness|ousli|ously|ousness|iveness|iviti|ivity|biliti|bility|bli|bly|ogi|ogy|fulli|fully|lessli|lessly|li|ly|alize|icate|iciti|icity|ical|ative|ness|ance|ence|er|able|ible|ant|ement|ment|ent|ism|ate|iti|ity|ous|ive|ize|sion|tion|e|l|ll)?(s|d|ed|ing|ly|ies|y)?"
        ) {
            prop_assume!(!word.is_empty());
            assert_begins(&word);
        }
    }
}
