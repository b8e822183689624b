//! Classes of characters, from which `standard` makes words.
//!
//! A table holds the classes of the first 65,536 characters, in pages that are made at first use from the general
//! categories of the standard library and `unicode-normalization`, and from the blocks of the scripts that are indexed
//! by bigrams.

use super::rules::Edition;
use std::sync::OnceLock;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_properties::UnicodeEmoji;

/// Class of a character in the segmentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    /// Separates words.
    Other,
    /// A letter in lower case, or of a script without cases.
    Lower,
    Upper,
    Digit,
    /// A fraction of one character. The first edition has them among the digits.
    Fraction,
    /// Belongs to the character before it: combining marks, characters that are not shown.
    Extend,
    /// Han, kana, bopomofo, Tangut, Khitan, Nüshu: a letter of a text without blanks, in which a line break means nothing.
    Han,
    /// A syllable of Hangul.
    Hangul,
    /// A letter of Thai, Lao, Khmer or Burmese.
    Southeast,
    Emoji,
    /// Half of a flag.
    Regional,
    /// Ties words where it stands between two of their characters.
    Joiner,
}

impl Class {
    /// Returns whether words that are matched as a whole are made of it.
    #[inline]
    pub(super) fn is_wordly(self) -> bool {
        matches!(
            self,
            Class::Lower | Class::Upper | Class::Digit | Class::Fraction
        )
    }

    #[inline]
    pub(super) fn is_letter(self) -> bool {
        matches!(self, Class::Lower | Class::Upper)
    }

    /// Returns whether its text is indexed by pairs of letters.
    #[inline]
    pub(super) fn is_paired(self) -> bool {
        matches!(self, Class::Han | Class::Hangul | Class::Southeast)
    }
}

