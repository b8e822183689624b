//! Rules of relevance: synonyms and stop words, which the owner of an index sets and queries are read with.
//!
//! ```text
//! {"stop_words": ["the", "of"],
//!  "synonyms":   ["tv, telly, television",          any of them finds all
//!                 "big apple, nyc -> new york"]}    those on the left find the right, too
//! ```
//!
//! They are texts here: the analyzer of the index makes words of them where a query is read (`search::rules`). The limits
//! bound what a query can become.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Upper limit on all rules as JSON, in bytes: each commit writes them, with the manifest.
pub const RULES_BYTES_MAX: usize = 256 << 10;
/// Upper limit on the lines of synonyms.
pub(crate) const SYNONYMS_MAX: usize = 10_000;
/// Upper limit on the words, or runs of words, of one line.
pub(crate) const SYNONYMS_OF_LINE_MAX: usize = 32;
/// Upper limit on the words of one of them.
pub(crate) const SYNONYM_WORDS_MAX: usize = 8;
/// Upper limit on stop words.
pub(crate) const STOP_WORDS_MAX: usize = 1_000;

/// Rules of relevance of an index.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rules {
    /// Words that a query is searched without, unless it has no others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop_words: Vec<String>,
    /// Words that find each other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub synonyms: Vec<Synonyms>,
}

/// Line of synonyms, each a word or a run of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synonyms {
    /// Those that find the others.
    pub from: Vec<String>,
    /// Those that are found; none where all of `from` find each other.
    pub to: Vec<String>,
}

impl Rules {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.stop_words.is_empty() && self.synonyms.is_empty()
    }

    /// Checks the limits.
    ///
    /// # Errors
    /// The first rule beyond a limit, as a sentence without its end.
    pub fn check(&self) -> Result<(), String> {
        if self.synonyms.len() > SYNONYMS_MAX {
            return Err(format!(
                "synonyms has {} lines; {SYNONYMS_MAX} are allowed",
                self.synonyms.len()
            ));
        }
        if self.stop_words.len() > STOP_WORDS_MAX {
            return Err(format!(
                "stop_words has {} words; {STOP_WORDS_MAX} are allowed",
                self.stop_words.len()
            ));
        }
        for (number, word) in self.stop_words.iter().enumerate() {
            if word.split_whitespace().count() != 1 || !has_letters(word) {
                return Err(format!(
                    "stop_words: entry {} is {:?}; give one word in each",
                    number + 1,
                    brief(word)
                ));
            }
        }
        for (number, line) in self.synonyms.iter().enumerate() {
            line.check()
                .map_err(|reason| format!("synonyms: line {}: {reason}", number + 1))?;
        }
        let bytes = serde_json::to_vec(self).map_or(0, |json| json.len());
        match bytes > RULES_BYTES_MAX {
            true => Err(format!(
                "the rules have {bytes} bytes; {RULES_BYTES_MAX} are allowed"
            )),
            false => Ok(()),
        }
    }

    /// Reads rules from JSON, and checks them.
    ///
    /// # Errors
    /// What is no rule, or beyond a limit, as a sentence without its end.
    pub fn of_json(json: &[u8]) -> Result<Rules, String> {
        // Arrays would be read as the fields in their order.
        if json.trim_ascii_start().first() != Some(&b'{') {
            return Err("it is no JSON object, as {\"synonyms\": [\"tv, television\"]}".to_owned());
        }
        let rules: Rules = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        rules.check().map(|()| rules)
    }
}

impl Synonyms {
    fn check(&self) -> Result<(), String> {
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

fn has_letters(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

/// Shortens a text for a message.
fn brief(text: &str) -> String {
    text.chars().take(60).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_read_and_written_back() {
        for (line, written) in [
            ("tv, telly,television", "tv, telly, television"),
            ("new  york , nyc", "new york, nyc"),
            ("big apple->new york", "big apple -> new york"),
            ("a, b => c, d e", "a, b -> c, d e"),
        ] {
            let read: Synonyms = line.parse().unwrap();
            assert_eq!(read.to_string(), written);
            assert_eq!(written.parse(), Ok(read));
        }
    }

    #[track_caller]
    fn check_refused(json: &str, part: &str) {
        let reason = Rules::of_json(json.as_bytes()).unwrap_err();
        assert!(reason.contains(part), "{json:.80}: {reason}");
    }

    #[test]
    fn what_is_no_rule_is_named() {
        check_refused("[]", "no JSON object");
        check_refused("", "no JSON object");
        check_refused("{", "EOF");
        check_refused("{\"synonym\": []}", "unknown field `synonym`");
        check_refused("{\"synonyms\": [\"tv\"]}", "names no synonym");
        check_refused("{\"synonyms\": [\"tv ->\"]}", "nothing behind its arrow");
        check_refused("{\"synonyms\": [\"-> tv\"]}", "names no synonym");
        check_refused("{\"synonyms\": [\"a -> b -> c\"]}", "neither a word");
        check_refused("{\"synonyms\": [\"tv, !!\"]}", "\"!!\" is neither a word");
        check_refused("{\"synonyms\": [7]}", "expected a string");
        check_refused("{\"synonyms\": [\"a, 1 2 3 4 5 6 7 8 9\"]}", "has 9 words");
        let many = vec!["x"; SYNONYMS_OF_LINE_MAX + 1].join(", ");
        check_refused(&format!("{{\"synonyms\": [\"{many}\"]}}"), "33 entries");
        check_refused(
            "{\"stop_words\": [\"the\", \"of a\"]}",
            "entry 2 is \"of a\"",
        );
        check_refused("{\"stop_words\": [\"?\"]}", "entry 1");
        let many = vec!["\"x\""; STOP_WORDS_MAX + 1].join(",");
        check_refused(&format!("{{\"stop_words\": [{many}]}}"), "1001 words");
        let many = vec!["\"x, y\""; SYNONYMS_MAX + 1].join(",");
        check_refused(&format!("{{\"synonyms\": [{many}]}}"), "10001 lines");
        let long = format!("\"{}, y\"", "x".repeat(RULES_BYTES_MAX));
        check_refused(&format!("{{\"synonyms\": [{long}]}}"), "bytes; 262144");
    }

    proptest! {
        #[test]
        fn any_line_is_read_or_refused(line in "[a-c ,>=\\-]{0,20}|.{0,40}") {
            if let Ok(read) = line.parse::<Synonyms>() {
                prop_assert_eq!(read.to_string().parse::<Synonyms>(), Ok(read));
            }
        }
    }
}
