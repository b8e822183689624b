//! `standard` beside ICU4X: boundaries of words, and folded forms.
//!
//! The texts are the Universal Declaration of Human Rights in 36 languages. `SHORTTAIL_TEXTS=FOLDER` adds the files of a
//! folder, and `SHORTTAIL_WORD_BREAK_TEST=FILE` tests a `WordBreakTest.txt` of Unicode.

use super::class::{Class, class_of, is_ignorable};
use super::fold::{bare_into, fold_into};
use super::rules::Edition;
use super::runs::{ELEMENTS_MAX, Run, each_run};
use icu_casemap::CaseMapper;
use icu_normalizer::ComposingNormalizerBorrowed;
use icu_segmenter::WordSegmenter;
use icu_segmenter::options::WordBreakInvariantOptions;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use unicode_normalization::UnicodeNormalization;

/// Calls `each` with every text.
fn each_text(mut each: impl FnMut(&str)) {
    let lines = include_str!("../../../engine/tests/languages/declaration.jsonl").lines();
    for line in lines {
        // Escapes of JSON are no words of the language, but they are text.
        each(line);
    }
    if let Some(folder) = std::env::var_os("SHORTTAIL_TEXTS") {
        each_file(Path::new(&folder), &mut each);
    }
}

fn each_file(folder: &Path, each: &mut impl FnMut(&str)) {
    for entry in folder.read_dir().expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => each_file(&path, each),
            false => each(&String::from_utf8_lossy(
                &std::fs::read(&path).expect("a file"),
            )),
        }
    }
}

/// A reason for which a boundary of `standard` is not one of UAX #29, or the other way round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Override {
    /// A hyphen, dot or the like ties words: `e-mail`, `.NET`, `R&D`, `a@c.org`.
    Joiner,
    /// `C++`, `C#`.
    Suffix,
    /// A narrow blank groups digits.
    Grouped,
    /// Han, kana, Hangul and Southeast Asian letters are cut from other letters, and are pairs, not words.
    Paired,
    /// A line break between Han letters or kana.
    LineBreak,
    Emoji,
    /// A colon, comma or the like within a word separates, unless it groups digits: `a:b`, `1,2`.
    Separator,
    /// A mark on no letter, one after a control, or one that Unicode has not assigned yet.
    LoneMark,
    /// A number that is no digit (`½`, `²`) or a letter that counts (`Ⅳ`) belongs to a word, a sign before Arabic digits
    /// does not.
    Numeric,
    /// A sign made of letters is letters: `㎏`.
    Squared,
    /// A compound has [`ELEMENTS_MAX`] elements at most.
    Long,
}

/// Characters that may stand within a word by UAX #29, of the classes `MidLetter`, `MidNum`, `MidNumLet`, `ExtendNumLet`,
/// `Double_Quote`, and separate words here.
const SEPARATORS: &str = ":,;\"\u{37E}\u{387}\u{55F}\u{589}\u{5F4}\u{60C}\u{60D}\u{66B}\u{66C}\u{7F8}\u{2018}\u{2024}\u{2027}\
    \u{203F}\u{2040}\u{2044}\u{2054}\u{FE10}\u{FE13}\u{FE14}\u{FE33}\u{FE34}\u{FE4D}\u{FE4E}\u{FE4F}\u{FE50}\u{FE52}\
    \u{FE54}\u{FE55}\u{FF0C}\u{FF0E}\u{FF1A}\u{FF1B}\u{FF3F}";

/// Returns whether a character is a modifier symbol, a letter of `ALetter` that is not alphabetic.
fn is_modifier(character: char) -> bool {
    matches!(character, '\u{2C2}'..='\u{2FF}' | '\u{55A}'..='\u{55F}' | '\u{A708}'..='\u{A721}' | '\u{A789}' | '\u{A78A}' | '\u{AB5B}')
        && !character.is_alphabetic()
}

