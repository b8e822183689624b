//! Warnings of syntax that other query languages have and this one ignores.
//!
//! ```text
//! cat && dog   cat || dog   !cat   cat|dog      AND, OR, -
//! roam~0.8   "a b"~   (a b)~2   a^   a^-1       edits, distances and weights that are none
//! >5   price>=5   1..5                          comparisons without a field
//! title:-cat   \"cat   /a b+/   –cat            signs behind a field, escapes, expressions, dashes
//! ```

use super::limits::{Warnings, shortened};
use super::pieces::{Piece, pieces};
use fields::Schema;

/// Adds warnings of the signs of a run without blanks that are not obeyed.
pub(super) fn warn_of_signs(run: &str, schema: &Schema, warnings: &mut Warnings) {
    let typed = shortened(run);
    if run.contains("&&") {
        warnings.add("`&&` has no meaning and was ignored; write `AND`, or nothing between words.");
    }
    if run.contains('|') {
        warnings.add("`|` has no meaning and was ignored; write `OR` between words.");
    }
    if run.len() > 1 && run.starts_with('!') && starts_word(run.trim_start_matches('!')) {
        warnings.add(NOT_SIGN);
    }
    if run.starts_with(['\u{2013}', '\u{2212}', '\u{FF0D}', '\u{FF0B}'])
        && run.chars().nth(1).is_some_and(char::is_alphanumeric)
    {
        warnings.add(format!(
            "The dash or sign before `{typed}` has no meaning; `-` before a word excludes it, `+` requires it."
        ));
    }
    let has_stray = |piece: &Piece<'_>| matches!(piece, Piece::Words(words) if follows_word(words, '~').is_some());
    if run.contains('~') && pieces(run).iter().any(has_stray) {
        warnings.add(format!(
            "`~` in `{typed}` was ignored: `~`, `~1` or `~2` stands at the end of a word."
        ));
    }
    let is_weight = |rest: &str| {
        rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
    };
    if follows_word(run, '^').is_some_and(is_weight) {
        warnings.add(format!(
            "`^` in `{typed}` was ignored: a weight is a number without a sign, as in `word^2`."
        ));
    }
    if is_comparison(run, schema) {
        warnings.add(format!(
            "`{typed}` compares nothing, and its words were searched; write a field, a colon and the comparison, as in `price:>=5` or `price:1..5`."
        ));
    }
    if has_escape(run) {
        warnings.add("`\\` has no meaning and was ignored; quotation marks take signs as text.");
    }
    // One that stands between two `/` and cannot be read has its warning.
    let is_open = run.starts_with('/') && !run.ends_with('/');
    if is_open && run.contains(['[', ']', '|', '{', '}', '\\']) {
        warnings.add(format!(
            "`{typed}` was not read as a regular expression, which stands between two `/` without blanks; its words were searched."
        ));
    }
}

/// Warning of `!`.
pub(super) const NOT_SIGN: &str =
    "`!` has no meaning and was ignored; `-` before a word, phrase or parenthesis excludes it.";

/// Returns whether a text begins with what `!` would exclude.
pub(super) fn starts_word(text: &str) -> bool {
    text.starts_with(|c: char| {
        c.is_alphanumeric() || matches!(c, '(' | '"' | '“' | '”' | '„' | '‟')
    })
}

/// Returns the text after the first `sign` that follows a letter or digit.
fn follows_word(run: &str, sign: char) -> Option<&str> {
    let mut before = ' ';
    for (at, character) in run.char_indices() {
        if character == sign && before.is_alphanumeric() {
            return Some(&run[at + sign.len_utf8()..]);
        }
        before = character;
    }
    None
}

/// Returns whether a run is a comparison or a range that has no field: `>5`, `>=`, `year>2020`, `1..5`; or an equation
/// with a field, `year=2020`.
fn is_comparison(run: &str, schema: &Schema) -> bool {
    if matches!(run, ">" | "<" | ">=" | "<=") {
        return true;
    }
    let is_digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    if let Some((low, high)) = run.split_once("..") {
        return is_digit(low) && is_digit(high);
    }
    let Some(at) = run.find(['<', '>', '=']) else {
        return false;
    };
    let (name, rest) = run.split_at(at);
    let value = rest.trim_start_matches(['<', '>', '=']);
    let is_name = name
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
    let signs = &rest[..rest.len() - value.len()];
    match signs {
        "=" | "==" => schema.get(name).is_some() && !value.is_empty(),
        ">" | "<" | ">=" | "<=" => {
            // `<b>` is markup.
            let is_value = is_digit(value.trim_start_matches(['-', '+', '.', '$', '€']));
            is_name && (is_value || name.is_empty() && signs.starts_with('>') && starts_word(value))
        }
        _ => false,
    }
}

