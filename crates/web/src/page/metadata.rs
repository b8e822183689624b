//! Facts that a page states about itself outside of its text.

use super::json_ld::Facts;
use super::link::Rel;
use super::tags::Tag;
use super::text::{clean, decoded};
use super::tokens::Tokens;

/// Characters of titles and descriptions.
const TEXT_CHARS_MAX: usize = 500;
/// `meta` elements with directives, and feeds, kept of a page.
const ENTRIES_MAX: usize = 64;

/// Facts gathered from the head of a page and from marked elements.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    pub(super) title: Option<String>,
    pub(super) og_title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) published: Option<String>,
    pub(super) meta_date: Option<String>,
    pub(super) time: Option<String>,
    pub(super) author: Option<String>,
    pub(super) language: Option<String>,
    pub(super) canonical: Option<String>,
    pub(super) other_canonicals: Vec<String>,
    pub(super) base: Option<String>,
    pub(super) robots: Vec<(String, String)>,
    pub(super) feeds: Vec<String>,
    pub(super) next: Option<String>,
    pub(super) refresh: Option<String>,
    pub(super) json_ld: Facts,
    json_ld_follows: bool,
}

/// Fills a slot that is empty with a cleaned text that is not.
fn first(slot: &mut Option<String>, raw: &str, chars_max: usize) {
    if slot.is_none() {
        *slot = Some(clean(raw, chars_max)).filter(|text| !text.is_empty());
    }
}

/// Fills a slot that is empty with an address.
fn first_address(slot: &mut Option<String>, raw: &str) {
    if slot.is_none() {
        *slot = Some(decoded(raw.trim()).into_owned()).filter(|text| !text.is_empty());
    }
}

impl Metadata {
    /// Takes a start tag.
    pub(super) fn start(&mut self, tag: Tag, tokens: &Tokens<'_>) {
        match tag {
            Tag::Html => {
                if let Some(lang) = tokens
                    .attribute("lang")
                    .or_else(|| tokens.attribute("xml:lang"))
                {
                    first(&mut self.language, lang, 35);
                }
            }
            Tag::Base => {
                if let Some(href) = tokens.attribute("href") {
                    first_address(&mut self.base, href);
                }
            }
            Tag::Time => {
                if let Some(datetime) = tokens.attribute("datetime").filter(|date| is_date(date)) {
                    first(&mut self.time, datetime, 64);
                }
            }
            Tag::Meta => self.meta(tokens),
            Tag::Link => self.link(tokens),
            Tag::Script => {
                let json = |kind: &str| kind.trim().eq_ignore_ascii_case("application/ld+json");
                self.json_ld_follows = tokens.attribute("type").is_some_and(json);
            }
            _ => {}
        }
    }

    /// Takes the content of a raw-text element.
    pub(super) fn raw(&mut self, tag: Tag, text: &str, in_svg: bool) {
        match tag {
            Tag::Title if !in_svg => first(&mut self.title, text, TEXT_CHARS_MAX),
            Tag::Script if self.json_ld_follows => self.json_ld.read(text),
            _ => {}
        }
    }

    fn meta(&mut self, tokens: &Tokens<'_>) {
        let Some(content) = tokens.attribute("content") else {
            return;
        };
        let names = ["name", "property", "itemprop"];
        for name in names.iter().filter_map(|name| tokens.attribute(name)) {
            let name = clean(name, 64).to_ascii_lowercase();
            match name.as_str() {
                "og:title" | "twitter:title" => first(&mut self.og_title, content, TEXT_CHARS_MAX),
                "description" | "og:description" => {
                    first(&mut self.description, content, TEXT_CHARS_MAX)
                }
                "article:published_time" | "og:article:published_time" | "datepublished" => {
                    first(&mut self.published, content, 64);
                }
                "date"
                | "dc.date"
                | "dcterms.date"
                | "dc.date.issued"
                | "pubdate"
                | "publishdate"
                | "sailthru.date"
                | "parsely-pub-date"
                | "citation_publication_date"
                | "article:published" => first(&mut self.meta_date, content, 64),
                "author" | "article:author" | "dc.creator" | "parsely-author"
                | "sailthru.author"
                    if !content.trim_start().starts_with("http") =>
                {
                    first(&mut self.author, content, 200);
                }
                _ => {}
            }
        }
        if let Some(name) = tokens.attribute("name") {
            let name = clean(name, 64).to_ascii_lowercase();
            let directive = name.ends_with("bot") || name == "robots" || name.starts_with("robots");
            if directive && self.robots.len() < ENTRIES_MAX {
                self.robots.push((name, clean(content, TEXT_CHARS_MAX)));
            }
        }
        let pragma = tokens.attribute("http-equiv").unwrap_or_default().trim();
        if pragma.eq_ignore_ascii_case("content-language") {
            first(
                &mut self.language,
                content.split(',').next().unwrap_or_default(),
                35,
            );
        } else if pragma.eq_ignore_ascii_case("refresh") && self.refresh.is_none() {
            self.refresh = refresh_target(&decoded(content));
        }
    }

    fn link(&mut self, tokens: &Tokens<'_>) {
        let Some(href) = tokens.attribute("href") else {
            return;
        };
        let rel = Rel::parse(tokens.attribute("rel").unwrap_or_default());
        if rel.contains(Rel::CANONICAL) {
            match &self.canonical {
                Some(first) => {
                    let mut other = None;
                    first_address(&mut other, href);
                    let other = other.filter(|other| other != first);
                    if self.other_canonicals.len() < ENTRIES_MAX {
                        self.other_canonicals.extend(other);
                    }
                }
                None => first_address(&mut self.canonical, href),
            }
        }
        if rel.contains(Rel::NEXT) {
            first_address(&mut self.next, href);
        }
        let kind = tokens.attribute("type").unwrap_or_default().trim();
        let feed = [
            "application/rss+xml",
            "application/atom+xml",
            "application/feed+json",
        ]
        .iter()
        .any(|feed| kind.eq_ignore_ascii_case(feed));
        if rel.contains(Rel::ALTERNATE) && feed && self.feeds.len() < ENTRIES_MAX {
            self.feeds.push(decoded(href.trim()).into_owned());
        }
    }
}

fn is_date(text: &str) -> bool {
    text.trim().len() >= 8
        && text.trim_start().as_bytes()[..4]
            .iter()
            .all(u8::is_ascii_digit)
}

/// Returns the address in a refresh such as `5; url='/next'`; none where the page refreshes itself.
fn refresh_target(content: &str) -> Option<String> {
    let rest = content
        .trim_start()
        .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let rest = rest
        .trim_start()
        .trim_start_matches([';', ','])
        .trim_start();
    let front = rest
        .get(..3)
        .filter(|front| front.eq_ignore_ascii_case("url"));
    let rest = match front.and_then(|_| rest[3..].trim_start().strip_prefix('=')) {
        Some(value) => value.trim_start(),
        None => rest,
    };
    let target = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest[1..].split(quote).next()?,
        _ => rest,
    };
    Some(target.trim().to_owned()).filter(|target| !target.is_empty())
}
