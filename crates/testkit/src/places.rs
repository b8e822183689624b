//! Places of the words of a text, and phrases in them, by their definition.

use text::Analyzer;

/// Terms at one place: usually one; several for words that are indexed in several ways.
pub(crate) type Place = Vec<String>;

/// Splits text into runs of letters and digits, each in lower case.
fn words(text: &str) -> Vec<Place> {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| vec![word.chars().flat_map(char::to_lowercase).collect()])
        .collect()
}

/// Splits text into the places of an analyzer; those of `plain` by its definition.
pub(crate) fn places(text: &str, analyzer: Analyzer) -> Vec<Place> {
    if analyzer == Analyzer::Plain {
        return words(text);
    }
    let mut places: Vec<Place> = Vec::new();
    analyzer.each_token(text, &mut String::new(), |token| {
        places.resize_with(token.position as usize + 1, Vec::new);
        places[token.position as usize].push(token.term.to_owned());
    });
    places
}

/// Counts the occurrences of the first word around which the others can be placed, each at its own position, with
/// adjusted positions (position − offset in the phrase) within `slop` of each other.
pub(crate) fn phrase_frequency(text: &[Place], terms: &[String], slop: u32) -> usize {
    (0..text.len())
        .filter(|&place| text[place].contains(&terms[0]))
        .filter(|&place| can_complete(text, terms, i64::from(slop), &mut vec![place]))
        .count()
}

/// Tries every place for the next word.
fn can_complete(text: &[Place], terms: &[String], slop: i64, chosen: &mut Vec<usize>) -> bool {
    let adjusted = |(offset, &place): (usize, &usize)| place as i64 - offset as i64;
    let least = chosen.iter().enumerate().map(adjusted).min().unwrap_or(0);
    let most = chosen.iter().enumerate().map(adjusted).max().unwrap_or(0);
    if most - least > slop {
        return false;
    }
    let next = chosen.len();
    if next == terms.len() {
        return true;
    }
    for place in 0..text.len() {
        // Different words may share a place; one occurrence stands for one word of the phrase.
        let mut so_far = chosen.iter().zip(terms);
        let is_taken = so_far.any(|(&taken, term)| taken == place && *term == terms[next]);
        if !text[place].contains(&terms[next]) || is_taken {
            continue;
        }
        chosen.push(place);
        let found = can_complete(text, terms, slop, chosen);
        chosen.pop();
        if found {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slop_counts_the_first_word() {
        let text = words("a x b, b a");
        let terms = ["a", "b"].map(str::to_owned);
        let frequency = |slop| phrase_frequency(&text, &terms, slop);
        assert_eq!([frequency(0), frequency(1), frequency(2)], [0, 1, 2]);
    }
}