/// Returns whether a `\` stands before a sign of the grammar, or at the end. Folders of Windows have it before letters.
fn has_escape(run: &str) -> bool {
    let mut characters = run.chars().peekable();
    while let Some(character) = characters.next() {
        let escapes = |next: &char| r#"+-&|!(){}[]^"~*?:/"#.contains(*next);
        if character == '\\' && characters.peek().is_none_or(escapes) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::{Operator, parse_filter, parse_with};
    use fields::{FieldType, Schema};
    use text::Analyzer;

    fn schema() -> Schema {
        [
            ("lang".to_owned(), FieldType::Keyword),
            ("price".to_owned(), FieldType::Float),
        ]
        .into_iter()
        .collect()
    }

    #[test]
    fn what_is_not_obeyed_is_said() {
        for (typed, said) in [
            ("cat && dog", "`&&`"),
            ("cat&&dog", "`&&`"),
            ("cat || dog", "`|`"),
            ("cat | dog", "`|`"),
            ("cat|dog", "`|`"),
            ("dog !cat", "`!`"),
            ("dog ! cat", "`!`"),
            ("dog !(cat)", "`!`"),
            ("dog !\"a cat\"", "`!`"),
            ("(dog !cat)", "`!`"),
            ("dog –cat", "dash"),
            ("dog −cat", "dash"),
            ("roam~0.8", "`~`"),
            ("a~b", "`~`"),
            ("word~~", "`~`"),
            ("\"a b\"~", "`~`"),
            ("\"a b\"~x", "`~x`"),
            ("\"a b\"~2.5", "`.5`"),
            ("(a b)~2", "`~2`"),
            ("/ab?/~1 c", "`~1`"),
            ("\"a b\"^x", "`^x`"),
            ("(a b)^", "`^`"),
            ("a^", "`^`"),
            ("a^-1", "`^`"),
            ("a^+2", "`^`"),
            (">5", "compares nothing"),
            ("cat >=2024", "compares nothing"),
            ("cat <10", "compares nothing"),
            ("price>5", "compares nothing"),
            ("price > 5", "compares nothing"),
            ("price=5", "compares nothing"),
            ("year<=2024", "compares nothing"),
            ("10..20", "compares nothing"),
            ("year:>=2024", "no field `year`"),
            ("year:<2024", "no field `year`"),
            ("year:2020..2024", "no field `year`"),
            ("year:..2024", "no field `year`"),
            ("year:-5", "no field `year`"),
            ("year:*", "no field `year`"),
            ("year:/20.*/", "no field `year`"),
            ("_exists_:lang", "no field `_exists_`"),
            ("meta.year:2024", "no field `meta.year`"),
            ("user-id:abc", "no field `user-id`"),
            ("année:2024", "no field `année`"),
            ("title:-cat", "before the field"),
            ("title:+cat", "before the field"),
            ("site:-example.org x", "before the field"),
            ("title:%% cat", "no letter or digit"),
            ("cat -%%", "no letter or digit"),
            ("\\\"cat", "`\\`"),
            ("a\\:b", "`\\`"),
            ("\\(cat\\)", "`\\`"),
            ("/jo[aeiou] smith/", "regular expression"),
            ("\"short tai*\"", "Within quotation marks"),
            ("\"sho* tail\"", "Within quotation marks"),
            ("\"s?ort tail\"", "Within quotation marks"),
            ("\"short * tail\"", "Within quotation marks"),
            ("\"short tail~1\"", "Within quotation marks"),
            ("title:\"sho* tail\"", "Within quotation marks"),
            ("x lang:en^2", "adds nothing to the score"),
            ("x site:example.org^2", "adds nothing to the score"),
            ("x lang:e?n", "compared as it is typed"),
            ("x lang:e*n", "compared as it is typed"),
            ("x lang:en~1", "compared as it is typed"),
            ("x lang:/e./", "compared as it is typed"),
            ("x lang:\"en\"~2", "no meaning behind a value"),
        ] {
            let parsed = parse_with(typed, Analyzer::Plain, &schema(), Operator::And);
            let warnings = parsed.warnings.join(" ");
            assert!(warnings.contains(said), "{typed}: {:?}", parsed.warnings);
            // What is not clear deletes nothing, and is no filter.
            assert!(
                parse_filter(typed, Analyzer::Plain, &schema()).is_err(),
                "{typed}"
            );
        }
    }

    #[test]
    fn ordinary_texts_are_not_warned_of() {
        for typed in [
            "Hello, world!",
            "wow!!! great",
            "what is this?",
            "12:30 http://example.com/x?a=1&b=2",
            "https://example.com/~user/a.php?id=3",
            "std::string c:\\users\\me",
            "<b>bold</b> a => b",
            "foo & bar",
            "a = b, x=5",
            "~user and/or",
            "/usr/share/doc wait..what",
            "5 – 7 cats",
            "C++ C# .NET node.js",
            "foo_bar, foo-bar; foo.bar",
            "\"what is this?\"",
            "\"C++ and more\"",
            "don't 'quote' me",
            "100% of it",
            "price:>5 lang:e*",
            "lang:\"e*n\"",
        ] {
            let parsed = parse_with(typed, Analyzer::Plain, &schema(), Operator::And);
            assert_eq!(parsed.warnings, [""; 0], "{typed}");
        }
    }
}
