//! Reading of an answer: document, links and directives of a page; URLs of a sitemap or feed.
//!
//! Pure, so that pages read again from WARC files give the documents of the crawl.

use crate::config::Sites;
use corpus::Document;
use serde_json::{Map, Value};
use web::address::{Base, CanonicalUrl};
use web::charset;
use web::duplicates;
use web::page::{self, Page, PageOptions, Rel};
use web::robots::Directives;
use web::sitemap::{Format, Options, SitemapReader};

/// Answer to a request for a page, from the network or from a WARC file.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// URL requested.
    pub url: &'a CanonicalUrl,
    /// `Content-Type`, if there is one.
    pub content_type: Option<&'a str>,
    /// Values of `X-Robots-Tag`.
    pub robots_tags: &'a [String],
    /// Value of `Content-Language`.
    pub language: Option<&'a str>,
    /// Body without transfer and content codings.
    pub body: &'a [u8],
    /// Time of the request, in seconds since 1970.
    pub now_s: i64,
}

/// Contents of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Kind of the answer.
    pub kind: ReadKind,
    /// Document of a page; `None` where it must not be found, names another address, or is no page.
    pub document: Option<Document>,
    /// Hash of the main text.
    pub text_hash: u128,
    /// Whether the page, or its headers, forbid that searches find it.
    pub noindex: bool,
    /// Another address within the crawl that the page names as its own.
    pub canonical: Option<CanonicalUrl>,
    /// URLs to visit.
    pub links: Vec<FoundLink>,
    /// Links that are no http or https addresses, and those beyond the limit.
    pub links_dropped: usize,
}

/// Kind of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadKind {
    /// HTML or plain text.
    Page,
    /// Sitemap, index of sitemaps, RSS or Atom.
    List,
    /// Another type.
    Other,
}

/// URL found in an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLink {
    /// The URL.
    pub url: CanonicalUrl,
    /// Modification that a sitemap or feed claims, in milliseconds since 1970.
    pub modified_ms: Option<u64>,
}

/// Reads an answer. `product_token` is the name that directives address.
pub fn read(answer: &Answer<'_>, sites: &Sites, product_token: &str) -> Reading {
    let media = answer.content_type.map(media_type).unwrap_or_default();
    let is_xml_like = matches!(media.as_str(), "" | "text/plain") || media.contains("xml");
    if is_xml_like && let Some(links) = list(answer, sites) {
        return Reading {
            links,
            ..Reading::empty(ReadKind::List)
        };
    }
    match media.as_str() {
        "" | "text/html" | "application/xhtml+xml" => html(answer, sites, product_token),
        "text/plain" => plain(answer, product_token),
        _ => Reading::empty(ReadKind::Other),
    }
}

impl Reading {
    fn empty(kind: ReadKind) -> Reading {
        Reading {
            kind,
            document: None,
            text_hash: 0,
            noindex: false,
            canonical: None,
            links: Vec::new(),
            links_dropped: 0,
        }
    }
}

/// Returns a media type in lower case, without parameters.
fn media_type(content_type: &str) -> String {
    let essence = content_type.split([';', ',']).next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// Returns the value of the parameter `charset`.
fn charset_of(content_type: &str) -> Option<&str> {
    let mut parameters = content_type.split(';').skip(1);
    parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let is_charset = name.trim().eq_ignore_ascii_case("charset");
        is_charset.then(|| value.trim().trim_matches(['"', '\'']))
    })
}

fn text_of<'a>(answer: &Answer<'a>) -> std::borrow::Cow<'a, str> {
    charset::decode(answer.body, answer.content_type.and_then(charset_of)).text
}

fn header_directives(answer: &Answer<'_>, product_token: &str) -> Directives {
    let tags = answer.robots_tags.iter();
    tags.map(|tag| Directives::from_header(tag, product_token))
        .fold(Directives::default(), Directives::union)
}

/// Returns the URLs of a sitemap or feed; `None` where the body is neither.
fn list(answer: &Answer<'_>, sites: &Sites) -> Option<Vec<FoundLink>> {
    let url = url::Url::parse(answer.url.as_str()).ok()?;
    let mut reader = SitemapReader::new(answer.body, &url, Options::default()).ok()?;
    // A text that begins with a URL is a page; robots.txt names lists of URLs.
    if reader.format() == Format::Text && !answer.url.path().contains("sitemap") {
        return None;
    }
    let mut links = Vec::new();
    // Entries before damage are good.
    while let Ok(Some(entry)) = reader.next() {
        let Ok(url) = CanonicalUrl::parse(entry.loc.as_str()) else {
            continue;
        };
        let modified = entry.lastmod.map(|instant| instant.as_millisecond());
        links.push(FoundLink {
            url: sites.cleaned(url),
            modified_ms: modified.and_then(|ms| u64::try_from(ms).ok()),
        });
    }
    Some(links)
}

