//! Clauses that test the values of fields by a range in brackets.

use super::brackets::{Brackets, End};
use super::clauses::Target;
use super::limits::{field_names, shortened};
use super::parser::Parser;
use fields::{RangeEnd, Test};

impl Parser<'_> {
    /// Adds the range of the field in force; where it has words and no values, the words of the range.
    pub(super) fn range(&mut self, typed: &Brackets<'_>, boost: Option<&str>) {
        match self.top().field_in_force() {
            Target::Values(name, kind) => {
                if let Some(number) = boost {
                    self.warnings.add(format!(
                        "`^{}` was ignored: a range adds nothing to the score.",
                        shortened(number)
                    ));
                }
                let test = Test::between(kind, limit(typed.low), limit(typed.high));
                self.tested(name, typed.typed, test);
            }
            Target::Words(field) => {
                self.warnings.add(
                    "A range such as `[a TO b]` needs a field with values before it, as in \
                     `date:[2024 TO 2025]`; its words were searched.",
                );
                let inner = &typed.typed[1..typed.typed.len() - 1];
                for word in inner.split_whitespace() {
                    self.top().field = Some(Target::Words(field));
                    self.bare(word);
                }
            }
        }
    }

    /// Leaves out a range of a field that has no values to compare, or that is not there.
    pub(super) fn range_without_values(&mut self, name: &str, typed: &str) {
        let why = match self.schema.get(name) {
            Some(_) => "holds long texts, which are stored and not compared".to_owned(),
            None => format!("is not there: the fields are {}", field_names(self.schema)),
        };
        self.warnings.add(format!(
            "`{}:{}` was left out: the field {why}.",
            shortened(name),
            shortened(typed)
        ));
        self.top().drop_clause();
    }

    /// Leaves out what begins with a bracket and is no range.
    pub(super) fn no_range(&mut self, typed: &str) {
        self.warnings.add(format!(
            "`{}` was left out: a range is written as in `[10 TO 20]`, or `{{10 TO 20}}` without its ends.",
            shortened(typed)
        ));
        self.top().drop_clause();
    }
}

/// Returns the limit at an end of a range; `None` for a `*`.
fn limit(end: End<'_>) -> Option<RangeEnd<'_>> {
    let is_open = end.text == "*" && !end.is_quoted;
    (!is_open).then_some(RangeEnd {
        text: end.text,
        inclusive: end.inclusive,
    })
}
