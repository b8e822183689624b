//! Lines of PDF pages: blanks and line ends between pieces of text, by where the pieces stand.
//!
//! ```text
//! piece piece      the next begins where the last ended                  one word
//! piece  piece     a gap along the baseline                              a blank
//! piece            back over the last piece, or to another baseline      a line end
//!   piece
//! ─── page ───     another page, wherever its first piece stands         a line end
//! ```
//!
//! A PDF places pieces of text (runs of one font, often parts of words) and says nothing of words and lines. Distances are
//! measured along and across the baseline of the piece before, so turned text is read as upright text is.

use pdf_extract::{MediaBox, OutputDev, OutputError, Transform};
use std::io::Write;

/// Gap along the baseline that parts two words, in heights of the font.
const BLANK_GAP: f64 = 0.1;
/// Overlap with the last character that is still beside it: accents are drawn over their letters.
const OVERLAP: f64 = 0.15;
/// Distance across the baseline from which on a piece that stands further left begins a line.
const LINE_DISTANCE: f64 = 0.5;
/// Distance across the baseline from which on any piece begins a line.
const FAR_DISTANCE: f64 = 1.5;
/// Least cosine between two baselines that have the same direction.
const SAME_DIRECTION: f64 = 0.9;

/// Writes the text of pages.
pub(super) struct Lines<W> {
    out: W,
    last: Option<Glyph>,
    begins_piece: bool,
    is_empty: bool,
}

/// Place of a character on its page.
#[derive(Debug, Clone, Copy)]
struct Glyph {
    start: Vector,
    end: Vector,
    /// Unit vector along the baseline.
    direction: Vector,
    height: f64,
}

#[derive(Debug, Clone, Copy)]
struct Vector(f64, f64);

impl Vector {
    fn to(self, other: Vector) -> Vector {
        Vector(other.0 - self.0, other.1 - self.1)
    }

    fn dot(self, other: Vector) -> f64 {
        self.0 * other.0 + self.1 * other.1
    }

    fn cross(self, other: Vector) -> f64 {
        self.0 * other.1 - self.1 * other.0
    }
}

impl Glyph {
    fn placed(matrix: &Transform, width: f64, font_size: f64) -> Glyph {
        let baseline = Vector(matrix.m11 * font_size, matrix.m12 * font_size);
        let length = baseline.dot(baseline).sqrt();
        let direction = match length > 0.0 {
            true => Vector(baseline.0 / length, baseline.1 / length),
            false => Vector(1.0, 0.0),
        };
        let area = matrix.m11 * matrix.m22 - matrix.m12 * matrix.m21;
        let start = Vector(matrix.m31, matrix.m32);
        Glyph {
            start,
            end: Vector(start.0 + baseline.0 * width, start.1 + baseline.1 * width),
            direction,
            height: area.abs().sqrt() * font_size.abs(),
        }
    }

    /// Returns the white space between this character and `next`, which begins a piece.
    fn gap_to(&self, next: &Glyph) -> &'static str {
        let height = next.height;
        let moved = self.end.to(next.start);
        let along = self.direction.dot(moved);
        let across = self.direction.cross(moved).abs();
        let is_back = along < 0.0;
        match () {
            () if self.direction.dot(next.direction) < SAME_DIRECTION => "\n",
            () if across > FAR_DISTANCE * height && is_back => "\n\n",
            () if across > FAR_DISTANCE * height && along > BLANK_GAP * height => "\n ",
            () if across > FAR_DISTANCE * height => "\n",
            () if across > LINE_DISTANCE * height && is_back => "\n",
            () if along > BLANK_GAP * height => " ",
            () if self.is_left_behind(next) => "\n",
            () => "",
        }
    }

    /// Returns whether `next`, at the same height, stands before this character and not beside it.
    fn is_left_behind(&self, next: &Glyph) -> bool {
        let back = self.direction.dot(next.start.to(self.start));
        // Text from right to left is placed character by character, each to the left of the last.
        let left_gap = self.direction.dot(next.end.to(self.start));
        back > OVERLAP * next.height && left_gap.abs() > OVERLAP * next.height
    }
}

impl<W: Write> Lines<W> {
    pub(super) fn new(out: W) -> Lines<W> {
        Lines {
            out,
            last: None,
            begins_piece: false,
            is_empty: true,
        }
    }
}

impl<W: Write> OutputDev for Lines<W> {
    fn begin_page(
        &mut self,
        _number: u32,
        _media_box: &MediaBox,
        _art_box: Option<(f64, f64, f64, f64)>,
    ) -> Result<(), OutputError> {
        self.last = None;
        if !self.is_empty {
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn output_character(
        &mut self,
        matrix: &Transform,
        width: f64,
        _spacing: f64,
        font_size: f64,
        character: &str,
    ) -> Result<(), OutputError> {
        let glyph = Glyph::placed(matrix, width, font_size);
        if self.begins_piece
            && let Some(last) = &self.last
        {
            self.out.write_all(last.gap_to(&glyph).as_bytes())?;
        }
        self.out.write_all(character.as_bytes())?;
        self.begins_piece = false;
        self.is_empty = false;
        self.last = Some(glyph);
        Ok(())
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        self.begins_piece = true;
        Ok(())
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A character of width 0.5 in a font of 10 at a place, its baseline turned by degrees.
    fn at(x: f64, y: f64, degrees: f64) -> Glyph {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let turned = Vector(x * cos - y * sin, x * sin + y * cos);
        let matrix = Transform {
            m11: cos,
            m12: sin,
            m21: -sin,
            m22: cos,
            m31: turned.0,
            m32: turned.1,
            ..Transform::identity()
        };
        Glyph::placed(&matrix, 0.5, 10.0)
    }

    #[test]
    fn distances_decide_in_any_direction() {
        for degrees in [0.0, 45.0, 90.0, 180.0, -90.0] {
            let first = at(100.0, 100.0, degrees);
            for (x, y, gap) in [
                (105.0, 100.0, ""),
                (105.5, 100.0, ""),
                (107.0, 100.0, " "),
                // An exponent.
                (105.0, 104.0, ""),
                // An accent and its letter.
                (100.0, 100.0, ""),
                // Text from right to left.
                (95.0, 100.0, ""),
                // Another column, written later.
                (20.0, 100.0, "\n"),
                (20.0, 88.0, "\n"),
                (20.0, 70.0, "\n\n"),
                (105.5, 70.0, "\n"),
            ] {
                let found = first.gap_to(&at(x, y, degrees));
                assert_eq!(found, gap, "({x}, {y}) turned by {degrees}");
            }
        }
        assert_eq!(at(0.0, 0.0, 0.0).gap_to(&at(5.0, 0.0, 90.0)), "\n");
    }
}