/// Classes of ASCII characters.
pub(super) const ASCII: [Class; 128] = {
    let mut classes = [Class::Other; 128];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            b'-' | b'_' | b'\'' | b'.' | b'&' | b'@' => Class::Joiner,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

/// Returns the class of a character.
#[inline]
pub(super) fn class_of(edition: Edition, character: char) -> Class {
    const PAGE: usize = 256;
    type Pages = [OnceLock<[Class; PAGE]>; PAGE];
    static PAGES: [Pages; 2] = [const { [const { OnceLock::new() }; PAGE] }; 2];
    let code = character as usize;
    if code < 128 {
        return ASCII[code];
    }
    let find = |character| match edition {
        Edition::First => find(character),
        Edition::Second => find_second(character),
    };
    let Some(page) = PAGES[edition as usize].get(code / PAGE) else {
        return find(character);
    };
    let page = page.get_or_init(|| {
        let first = (code / PAGE * PAGE) as u32;
        std::array::from_fn(|at| char::from_u32(first + at as u32).map_or(Class::Other, find))
    });
    page[code % PAGE]
}

/// Returns the class in the second edition, where what folds to letters, digits or joiners is of their class.
fn find_second(character: char) -> Class {
    match character {
        _ if is_apostrophe(character) => Class::Joiner,
        // Full-width joiners, and the small hyphen.
        '\u{FF0E}' | '\u{FF0D}' | '\u{FF3F}' | '\u{FF06}' | '\u{FF20}' | '\u{FE63}' => {
            Class::Joiner
        }
        _ if is_fraction(character) => Class::Fraction,
        // Signs of law.
        '\u{2120}' | '\u{2122}' => Class::Other,
        _ => match find(character) {
            Class::Other | Class::Emoji if is_squared(character) => Class::Lower,
            class => class,
        },
    }
}

/// Returns whether a letter or sign, beside those of the first edition, is typed as an apostrophe or left out where it
/// stands within a word: the ʻokina, the Ukrainian apostrophe, half rings and primes of transcriptions, the saltillo, an
/// acute accent or a prime in place of an apostrophe.
pub(super) fn is_apostrophe(character: char) -> bool {
    matches!(
        character,
        '\u{B4}' | '\u{2B9}'
            ..='\u{2BF}'
                | '\u{2EE}'
                | '\u{374}'
                | '\u{384}'
                | '\u{55A}'
                | '\u{7F4}'
                | '\u{7F5}'
                | '\u{1FBD}'
                | '\u{1FBF}'
                | '\u{1FFD}'
                | '\u{1FFE}'
                | '\u{2018}'
                | '\u{201B}'
                | '\u{2032}'
                | '\u{A78B}'
                | '\u{A78C}'
    )
}

/// Returns whether a character is a fraction: `½` and its like, and `⅟` before a number.
pub(super) fn is_fraction(character: char) -> bool {
    matches!(character, '\u{BC}'..='\u{BE}' | '\u{2150}'..='\u{215F}' | '\u{2189}')
}

/// Returns whether a character is a sign made of letters and digits of ASCII: `㎏`, `№`, `℡`. Letters in circles and squares
/// are pictures too, so those that the first edition has for emoji stay such.
pub(super) fn is_squared(character: char) -> bool {
    let is_sign = matches!(character, '\u{2116}' | '\u{2121}' | '\u{213B}' | '\u{3250}' | '\u{32CC}'..='\u{32CF}' | '\u{3371}'..='\u{33FF}');
    is_sign
        && std::iter::once(character)
            .nfkc()
            .all(|c| c.is_ascii_alphanumeric())
}

/// Returns the value of a decimal digit of any script; `None` for another character.
pub(super) fn digit_of(character: char) -> Option<u32> {
    let code = character as u32;
    if code < 0x80 {
        return character.to_digit(10);
    }
    // The sets begin with zero, each ten characters long.
    let before = ZEROS.partition_point(|&zero| zero <= code);
    let value = code - ZEROS[before.checked_sub(1)?];
    (value < 10).then_some(value)
}

/// Zeros of the decimal digits of all scripts (general category Nd), by code point.
const ZEROS: [u32; 75] = [
    0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6,
    0xE50, 0xED0, 0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50,
    0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10,
    0x104A0, 0x10D30, 0x10D40, 0x11066, 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0,
    0x11650, 0x116C0, 0x116D0, 0x116DA, 0x11730, 0x118E0, 0x11950, 0x11BF0, 0x11C50, 0x11D50,
    0x11DA0, 0x11F50, 0x16130, 0x16A60, 0x16AC0, 0x16B50, 0x16D70, 0x1CCF0, 0x1D7CE, 0x1D7D8,
    0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E4F0, 0x1E5F1, 0x1E950, 0x1FBF0,
];

fn find(character: char) -> Class {
    match character {
        '\0'..='\x7f' => ASCII[character as usize],
        // Apostrophes, hyphens, a middle dot; the Hebrew marks of abbreviations.
        '\u{2019}' | '\u{5F3}' | '\u{5F4}' | '\u{2010}' | '\u{2011}' | '\u{B7}' | '\u{FF07}' => {
            Class::Joiner
        }
        // Half-width voicing marks of kana; vowels and finals of decomposed Hangul; spacing vowels.
        '\u{FF9E}' | '\u{FF9F}' | '\u{1160}'..='\u{11FF}' | '\u{D7B0}'..='\u{D7FF}' => {
            Class::Extend
        }
        '\u{E33}' | '\u{EB3}' => Class::Extend,
        // The katakana middle dot separates; a wide tilde stands for a long vowel only in slang.
        '\u{30FB}' | '\u{FF65}' => Class::Other,
        _ if is_ignorable(character) || is_combining_mark(character) => Class::Extend,
        _ if is_tone(character) => Class::Emoji,
        '\u{1F1E6}'..='\u{1F1FF}' => Class::Regional,
        _ if character.is_numeric() => number(character),
        _ if !character.is_alphabetic() => symbol(character),
        _ => letter(character),
    }
}

fn number(character: char) -> Class {
    match character {
        // Ideographs that count: 〇, 〡 to 〩, 〸 to 〺.
        '\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3038}'..='\u{303A}' => Class::Han,
        // Letters that count, such as Roman numerals, fold to letters.
        '\u{2160}'..='\u{216F}' => Class::Upper,
        '\u{2170}'..='\u{2188}' => Class::Lower,
        _ => Class::Digit,
    }
}

fn symbol(character: char) -> Class {
    // Trade marks and rights are signs of law.
    let is_sign = matches!(character, '©' | '®' | '™');
    match character.is_emoji_char() && !is_sign || is_pictograph(character) {
        true => Class::Emoji,
        false => Class::Other,
    }
}

/// Returns whether a character of the blocks of pictographs, to most of which emoji were added.
fn is_pictograph(character: char) -> bool {
    matches!(character, '\u{2600}'..='\u{27BF}' | '\u{1F300}'..='\u{1FAFF}')
}

fn letter(character: char) -> Class {
    match character {
        '\u{E00}'..='\u{EFF}'
        | '\u{1000}'..='\u{109F}'
        | '\u{1780}'..='\u{17FF}'
        | '\u{A9E0}'..='\u{A9FF}'
        | '\u{AA60}'..='\u{AA7F}' => Class::Southeast,
        '\u{1100}'..='\u{115F}'
        | '\u{3130}'..='\u{318F}'
        | '\u{A960}'..='\u{A97F}'
        | '\u{AC00}'..='\u{D7AF}'
        | '\u{FFA0}'..='\u{FFDC}' => Class::Hangul,
        '\u{2E80}'..='\u{2FDF}'
        | '\u{3005}'..='\u{312F}'
        | '\u{31A0}'..='\u{31BF}'
        | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{FF66}'..='\u{FF9D}'
        | '\u{17000}'..='\u{18DFF}'
        | '\u{1AFF0}'..='\u{1B2FF}'
        | '\u{20000}'..='\u{3FFFF}' => Class::Han,
        _ if character.is_uppercase() => Class::Upper,
        _ => Class::Lower,
    }
}

/// Returns whether a character is not shown and means nothing: default ignorable code points and controls of format,
/// without the zero-width space, which separates.
pub(super) fn is_ignorable(character: char) -> bool {
    matches!(character,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{70F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200C}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
        | '\u{FFF9}'..='\u{FFFB}' | '\u{13430}'..='\u{1343F}'
        | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Returns whether a character is a skin tone of the emoji before it.
pub(super) fn is_tone(character: char) -> bool {
    matches!(character, '\u{1F3FB}'..='\u{1F3FF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_every_class() {
        for (characters, class) in [
            (" \u{200B}™®©、。「\u{30FB}$", Class::Other),
            ("aßéпωאשاकⅳªʼ", Class::Lower),
            ("AÉПΩ", Class::Upper),
            ("07٣४²½", Class::Digit),
            (
                "\u{301}\u{AD}\u{200D}\u{FE0F}\u{94D}\u{5B0}\u{E31}",
                Class::Extend,
            ),
            ("東々ひカーｶ〇𗤏𘬀𛅰", Class::Han),
            ("한ㄱ", Class::Hangul),
            ("กລក", Class::Southeast),
            ("👍🌱☀", Class::Emoji),
            ("🇩", Class::Regional),
            ("-_'’.&@‐׳״", Class::Joiner),
        ] {
            for character in characters.chars() {
                assert_eq!(
                    class_of(Edition::First, character),
                    class,
                    "{character:?} {:04x}",
                    character as u32
                );
            }
        }
    }
}
