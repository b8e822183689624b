//! Text of `.odt`, `.odp` and `.ods`: paragraphs and headings in their order.

use super::package::Package;
use super::xml::{Node, Text, walk};
use crate::fault::Fault;
use crate::item::{Item, Work};

/// Reads a document of LibreOffice and others.
pub(crate) fn read_open_document(
    item: &Item,
    bytes: Vec<u8>,
    work: &mut Work,
) -> Result<(), Fault> {
    let mut package = Package::open(bytes, &work.budget)?;
    if is_encrypted(&mut package)? {
        return Err(Fault::bad("the document is encrypted"));
    }
    let content = package.needed("content.xml")?;
    let mut text = Text::default();
    append_content(&content, &mut text)?;
    let properties = package.properties("meta.xml")?;
    let (title, fields) = (properties.title, properties.fields);
    work.results
        .document(item.path, title, text.finish(), fields)
}

/// Returns whether parts of the package are encrypted, by its manifest.
fn is_encrypted(package: &mut Package) -> Result<bool, Fault> {
    const MANIFEST: &str = "META-INF/manifest.xml";
    let Some(manifest) = package.part(MANIFEST)? else {
        return Ok(false);
    };
    let mut is_encrypted = false;
    let walked = walk(MANIFEST, &manifest, |node| {
        is_encrypted |= matches!(node, Node::Start("encryption-data", _));
        Ok(())
    });
    // A damaged manifest takes nothing from the text.
    drop(walked);
    Ok(is_encrypted)
}

/// Appends the paragraphs. Repeated cells are one: a row can repeat a million of them.
fn append_content(bytes: &[u8], text: &mut Text) -> Result<(), Fault> {
    let (mut paragraphs, mut deleted, mut in_cell) = (0u32, false, false);
    walk("content.xml", bytes, |node| {
        match node {
            Node::Start("tracked-changes", _) => deleted = true,
            Node::End("tracked-changes") => deleted = false,
            _ if deleted => {}
            Node::Start("table-cell", _) => in_cell = true,
            Node::End("table-cell") => in_cell = false,
            Node::End("table-row") => text.end_line()?,
            Node::Start("p" | "h", _) => {
                if in_cell && !text.is_at_line() {
                    text.push("\t")?;
                }
                paragraphs += 1;
            }
            Node::End("p" | "h") => {
                paragraphs = paragraphs.saturating_sub(1);
                if !in_cell {
                    text.end_line()?;
                }
            }
            Node::Start("tab" | "s", _) => text.push(" ")?,
            Node::Start("line-break", _) => text.push("\n")?,
            Node::Text(words) if paragraphs > 0 => append_collapsed(words, text)?,
            _ => {}
        }
        Ok(())
    })
}

/// Appends words with one blank for any number of blanks, as these documents define it.
fn append_collapsed(words: &str, text: &mut Text) -> Result<(), Fault> {
    let mut pieces = words.split([' ', '\t', '\r', '\n']).peekable();
    while let Some(piece) = pieces.next() {
        text.push(piece)?;
        let is_blank_wanted = !text.is_at_line() && !text.as_str().ends_with(' ');
        if pieces.peek().is_some() && is_blank_wanted {
            text.push(" ")?;
        }
    }
    Ok(())
}
