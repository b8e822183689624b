//! Detection of the languages of an index from its first documents.
//!
//! Each document votes with the language of its first letters, where that is reliable. The language of a script is the
//! one with most votes in it, if those are more than half of the script's and at least a hundredth of all documents'.
//! Where no document is long enough to vote, all of them together are one.

use crate::language::{Language, Languages, Script};
use whatlang::Lang;

/// Number of characters of a document that are looked at.
const CHARACTERS_MAX: usize = 400;
/// Number of bytes kept of documents that do not vote.
const JOINED_BYTES_MAX: usize = 8 << 10;

/// Votes of documents.
#[derive(Debug, Default)]
pub struct Detector {
    votes: Vec<(Language, u32)>,
    /// Votes for languages without a stemmer.
    others: [u32; Script::COUNT],
    documents_count: u32,
    joined: String,
}

impl Detector {
    /// Counts a document.
    pub fn add(&mut self, text: &str) {
        self.documents_count += 1;
        let end = text.char_indices().nth(CHARACTERS_MAX);
        let sample = &text[..end.map_or(text.len(), |(at, _)| at)];
        match reliable_language(sample) {
            Some(language) => self.vote(language, sample),
            None if self.joined.len() < JOINED_BYTES_MAX => {
                self.joined.push_str(sample);
                self.joined.push('\n');
            }
            None => {}
        }
    }

    /// Counts a vote; `None` is a language without a stemmer.
    fn vote(&mut self, language: Option<Language>, sample: &str) {
        match language {
            Some(language) => match self.votes.iter_mut().find(|(known, _)| *known == language) {
                Some((_, count)) => *count += 1,
                None => self.votes.push((language, 1)),
            },
            None => {
                if let Some(script) = sample.chars().find_map(Script::of) {
                    self.others[script as usize] += 1;
                }
            }
        }
    }

    /// Returns the languages, and of how many documents in a hundred they are.
    pub fn languages(mut self) -> Vec<(Language, u32)> {
        if self.votes.is_empty()
            && let Some(language) = reliable_language(&self.joined)
        {
            let sample = std::mem::take(&mut self.joined);
            self.vote(language, &sample);
            self.documents_count = 1;
        }
        let mut chosen = Vec::new();
        for &(language, count) in &self.votes {
            let script = language.script();
            let of_script = self
                .votes
                .iter()
                .filter(|(other, _)| other.script() == script);
            let all = of_script.map(|(_, count)| count).sum::<u32>() + self.others[script as usize];
            if 2 * count > all && 100 * count >= self.documents_count {
                chosen.push((language, 100 * count / self.documents_count));
            }
        }
        chosen.sort_by_key(|&(language, share)| (std::cmp::Reverse(share), language));
        chosen
    }
}

/// Returns the language of a text where its letters show it reliably: `None` in it is a language without a stemmer.
pub(crate) fn reliable_language(text: &str) -> Option<Option<Language>> {
    let found = whatlang::detect(text).filter(whatlang::Info::is_reliable);
    found.map(|info| language_of(info.lang()))
}

impl FromIterator<Language> for Languages {
    fn from_iter<I: IntoIterator<Item = Language>>(languages: I) -> Languages {
        languages
            .into_iter()
            .fold(Languages::default(), Languages::with)
    }
}

fn language_of(lang: Lang) -> Option<Language> {
    Some(match lang {
        Lang::Ara => Language::Arabic,
        Lang::Hye => Language::Armenian,
        Lang::Cat => Language::Catalan,
        Lang::Ces => Language::Czech,
        Lang::Dan => Language::Danish,
        Lang::Nld => Language::Dutch,
        Lang::Eng => Language::English,
        Lang::Epo => Language::Esperanto,
        Lang::Est => Language::Estonian,
        Lang::Fin => Language::Finnish,
        Lang::Fra => Language::French,
        Lang::Deu => Language::German,
        Lang::Ell => Language::Greek,
        Lang::Hin => Language::Hindi,
        Lang::Hun => Language::Hungarian,
        Lang::Ind => Language::Indonesian,
        Lang::Ita => Language::Italian,
        Lang::Lit => Language::Lithuanian,
        Lang::Nob => Language::Norwegian,
        Lang::Pes => Language::Persian,
        Lang::Pol => Language::Polish,
        Lang::Por => Language::Portuguese,
        Lang::Ron => Language::Romanian,
        Lang::Rus => Language::Russian,
        Lang::Spa => Language::Spanish,
        Lang::Swe => Language::Swedish,
        Lang::Tam => Language::Tamil,
        Lang::Tur => Language::Turkish,
        Lang::Ukr => Language::Ukrainian,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGLISH: &str = "All human beings are born free and equal in dignity and rights. They are \
        endowed with reason and conscience and should act towards one another in a spirit of brotherhood.";
    const GERMAN: &str = "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit \
        Vernunft und Gewissen begabt und sollen einander im Geiste der Brüderlichkeit begegnen.";
    const RUSSIAN: &str = "Все люди рождаются свободными и равными в своем достоинстве и правах. Они \
        наделены разумом и совестью и должны поступать в отношении друг друга в духе братства.";

    fn of(texts: &[&str]) -> Vec<(Language, u32)> {
        let mut detector = Detector::default();
        texts.iter().for_each(|text| detector.add(text));
        detector.languages()
    }

    #[test]
    fn the_language_of_most_documents_of_a_script() {
        assert_eq!(of(&[ENGLISH, ENGLISH, GERMAN]), [(Language::English, 66)]);
        assert_eq!(of(&[ENGLISH, GERMAN]), []);
        assert_eq!(
            of(&[RUSSIAN, GERMAN, RUSSIAN]),
            [(Language::Russian, 66), (Language::German, 33)]
        );
        assert_eq!(of(&["", "42", "東京都は日本の首都である"]), []);
    }

    #[test]
    fn short_documents_vote_together() {
        let words: Vec<&str> = ENGLISH.split(' ').collect();
        let titles: Vec<String> = words.chunks(3).map(|words| words.join(" ")).collect();
        let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
        let languages: Vec<Language> = of(&titles)
            .into_iter()
            .map(|(language, _)| language)
            .collect();
        assert_eq!(languages, [Language::English]);
    }
}
