//! Articles of a MediaWiki dump: `pages-articles.xml`, compressed or not.
//!
//! ```text
//! <mediawiki> <siteinfo> <base> <page> <title> <ns> <id> [<redirect>] <revision> <timestamp> <text> </page> …
//! ```
//!
//! A document is a page of namespace 0 that is no redirect. Of several revisions the last one counts. Everything else is
//! counted by its kind.

mod markup;
mod tags;
#[cfg(test)]
mod tests;

use crate::ReaderError;
use crate::input::{Input, InputError};
use crate::step::{BadDocument, Place, Step};
use document::Document;
use json::Value;
use quick_xml::Reader;
use quick_xml::events::Event;
use std::io::{self, BufReader, Read};
use std::path::PathBuf;

/// Upper limit on the bytes of one page with its revisions, which are held at a time. It bounds memory.
const PAGE_BYTES_MAX: u64 = 64 << 20;
const BUFFER_BYTES: usize = 128 << 10;
/// Events without a document after which control returns to the caller.
const MEANWHILE_EVENTS: u32 = 4_096;

/// Reader of one dump.
pub(crate) struct WikiDump {
    place: Place,
    xml: Reader<BufReader<Bounded>>,
    buffer: Vec<u8>,
    /// Address of the wiki's pages, which ends in `/`.
    base: String,
    page: Page,
    /// Names of the open elements that matter.
    element: Element,
    in_page: bool,
    in_revision: bool,
    ended: bool,
}

