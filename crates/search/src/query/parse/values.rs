//! Clauses that test the values of fields, and those that look for the words of keywords.
//!
//! ```text
//! brand:samsung   brand:"galaxy tab"   brand:sams*   brand:/sam.*/      words, of a field whose words are searched
//! brand:*   brand:a..c   brand:>=b   brand:cs.A*                        values
//! ```
//!
//! Both filter. In a filter all of them are values. The words of a value find it, so what finds a value by its text finds
//! it by its words, too.

use super::clauses::Target;
use super::limits::shortened;
use super::parser::Parser;
use crate::query::tree::Query;
use fields::{BadTest, FieldType, Test, Value};
use index::Field;

impl Parser<'_> {
    /// Adds the test of a field's values that was typed; a quoted keyword is exactly that word. Where words of keywords are
    /// searched, adds the filter for their words.
    pub(super) fn value(&mut self, field: String, kind: FieldType, typed: &str, is_quoted: bool) {
        let typed = self.without_weight(typed, is_quoted);
        if let Some(words_field) = self.field_of_words(&field, kind)
            && (is_quoted || !is_test_of_values(typed.trim()))
            && !self.analyzer(words_field).terms(typed).is_empty()
        {
            return self.words_of_values(words_field, typed, is_quoted);
        }
        if !is_quoted && kind == FieldType::Keyword && is_like_a_pattern(typed) {
            self.warnings.add(format!(
                "`{field}:{}` is compared as it is typed: of patterns only `value*` is for values. Quotation marks say that it is meant.",
                shortened(typed)
            ));
        }
        let word = Value::keyword(typed).filter(|_| is_quoted && kind == FieldType::Keyword);
        let test = match word {
            Some(word) => Ok(Test::equals(word)),
            None => Test::parse(kind, typed.trim()),
        };
        self.tested(field, typed, test);
    }

    /// Returns the field of the words of keywords; `None` where `name:` tests their values.
    fn field_of_words(&self, name: &str, kind: FieldType) -> Option<Field> {
        let has_words = kind == FieldType::Keyword && !self.is_filter;
        let searched = self.schema.searched(name).filter(|_| has_words)?;
        Some(Field::of_number(searched.number))
    }

    /// Adds the filter for documents with the words of a value, or words like them.
    fn words_of_values(&mut self, field: Field, typed: &str, is_quoted: bool) {
        let before = self.top().clauses.len();
        self.top().field = Some(Target::Words(field));
        match () {
            _ if is_quoted => self.quoted(typed, None),
            _ if is_regex(typed) => self.regex(typed),
            _ => self.bare(typed),
        }
        for clause in self.top().clauses.iter_mut().skip(before) {
            let words = std::mem::replace(&mut clause.query, Query::Nothing);
            clause.query = Query::Filter(Box::new(words));
            clause.is_run = false;
        }
    }

    /// Adds a test, or says why it is left out.
    pub(super) fn tested(&mut self, field: String, typed: &str, test: Result<Test, BadTest>) {
        match test {
            Ok(test) if self.words.admit(1, self.warnings) > 0 => {
                self.top().push(Query::Value { field, test });
            }
            Ok(_) => self.top().drop_clause(),
            Err(bad) => {
                self.warnings.add(format!(
                    "`{field}:{}` was left out: {}.",
                    shortened(typed),
                    bad.reason
                ));
                self.top().drop_clause();
            }
        }
    }
}

/// Returns whether a text tests values: any of them, a range, or a beginning that is no word.
fn is_test_of_values(typed: &str) -> bool {
    let start = typed.strip_suffix('*');
    let is_word = |start: &str| !start.is_empty() && start.chars().all(char::is_alphanumeric);
    typed.starts_with(['<', '>'])
        || typed.contains("..")
        || start.is_some_and(|start| !is_word(start) && !start.contains(['*', '?']))
}

fn is_regex(typed: &str) -> bool {
    typed.len() > 2 && typed.starts_with('/') && typed.ends_with('/')
}