fn plain(answer: &Answer<'_>, product_token: &str) -> Reading {
    let directives = header_directives(answer, product_token);
    let text = text_of(answer);
    let noindex = !directives.may_index(answer.now_s);
    let title = text.lines().map(str::trim).find(|line| !line.is_empty());
    let title = title.unwrap_or_default().chars().take(200).collect();
    let language = answer.language.map(str::to_owned);
    Reading {
        document: (!noindex)
            .then(|| document(answer.url, title, text.to_string(), [("lang", language)])),
        text_hash: duplicates::exact_hash(&text),
        noindex,
        ..Reading::empty(ReadKind::Page)
    }
}

fn html(answer: &Answer<'_>, sites: &Sites, product_token: &str) -> Reading {
    let text = text_of(answer);
    let page = page::read(&text, &PageOptions::default());
    let directives = page.robots.iter().fold(
        header_directives(answer, product_token),
        |directives, (name, content)| {
            directives.union(Directives::from_meta(name, content, product_token))
        },
    );
    let main = match page.main_text() {
        text if text.trim().is_empty() => page.text.clone(),
        text => text,
    };
    let base = base_of(answer.url, &page);
    let canonical = page
        .canonical
        .as_deref()
        .and_then(|href| Some(sites.cleaned(base.as_ref()?.join(href).ok()?)))
        .filter(|canonical| canonical != answer.url && sites.admit(canonical).is_ok());
    let noindex = !directives.may_index(answer.now_s);
    let (links, links_dropped) = match directives.nofollow {
        true => (Vec::new(), 0),
        false => links(&page, base.as_ref(), sites),
    };
    Reading {
        text_hash: hash_of(page.title.as_deref().unwrap_or_default(), &main),
        document: (!noindex && canonical.is_none()).then(|| page_document(answer, &page, main)),
        noindex,
        canonical,
        links,
        links_dropped,
        ..Reading::empty(ReadKind::Page)
    }
}

/// Returns the hash that tells whether a page changed: of what searches find.
fn hash_of(title: &str, main: &str) -> u128 {
    duplicates::exact_hash(&format!("{title}\n{main}"))
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
        .map(|link| link.href.as_str());
    let stated = [&page.canonical, &page.next, &page.refresh];
    let stated = stated.into_iter().flatten().chain(&page.feeds);
    let mut dropped = page.links_dropped_count;
    let mut found = Vec::new();
    for href in followed.chain(stated.map(String::as_str)) {
        // A fragment alone leads to the page itself.
        if href.starts_with('#') {
            continue;
        }
        match base.join(href) {
            Ok(url) => found.push(FoundLink {
                url: sites.cleaned(url),
                modified_ms: None,
            }),
            Err(_) => dropped += 1,
        }
    }
    found.sort_unstable_by(|a, b| a.url.cmp(&b.url));
    found.dedup();
    (found, dropped)
}

fn page_document(answer: &Answer<'_>, page: &Page, main: String) -> Document {
    let title = page.title.clone().unwrap_or_default();
    let breadcrumbs = (!page.breadcrumbs.is_empty()).then(|| page.breadcrumbs.join(" › "));
    let language = page.language.clone();
    let language = language.or_else(|| answer.language.map(str::to_owned));
    let fields = [
        ("lang", language.map(|tag| tag.to_ascii_lowercase())),
        ("date", page.published.as_deref().and_then(date)),
        ("author", page.author.clone()),
        ("description", page.description.clone()),
        ("breadcrumbs", breadcrumbs),
    ];
    document(answer.url, title, main, fields)
}

/// Returns a date in the form that fields take: RFC 3339, or the date alone; `None` for other forms.
fn date(written: &str) -> Option<String> {
    let written = written.trim();
    if let Ok(instant) = written.parse::<jiff::Timestamp>() {
        return Some(instant.to_string());
    }
    let date: jiff::civil::Date = written.get(..10)?.parse().ok()?;
    Some(date.to_string())
}

fn document<const N: usize>(
    url: &CanonicalUrl,
    title: String,
    body: String,
    fields: [(&str, Option<String>); N],
) -> Document {
    let fields: Map<String, Value> = fields
        .into_iter()
        .filter_map(|(name, value)| {
            let value = value.map(|value| value.trim().to_owned());
            Some((
                name.to_owned(),
                Value::String(value.filter(|value| !value.is_empty())?),
            ))
        })
        .collect();
    let title = match title.trim() {
        "" => url.path().to_owned(),
        title => title.to_owned(),
    };
    Document {
        url: url.as_str().to_owned(),
        title,
        body,
        fields,
        ..Document::default()
    }
}
