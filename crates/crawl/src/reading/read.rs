//! Choice of the reader by the type of an answer; lists of URLs, and plain text.

use super::answer::{
    Answer, FoundLink, ReadKind, Reading, TextShape, header_directives, media_type, text_of,
};
use super::document::document;
use super::html::{html, html_document};
use crate::config::Sites;
use document::Document;
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
    if (is_xml_like || answer.is_named_list)
        && let Some(links) = list(answer, sites)
    {
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

/// Returns the document that [`read`] gives, without the rest: for pages that are read again.
pub fn read_document(
    answer: &Answer<'_>,
    sites: &Sites,
    product_token: &str,
    templates: Option<&HostTemplates>,
) -> Option<Document> {
    let media = answer.content_type.map(media_type).unwrap_or_default();
    match media.as_str() {
        "text/html" => html_document(answer, product_token, templates),
        // Other types may be lists of URLs.
        _ => read(answer, sites, product_token, templates).document,
    }
}

/// Returns the URLs of a sitemap or feed; `None` where the body is neither.
fn list(answer: &Answer<'_>, sites: &Sites) -> Option<Vec<FoundLink>> {
    let url = url::Url::parse(answer.url.as_str()).ok()?;
    let mut reader = SitemapReader::new(answer.body, &url, Options::default()).ok()?;
    // A text that begins with a URL is a page, unless it is named as a list.
    let is_named = answer.is_named_list || answer.url.path().contains("sitemap");
    if reader.format() == Format::Text && !is_named {
        return None;
    }
    let is_list = reader.format() == Format::Index;
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
            is_list,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_read_alone_is_that_of_the_whole_reading() {
        let seeds = vec!["http://a.test/".to_owned()];
        let sites = crate::CrawlConfig::of_seeds(seeds).compile().unwrap();
        let url = CanonicalUrl::parse("http://a.test/dir/page").unwrap();
        let mut documents_count = 0;
        for head in [
            "",
            "<meta name=robots content=noindex>",
            "<link rel=canonical href=/other>",
            "<base href='http://a.test/x/'><link rel=canonical href='../dir/page'>",
        ] {
            for media in [
                None,
                Some("text/html"),
                Some("text/html; charset=utf-8"),
                Some("text/plain"),
                Some("image/png"),
            ] {
                for robots in [&[][..], &["noindex".to_owned()]] {
                    let body = format!(
                        "<title>A title</title>{head}<nav><a href=/n>menu</a></nav><p>{}</p>",
                        "Words of a text. ".repeat(30)
                    );
                    let answer = Answer {
                        url: &url,
                        content_type: media,
                        robots_tags: robots,
                        language: Some("en"),
                        body: body.as_bytes(),
                        now_s: 0,
                        is_named_list: false,
                    };
                    let whole = read(&answer, &sites, "Shorttail", None).document;
                    documents_count += usize::from(whole.is_some());
                    assert_eq!(
                        read_document(&answer, &sites, "Shorttail", None),
                        whole,
                        "{head} {media:?}"
                    );
                }
            }
        }
        assert!(documents_count > 5, "{documents_count}");
    }
}