/// Explains the boundary at `at`, which is only in one of the two.
fn explain(
    edition: Edition,
    text: &str,
    at: usize,
    run: Option<&str>,
    is_long: bool,
) -> Option<Override> {
    let extends = |&character: &char| class_of(edition, character) == Class::Extend;
    // The letters next to the boundary, without marks.
    let before = text[..at]
        .chars()
        .rev()
        .find(|character| !extends(character));
    let after = text[at..].chars().next();
    let class = |character: Option<char>| character.map_or(Class::Other, |c| class_of(edition, c));
    let either = |is: &dyn Fn(Option<char>) -> bool| is(before) || is(after);
    // Signs before Arabic numbers are numbers themselves.
    let is_sign = |c: char| {
        matches!(
            c,
            '\u{600}'
                ..='\u{605}'
                    | '\u{6DD}'
                    | '\u{890}'
                    | '\u{891}'
                    | '\u{8E2}'
                    | '\u{110BD}'
                    | '\u{110CD}'
        )
    };
    let is_numeric = |character: Option<char>| {
        character.is_some_and(|c| c.is_numeric() && !c.is_ascii_digit() || is_sign(c))
    };
    let is_southeast = |c: &char| matches!(c, '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}');
    let is_southeast_mark = text[..at]
        .chars()
        .rev()
        .take_while(extends)
        .any(|c| is_southeast(&c));
    let reasons = [
        (
            is_southeast_mark || either(&|c| class(c).is_paired()),
            Override::Paired,
        ),
        (
            text[..at].chars().rev().take(2).any(|c| c == '\u{200D}')
                || either(&|c| matches!(class(c), Class::Emoji | Class::Regional)),
            Override::Emoji,
        ),
        (either(&|c| class(c) == Class::Joiner), Override::Joiner),
        (either(&|c| matches!(c, Some('+' | '#'))), Override::Suffix),
        (either(&|c| c == Some('\u{202F}')), Override::Grouped),
        (
            either(&|c| matches!(c, Some('\n' | '\r'))) && run.is_some(),
            Override::LineBreak,
        ),
        (either(&is_numeric), Override::Numeric),
        (
            either(&|c| class(c) == Class::Lower && c.is_some_and(|c| !c.is_alphabetic())),
            Override::Squared,
        ),
        (
            after.as_ref().is_some_and(extends) || text[..at].ends_with(|c| extends(&c)),
            Override::LoneMark,
        ),
        (
            either(&|c| c.is_some_and(|c| SEPARATORS.contains(c) || is_modifier(c))),
            Override::Separator,
        ),
        (is_long, Override::Long),
    ];
    let found = reasons.into_iter().find(|(holds, _)| *holds);
    found.map(|(_, reason)| reason)
}

/// Boundaries of the words of UAX #29 that have a letter or a digit, as ICU4X finds them.
fn boundaries_of_icu(edition: Edition, text: &str) -> HashSet<usize> {
    let segmenter = WordSegmenter::new_dictionary(WordBreakInvariantOptions::default());
    let mut boundaries = HashSet::new();
    let mut from = 0;
    for at in segmenter.segment_str(text).skip(1) {
        add_if_word(edition, text, from, at, &mut boundaries);
        from = at;
    }
    boundaries
}

/// Adds the ends of a segment that has a letter or a digit, without what stands before its first one.
fn add_if_word(
    edition: Edition,
    text: &str,
    from: usize,
    to: usize,
    boundaries: &mut HashSet<usize>,
) {
    let is_wordly = |character| {
        let class: Class = class_of(edition, character);
        class.is_wordly() || class.is_paired()
    };
    if let Some(start) = text[from..to].find(is_wordly) {
        boundaries.insert(from + start);
        boundaries.insert(to);
    }
}

/// Compares the runs of a text with words; counts the differences by reason. Panics at one without a reason.
fn compare(
    edition: Edition,
    text: &str,
    words: &HashSet<usize>,
    overrides: &mut BTreeMap<Override, usize>,
) -> usize {
    let mut ours = HashSet::new();
    let mut runs = Vec::new();
    each_run(edition, text, |run| {
        let (Run::Word { start, end }
        | Run::Compound { start, end, .. }
        | Run::Letters { start, end }) = run
        else {
            return;
        };
        ours.extend([start, end]);
        runs.push((start, end));
    });
    let mut outside = 0;
    for &(start, end) in runs.iter().chain([&(text.len(), text.len())]) {
        let is_lost = text[outside..start]
            .contains(|c| class_of(edition, c).is_wordly() || class_of(edition, c).is_paired());
        assert!(
            !is_lost,
            "no run has the letters of {:?}",
            &text[outside..start]
        );
        outside = end;
    }
    for &at in ours.symmetric_difference(words) {
        let first = runs.partition_point(|&(_, end)| end < at);
        let touching = runs[first..].iter().take_while(|&&(start, _)| start <= at);
        let is_long = touching
            .clone()
            .any(|&(start, end)| end - start > ELEMENTS_MAX);
        let around = touching
            .clone()
            .find(|&&(start, end)| start < at && at < end);
        let run = around.map(|&(start, end)| &text[start..end]);
        match explain(edition, text, at, run, is_long) {
            Some(reason) => *overrides.entry(reason).or_default() += 1,
            None => {
                let near = |range: &str| range.chars().take(12).collect::<String>();
                let before: String = text[..at].chars().rev().take(12).collect();
                let before: String = before.chars().rev().collect();
                let owner = if ours.contains(&at) {
                    "standard"
                } else {
                    "UAX #29"
                };
                panic!(
                    "only {owner} has a boundary: {before:?} | {:?}, run {run:?}",
                    near(&text[at..])
                );
            }
        }
    }
    runs.len()
}

#[test]
fn words_are_those_of_icu_but_for_overrides() {
    let mut overrides = BTreeMap::new();
    let mut runs_count = 0;
    each_text(|text| {
        for edition in [Edition::First, Edition::Second] {
            let words = boundaries_of_icu(edition, text);
            runs_count += compare(edition, text, &words, &mut overrides);
        }
    });
    println!("{runs_count} runs, boundaries that differ: {overrides:?}");
    assert!(runs_count > 10_000, "{runs_count}");
}

