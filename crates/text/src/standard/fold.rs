//! Folding of words: one form for all ways of writing the same letters.
//!
//! ```text
//! fold := NFKC, full case folding, characters that are not shown left out
//! bare := without accents and points in Latin, Greek, Cyrillic (not й), Hebrew and Arabic; letters of LETTERS replaced
//! ```
//!
//! Case folding is the lower case of the upper case, which differs from Unicode's only for dotless ı (as i), final
//! sigma within a run (the same), and Cherokee (in small letters). Stemmers need accents, so they take `fold`.

use super::class::is_ignorable;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Letters that are replaced, which decomposition leaves as they are.
const LETTERS: [(char, &str); 24] = [
    ('æ', "ae"),
    ('œ', "oe"),
    ('ø', "o"),
    ('đ', "d"),
    ('ð', "d"),
    ('þ', "th"),
    ('ł', "l"),
    ('ħ', "h"),
    ('ŧ', "t"),
    ('ı', "i"),
    ('ƒ', "f"),
    ('ɓ', "b"),
    ('ɗ', "d"),
    ('ə', "e"),
    ('ɛ', "e"),
    ('ŋ', "n"),
    ('ɔ', "o"),
    // Tatweel stretches a word; alef maksura and the Persian letters are written for one another.
    ('\u{640}', ""),
    ('ى', "ي"),
    ('ی', "ي"),
    ('ې', "ي"),
    ('ک', "ك"),
    ('ھ', "ه"),
    ('ہ', "ه"),
];

/// Appends `word` in lower case and composed, with its accents.
pub(super) fn fold_into(word: &str, out: &mut String) {
    if word.is_ascii() {
        let from = out.len();
        out.push_str(word);
        out[from..].make_ascii_lowercase();
        return;
    }
    let shown = word.chars().filter(|&character| !is_ignorable(character));
    let decomposed = shown.nfkd().flat_map(lowered);
    // A dot that the lower case of a dotted capital leaves; controls that a decomposition brings.
    let mut before = ' ';
    let kept = decomposed.filter(move |&character| {
        let is_dot_left = character == '\u{307}' && before == 'i';
        let is_kept = !is_dot_left && !is_ignorable(character);
        before = character;
        is_kept
    });
    out.extend(kept.nfkc());
}

/// Folds the case of a character. Twice: the lower case of `ẞ` is `ß`, whose upper case is `SS`.
fn lowered(character: char) -> impl Iterator<Item = char> {
    let folded = |character: char| character.to_uppercase().flat_map(char::to_lowercase);
    folded(character)
        .flat_map(folded)
        .nfkd()
        .map(|character| if character == 'ς' { 'σ' } else { character })
}

/// Appends a folded word without accents.
pub(super) fn bare_into(folded: &str, out: &mut String) {
    if folded.is_ascii() {
        return out.push_str(folded);
    }
    let mut base = ' ';
    let mut kept = String::with_capacity(folded.len());
    for character in folded.nfd() {
        if is_combining_mark(character) {
            let is_short_i = base == 'и' && character == '\u{306}';
            if keeps_marks(base) || is_short_i {
                kept.push(character);
            }
            continue;
        }
        base = character;
        match LETTERS.iter().find(|(letter, _)| *letter == character) {
            Some((_, replaced)) => kept.push_str(replaced),
            None => kept.push(character),
        }
    }
    out.extend(kept.nfc());
}

/// Returns whether marks after a letter are part of it: everywhere but in Latin, Greek, Cyrillic, Armenian, Hebrew,
/// Arabic.
fn keeps_marks(base: char) -> bool {
    !matches!(base, '\0'..='\u{77F}' | '\u{8A0}'..='\u{8FF}' | '\u{1D00}'..='\u{1DBF}' | '\u{1E00}'..='\u{1FFF}'
        | '\u{2C60}'..='\u{2C7F}' | '\u{A640}'..='\u{A69F}' | '\u{A720}'..='\u{A7FF}' | '\u{AB30}'..='\u{AB6F}')
}

/// Appends a word folded without accents.
pub(super) fn fold_bare_into(word: &str, out: &mut String) {
    if word.is_ascii() {
        return fold_into(word, out);
    }
    let mut folded = String::with_capacity(word.len());
    fold_into(word, &mut folded);
    bare_into(&folded, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bare(word: &str) -> String {
        let mut out = String::new();
        fold_bare_into(word, &mut out);
        out
    }

    #[test]
    fn ways_of_writing_fold_to_one() {
        for (word, expected) in [
            ("café", "cafe"),
            ("cafe\u{301}", "cafe"),
            ("CAFÉ", "cafe"),
            ("ﬁne", "fine"),
            ("ＡＢＣ", "abc"),
            ("ｶﾞ", "ガ"),
            ("Straße", "strasse"),
            ("ısı", "isi"),
            ("ΟΣ", "οσ"),
            ("Ёлка", "елка"),
            ("йод", "йод"),
            ("Ørsted", "orsted"),
            ("Łódź", "lodz"),
            ("Việt", "viet"),
            ("co\u{AD}op", "coop"),
            ("x²", "x2"),
            ("Ⅳ", "iv"),
            ("İstanbul", "istanbul"),
            ("हिन्दी", "हिन्दी"),
            ("עִבְרִית", "עברית"),
            ("مُحَمَّد", "محمد"),
            ("کتاب", "كتاب"),
            ("أحمد", "احمد"),
            ("한국", "한국"),
            ("\u{1112}\u{1161}\u{11AB}", "한"),
        ] {
            assert_eq!(bare(word), expected, "{word}");
        }
    }

    #[test]
    fn folding_any_character_is_idempotent() {
        for character in '\0'..'\u{20000}' {
            let once = bare(character.encode_utf8(&mut [0; 4]));
            assert_eq!(bare(&once), once, "{character:?} {:04x}", character as u32);
        }
        assert_eq!(bare("GROẞ"), "gross");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn folding_is_idempotent_and_blind_to_composition(word in any::<String>()) {
            let once = bare(&word);
            prop_assert_eq!(&bare(&once), &once);
            prop_assert_eq!(bare(&word.nfc().collect::<String>()), bare(&word.nfd().collect::<String>()));
        }
    }
}
