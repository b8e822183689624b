//! Clauses of the language of queries that select the documents of a bucket.

use crate::dates;
use crate::value::Value;

/// Name of the field of sites, which every index has.
pub const SITE: &str = "site";

/// Returns the clause of a test of a field; empty where no query can be written for the field.
pub(super) fn clause(field: &str, test: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    match field.chars().all(is_name) {
        true => format!("{field}:{test}"),
        false => String::new(),
    }
}

/// Returns the clause that selects the documents with a value; empty where no query can be written for it.
pub(super) fn value_clause(field: &str, value: &Value) -> String {
    let text = value.to_string();
    let Value::Keyword(_) = value else {
        return clause(field, &text);
    };
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '/');
    let is_plain =
        !text.is_empty() && text.chars().all(|c| is_plain(c) || c == '.') && !text.contains("..");
    match is_plain {
        // A site without quotation marks has its subdomains, which are values of their own.
        true if field != SITE => clause(field, &text),
        _ if !text.contains(['"', '“', '”', '„', '‟']) => {
            clause(field, &format!("\"{text}\""))
        }
        _ => String::new(),
    }
}

/// Returns the clause that selects the documents of two clauses; empty where one of them is.
pub(super) fn both(outer: &str, inner: &str) -> String {
    match outer.is_empty() || inner.is_empty() {
        true => String::new(),
        false => format!("{outer} {inner}"),
    }
}

/// Returns the test for dates from `start` on that are before `end`. What is beyond the calendar has no text, and no value.
pub(super) fn dates_between(start: i64, end: Option<i64>) -> String {
    let from = dates::text(start);
    match end.filter(|&end| end < dates::END) {
        Some(end) => format!("(>={from} <{})", dates::text(end)),
        None => format!(">={from}"),
    }
}
