//! Options of a search as the parameters of links.

use crate::api::options::SearchOptions;
use crate::http::params::PAGE_COLLAPSE;
use search::Operator;

/// Returns the options that differ from the defaults of the page, as parameters.
pub(super) fn settings(options: &SearchOptions) -> Vec<(&'static str, String)> {
    let usual = SearchOptions::default();
    let mut settings = Vec::new();
    let mut set = |name, value: String, is_usual: bool| {
        if !is_usual {
            settings.push((name, value));
        }
    };
    set("k", options.k.to_string(), options.k == usual.k);
    set(
        "start",
        options.start.to_string(),
        options.start == usual.start,
    );
    set(
        "per_site",
        options.per_site.to_string(),
        options.per_site == usual.per_site,
    );
    set(
        "collapse",
        options.collapse.clone(),
        options.collapse == PAGE_COLLAPSE,
    );
    let operator = options.operator;
    match operator {
        Operator::Most(least) => set("most", least.to_string(), false),
        named => set("words", named.name().into(), named == usual.operator),
    }
    let ranking = options.ranking;
    set("ranking", ranking.to_string(), ranking == usual.ranking);
    set("correct", "0".into(), options.correct);
    set("rules", "0".into(), options.rules);
    set("explain", "1".into(), !options.explain);
    set("count", "none".into(), options.returned.counted);
    set("partial", "0".into(), options.partial);
    set("trace", "1".into(), !options.trace);
    if let Some(timeout) = options.timeout {
        set("timeout", format!("{}ms", timeout.as_millis()), false);
    }
    for filter in &options.filters {
        set("filter", filter.clone(), false);
    }
    let facets = options.facets.join(",");
    set("facet", facets, options.facets.is_empty());
    set("sort", options.sort.clone(), options.sort.is_empty());
    settings
}

/// Returns the parameters of a link to the page of `query` with `options`.
pub(super) fn pairs(query: &str, options: &SearchOptions) -> Vec<(&'static str, String)> {
    let mut pairs = vec![("q", query.to_owned())];
    pairs.extend(settings(options));
    pairs
}

/// Returns the parameters of a link to the API, which collapses no hits by itself.
pub(super) fn api_pairs(query: &str, options: &SearchOptions) -> Vec<(&'static str, String)> {
    let mut pairs = pairs(query, options);
    pairs.retain(|(name, _)| *name != "collapse");
    if !options.collapse.is_empty() {
        pairs.push(("collapse", options.collapse.clone()));
    }
    pairs
}
