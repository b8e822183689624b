//! Stream of the entries of a sitemap, a sitemap index, a feed or a list of URLs.

use super::entry::{Draft, Entry, Format};
use super::feeds::{Elements, Space};
use super::scope::{in_scope, scope_of};
use super::source::{Shared, Text, valid};
use super::urls;
use jiff::Timestamp;
use quick_xml::NsReader;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::ResolveResult;
use std::io::{self, BufRead, Read};
use std::rc::Rc;
use url::Url;

/// Namespaces of sitemaps that [`Options::strict_namespace`] accepts, without scheme.
const NAMESPACES: [&str; 4] = [
    "www.sitemaps.org/schemas/sitemap/0.9",
    "www.sitemaps.org/schemas/sitemap/0.9/",
    "sitemaps.org/schemas/sitemap/0.9",
    "www.google.com/schemas/sitemap/0.84",
];

/// Options of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Leaves out URLs outside the sitemap's folder, which are counted; else they are only marked.
    pub strict_scope: bool,
    /// Refuses other namespaces than that of sitemaps.
    pub strict_namespace: bool,
    /// Reads on behind a document type. Its entities stand for nothing in any case.
    pub allow_document_type: bool,
    /// Gives extensions with the entries.
    pub extensions: bool,
    /// Limit on the number of entries, 50,000 in the protocol.
    pub entries_max: u64,
    /// Limit on the decoded bytes, 50 MB in the protocol.
    pub bytes_max: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            strict_scope: false,
            strict_namespace: false,
            allow_document_type: false,
            extensions: false,
            entries_max: 50_000,
            bytes_max: 50 << 20,
        }
    }
}

/// Counts of entries read and not read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Entries given.
    pub entries: u64,
    /// Entries beyond the limit.
    pub beyond_limit: u64,
    /// Entries whose address is missing or none.
    pub bad_addresses: u64,
    /// Entries outside the sitemap's folder, given or not.
    pub out_of_scope: u64,
    /// Decoded bytes.
    pub decoded_bytes: u64,
    /// Whether the file is longer than the limit, and its rest was not read.
    pub is_cut: bool,
}

/// Reason why a file, or the rest of it, cannot be read. Entries before stay good.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SitemapError {
    /// Reading or decompressing failed.
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
    /// The file is neither XML of a known kind nor a list of URLs.
    #[error("neither a sitemap nor a feed nor a list of URLs")]
    Unknown,
    /// The file has a document type, which may name outside files.
    #[error("it has a document type, which is refused")]
    DocumentType,
    /// The namespace is not that of sitemaps.
    #[error("the namespace {0:?} is not that of sitemaps")]
    Namespace(String),
    /// The XML is not well-formed; what follows is not read.
    #[error("byte {offset}: the XML is damaged ({what}); the rest is left out")]
    Xml {
        /// Place of the damage in the decoded text.
        offset: u64,
        /// The parser's finding.
        what: String,
    },
}

/// Reader of one file.
pub struct SitemapReader<R: BufRead> {
    body: Body<R>,
    shared: Rc<Shared>,
    folder: Url,
    options: Options,
    counts: Counts,
    ended: bool,
}

enum Body<R: BufRead> {
    Lines(Text<R>),
    Xml(Box<Xml<R>>),
}

struct Xml<R: BufRead> {
    parser: NsReader<Text<R>>,
    buffer: Vec<u8>,
    format: Format,
    elements: Elements,
    /// Damage behind the entry given last.
    failed: Option<SitemapError>,
}

impl<R: BufRead> SitemapReader<R> {
    /// Opens a file that was fetched from `url`. Its content tells its format.
    pub fn new(source: R, url: &Url, options: Options) -> Result<SitemapReader<R>, SitemapError> {
        let (mut text, shared) = Text::new(source, options.bytes_max)?;
        text.skip_space()?;
        let body = match text.fill_buf()?.first() {
            Some(b'<') => Body::Xml(Box::new(Xml::open(text, &shared, &options)?)),
            _ => {
                let line = text.fill_buf()?;
                let line = valid(line).lines().next().unwrap_or("");
                if urls::loc(line).is_none() {
                    return Err(SitemapError::Unknown);
                }
                Body::Lines(text)
            }
        };
        Ok(SitemapReader {
            body,
            shared,
            folder: scope_of(url),
            options,
            counts: Counts::default(),
            ended: false,
        })
    }

