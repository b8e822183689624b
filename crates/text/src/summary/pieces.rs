//! Pieces of a long text, in which several threads find matches beside each other.
//!
//! ```text
//! text     Nothing is said here about it.  The apple is red and round.
//! pieces   └──────────────┘└─────────────────┘└──────────────────────┘   from blank to blank
//! ```
//!
//! No word crosses a blank between ASCII characters, so the matches of all pieces are those of the text.

use super::input::Match;
use super::{Summary, SummaryQuery};
use crate::standard::separates;
use std::ops::Range;

/// Matches in a piece of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PieceMatches(pub(super) Vec<Match>);

/// Cuts a text into pieces of about equal length, at most `count` of them, and returns their byte ranges: one piece at
/// least, and fewer than `count` where the text has too few blanks.
pub fn pieces_of(text: &str, count: usize) -> Vec<Range<usize>> {
    let (bytes, count) = (text.as_bytes(), count.max(1));
    let mut pieces: Vec<Range<usize>> = Vec::with_capacity(count);
    let mut start = 0;
    for number in 1..count {
        let wanted = (bytes.len() / count * number).max(start);
        let blank = (wanted..bytes.len()).find(|&at| separates(bytes, at));
        let Some(blank) = blank else { break };
        pieces.push(start..blank + 1);
        start = blank + 1;
    }
    pieces.push(start..bytes.len());
    pieces
}

impl SummaryQuery {
    /// Returns the matches in one of the pieces of `text`.
    pub fn find_in_piece(&self, text: &str, piece: Range<usize>) -> PieceMatches {
        let start = piece.start;
        self.with_scratch(|scratch| {
            self.matcher.find(&text[piece], scratch);
            let in_text = |found: &Match| Match {
                start: start + found.start,
                end: start + found.end,
                ..*found
            };
            PieceMatches(scratch.matches.iter().map(in_text).collect())
        })
    }

    /// Returns the result of [`Self::summary`], given the matches of all pieces of `text` in order.
    pub fn summary_of_pieces(&self, text: &str, found: &[PieceMatches]) -> Summary {
        self.with_scratch(|scratch| {
            scratch.matches.clear();
            for PieceMatches(matches) in found {
                scratch.matches.extend_from_slice(matches);
            }
            self.summary_of_matches(text, &scratch.matches)
        })
    }
}