#[test]
fn characters_of_all_classes_in_threes_are_cut_as_icu_does_but_for_overrides() {
    // Each class of UAX #29, and each of ours.
    let characters: Vec<char> = "\r\n\u{B} aZé0½:,.'\"_-@&+#·\u{301}\u{200D}\u{AD}\u{202F}א\u{5F3}カひ漢한ก\u{E31}☎👍🏽🇩\u{2060}ʼ™㎏．"
        .chars()
        .collect();
    let mut overrides = BTreeMap::new();
    for &first in &characters {
        for &second in &characters {
            for &third in &characters {
                let text = String::from_iter([first, second, third]);
                for edition in [Edition::First, Edition::Second] {
                    let words = boundaries_of_icu(edition, &text);
                    compare(edition, &text, &words, &mut overrides);
                }
            }
        }
    }
    println!("boundaries that differ: {overrides:?}");
}

#[test]
fn vectors_of_unicode_are_cut_as_they_say_but_for_overrides() {
    let Some(path) = std::env::var_os("SHORTTAIL_WORD_BREAK_TEST") else {
        return;
    };
    let lines = std::fs::read_to_string(path).expect("WordBreakTest.txt");
    let mut overrides = BTreeMap::new();
    let mut lines_count = 0;
    for line in lines.lines() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        lines_count += 1;
        let mut text = String::new();
        let mut cuts = Vec::new();
        for part in line.split_whitespace() {
            match part {
                "÷" => cuts.push(text.len()),
                "×" => {}
                code => {
                    let code = u32::from_str_radix(code, 16).expect("a code point");
                    text.push(char::from_u32(code).unwrap_or('\u{FFFD}'));
                }
            }
        }
        for edition in [Edition::First, Edition::Second] {
            let (mut from, mut words) = (0, HashSet::new());
            for &to in cuts.iter().skip(1) {
                add_if_word(edition, &text, from, to, &mut words);
                from = to;
            }
            compare(edition, &text, &words, &mut overrides);
        }
    }
    println!("{lines_count} lines, boundaries that differ: {overrides:?}");
    assert!(lines_count > 500);
}

/// NFKC, full case folding and characters that are not shown left out, by ICU4X.
fn folded_by_icu(word: &str) -> String {
    let compose = ComposingNormalizerBorrowed::new_nfkc();
    let shown: String = word
        .chars()
        .filter(|&character| !is_ignorable(character))
        .collect();
    let mut folded = compose.normalize(&shown).into_owned();
    loop {
        let again = CaseMapper::new().fold_string(&folded).into_owned();
        let again: String = again
            .chars()
            .filter(|&character| !is_ignorable(character))
            .collect();
        let again = compose.normalize(&again).into_owned();
        if again == folded {
            return folded;
        }
        folded = again;
    }
}

/// Folding that differs from ICU's: dotless ı is i, a dotted capital İ loses its dot, Cherokee is in small letters, and
/// letters of Unicode 18 are unknown.
fn is_folded_otherwise(word: &str) -> bool {
    let is_new = |c| {
        matches!(
            c,
            '\u{A7DD}' | '\u{A7E2}' | '\u{AB6C}' | '\u{AB6D}' | '\u{1D6A4}' | '\u{1DF40}'
                ..='\u{1DF7E}'
        )
    };
    let is_cherokee = |c| matches!(c, '\u{13A0}'..='\u{13FF}' | '\u{AB70}'..='\u{ABBF}');
    word.contains(['ı', 'İ'])
        || word.contains("i\u{307}")
        || word.contains("I\u{307}")
        || word.contains(is_cherokee)
        || word.contains(is_new)
}

fn assert_folds(word: &str) {
    let mut folded = String::new();
    fold_into(word, &mut folded);
    if !is_folded_otherwise(word) {
        assert_eq!(folded, folded_by_icu(word), "{word:?}");
    }
    let bare = |word: &str| {
        let (mut folded, mut bare) = (String::new(), String::new());
        fold_into(word, &mut folded);
        bare_into(&folded, &mut bare);
        bare
    };
    let once = bare(word);
    assert_eq!(bare(&once), once, "{word:?} is folded once more");
    let composed: String = word.nfc().collect();
    let decomposed: String = word.nfd().collect();
    assert_eq!(bare(&composed), bare(&decomposed), "{word:?}");
    assert_eq!(bare(&composed), once, "{word:?}");
}

#[test]
fn words_fold_as_icu_folds_them() {
    let mut words = HashSet::new();
    let mut words_count = 0;
    each_text(|text| {
        for word in text.split_whitespace() {
            words_count += 1;
            if !words.contains(word) {
                assert_folds(word);
                words.insert(word.to_owned());
            }
        }
    });
    println!("{words_count} words, {} distinct", words.len());
    assert!(words_count > 10_000, "{words_count}");
}

#[test]
fn characters_fold_as_icu_folds_them() {
    for character in '\0'..='\u{1FFFF}' {
        assert_folds(character.encode_utf8(&mut [0; 4]));
    }
}
