//! Text of `.docx`: paragraphs of the body, then footnotes, endnotes and comments.

use super::flow::Flow;
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
    let mut flow = Flow::into_text(text);
    let (mut paragraphs, mut in_text, mut in_tab_stops) = (0u32, false, false);
    let mut hidden = Hidden::default();
    walk(part, bytes, |node| {
        hidden.pass(&node);
        if hidden.is_hidden() {
            return Ok(());
        }
        match node {
            Node::Start("p", _) => {
                // A paragraph within a paragraph is that of a text box.
                if paragraphs > 0 {
                    flow.begin_aside();
                }
                paragraphs += 1;
            }
            Node::End("p") => {
                paragraphs = paragraphs.saturating_sub(1);
                match paragraphs {
                    0 => flow.end_line()?,
                    _ => flow.end_aside()?,
                }
            }
            // The reading of a word, which stands above it.
            Node::Start("rt", _) => flow.begin_aside(),
            Node::End("rt") => flow.end_aside()?,
            Node::Start("t", _) => in_text = true,
            Node::End("t") => in_text = false,
            Node::Text(words) if in_text => flow.here().push(words)?,
            Node::Start("tabs", _) => in_tab_stops = true,
            Node::End("tabs") => in_tab_stops = false,
            Node::Start("tab" | "ptab", _) if !in_tab_stops && !flow.here().is_at_line() => {
                flow.here().push("\t")?;
            }
            Node::Start("br" | "cr", _) => flow.here().push("\n")?,
            Node::Start("noBreakHyphen", _) => flow.here().push("-")?,
            // What is seen between the words around it: the mark of a note, a drawing.
            Node::Start(
                "footnoteReference" | "endnoteReference" | "drawing" | "pict" | "object",
                _,
            ) => flow.here().part_words(),
            _ => {}
        }
        Ok(())
    })?;
    flow.finish()
}

/// Elements whose text is not part of the document as shown.
///
/// Tracked changes are read as accepted: what was deleted, and the place that text was moved from, is left out. Of
/// alternatives (`AlternateContent`) the first is read, which is the one for new programs; the others say the same.
#[derive(Default)]
struct Hidden {
    /// Deletions and origins of moved text that are open.
    removed: u32,
    /// For each open set of alternatives, whether one was read.
    chosen: Vec<bool>,
    /// For each open alternative, whether it is skipped.
    left_out: Vec<bool>,
}

impl Hidden {
    fn pass(&mut self, node: &Node) {
        match node {
            Node::Start("del" | "moveFrom", _) => self.removed += 1,
            Node::End("del" | "moveFrom") => self.removed = self.removed.saturating_sub(1),
            Node::Start("AlternateContent", _) => self.chosen.push(false),
            Node::End("AlternateContent") => drop(self.chosen.pop()),
            Node::Start("Choice", _) => {
                let was_chosen = match self.chosen.last_mut() {
                    Some(chosen) => std::mem::replace(chosen, true),
                    None => false,
                };
                self.left_out.push(was_chosen);
            }
            Node::Start("Fallback", _) => {
                let was_chosen = self.chosen.last().copied();
                self.left_out.push(was_chosen.unwrap_or(true));
            }
            Node::End("Choice" | "Fallback") => drop(self.left_out.pop()),
            _ => {}
        }
    }

    fn is_hidden(&self) -> bool {
        self.removed > 0 || self.left_out.contains(&true)
    }
}
