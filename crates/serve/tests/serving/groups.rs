//! Collapsed hits as a naive list has them.

use document::{Document, site_of};
use std::collections::HashMap;

/// URL and bits of the score of a hit.
pub(crate) type Scored = (String, u32);

/// Returns the value by which a document is collapsed: of several the least.
pub(crate) fn group(document: &Document, field: &str) -> Option<String> {
    if field == "site" {
        return Some(site_of(&document.url));
    }
    let mut values: Vec<(i64, String)> = Vec::new();
    fields::each_leaf(&document.fields, &mut |path, leaf| {
        if path == field {
            values.push((leaf.as_i64().unwrap_or_default(), leaf.to_string()));
        }
    });
    values.into_iter().min().map(|(_, value)| value)
}

/// Returns the best hit of each group and all hits without one, with the number of those among the first `first_count`;
/// `hidden` gets the number of hits that each of them hides.
pub(crate) fn collapsed(
    hits: Vec<Scored>,
    first_count: usize,
    hidden: &mut HashMap<String, u64>,
    group: impl Fn(&str) -> Option<String>,
) -> (Vec<Scored>, usize) {
    let mut best: HashMap<String, String> = HashMap::new();
    let (mut listed, mut listed_of_first) = (Vec::new(), 0);
    for (rank, hit) in hits.into_iter().enumerate() {
        if let Some(group) = group(&hit.0) {
            if let Some(best) = best.get(&group) {
                *hidden.entry(best.clone()).or_default() += 1;
                continue;
            }
            best.insert(group, hit.0.clone());
        }
        listed_of_first += usize::from(rank < first_count);
        listed.push(hit);
    }
    (listed, listed_of_first)
}
