//! Lists of facets in one text.

/// Kind of facet whose argument has commas.
const WITH_COMMAS: &str = ":percentiles:";

/// Splits a list of facets at its commas: `lang,price:percentiles:50,99` are two facets.
pub fn split_list(text: &str) -> Vec<String> {
    let mut facets: Vec<String> = Vec::new();
    let entries = text.split(',').map(str::trim);
    for entry in entries.filter(|entry| !entry.is_empty()) {
        match facets.last_mut() {
            Some(last) if last.contains(WITH_COMMAS) && entry.parse::<f64>().is_ok() => {
                last.push(',');
                last.push_str(entry);
            }
            _ => facets.push(entry.to_owned()),
        }
    }
    facets
}
