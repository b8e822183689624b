//! Links to the pages of an answer, by number.

use super::settings::pairs;
use super::times::thousands;
use super::url::local;
use crate::api::options::DEPTH_MAX;
use crate::api::options::SearchOptions;
use wire::SearchAnswer;

/// Pages linked to on each side of the present one.
const BESIDE_MAX: usize = 4;

/// A page, by its number from 1.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PageLink {
    pub(super) number: usize,
    pub(super) href: String,
    pub(super) is_current: bool,
}

/// Links to the pages of an answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Pages {
    pub(super) links: Vec<PageLink>,
    /// Number of all pages, where it is known and some have no link.
    pub(super) count: Option<String>,
}

/// Returns links to the pages near the present one. Those linked to have hits: how many follow the next one is known only where
/// the total counts all hits, and there may be fewer where equal texts are hidden further down. None where there is but one
/// page, or where the start is that of no page.
pub(super) fn pages(answer: &SearchAnswer, options: &SearchOptions) -> Pages {
    let SearchOptions { k, start, .. } = *options;
    if k == 0 || !start.is_multiple_of(k) {
        return Pages::default();
    }
    let current = start / k;
    let is_counted = answer.total.exact && answer.some_words_from.is_none() && !answer.hides_some;
    let last = match answer.total.value.checked_sub(1) {
        Some(last) if is_counted => usize::try_from(last).unwrap_or(usize::MAX) / k,
        _ => current + usize::from(answer.more_hits),
    };
    let last = last.min((DEPTH_MAX / k).saturating_sub(1)).max(current);
    let shown = current.saturating_sub(BESIDE_MAX)..=last.min(current + BESIDE_MAX);
    if last == 0 {
        return Pages::default();
    }
    let link = |page: usize| {
        let options = SearchOptions {
            start: page * k,
            ..options.clone()
        };
        PageLink {
            number: page + 1,
            href: local("./", &pairs(&answer.query, &options)),
            is_current: page == current,
        }
    };
    let is_last_linked = *shown.end() == last;
    Pages {
        count: (is_counted && !is_last_linked).then(|| thousands(last as u64 + 1)),
        links: shown.map(link).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Total;

    fn numbers(total: u64, more_hits: bool, options: SearchOptions) -> Vec<(usize, bool)> {
        let answer = SearchAnswer {
            total: Total {
                value: total,
                exact: true,
            },
            more_hits,
            ..SearchAnswer::default()
        };
        let pages = pages(&answer, &options);
        let last = pages.links.last().map_or(0, |link| link.number);
        assert_eq!(pages.count, (last == 55).then(|| "100".to_owned()));
        pages
            .links
            .iter()
            .map(|link| (link.number, link.is_current))
            .collect()
    }

    #[test]
    fn only_pages_with_hits_have_numbers() {
        let at = |start| SearchOptions {
            start,
            ..SearchOptions::default()
        };
        assert_eq!(numbers(9, false, at(0)), []);
        assert_eq!(numbers(11, true, at(0)), [(1, true), (2, false)]);
        let middle = numbers(1_000, true, at(500));
        assert_eq!(middle.first(), Some(&(47, false)));
        assert_eq!(middle.last(), Some(&(55, false)));
        let deep = numbers(u64::MAX, true, at(9_990));
        assert_eq!(deep.last(), Some(&(1_000, true)));
        assert_eq!(numbers(1_000, true, at(5)), []);
    }
}