/// Returns whether a keyword looks like a wildcard, a regular expression or a word with edits, which it is not.
fn is_like_a_pattern(typed: &str) -> bool {
    let typed = typed.trim();
    let inner = typed.strip_suffix('*').unwrap_or(typed);
    let has_edits = typed.rsplit_once('~').is_some_and(|(word, digits)| {
        word.ends_with(char::is_alphanumeric) && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    inner.contains(['*', '?']) && typed != "*" && !typed.contains("..")
        || is_regex(typed)
        || has_edits
}

#[cfg(test)]
mod tests {
    use super::super::tests::shown;
    use super::super::{Operator, parse_filter, parse_with};
    use text::Analyzer;

    /// Fields of every type.
    fn schema() -> fields::Schema {
        let fields = fields::FieldType::ALL.map(|kind| (format!("x.{kind}"), kind));
        fields
            .into_iter()
            .chain([
                ("lang".to_owned(), fields::FieldType::Keyword),
                ("date".to_owned(), fields::FieldType::Date),
                ("price".to_owned(), fields::FieldType::Float),
            ])
            .collect()
    }

    #[test]
    fn values_of_fields_are_tested() {
        let cases = [
            ("moon lang:en", Operator::And, "(+moon +lang:en)"),
            ("moon base lang:en", Operator::Or, "(+lang:en moon base)"),
            (
                "moon lang:(en OR de)",
                Operator::And,
                "(+moon +(lang:en lang:de))",
            ),
            (
                "moon base lang:(en OR de)",
                Operator::Or,
                "(+(lang:en lang:de) moon base)",
            ),
            ("moon -lang:en", Operator::And, "(+moon -lang:en)"),
            ("lang:en", Operator::And, "lang:en"),
            ("lang:\"en US\" moon", Operator::And, "(+lang:en US +moon)"),
            ("lang:\"e*\"", Operator::And, "lang:e*"),
            ("price:10..20 moon", Operator::And, "(+price:10..20 +moon)"),
            ("price:(>=1 <2)", Operator::And, "(+price:>=1 +price:<2)"),
            ("date:>=2025-01-01", Operator::And, "date:>=2025-01-01"),
            (
                "date:2025-01-01T10:30:00Z",
                Operator::And,
                "date:>=2025-01-01T10:30:00Z <2025-01-01T10:30:00.000001Z",
            ),
            (
                "x.bool:true x.i64:-5",
                Operator::And,
                "(+x.bool:true +x.i64:-5)",
            ),
            ("lang:*", Operator::And, "lang:*"),
            (
                "price:[10 TO 20] moon",
                Operator::And,
                "(+price:10..20 +moon)",
            ),
            ("price:{10 TO 20]", Operator::And, "price:>10 <=20"),
            ("price:[10 TO 20}", Operator::And, "price:>=10 <20"),
            ("price:[10 TO *]", Operator::And, "price:>=10"),
            ("price:{* TO 10}", Operator::And, "price:<10"),
            ("price:[* TO *]", Operator::And, "price:*"),
            (
                "date:[2024 TO 2024-06-30]",
                Operator::And,
                "date:>=2024-01-01 <2024-07-01",
            ),
            (
                "date:{2024 TO \"2025-06-01T10:00:00Z\"}",
                Operator::And,
                "date:>=2025-01-01 <2025-06-01T10:00:00Z",
            ),
            (
                "lang:[\"a b\" TO \"c*\"] x",
                Operator::And,
                "(+lang:a b..c* +x)",
            ),
            ("lang:[d TO f]", Operator::And, "lang:d..f"),
            (
                "moon price:([1 TO 2] OR [5 TO *])",
                Operator::And,
                "(+moon +(price:1..2 price:>=5))",
            ),
            (
                "moon base price:[1 TO 2]",
                Operator::Or,
                "(+price:1..2 moon base)",
            ),
            ("moon -price:[1 TO 2]", Operator::And, "(+moon -price:1..2)"),
            (
                "(moon price:[1 TO 2])",
                Operator::And,
                "(+moon +price:1..2)",
            ),
        ];
        for (typed, operator, expected) in cases {
            let parsed = parse_with(typed, Analyzer::Plain, &schema(), operator);
            assert_eq!(shown(&parsed.query), expected, "{typed:?}");
            assert_eq!(parsed.warnings, [""; 0], "{typed:?}");
            assert!(
                typed.starts_with('-')
                    || typed.contains(" -")
                    || parse_filter(typed, Analyzer::Plain, &schema()).is_ok()
            );
        }
        let relaxed = parse_with(
            "moon base lang:en",
            Analyzer::Plain,
            &schema(),
            Operator::Auto,
        );
        assert_eq!(
            shown(&relaxed.some_words.unwrap()),
            "(+lang:en +any[moon base])"
        );
    }

    #[test]
    fn words_of_fields_of_text_are_words() {
        let mut schema = schema();
        schema.search_words("x.text").unwrap();
        for (typed, expected) in [
            ("moon x.text:word", "(+moon +further:word)"),
            ("x.text:\"a b\"~2", "further:\"a b\"~2"),
            (
                "x.text:(a OR b) -x.text:c",
                "(further:a further:b -further:c)",
            ),
            ("x.text:wo*", "further:wo*"),
            ("x.text:word^2", "further:word^^2"),
        ] {
            let parsed = parse_with(typed, Analyzer::Plain, &schema, Operator::And);
            assert_eq!(shown(&parsed.query), expected, "{typed}");
            assert_eq!(parsed.warnings, [""; 0], "{typed}");
        }
        let relaxed = parse_with(
            "moon base x.text:a",
            Analyzer::Plain,
            &schema,
            Operator::Auto,
        );
        assert_eq!(
            shown(&relaxed.some_words.unwrap()),
            "(+further:a +any[moon base])"
        );
        let parsed = parse_with("a colour:red", Analyzer::Plain, &schema, Operator::And);
        assert!(
            parsed.warnings[0].contains("`x.text:`"),
            "{:?}",
            parsed.warnings
        );
    }

    #[test]
    fn words_of_keywords_filter() {
        let mut schema = schema();
        schema.search("lang");
        schema.search("price");
        for (typed, expected) in [
            ("moon lang:en", "(+moon +=further:en)"),
            ("lang:EN-us", "=(+further:en +further:us)"),
            ("lang:\"en US\" moon", "(+=further:\"en us\" +moon)"),
            (
                "moon lang:(en OR \"de\")",
                "(+moon +(=further:en =further:de))",
            ),
            ("moon -lang:en", "(+moon -=further:en)"),
            ("lang:e* moon", "(+=further:e* +moon)"),
            ("lang:e?n", "=further:e?n"),
            ("lang:/e.n/", "=further:/e.n/"),
            // Values.
            ("lang:*", "lang:*"),
            ("lang:d..f", "lang:d..f"),
            ("lang:>=d", "lang:>=d"),
            ("lang:cs.A*", "lang:cs.A*"),
            ("lang:\"++\"", "lang:++"),
            ("price:5", "price:5"),
        ] {
            let parsed = parse_with(typed, Analyzer::Plain, &schema, Operator::And);
            assert_eq!(shown(&parsed.query), expected, "{typed}");
            assert_eq!(parsed.warnings, [""; 0], "{typed}");
        }
        for typed in ["lang:en", "lang:\"en US\"", "lang:e*"] {
            let filter = parse_filter(typed, Analyzer::Plain, &schema).unwrap();
            assert!(!shown(&filter).contains("further"), "{typed}");
        }
        for operator in [Operator::Or, Operator::Auto] {
            let parsed = parse_with("moon base lang:en", Analyzer::Plain, &schema, operator);
            let relaxed = parsed.some_words.unwrap_or(parsed.query);
            assert!(
                shown(&relaxed).starts_with("(+=further:en "),
                "{}",
                shown(&relaxed)
            );
        }
    }

    #[test]
    fn what_is_no_value_is_said() {
        for (typed, said) in [
            ("moon price:cheap", "no number"),
            ("moon date:>=yesterday", "no date"),
            ("moon x.text:word", "long texts"),
            ("moon colour:red", "There is no field `colour`"),
            ("moon lang: en", "has nothing right after it"),
            (
                "moon price:[20 TO 10]",
                "`price:[20 TO 10]` was left out: nothing lies between",
            ),
            ("moon price:20..10", "nothing lies between"),
            ("moon price:{5 TO 5]", "nothing lies between"),
            ("moon date:[2025 TO 2024-12-31]", "nothing lies between"),
            ("moon price:[cheap TO 3]", "`cheap` is no number"),
            ("moon price:[1 TO 2", "a range is written"),
            ("moon price:[1 to 2]", "a range is written"),
            ("moon price:[]", "a range is written"),
            ("moon x.text:[a TO b]", "long texts"),
            ("moon colour:[1 TO 2]", "the field is not there"),
            ("moon title:[a TO b]", "needs a field with values"),
            ("moon [a TO b]", "needs a field with values"),
            ("moon price:[1 TO 2]^3", "adds nothing to the score"),
        ] {
            let parsed = parse_with(typed, Analyzer::Plain, &schema(), Operator::And);
            assert!(
                parsed.warnings.join(" ").contains(said),
                "{typed}: {:?}",
                parsed.warnings
            );
            assert!(shown(&parsed.query).contains("moon"));
            assert!(
                parse_filter(typed, Analyzer::Plain, &schema())
                    .unwrap_err()
                    .contains(said)
            );
        }
        for (typed, expected) in [
            ("moon price:[1 to 2] base", "(+moon +base)"),
            ("moon x.text:[a TO b]", "moon"),
            ("moon price:[20 TO 10]^2", "moon"),
            ("moon price:[1 TO 2]^3", "(+moon +price:1..2)"),
        ] {
            let parsed = parse_with(typed, Analyzer::Plain, &schema(), Operator::And);
            assert_eq!(shown(&parsed.query), expected, "{typed}");
        }
        let parsed = parse_with("a colour:red", Analyzer::Plain, &schema(), Operator::And);
        assert!(
            parsed.warnings[0].contains("`title:`, `site:`, `date:`"),
            "{:?}",
            parsed.warnings
        );
    }
}
