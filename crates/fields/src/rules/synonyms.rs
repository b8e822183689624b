//! Synonyms: words, or runs of words, that find each other.

use super::texts::{brief, has_letters};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Upper limit on the words, or runs of words, of one line.
pub(crate) const SYNONYMS_OF_LINE_MAX: usize = 32;
/// Upper limit on the words of one of them.
pub(crate) const SYNONYM_WORDS_MAX: usize = 8;

/// Line of synonyms, each a word or a run of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synonyms {
    /// Those that find the others.
    pub from: Vec<String>,
    /// Those that are found; none where all of `from` find each other.
    pub to: Vec<String>,
}

impl Synonyms {
    pub(super) fn check(&self) -> Result<(), String> {
        let all = || self.from.iter().chain(&self.to);
        let is_enough = match self.to.is_empty() {
            true => self.from.len() >= 2,
            false => !self.from.is_empty(),
        };
        if !is_enough {
            return Err(format!(
                "{:?} names no synonym; write `tv, television`, or `tv -> television`",
                brief(&self.to_string())
            ));
        }
        if all().count() > SYNONYMS_OF_LINE_MAX {
            return Err(format!(
                "it has {} entries; {SYNONYMS_OF_LINE_MAX} are allowed",
                all().count()
            ));
        }
        for words in all() {
            if words.contains(',') || words.contains("->") || !has_letters(words) {
                return Err(format!(
                    "{:?} is neither a word nor a run of words",
                    brief(words)
                ));
            }
            let count = words.split_whitespace().count();
            if count > SYNONYM_WORDS_MAX {
                return Err(format!(
                    "{:?} has {count} words; {SYNONYM_WORDS_MAX} are allowed",
                    brief(words)
                ));
            }
        }
        Ok(())
    }
}

impl FromStr for Synonyms {
    type Err = String;

    /// Reads `a, b c`, or `a, b c -> d`; `=>` is read as `->`.
    fn from_str(line: &str) -> Result<Synonyms, String> {
        let arrow = ["->", "=>"]
            .into_iter()
            .find_map(|arrow| line.split_once(arrow));
        let list = |text: &str| -> Vec<String> {
            let words = text.split(',').map(|words| {
                let words: Vec<&str> = words.split_whitespace().collect();
                words.join(" ")
            });
            words.filter(|words| !words.is_empty()).collect()
        };
        let synonyms = match arrow {
            Some((from, to)) if list(to).is_empty() => {
                return Err(format!(
                    "{:?} has nothing behind its arrow; write `tv -> television`",
                    brief(&format!("{from}->{to}"))
                ));
            }
            Some((from, to)) => Synonyms {
                from: list(from),
                to: list(to),
            },
            None => Synonyms {
                from: list(line),
                to: Vec::new(),
            },
        };
        synonyms.check().map(|()| synonyms)
    }
}

impl fmt::Display for Synonyms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.from.join(", "))?;
        match self.to.is_empty() {
            true => Ok(()),
            false => write!(f, " -> {}", self.to.join(", ")),
        }
    }
}

impl Serialize for Synonyms {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Synonyms {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Synonyms, D::Error> {
        let line = String::deserialize(deserializer)?;
        line.parse().map_err(D::Error::custom)
    }
}
