//! Folded words of a text, for comparisons of whole texts by their beginnings.

use crate::language::Languages;
use crate::standard::query::prefixes;
use crate::standard::rules::Rules;

/// Returns the words of `text`, the runs of letters and digits, folded as words of `standard2` are and not stemmed, with a
/// blank between two. It does not depend on the analyzer of an index, and each further letter of a word only adds to it.
pub fn folded_words(text: &str) -> String {
    let edition = Rules::second(Languages::default()).edition;
    let mut folded = String::with_capacity(text.len());
    let words = text.split(|character: char| !character.is_alphanumeric());
    for word in words.filter(|word| !word.is_empty()) {
        if !folded.is_empty() {
            folded.push(' ');
        }
        match word.is_ascii() {
            true => folded.extend(word.chars().map(|letter| letter.to_ascii_lowercase())),
            false => folded.push_str(&prefixes(edition, word).concat()),
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded_one_by_one() {
        for (text, expected) in [
            ("  The U.S. economy: 3.5%!", "the u s economy 3 5"),
            ("São Paulo’s Straße", "sao paulo s strasse"),
            ("!?", ""),
        ] {
            assert_eq!(folded_words(text), expected);
        }
    }
}
