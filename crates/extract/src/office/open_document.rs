//! Text of `.odt`, `.odp` and `.ods`: paragraphs and headings in their order.

use super::flow::Flow;
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

/// Elements within a paragraph that hold paragraphs of their own: notes, comments, drawings with text.
const CONTAINERS: [&str; 15] = [
    "annotation",
    "note",
    "frame",
    "custom-shape",
    "caption",
    "circle",
    "connector",
    "control",
    "ellipse",
    "g",
    "line",
    "path",
    "polygon",
    "polyline",
    "rect",
];

/// Appends the paragraphs. Repeated cells are one: a row can repeat a million of them.
fn append_content(bytes: &[u8], text: &mut Text) -> Result<(), Fault> {
    let mut content = Content {
        flow: Flow::into_text(text),
        paragraphs: 0,
        cells: 0,
        containers: Vec::new(),
        descriptions: 0,
        annotations: 0,
        is_deleted: false,
    };
    walk("content.xml", bytes, |node| content.pass(&node))?;
    content.flow.finish()
}

/// State of a walk over the content.
struct Content<'t> {
    flow: Flow<'t>,
    /// Open paragraphs, one within the other.
    paragraphs: u32,
    cells: u32,
    /// Paragraphs that were open where each open container began.
    containers: Vec<u32>,
    descriptions: u32,
    annotations: u32,
    is_deleted: bool,
}

impl Content<'_> {
    fn pass(&mut self, node: &Node) -> Result<(), Fault> {
        match *node {
            Node::Start("tracked-changes", _) => self.is_deleted = true,
            Node::End("tracked-changes") => self.is_deleted = false,
            _ if self.is_deleted => {}
            Node::Start("table-cell" | "covered-table-cell", _) => self.cells += 1,
            Node::End("table-cell" | "covered-table-cell") => {
                self.cells = self.cells.saturating_sub(1);
            }
            Node::End("table-row") if self.paragraphs == 0 => self.flow.end_line()?,
            Node::Start("p" | "h", _) => self.begin_paragraph()?,
            Node::End("p" | "h") => self.end_paragraph()?,
            // The reading of a word, which stands above it.
            Node::Start("ruby-text", _) => self.flow.begin_aside(),
            Node::End("ruby-text") => self.flow.end_aside()?,
            Node::Start("title" | "desc", _) if self.is_outside_of_text() => {
                self.descriptions += 1;
                self.flow.begin_aside();
            }
            Node::End("title" | "desc") if self.descriptions > 0 => {
                self.descriptions -= 1;
                self.flow.end_aside()?;
            }
            Node::Start(name, _) if CONTAINERS.contains(&name) => self.begin_container(name),
            Node::End(name) if CONTAINERS.contains(&name) => {
                self.containers.pop();
                self.annotations -= u32::from(name == "annotation" && self.annotations > 0);
            }
            Node::Start("tab" | "s", _) if self.is_text() => self.flow.here().push(" ")?,
            Node::Start("line-break", _) if self.is_text() => self.flow.here().push("\n")?,
            Node::Text(words) if self.is_text() => append_collapsed(words, self.flow.here())?,
            _ => {}
        }
        Ok(())
    }

    /// Returns whether text is that of a paragraph, or describes a drawing. What else a container holds is the number of a
    /// note, or who wrote a comment and when.
    fn is_text(&self) -> bool {
        let outer = self.containers.last().copied().unwrap_or(0);
        self.paragraphs > outer || self.descriptions > 0
    }

    fn is_outside_of_text(&self) -> bool {
        let outer = self.containers.last();
        outer.is_some_and(|outer| self.paragraphs == *outer)
    }

    /// Returns whether a paragraph that begins, or has ended, is no part of the document's own flow.
    fn is_aside(&self) -> bool {
        self.paragraphs > 0 || self.annotations > 0
    }

    fn begin_paragraph(&mut self) -> Result<(), Fault> {
        if self.is_aside() {
            self.flow.begin_aside();
        } else if self.cells > 0 && !self.flow.here().is_at_line() {
            self.flow.here().push("\t")?;
        }
        self.paragraphs += 1;
        Ok(())
    }

    fn end_paragraph(&mut self) -> Result<(), Fault> {
        self.paragraphs = self.paragraphs.saturating_sub(1);
        if self.is_aside() {
            self.flow.end_aside()
        } else if self.cells == 0 {
            self.flow.end_line()
        } else {
            Ok(())
        }
    }

    fn begin_container(&mut self, name: &str) {
        match name {
            // Where a comment is anchored, nothing is seen.
            "annotation" => self.annotations += 1,
            _ if self.paragraphs > 0 => self.flow.here().part_words(),
            _ => {}
        }
        self.containers.push(self.paragraphs);
    }
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
