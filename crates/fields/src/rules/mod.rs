//! Rules of relevance, which the owner of an index sets and queries are read with.
//!
//! ```text
//! {"stop_words": ["the", "of"],
//!  "synonyms":   ["tv, telly, television",          any of them finds all
//!                 "big apple, nyc -> new york"],    those on the left find the right, too
//!  "priors":     [{"filter": "brand:Acme", "weight": 0.5},                  adds to the score of what passes
//!                 {"field": "published", "half_days": 30, "weight": 1}],    of what is new
//!  "pins":       [{"queries": ["tv"], "first": ["https://…"], "hidden": ["https://…"]}]}
//! ```
//!
//! They are texts here: the analyzer of the index makes words of them where a query is read (`search::rules`). The limits
//! bound what a query can become.

mod pins;
mod priors;
mod synonyms;
mod texts;

pub use pins::Pins;
pub use priors::{PriorKind, RulePrior};
pub use synonyms::Synonyms;

use serde::{Deserialize, Serialize};
use texts::{brief, has_letters};

/// Upper limit on all rules as JSON, in bytes: each commit writes them, with the manifest.
pub const RULES_BYTES_MAX: usize = 256 << 10;
/// Upper limit on the lines of synonyms.
pub(crate) const SYNONYMS_MAX: usize = 10_000;
/// Upper limit on stop words.
pub(crate) const STOP_WORDS_MAX: usize = 1_000;
/// Upper limit on priors: each candidate of a hit is looked up in every one.
pub const PRIORS_MAX: usize = 16;
/// Upper limit on the entries of pins.
pub(crate) const PINS_MAX: usize = 1_000;

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
    /// What adds to the scores of documents, whatever the query.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub priors: Vec<RulePrior>,
    /// Documents that stand first or are hidden for some queries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<Pins>,
}

impl Rules {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.stop_words.is_empty()
            && self.synonyms.is_empty()
            && self.priors.is_empty()
            && self.pins.is_empty()
    }

    /// Checks the limits.
    ///
    /// # Errors
    /// The first rule beyond a limit, as a sentence without its end.
    pub fn check(&self) -> Result<(), String> {
        for (name, count, what, most) in [
            ("synonyms", self.synonyms.len(), "lines", SYNONYMS_MAX),
            ("stop_words", self.stop_words.len(), "words", STOP_WORDS_MAX),
            ("priors", self.priors.len(), "entries", PRIORS_MAX),
            ("pins", self.pins.len(), "entries", PINS_MAX),
        ] {
            if count > most {
                return Err(format!("{name} has {count} {what}; {most} are allowed"));
            }
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
        check_each("synonyms: line", &self.synonyms, Synonyms::check)?;
        check_each("priors: entry", &self.priors, |prior| {
            prior.kind().map(drop)
        })?;
        check_each("pins: entry", &self.pins, Pins::check)?;
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

/// Checks the entries of a list, and names the first that is none by its number.
fn check_each<T>(
    name: &str,
    entries: &[T],
    check: impl Fn(&T) -> Result<(), String>,
) -> Result<(), String> {
    (1..).zip(entries).try_for_each(|(number, entry)| {
        check(entry).map_err(|reason| format!("{name} {number}: {reason}"))
    })
}

#[cfg(test)]
mod tests {
    use super::synonyms::SYNONYMS_OF_LINE_MAX;
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
        check_refused(
            "{\"priors\": [{\"filter\": \"n:1\"}]}",
            "entry 1: weight is 0",
        );
        check_refused("{\"priors\": [{\"weight\": 1}]}", "give one of filter");
        check_refused(
            "{\"priors\": [{\"filter\": \"n:1\", \"site\": \"a.test\", \"weight\": 1}]}",
            "give one of filter",
        );
        check_refused(
            "{\"priors\": [{\"field\": \"t\", \"half_days\": 0, \"weight\": 1}]}",
            "half_days is 0",
        );
        check_refused(
            "{\"pins\": [{\"queries\": [\"tv\"]}]}",
            "entry 1: give queries",
        );
        check_refused(
            "{\"pins\": [{\"queries\": [\"!\"], \"first\": [\"u:1\"]}]}",
            "\"!\" (number 1) is no query",
        );
        check_refused(
            "{\"pins\": [{\"queries\": [\"tv\"], \"first\": [\"u:1\"], \"hidden\": [\"u:1\"]}]}",
            "both first and hidden",
        );
        check_refused(
            "{\"pins\": [{\"queries\": [\"tv\"], \"first\": [\"u:1\", \"u:1\"]}]}",
            "twice",
        );
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
