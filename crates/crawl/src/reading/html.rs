//! Reading of an HTML page: directives, canonical address, links with their texts.

use super::answer::{Answer, FoundLink, ReadKind, Reading, TextShape, header_directives, text_of};
use super::document::page_document;
use crate::config::Sites;
use document::Document;
use web::address::{Base, CanonicalUrl};
use web::duplicates;
use web::page::{self, HostTemplates, Page, PageOptions, Rel};
use web::robots::Directives;

/// Length of a main text, in bytes, below which all text of a page decides whether it is a duplicate.
const TOLD_BYTES_MIN: usize = 250;
/// Inverse of the share of all text below which the same holds for a main text.
const TOLD_SHARE_MAX: usize = 5;

pub(super) fn html(
    answer: &Answer<'_>,
    sites: &Sites,
    product_token: &str,
    templates: Option<&HostTemplates>,
) -> Reading {
    let text = text_of(answer);
    let mut page = page::read(&text, &PageOptions::default());
    let directives = directives_of(answer, &page, product_token);
    let main = main_of(&page);
    let told = told_by(&page, &main);
    let base = base_of(answer.url, &page);
    let (canonical, is_contradictory) = canonical_of(answer, &page, base.as_ref(), sites);
    let noindex = !directives.may_index(answer.now_s);
    let (links, links_dropped) = match directives.nofollow {
        true => (Vec::new(), 0),
        false => links(&page, base.as_ref(), sites),
    };
    let blocks = page.blocks.iter().map(|block| block.hash).collect();
    Reading {
        text_hash: hash_of(page.title.as_deref().unwrap_or_default(), told),
        shape: TextShape::of(told, blocks),
        document: (!noindex).then(|| page_document(answer, &mut page, main, templates)),
        noindex,
        canonical,
        is_contradictory,
        links,
        links_dropped,
        ..Reading::empty(ReadKind::Page)
    }
}

/// Returns the document that [`html`] gives, without the rest.
pub(super) fn html_document(
    answer: &Answer<'_>,
    product_token: &str,
    templates: Option<&HostTemplates>,
) -> Option<Document> {
    let text = text_of(answer);
    let mut page = page::read(&text, &PageOptions::default());
    let may_index = directives_of(answer, &page, product_token).may_index(answer.now_s);
    let main = main_of(&page);
    may_index.then(|| page_document(answer, &mut page, main, templates))
}

/// Returns the directives of the headers and of the page.
fn directives_of(answer: &Answer<'_>, page: &Page, product_token: &str) -> Directives {
    let of_headers = header_directives(answer, product_token);
    (page.robots.iter()).fold(of_headers, |directives, (name, content)| {
        directives.union(Directives::from_meta(name, content, product_token))
    })
}

/// Returns the main text, or all of it where none is found.
fn main_of(page: &Page) -> String {
    match page.main_text() {
        text if text.trim().is_empty() => page.text.clone(),
        text => text,
    }
}

/// Returns the text that tells pages apart: the main text, or all of it where that is hardly anything.
///
/// A page of links, such as an index of names, may have no other main text than a line that all pages of its host share.
fn told_by<'a>(page: &'a Page, main: &'a str) -> &'a str {
    let is_small = main.len() < TOLD_BYTES_MIN || main.len() < page.text.len() / TOLD_SHARE_MAX;
    if is_small { &page.text } else { main }
}

/// Returns another address that the page names as its own, and whether it names several, of which none is believed.
fn canonical_of(
    answer: &Answer<'_>,
    page: &Page,
    base: Option<&Base>,
    sites: &Sites,
) -> (Option<CanonicalUrl>, bool) {
    let hrefs = page.canonical.iter().chain(&page.other_canonicals);
    let mut stated = hrefs.filter_map(|href| Some(sites.cleaned(base?.join(href).ok()?)));
    let Some(first) = stated.next() else {
        return (None, false);
    };
    match stated.all(|other| other == first) {
        true => (Some(first).filter(|first| first != answer.url), false),
        false => (None, true),
    }
}

/// Returns the hash of the searched text, which differs when a page changed.
fn hash_of(title: &str, told: &str) -> u128 {
    duplicates::exact_hash(&format!("{title}\n{told}"))
}

/// Returns the base of the links: the page's own, or its URL.
fn base_of(url: &CanonicalUrl, page: &Page) -> Option<Base> {
    let stated = page.base.as_deref().and_then(|base| url.join(base).ok());
    stated.as_ref().unwrap_or(url).base().ok()
}

fn links(page: &Page, base: Option<&Base>, sites: &Sites) -> (Vec<FoundLink>, usize) {
    let Some(base) = base else {
        return (Vec::new(), page.links.len());
    };
    let followed = page
        .links
        .iter()
        .filter(|link| !link.rel.contains(Rel::NOFOLLOW))
        .map(|link| (link.href.as_str(), link.text.trim(), false));
    let stated = [&page.canonical, &page.next, &page.refresh];
    let stated = stated.into_iter().flatten().map(|href| (href, false));
    let stated = stated.chain(page.feeds.iter().map(|href| (href, true)));
    let mut dropped = page.links_dropped_count;
    let mut found = Vec::new();
    let stated = stated.map(|(href, is_list)| (href.as_str(), "", is_list));
    for (href, anchor, is_list) in followed.chain(stated) {
        // A fragment alone leads to the page itself.
        if href.starts_with('#') {
            continue;
        }
        match base.join(href) {
            Ok(url) => found.push(FoundLink {
                url: sites.cleaned(url),
                modified_ms: None,
                anchor: anchor.to_owned(),
                is_list,
            }),
            Err(_) => dropped += 1,
        }
    }
    // Of the links to one URL the first that has a text.
    found.sort_by(|a, b| (&a.url, a.anchor.is_empty()).cmp(&(&b.url, b.anchor.is_empty())));
    found.dedup_by(|a, b| {
        let is_same = a.url == b.url;
        b.is_list |= is_same && a.is_list;
        is_same
    });
    (found, dropped)
}
