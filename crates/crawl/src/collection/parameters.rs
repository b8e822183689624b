//! Parameters of queries that never change the text of a host's pages, learnt from pages that differ in them alone.
//!
//! Two pages whose addresses differ in one parameter are a sample. A parameter is learnt from 20 samples on, none of which
//! has two texts. Linear in the parameters of all addresses.

use crate::frontier::origin_of;
use std::collections::{BTreeMap, HashMap};

/// Samples from which on a parameter is learnt.
const SAMPLES_MIN: u32 = 20;

/// Samples of a parameter of a host: pages that differ in it alone.
#[derive(Default)]
struct Samples {
    same: u32,
    differs: bool,
}

/// Returns origins with the parameters that never changed the text, in order. `pages` are URLs with the hash of their text.
pub(super) fn learnt<'a>(pages: impl Iterator<Item = (&'a str, u128)>) -> Vec<(String, String)> {
    // Of each address without one parameter, the text that it has with any value of it.
    let mut texts: HashMap<(String, &str), u128> = HashMap::new();
    let mut found: BTreeMap<(&str, &str), Samples> = BTreeMap::new();
    for (url, text) in pages {
        let origin = origin_of(url).unwrap_or_default();
        let Some((path, query)) = url.split_once('?') else {
            continue;
        };
        let parts: Vec<&str> = query.split('&').collect();
        for (at, part) in parts.iter().enumerate() {
            let name = part.split('=').next().unwrap_or_default();
            // A star would stand for other names.
            if name.is_empty() || name.contains('*') {
                continue;
            }
            let others = parts.iter().enumerate().filter(|(other, _)| *other != at);
            let others: Vec<&str> = others.map(|(_, part)| *part).collect();
            let rest = (format!("{path}?{}", others.join("&")), name);
            let samples = found.entry((origin, name)).or_default();
            match texts.insert(rest, text) {
                Some(before) if before == text => samples.same += 1,
                Some(_) => samples.differs = true,
                None => {}
            }
        }
    }
    let sure = found
        .into_iter()
        .filter(|(_, samples)| samples.same >= SAMPLES_MIN && !samples.differs);
    sure.map(|((origin, name), _)| (origin.to_owned(), name.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pages: &[(String, u128)], expected: &[&str]) {
        let found = learnt(pages.iter().map(|(url, text)| (url.as_str(), *text)));
        let names: Vec<&str> = found.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn what_never_changes_the_text_is_learnt() {
        let url = |page: u32, visit: u32| format!("http://a.test/?page={page}&visit={visit}");
        let pages: Vec<_> = (0..40)
            .map(|n| (url(n % 4, n), u128::from(n % 4)))
            .collect();
        check(&pages, &["visit"]);
        // Not from few samples, and not where one contradicts.
        check(&pages[..20], &[]);
        let mut contradicted = pages.clone();
        contradicted.push((url(0, 99), 77));
        check(&contradicted, &[]);
    }

    #[test]
    fn addresses_without_queries_teach_nothing() {
        let pages: Vec<_> = (0..50)
            .map(|n| (format!("http://a.test/{n}?"), 1))
            .collect();
        check(&pages, &[]);
    }
}
