//! Choice of the reader by the type of an answer; lists of URLs, and plain text.

use super::answer::{
    Answer, FoundLink, ReadKind, Reading, TextShape, header_directives, media_type, text_of,
};
use super::document::document;
use super::html::html;
use crate::config::Sites;
use web::address::CanonicalUrl;
use web::duplicates;
use web::page::HostTemplates;
use web::sitemap::{Format, Options, SitemapReader};

/// Reads an answer. `product_token` is the name that directives address; `templates` are those of the host.
pub fn read(
    answer: &Answer<'_>,
    sites: &Sites,
    product_token: &str,
    templates: Option<&HostTemplates>,
) -> Reading {
    let media = answer.content_type.map(media_type).unwrap_or_default();
    let is_xml_like = matches!(media.as_str(), "" | "text/plain") || media.contains("xml");
    if is_xml_like && let Some(links) = list(answer, sites) {
        return Reading {
            links,
            ..Reading::empty(ReadKind::List)
        };
    }
    match media.as_str() {
        "" | "text/html" | "application/xhtml+xml" => html(answer, sites, product_token, templates),
        "text/plain" => plain(answer, product_token),
        _ => Reading::empty(ReadKind::Other),
    }
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
            anchor: String::new(),
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
        shape: TextShape::of(&text, Vec::new()),
        noindex,
        ..Reading::empty(ReadKind::Page)
    }
}
