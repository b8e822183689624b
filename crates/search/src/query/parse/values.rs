//! Clauses that test the values of fields.

use super::limits::shortened;
use super::parser::Parser;
use crate::query::tree::Query;
use fields::{FieldType, Test, Value};

impl Parser<'_> {
    /// Adds the test of a field's values that was typed; a quoted keyword is exactly that word.
    pub(super) fn value(&mut self, field: String, kind: FieldType, typed: &str, is_quoted: bool) {
        let word = Value::keyword(typed).filter(|_| is_quoted && kind == FieldType::Keyword);
        let test = match word {
            Some(word) => Ok(Test::equals(word)),
            None => Test::parse(kind, typed.trim()),
        };
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
    fn what_is_no_value_is_said() {
        for (typed, said) in [
            ("moon price:cheap", "no number"),
            ("moon date:>=yesterday", "no date"),
            ("moon x.text:word", "long texts"),
            ("moon colour:red", "There is no field `colour`"),
            ("moon lang: en", "has nothing right after it"),
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
        let parsed = parse_with("a colour:red", Analyzer::Plain, &schema(), Operator::And);
        assert!(
            parsed.warnings[0].contains("`title:`, `site:`, `date:`"),
            "{:?}",
            parsed.warnings
        );
    }
}
