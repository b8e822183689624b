//! Flow of paragraphs, with what stands within or above them on lines of its own: notes, comments, text boxes, readings.
//!
//! ```text
//! <p>rather<note><p>aside</p></note> difficult</p>     rather difficult
//!                                                      aside
//! ```
//!
//! The words around an aside stay together, and those of the aside follow the line that it is in.

use super::xml::Text;
use crate::fault::Fault;

/// Text of a document as it is gathered, with the asides that are open.
pub(super) struct Flow<'t> {
    text: &'t mut Text,
    /// Open asides, the innermost last.
    asides: Vec<Text>,
    /// Asides that have ended, a line each; they follow the line that is open.
    waiting: Text,
}

impl<'t> Flow<'t> {
    /// Returns a flow that continues `text`.
    pub(super) fn into_text(text: &'t mut Text) -> Flow<'t> {
        Flow {
            text,
            asides: Vec::new(),
            waiting: Text::default(),
        }
    }

    /// Returns the text of the innermost aside, or that of the document.
    pub(super) fn here(&mut self) -> &mut Text {
        self.asides.last_mut().unwrap_or(self.text)
    }

    /// Begins an aside: the following text does not continue the words before.
    pub(super) fn begin_aside(&mut self) {
        self.asides.push(Text::default());
    }

    /// Ends the innermost aside.
    pub(super) fn end_aside(&mut self) -> Result<(), Fault> {
        let words = self.asides.pop().map(Text::finish).unwrap_or_default();
        if words.is_empty() {
            return Ok(());
        }
        self.waiting.push(&words)?;
        self.waiting.end_line()
    }

    /// Ends a line; asides of a line of the document follow it.
    pub(super) fn end_line(&mut self) -> Result<(), Fault> {
        self.here().end_line()?;
        if !self.asides.is_empty() || self.waiting.len() == 0 {
            return Ok(());
        }
        let words = std::mem::take(&mut self.waiting).finish();
        self.text.push(&words)?;
        self.text.end_line()
    }

    /// Ends the flow: what is open ends, also in a damaged document.
    pub(super) fn finish(mut self) -> Result<(), Fault> {
        while !self.asides.is_empty() {
            self.end_aside()?;
        }
        match self.waiting.len() {
            0 => Ok(()),
            _ => self.end_line(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asides_follow_their_line_and_part_no_words() {
        let mut text = Text::default();
        let mut flow = Flow::into_text(&mut text);
        flow.here().push("ra").unwrap();
        flow.begin_aside();
        flow.here().push("outer").unwrap();
        flow.begin_aside();
        flow.here().push("inner").unwrap();
        flow.end_aside().unwrap();
        flow.here().push("most").unwrap();
        flow.end_aside().unwrap();
        flow.here().push("ther").unwrap();
        flow.end_line().unwrap();
        flow.here().push("next").unwrap();
        flow.begin_aside();
        flow.here().push("open").unwrap();
        flow.finish().unwrap();
        assert_eq!(text.finish(), "rather\ninner\noutermost\nnext\nopen");
    }
}
