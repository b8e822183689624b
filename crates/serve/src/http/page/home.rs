//! Page before any query: the box, and what a query can say, with words of this very index.

use super::assets::Files;
use super::times::counted;
use super::url::local;
use super::whole;
use crate::cluster::Known;
use askama::Template;

#[derive(Template)]
#[template(path = "home.html")]
struct Home {
    files: Files,
    documents: String,
    chunks: String,
    examples: Vec<Example>,
    /// Link to an answer as JSON.
    json: String,
}

struct Example {
    query: String,
    meaning: &'static str,
    href: String,
}

/// Words of the examples where the index tells none.
const PHRASES_OF_PROGRAMS: [[&str; 2]; 2] = [["thread", "pool"], ["lock", "free"]];
/// Characters of a word that is shown as a prefix, at least. It is a whole word: cut shorter, it would look like a stem.
const PREFIX_CHARS_MIN: usize = 4;

/// Returns the page before any query.
pub(crate) fn home(known: &Known) -> String {
    let phrases: Vec<[&str; 2]> = known.phrases.iter().map(|[a, b]| [&**a, &**b]).collect();
    let examples = match phrases.is_empty() {
        true => examples(&PHRASES_OF_PROGRAMS),
        false => examples(&phrases),
    };
    whole(&Home {
        files: Files::new(),
        documents: counted(known.documents_count, "document", "documents"),
        chunks: counted(u64::from(known.chunks_count), "chunk", "chunks"),
        json: local(
            "search",
            &[("q", examples.first().map_or("*", |one| &*one.query))],
        ),
        examples,
    })
}

/// Returns a query of each kind. The words of a phrase are in one title, so each query finds something, but for one that
/// excludes a word.
fn examples(phrases: &[[&str; 2]]) -> Vec<Example> {
    let [first, second] = phrases[0];
    let other = phrases.get(1).map_or(second, |phrase| phrase[0]);
    let mut queries = vec![
        (
            format!("{first} {second}"),
            "both words, anywhere in a document",
        ),
        (format!("\"{first} {second}\""), "one right after the other"),
        (
            format!("\"{second} {first}\"~2"),
            "near each other, in any order",
        ),
        (format!("{first} OR {other}"), "either word"),
        (
            format!("{other} -{first}"),
            "the first word, but not the second",
        ),
        (format!("title:{first}"), "the word in the title"),
    ];
    let words = phrases.iter().flatten();
    if let Some(word) = words.max_by_key(|word| word.chars().count())
        && word.chars().count() >= PREFIX_CHARS_MIN
    {
        queries.push((format!("{word}*"), "any word that begins so"));
    }
    let example = |(query, meaning): (String, &'static str)| Example {
        href: local("./", &[("q", &query)]),
        query,
        meaning,
    };
    queries.into_iter().map(example).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_made_of_phrases_of_the_index() {
        let queries = |phrases: &[[&str; 2]]| -> Vec<String> {
            let examples = examples(phrases).into_iter();
            examples.map(|example| example.query).collect()
        };
        let found = queries(&[["south", "pole"], ["aurora", "borealis"]]);
        let expected = [
            "south pole",
            "\"south pole\"",
            "\"pole south\"~2",
            "south OR aurora",
            "aurora -south",
            "title:south",
            "borealis*",
        ];
        assert_eq!(found, expected);
        assert_eq!(queries(&[["red", "fox"]]).len(), 6);
    }
}
