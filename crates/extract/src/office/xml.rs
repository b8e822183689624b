//! Events of an XML text: starts and ends of elements by their local names, and text with references resolved.
//!
//! Entities that a document declares are not expanded, so they cannot grow.

use crate::fault::Fault;
use crate::protocol::TEXT_BYTES_MAX;
use quick_xml::events::{BytesStart, Event};

/// Event of a walk. An empty element is a start and an end.
pub(super) enum Node<'a> {
    Start(&'a str, Attributes<'a>),
    End(&'a str),
    Text(&'a str),
}

/// Attributes of an element.
pub(super) struct Attributes<'a>(&'a BytesStart<'a>);

impl Attributes<'_> {
    /// Returns the value of the first attribute with this local name.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        self.all(name).into_iter().next()
    }

    /// Returns the values of the attributes with this local name, in any name space.
    pub(super) fn all(&self, name: &str) -> Vec<String> {
        let mut attributes = self.0.attributes();
        let found = attributes
            .with_checks(false)
            .flatten()
            .filter(|one| one.key.local_name().as_ref() == name);
        found
            .map(|one| {
                let value = &*one.value;
                let unescaped = quick_xml::escape::unescape(value);
                unescaped.map_or_else(|_| value.to_owned(), |value| value.into_owned())
            })
            .collect()
    }
}

/// Decodes XML: UTF-8, or UTF-16 with a byte order mark.
fn decode(bytes: &[u8]) -> String {
    let unit: fn([u8; 2]) -> u16 = match bytes.get(..2) {
        Some([0xff, 0xfe]) => u16::from_le_bytes,
        Some([0xfe, 0xff]) => u16::from_be_bytes,
        _ => {
            let text = String::from_utf8_lossy(bytes);
            return text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
        }
    };
    let units = bytes[2..]
        .chunks_exact(2)
        .map(|pair| unit([pair[0], pair[1]]));
    let decoded = char::decode_utf16(units);
    decoded
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

/// Walks over the XML of a part. `part` names it where it is damaged.
pub(super) fn walk(
    part: &str,
    bytes: &[u8],
    mut visit: impl FnMut(Node) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let text = decode(bytes);
    let mut reader = quick_xml::Reader::from_str(&text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    loop {
        let event = reader
            .read_event()
            .map_err(|error| Fault::bad(format!("{part} is damaged: {error}")))?;
        match event {
            Event::Start(start) => {
                visit(Node::Start(start.local_name().as_ref(), Attributes(&start)))?;
            }
            Event::Empty(start) => {
                visit(Node::Start(start.local_name().as_ref(), Attributes(&start)))?;
                visit(Node::End(start.local_name().as_ref()))?;
            }
            Event::End(end) => visit(Node::End(end.local_name().as_ref()))?,
            Event::Text(text) => visit(Node::Text(&text.xml10_content()))?,
            Event::CData(text) => visit(Node::Text(&text.xml10_content()))?,
            Event::GeneralRef(reference) => {
                let resolved = reference.resolve_char_ref().ok().flatten();
                let name = reference.xml10_content();
                let named = quick_xml::escape::resolve_predefined_entity(&name);
                match resolved {
                    Some(c) => visit(Node::Text(c.encode_utf8(&mut [0; 4])))?,
                    None => visit(Node::Text(named.unwrap_or(" ")))?,
                }
            }
            Event::Eof => return Ok(()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

/// Text of a document as it is gathered, held to its limit.
#[derive(Debug, Default)]
pub(super) struct Text {
    words: String,
    /// Whether the next word is another one, whatever stands before it.
    parts_words: bool,
}

impl Text {
    /// Appends text.
    pub(super) fn push(&mut self, text: &str) -> Result<(), Fault> {
        // One byte more for the blank that may come before.
        if self.words.len() + text.len() + 1 > TEXT_BYTES_MAX {
            return Err(Fault::bad(format!(
                "more than {TEXT_BYTES_MAX} bytes of text"
            )));
        }
        if let (true, Some(first)) = (self.parts_words, text.chars().next()) {
            self.parts_words = false;
            if first.is_alphanumeric() && self.words.ends_with(char::is_alphanumeric) {
                self.words.push(' ');
            }
        }
        self.words.push_str(text);
        Ok(())
    }

    /// Parts the word before from the one that follows. No blank comes before a comma.
    pub(super) fn part_words(&mut self) {
        self.parts_words = true;
    }

    /// Ends a line, unless it is empty and follows an empty one.
    pub(super) fn end_line(&mut self) -> Result<(), Fault> {
        let words = &mut self.words;
        words.truncate(words.trim_end_matches([' ', '\t']).len());
        match words.is_empty() || words.ends_with("\n\n") {
            true => Ok(()),
            false => self.push("\n"),
        }
    }

    /// Returns whether the last character is the end of a line, or there is none.
    pub(super) fn is_at_line(&self) -> bool {
        self.words.is_empty() || self.words.ends_with('\n')
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    pub(super) fn as_str(&self) -> &str {
        &self.words
    }

    /// Returns the whole text without blanks at its end.
    pub(super) fn finish(mut self) -> String {
        self.words.truncate(self.words.trim_end().len());
        self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(xml: &[u8]) -> Result<String, Fault> {
        let mut said = String::new();
        walk("x.xml", xml, |node| {
            match node {
                Node::Start(name, attributes) => {
                    let value = attributes.get("v").unwrap_or_default();
                    said.push_str(&format!("<{name} {value}>"));
                }
                Node::End(name) => said.push_str(&format!("</{name}>")),
                Node::Text(text) => said.push_str(text),
            }
            Ok(())
        })?;
        Ok(said)
    }

    #[test]
    fn references_are_resolved_and_entities_are_not_expanded() {
        let xml = b"<!DOCTYPE a [<!ENTITY b 'bbb'>]><w:a w:v='1 &amp; 2'>x &lt;&#228;&#x1F331;&b;<c/></w:a>";
        assert_eq!(walked(xml).unwrap(), "<a 1 & 2>x <ä\u{1F331} <c ></c></a>");
    }

    #[test]
    fn utf_16_is_decoded_and_damage_is_named() {
        let xml: Vec<u8> = "\u{feff}<a>é</a>"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(walked(&xml).unwrap(), "<a >é</a>");
        let Err(Fault::Document(reason)) = walked(b"<a><!-- x") else {
            panic!()
        };
        assert!(reason.starts_with("x.xml is damaged"), "{reason}");
    }
}
