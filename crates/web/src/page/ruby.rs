//! Readings above words: `ruby`, whose readings are no part of the line that they stand above.
//!
//! ```text
//! <ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rt>じ</rt></ruby>の本     漢字の本
//!                                                                       かんじ
//! ```
//!
//! The readings of a block follow it as its last line, those of one `ruby` as one word. End tags of readings may be left out.

use super::tags::Tag;
use super::text::push_collapsed;

/// Readings of a block.
#[derive(Debug, Default)]
pub(super) struct Readings {
    text: String,
    place: Place,
}

/// Part of a ruby annotation that the next text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Place {
    #[default]
    Line,
    Reading,
    /// Parentheses around a reading, for browsers that do not know ruby.
    Parenthesis,
}

impl Readings {
    /// Takes a start or an end tag.
    pub(super) fn tag(&mut self, tag: Tag, starts: bool) {
        self.place = match (tag, starts) {
            (Tag::Rt | Tag::Rtc, true) => Place::Reading,
            (Tag::Rp, true) => Place::Parenthesis,
            (Tag::Rb | Tag::Rp | Tag::Rt | Tag::Rtc, _) => Place::Line,
            (Tag::Ruby, _) => {
                if !self.text.is_empty() && !self.text.ends_with(' ') {
                    self.text.push(' ');
                }
                Place::Line
            }
            _ => return,
        };
    }

    /// Takes text that is no part of the line; returns whether it took it.
    pub(super) fn take(&mut self, text: &str) -> bool {
        match self.place {
            Place::Line => return false,
            Place::Reading => push_collapsed(&mut self.text, 0, text),
            Place::Parenthesis => {}
        }
        true
    }

    /// Returns the readings of a block that ends.
    pub(super) fn finish(&mut self) -> String {
        let readings = std::mem::take(self).text;
        readings.trim_end().to_owned()
    }
}