    /// Returns the format.
    pub fn format(&self) -> Format {
        match &self.body {
            Body::Lines(_) => Format::Text,
            Body::Xml(xml) => xml.format,
        }
    }

    /// Returns the date of a feed itself, as far as read.
    pub fn lastmod(&self) -> Option<Timestamp> {
        match &self.body {
            Body::Lines(_) => None,
            Body::Xml(xml) => xml.elements.feed_date(),
        }
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> Counts {
        Counts {
            decoded_bytes: self.shared.decoded_bytes.get(),
            is_cut: self.shared.is_cut.get(),
            ..self.counts
        }
    }

    /// Returns the next entry; `None` at the end. After an error the reader is at its end, and the entry that damaged
    /// XML leaves open is given before the error.
    #[expect(clippy::should_implement_trait, reason = "the source may fail")]
    pub fn next(&mut self) -> Result<Option<Entry>, SitemapError> {
        while !self.ended {
            let draft = match &mut self.body {
                Body::Lines(text) => next_line(text, &self.shared),
                Body::Xml(xml) => xml.next(&self.shared, &self.options),
            };
            self.ended = !matches!(draft, Ok(Some(_)));
            let Some(draft) = draft? else {
                break;
            };
            if let Some(entry) = self.checked(draft) {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    /// Returns the entry where its address and the limits allow.
    fn checked(&mut self, draft: Draft) -> Option<Entry> {
        let Some(mut entry) = draft.entry() else {
            self.counts.bad_addresses += 1;
            return None;
        };
        entry.in_scope = self.format() == Format::Index || in_scope(&self.folder, &entry.loc);
        self.counts.out_of_scope += u64::from(!entry.in_scope);
        if self.options.strict_scope && !entry.in_scope {
            return None;
        }
        if self.counts.entries == self.options.entries_max {
            self.counts.beyond_limit += 1;
            return None;
        }
        self.counts.entries += 1;
        Some(entry)
    }
}

fn next_line(
    text: &mut Text<impl BufRead>,
    shared: &Shared,
) -> Result<Option<Draft>, SitemapError> {
    loop {
        shared.next_token();
        let mut line = Vec::new();
        let bounded = &mut text.take(urls::LOC_BYTES_MAX as u64 + 64);
        if bounded.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        // The rest of a line that is too long for an address.
        while !line.ends_with(b"\n") {
            let buffer = text.fill_buf()?;
            if buffer.is_empty() {
                break;
            }
            let end = memchr::memchr(b'\n', buffer).map(|end| end + 1);
            let taken = end.unwrap_or(buffer.len());
            text.consume(taken);
            shared.next_token();
            if end.is_some() {
                break;
            }
        }
        let loc = String::from_utf8_lossy(&line).trim().to_owned();
        if !loc.is_empty() {
            return Ok(Some(Draft {
                loc,
                ..Draft::default()
            }));
        }
    }
}

impl<R: BufRead> Xml<R> {
    /// Reads to the first element, which tells the format.
    fn open(text: Text<R>, shared: &Shared, options: &Options) -> Result<Xml<R>, SitemapError> {
        let mut parser = NsReader::from_reader(text);
        let config = parser.config_mut();
        config.expand_empty_elements = true;
        config.allow_dangling_amp = true;
        let mut buffer = Vec::new();
        let format = loop {
            buffer.clear();
            shared.next_token();
            let position = parser.buffer_position();
            let (space, event) = match parser.read_resolved_event_into(&mut buffer) {
                Ok(event) => event,
                Err(error) => return Err(xml_error(error, position, shared)),
            };
            match event {
                Event::DocType(_) if !options.allow_document_type => {
                    return Err(SitemapError::DocumentType);
                }
                Event::Start(start) => {
                    let format = match start.local_name().as_ref() {
                        "urlset" => Format::Sitemap,
                        "sitemapindex" => Format::Index,
                        "rss" | "RDF" => Format::Rss,
                        "feed" => Format::Atom,
                        _ => return Err(SitemapError::Unknown),
                    };
                    if options.strict_namespace {
                        check_namespace(&space, format)?;
                    }
                    break format;
                }
                Event::Eof => return Err(SitemapError::Unknown),
                _ => {}
            }
        };
        Ok(Xml {
            parser,
            buffer,
            format,
            elements: Elements::new(format, options.extensions),
            failed: None,
        })
    }

    fn next(&mut self, shared: &Shared, options: &Options) -> Result<Option<Draft>, SitemapError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        loop {
            self.buffer.clear();
            if self.buffer.capacity() > 64 << 10 {
                self.buffer.shrink_to(16 << 10);
            }
            shared.next_token();
            let position = self.parser.buffer_position();
            let (space, event) = match self.parser.read_resolved_event_into(&mut self.buffer) {
                Ok(event) => event,
                Err(error) => {
                    let error = xml_error(error, position, shared);
                    return match self.elements.finish(true) {
                        Some(draft) => {
                            self.failed = Some(error);
                            Ok(Some(draft))
                        }
                        None => Err(error),
                    };
                }
            };
            let draft = match event {
                Event::Start(start) => {
                    let space = match space {
                        ResolveResult::Bound(name) => Space::of(name.as_ref(), false),
                        ResolveResult::Unbound => Space::Own,
                        ResolveResult::Unknown(prefix) => Space::of(&prefix, true),
                    };
                    let name = start.local_name();
                    let name = name.as_ref();
                    self.elements.start(space, name, || attributes(&start))
                }
                Event::End(_) => self.elements.end(),
                Event::Text(text) => {
                    self.elements.text(text.as_ref());
                    None
                }
                Event::CData(text) => {
                    self.elements.text(text.as_ref());
                    None
                }
                Event::GeneralRef(name) => {
                    let named = match name.resolve_char_ref() {
                        Ok(Some(c)) => Some(c),
                        _ => named_character(name.as_ref()),
                    };
                    if let Some(c) = named {
                        self.elements.text(c.encode_utf8(&mut [0; 4]));
                    }
                    None
                }
                Event::DocType(_) if !options.allow_document_type => {
                    return Err(SitemapError::DocumentType);
                }
                // A file that is cut at a limit ends inside a text.
                Event::Eof => return Ok(self.elements.finish(false)),
                _ => None,
            };
            if draft.is_some() {
                return Ok(draft);
            }
        }
    }
}

fn check_namespace(space: &ResolveResult<'_>, format: Format) -> Result<(), SitemapError> {
    let name = match space {
        ResolveResult::Bound(name) => name.as_ref(),
        _ => "",
    };
    let bare = name
        .strip_prefix("http://")
        .or(name.strip_prefix("https://"));
    let is_known = bare.is_some_and(|bare| NAMESPACES.contains(&bare));
    if is_known || matches!(format, Format::Rss | Format::Atom) {
        Ok(())
    } else {
        Err(SitemapError::Namespace(name.to_owned()))
    }
}

fn attributes(start: &BytesStart<'_>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for attribute in start
        .html_attributes()
        .with_checks(false)
        .flatten()
        .take(32)
    {
        let key = attribute.key.local_name().as_ref().to_owned();
        let raw = &*attribute.value;
        let value =
            quick_xml::escape::unescape(raw).map_or(raw.to_owned(), |text| text.into_owned());
        found.push((key, value));
    }
    found
}

/// Returns the character of a predefined entity. Entities that the file defines stand for nothing.
fn named_character(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "apos" => '\'',
        "quot" => '"',
        _ => return None,
    })
}

fn xml_error(error: quick_xml::Error, offset: u64, shared: &Shared) -> SitemapError {
    match error {
        quick_xml::Error::Io(error) if !shared.token_is_long() => {
            SitemapError::Io(io::Error::new(error.kind(), error.to_string()))
        }
        error => SitemapError::Xml {
            offset,
            what: error.to_string(),
        },
    }
}
