//! Text of `.docx`: paragraphs of the body, then footnotes, endnotes and comments.

use super::package::{Package, resolved};
use super::xml::{Node, Text, walk};
use crate::fault::Fault;
use crate::item::{Item, Work};

/// Reads a text document.
pub(crate) fn read_word(item: &Item, bytes: Vec<u8>, work: &mut Work) -> Result<(), Fault> {
    let mut package = Package::open(bytes, &work.budget)?;
    let main = package.main_part("word/document.xml")?;
    let folder = main.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut text = Text::default();
    let body = package.needed(&main)?;
    append_paragraphs(&main, &body, &mut text)?;
    for notes in ["footnotes.xml", "endnotes.xml", "comments.xml"] {
        let name = resolved(folder, notes);
        if let Some(bytes) = package.part(&name)? {
            append_paragraphs(&name, &bytes, &mut text)?;
        }
    }
    let properties = package.properties("docProps/core.xml")?;
    let body = text.finish();
    let document = (properties.title, body, properties.fields);
    work.results
        .document(item.path, document.0, document.1, document.2)
}

/// Appends the paragraphs of WordprocessingML or DrawingML: text is in elements `t` alone.
pub(super) fn append_paragraphs(part: &str, bytes: &[u8], text: &mut Text) -> Result<(), Fault> {
    let mut in_text = false;
    // What old programs show instead of the same text.
    let mut fallbacks = 0u32;
    walk(part, bytes, |node| {
        match node {
            Node::Start("Fallback", _) => fallbacks += 1,
            Node::End("Fallback") => fallbacks = fallbacks.saturating_sub(1),
            _ if fallbacks > 0 => {}
            Node::Start("t", _) => in_text = true,
            Node::End("t") => in_text = false,
            Node::Text(words) if in_text => text.push(words)?,
            Node::Start("tab", _) if !text.is_at_line() => text.push("\t")?,
            Node::Start("br" | "cr", _) => text.push("\n")?,
            Node::Start("noBreakHyphen", _) => text.push("-")?,
            Node::End("p") => text.end_line()?,
            _ => {}
        }
        Ok(())
    })
}
