//! Answers to read, and what they hold.

use document::Document;
use web::address::CanonicalUrl;
use web::charset;
use web::duplicates;
use web::robots::Directives;

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
    /// Whether the URL is named as a sitemap or a feed.
    pub is_named_list: bool,
}

/// Contents of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Kind of the answer.
    pub kind: ReadKind,
    /// Document of a page; `None` where it must not be found, or is no page.
    pub document: Option<Document>,
    /// Hash of title and main text, before templates of the host are taken out.
    pub text_hash: u128,
    /// Shape of the same text.
    pub shape: TextShape,
    /// Whether the page, or its headers, forbid that searches find it.
    pub noindex: bool,
    /// Another address that the page names as its own.
    pub canonical: Option<CanonicalUrl>,
    /// Whether it names several.
    pub is_contradictory: bool,
    /// URLs to visit.
    pub links: Vec<FoundLink>,
    /// Links that are no http or https addresses, and those beyond the limit.
    pub links_dropped: usize,
}

/// Shape of the text of a page, for its comparison with others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextShape {
    /// SimHash of the main text.
    pub simhash: u64,
    /// Words of it.
    pub words_count: u32,
    /// Hashes of the blocks of the page, increasing.
    pub blocks: Vec<u64>,
}

impl TextShape {
    pub(crate) fn of(main: &str, mut blocks: Vec<u64>) -> TextShape {
        blocks.sort_unstable();
        blocks.dedup();
        TextShape {
            simhash: duplicates::simhash(main),
            words_count: u32::try_from(duplicates::words_count(main)).unwrap_or(u32::MAX),
            blocks,
        }
    }
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
    /// Text of the link, at most 100 characters; empty where it has none.
    pub anchor: String,
    /// Whether it is named as a sitemap or a feed.
    pub is_list: bool,
}

impl Reading {
    pub(super) fn empty(kind: ReadKind) -> Reading {
        Reading {
            kind,
            document: None,
            text_hash: 0,
            shape: TextShape::default(),
            noindex: false,
            canonical: None,
            is_contradictory: false,
            links: Vec::new(),
            links_dropped: 0,
        }
    }
}

/// Returns a media type in lower case, without parameters.
pub(crate) fn media_type(content_type: &str) -> String {
    let essence = content_type.split([';', ',']).next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

/// Returns the value of the parameter `charset`.
pub(super) fn charset_of(content_type: &str) -> Option<&str> {
    let mut parameters = content_type.split(';').skip(1);
    parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let is_charset = name.trim().eq_ignore_ascii_case("charset");
        is_charset.then(|| value.trim().trim_matches(['"', '\'']))
    })
}

pub(super) fn text_of<'a>(answer: &Answer<'a>) -> std::borrow::Cow<'a, str> {
    charset::decode(answer.body, answer.content_type.and_then(charset_of)).text
}

pub(super) fn header_directives(answer: &Answer<'_>, product_token: &str) -> Directives {
    let tags = answer.robots_tags.iter();
    tags.map(|tag| Directives::from_header(tag, product_token))
        .fold(Directives::default(), Directives::union)
}
