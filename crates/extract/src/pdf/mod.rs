//! Text of PDF, page after page, with the title and the author that the file states.

mod lines;
mod rebuilt;

use crate::fault::{Fault, caught};
use crate::item::{Item, Work};
use crate::protocol::TEXT_BYTES_MAX;
use json::Map;
use lines::Lines;
use pdf_extract::{Document, Object, OutputDev, OutputError, output_doc, output_doc_page};
use rebuilt::rebuilt;
use std::io::{self, Write};

/// Upper limit on the pages that are read one by one, each of which costs a walk over all of them.
const SINGLE_PAGES_MAX: usize = 2000;

/// Upper limit on the bytes of a file whose table of objects is rebuilt: it is in memory twice.
const REBUILT_BYTES_MAX: usize = 32 << 20;

/// Reads a PDF. One without any text is bad: nothing could find it. Where the table of its objects leads to no text, the
/// objects are looked for themselves.
pub(crate) fn read(item: &Item, bytes: Vec<u8>, work: &mut Work) -> Result<(), Fault> {
    let kept = (bytes.len() <= REBUILT_BYTES_MAX).then(|| bytes.clone());
    let read = read_as_it_is(item, bytes, work);
    if !matches!(read, Err(Fault::Document(_))) {
        return read;
    }
    match kept.and_then(|bytes| rebuilt(&bytes)) {
        Some(bytes) => match read_as_it_is(item, bytes, work) {
            // What was wrong with the file as it is says more.
            Err(Fault::Document(_)) => read,
            again => again,
        },
        None => read,
    }
}

fn read_as_it_is(item: &Item, bytes: Vec<u8>, work: &mut Work) -> Result<(), Fault> {
    let mut document = Document::load_mem(&bytes)
        .map_err(|error| Fault::bad(format!("the PDF is damaged: {error}")))?;
    drop(bytes);
    // Many files that anybody may read are encrypted with an empty password.
    if document.is_encrypted() && document.decrypt("").is_err() {
        return Err(Fault::bad("the PDF is encrypted"));
    }
    let mut whole = Limited(Vec::new());
    let text = match read_with(&mut whole, |output| output_doc(&document, output)) {
        Ok(()) => whole.0,
        Err(fault) => read_pages(item, &document, fault, work)?,
    };
    let body = tidy(&String::from_utf8_lossy(&text));
    if body.is_empty() {
        return Err(Fault::bad("the PDF has no text; its pages may be images"));
    }
    let mut fields = Map::new();
    for (key, field) in [
        ("Author", "author"),
        ("Subject", "subject"),
        ("Keywords", "keywords"),
    ] {
        if let Some(value) = stated(&document, key.as_bytes()) {
            fields.insert(field.to_owned(), value.into());
        }
    }
    let title = stated(&document, b"Title").unwrap_or_default();
    work.results.document(item.path, title, body, fields)
}

/// Reads a document into `text`. The reader panics on fonts that viewers accept, which is a fault here.
fn read_with(
    text: &mut Limited,
    read: impl FnOnce(&mut dyn OutputDev) -> Result<(), OutputError>,
) -> Result<(), Fault> {
    caught(|| {
        read(&mut Lines::new(text))
            .map_err(|error| Fault::bad(format!("the PDF is damaged: {error}")))
    })
}

/// Reads the pages one by one and reports how many cannot be read. `fault` is that of the whole document, which stays
/// where no page can be read.
fn read_pages(
    item: &Item,
    document: &Document,
    fault: Fault,
    work: &mut Work,
) -> Result<Vec<u8>, Fault> {
    let mut pages = Vec::new();
    caught(|| {
        pages.extend(document.get_pages().into_keys());
        Ok(())
    })?;
    if pages.len() > SINGLE_PAGES_MAX {
        return Err(fault);
    }
    let mut text = Limited(Vec::new());
    let (mut bad, mut first) = (0, None);
    for &number in &pages {
        // A page that fails leaves no half of its text.
        let before = text.0.len();
        // No word goes on beyond a page, nor a divided one, since the page between may be lost.
        let read = text
            .write_all(b"\n\n")
            .map_err(|error| Fault::of(&error, "the text"));
        let read = read.and_then(|()| {
            read_with(&mut text, |output| {
                output_doc_page(document, output, number)
            })
        });
        if let Err(fault) = read {
            text.0.truncate(before);
            bad += 1;
            first.get_or_insert(fault);
        }
    }
    match first {
        Some(Fault::Document(reason)) if bad < pages.len() => {
            let told = format!("{bad} of {} pages cannot be read: {reason}", pages.len());
            work.results.bad(item.path, told)?;
            Ok(text.0)
        }
        Some(_) => Err(fault),
        None => Ok(text.0),
    }
}

/// Text that is held to its limit.
struct Limited(Vec<u8>);

impl Write for Limited {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        if self.0.len() + text.len() > TEXT_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Removes blanks around lines, and joins a word that was divided by a hyphen at the end of a line.
fn tidy(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    for line in text.lines().map(str::trim) {
        if line.is_empty() && (tidied.is_empty() || tidied.ends_with("\n\n")) {
            continue;
        }
        let is_divided = tidied.strip_suffix("-\n").is_some_and(|before| {
            before.ends_with(char::is_lowercase) && line.starts_with(char::is_lowercase)
        });
        if is_divided {
            tidied.truncate(tidied.len() - 2);
        }
        tidied.push_str(line);
        tidied.push('\n');
    }
    tidied.truncate(tidied.trim_end().len());
    tidied
}

/// Returns an entry of the file's information.
fn stated(document: &Document, key: &[u8]) -> Option<String> {
    let information = document.trailer.get(b"Info").ok()?;
    let (_, information) = document.dereference(information).ok()?;
    let (_, value) = document
        .dereference(information.as_dict().ok()?.get(key).ok()?)
        .ok()?;
    let Object::String(bytes, _) = value else {
        return None;
    };
    let text = match bytes.get(..2) {
        Some([0xfe, 0xff]) => {
            let units = bytes[2..]
                .chunks_exact(2)
                .map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
            let decoded = char::decode_utf16(units);
            decoded
                .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect()
        }
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => text.trim_start_matches('\u{feff}').to_owned(),
            Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
        },
    };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divided_words_are_joined_and_hyphens_stay() {
        assert_eq!(
            tidy("\n\n a docu-\nment of Baden-\nBaden\n\n\n\nx-\n1 "),
            "a document of Baden-\nBaden\n\nx-\n1"
        );
    }
}