/// Page as far as it was read.
#[derive(Debug, Default)]
struct Page {
    title: String,
    namespace: String,
    id: String,
    timestamp: String,
    text: String,
    is_redirect: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Element {
    Base,
    Title,
    Namespace,
    Id,
    Timestamp,
    Text,
    Other,
}

/// Input that fails where a page is too long.
struct Bounded {
    input: Input,
    page_bytes: u64,
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.page_bytes > PAGE_BYTES_MAX {
            let reason = format!("a page is longer than {PAGE_BYTES_MAX} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        let read = self.input.read(buffer)?;
        self.page_bytes += read as u64;
        Ok(read)
    }
}

impl WikiDump {
    /// Creates a reader of `input`. `name` stands for the file in reasons.
    pub(crate) fn new(name: String, input: Input) -> WikiDump {
        let bounded = Bounded {
            input,
            page_bytes: 0,
        };
        let mut xml = Reader::from_reader(BufReader::with_capacity(BUFFER_BYTES, bounded));
        let config = xml.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        WikiDump {
            place: Place {
                file: name,
                ..Place::default()
            },
            xml,
            buffer: Vec::new(),
            base: String::new(),
            page: Page::default(),
            element: Element::Other,
            in_page: false,
            in_revision: false,
            ended: false,
        }
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Reads to the end of the next page.
    pub(crate) fn next(&mut self) -> Result<Step, ReaderError> {
        if self.ended {
            return Ok(Step::End);
        }
        self.bounded().input.resume();
        let step = self.step();
        let bounded = self.bounded();
        bounded.input.pause();
        self.place.decoded_bytes = self.bounded().input.decoded_bytes();
        step
    }

    fn bounded(&mut self) -> &mut Bounded {
        self.xml.get_mut().get_mut()
    }

    fn step(&mut self) -> Result<Step, ReaderError> {
        for _ in 0..MEANWHILE_EVENTS {
            self.buffer.clear();
            let mut buffer = std::mem::take(&mut self.buffer);
            let event = self.xml.read_event_into(&mut buffer);
            let step = match event {
                Ok(Event::Eof) => {
                    self.ended = true;
                    match self.in_page {
                        true => Some(self.bad("the file ends within a page".to_owned())),
                        false => Some(Step::End),
                    }
                }
                Ok(event) => self.take(event),
                Err(error) => {
                    self.ended = true;
                    return self.explain(error);
                }
            };
            buffer.clear();
            self.buffer = buffer;
            if let Some(step) = step {
                return Ok(step);
            }
        }
        Ok(Step::Meanwhile)
    }

    fn take(&mut self, event: Event<'_>) -> Option<Step> {
        match event {
            Event::Start(start) => self.start(start.local_name().as_ref()),
            Event::Empty(empty) if empty.local_name().as_ref() == "redirect" => {
                self.page.is_redirect = true;
            }
            Event::Text(text) => self.text(&text),
            Event::CData(text) => self.text(&text),
            Event::GeneralRef(reference) => {
                let character = reference.resolve_char_ref().ok().flatten();
                match character {
                    Some(character) => self.text(character.encode_utf8(&mut [0; 4])),
                    None => {
                        let named = quick_xml::escape::resolve_predefined_entity(&reference);
                        self.text(named.unwrap_or(" "));
                    }
                }
            }
            Event::End(end) => {
                self.element = Element::Other;
                match end.local_name().as_ref() {
                    "revision" => self.in_revision = false,
                    "page" if self.in_page => return Some(self.finish_page()),
                    _ => {}
                }
            }
            _ => {}
        }
        None
    }

    fn start(&mut self, name: &str) {
        self.element = match name {
            "page" => {
                // A page that never ended is lost, as is what stands between pages.
                self.in_page = true;
                self.in_revision = false;
                self.page = Page::default();
                self.bounded().page_bytes = 0;
                Element::Other
            }
            "revision" => {
                self.in_revision = true;
                self.page.text.clear();
                self.page.timestamp.clear();
                Element::Other
            }
            "base" if !self.in_page => Element::Base,
            "title" => Element::Title,
            "ns" if self.in_page => Element::Namespace,
            "id" if !self.in_revision => Element::Id,
            "redirect" => {
                self.page.is_redirect = true;
                Element::Other
            }
            "timestamp" if self.in_revision => Element::Timestamp,
            "text" if self.in_revision => Element::Text,
            _ => Element::Other,
        };
    }

    fn text(&mut self, text: &str) {
        let part = match self.element {
            Element::Base => &mut self.base,
            Element::Title => &mut self.page.title,
            Element::Namespace => &mut self.page.namespace,
            Element::Id => &mut self.page.id,
            Element::Timestamp => &mut self.page.timestamp,
            Element::Text => &mut self.page.text,
            Element::Other => return,
        };
        part.push_str(text);
    }

    fn finish_page(&mut self) -> Step {
        self.in_page = false;
        self.bounded().page_bytes = 0;
        let page = std::mem::take(&mut self.page);
        let text_bytes = page.text.len() as u64;
        let namespace = page.namespace.trim();
        if !matches!(namespace, "" | "0") {
            let kind = format!("pages of namespace {}", brief(namespace));
            return Step::NotRead { kind };
        }
        if page.is_redirect || is_redirect(&page.text) {
            return Step::NotRead {
                kind: "redirects".to_owned(),
            };
        }
        let title = page.title.trim().replace('\0', " ");
        if title.is_empty() {
            return self.bad("a page without a title".to_owned());
        }
        let url = address(&self.base, &title);
        if url.len() > document::URL_BYTES_MAX {
            return self.bad(format!("the title {:?} is too long", brief(&title)));
        }
        let mut fields = json::Map::new();
        if !page.timestamp.trim().is_empty() {
            let date = page.timestamp.trim().to_owned();
            fields.insert("date".to_owned(), Value::String(date));
        }
        let id = Some(page.id.trim().to_owned()).filter(|id| !id.is_empty());
        Step::Good {
            document: Document {
                url,
                id,
                title,
                body: markup::plain_text(&page.text).replace('\0', " "),
                fields,
            },
            text_bytes,
        }
    }

    fn bad(&self, reason: String) -> Step {
        let bad = BadDocument {
            file: self.place.file.clone(),
            line: 0,
            reason: format!("byte {}: {reason}", self.xml.buffer_position()),
        };
        Step::Bad { bad, text_bytes: 0 }
    }

    fn explain(&mut self, error: quick_xml::Error) -> Result<Step, ReaderError> {
        let quick_xml::Error::Io(error) = error else {
            return Ok(self.bad(format!(
                "the XML is damaged ({error}); the rest is left out"
            )));
        };
        let error = match std::sync::Arc::try_unwrap(error) {
            Ok(error) => error,
            Err(shared) => io::Error::new(shared.kind(), shared.to_string()),
        };
        if error.kind() == io::ErrorKind::InvalidData && self.bounded().page_bytes > PAGE_BYTES_MAX
        {
            return Ok(self.bad(format!("{error}; the rest is left out")));
        }
        match self.bounded().input.explain(error) {
            InputError::Damaged(reason) => Ok(self.bad(reason)),
            InputError::Beyond(beyond) => Ok(self.bad(beyond.to_string())),
            InputError::Io(source) => Err(ReaderError::Io {
                path: PathBuf::from(&self.place.file),
                source,
            }),
        }
    }
}

/// Returns the address of a page: that of the wiki's first page, up to its name, and the title.
fn address(base: &str, title: &str) -> String {
    let folder = base
        .trim()
        .rfind('/')
        .map_or("wiki:", |end| &base.trim()[..=end]);
    let mut url = folder.to_owned();
    for byte in title.replace(' ', "_").bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~!$'()*,;:@/".contains(&byte) {
            true => url.push(char::from(byte)),
            false => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url
}

fn is_redirect(text: &str) -> bool {
    let beginning: String = text.trim_start().chars().take(12).collect();
    beginning.to_lowercase().starts_with("#redirect")
}

fn brief(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Returns whether the beginning of a file is that of a dump.
pub(crate) fn is_dump(beginning: &[u8]) -> bool {
    memchr::memmem::find(beginning, b"<mediawiki").is_some()
}

/// Returns the documents of a dump, and why the others are none.
#[cfg(test)]
fn read_all(reader: impl Read + Send + 'static) -> Vec<Result<Document, String>> {
    let input = Input::from_reader(reader, &crate::input::Meter::default());
    let mut dump = WikiDump::new("wiki.xml".to_owned(), input);
    let mut found = Vec::new();
    loop {
        match dump.next().expect("an input without errors") {
            Step::Good { document, .. } => found.push(Ok(document)),
            Step::Bad { bad, .. } => found.push(Err(bad.to_string())),
            Step::NotRead { kind } => found.push(Err(kind)),
            Step::End => return found,
            _ => {}
        }
    }
}
