//! Lists of facets in one text.

/// Kind of facet whose argument has commas.
const WITH_COMMAS: &str = ":percentiles:";

/// Splits a list of facets at its commas, not at those in braces: `lang,price:percentiles:50,99,site{lang,price}` are three
/// facets.
pub fn split_list(text: &str) -> Vec<String> {
    let mut facets: Vec<String> = Vec::new();
    let entries = at_commas(text).into_iter().map(str::trim);
    for entry in entries.filter(|entry| !entry.is_empty()) {
        match facets.last_mut() {
            Some(last) if has_commas(last) && entry.parse::<f64>().is_ok() => {
                last.push(',');
                last.push_str(entry);
            }
            _ => facets.push(entry.to_owned()),
        }
    }
    facets
}

/// Returns whether the argument of a facet goes on behind a comma.
fn has_commas(facet: &str) -> bool {
    facet.contains(WITH_COMMAS) && !facet.contains('{')
}

/// Splits a text at its commas, not at those in braces.
fn at_commas(text: &str) -> Vec<&str> {
    let (mut entries, mut start, mut open) = (Vec::new(), 0, 0usize);
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => open += 1,
            '}' => open = open.saturating_sub(1),
            ',' if open == 0 => {
                entries.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    entries.push(&text[start..]);
    entries
}
