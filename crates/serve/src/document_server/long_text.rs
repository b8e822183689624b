//! A long text of a page, in whose pieces several threads find matches.

use engine::calls::PartError;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use text::summary::{PieceMatches, Summary, SummaryQuery, pieces_of};

/// Bytes of a piece: some hundred microseconds for a query of many words.
const PIECE_BYTES: u32 = 64 << 10;
/// Upper limit on the pieces of a text.
const PIECES_MAX: u32 = 256;

/// Returns the number of pieces of a text of about `bytes` bytes.
pub(super) fn pieces_count(bytes: u32) -> usize {
    (bytes / PIECE_BYTES).clamp(1, PIECES_MAX) as usize
}

/// A decompressed text that is cut into pieces.
#[derive(Debug)]
pub(super) struct LongText {
    /// Number of the text in its request.
    pub(super) number: usize,
    url: String,
    body: String,
    /// Further fields as JSON.
    fields: String,
    pieces: Vec<Range<usize>>,
    found: Mutex<Found>,
}

#[derive(Debug)]
struct Found {
    done: usize,
    pieces: Vec<Piece>,
}

/// Outcome for a piece.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    Found(PieceMatches),
    /// The request's time is over.
    Expired,
    /// Not searched yet, or a bug that panicked.
    Missing,
}

impl LongText {
    /// Cuts a text into `pieces` pieces, or fewer where it has too few blanks.
    pub(super) fn new(number: usize, [url, body, fields]: [&str; 3], pieces: usize) -> LongText {
        let pieces = pieces_of(body, pieces);
        LongText {
            number,
            url: url.to_owned(),
            body: body.to_owned(),
            fields: fields.to_owned(),
            found: Mutex::new(Found {
                done: 0,
                pieces: vec![Piece::Missing; pieces.len()],
            }),
            pieces,
        }
    }

    pub(super) fn pieces_count(&self) -> usize {
        self.pieces.len()
    }

    /// Returns the matches in a piece.
    pub(super) fn find(&self, query: &SummaryQuery, piece: usize) -> PieceMatches {
        query.find_in_piece(&self.body, self.pieces[piece].clone())
    }

    /// Notes the outcome for a piece. Returns whether it was the last one.
    pub(super) fn put(&self, piece: usize, came: Piece) -> bool {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.pieces[piece] = came;
        found.done += 1;
        found.done == self.pieces.len()
    }

    /// Returns URL, body and further fields.
    pub(super) fn text(&self) -> [&str; 3] {
        [&self.url, &self.body, &self.fields]
    }

    /// Returns the summary of the body, once all pieces are done; `None` after a bug.
    pub(super) fn summary(&self, query: &SummaryQuery) -> Option<Result<Summary, PartError>> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let mut pieces = Vec::with_capacity(found.pieces.len());
        for piece in found.pieces.drain(..) {
            match piece {
                Piece::Found(matches) => pieces.push(matches),
                Piece::Expired => return Some(Err(PartError::Expired)),
                Piece::Missing => return None,
            }
        }
        Some(Ok(query.summary_of_pieces(&self.body, &pieces)))
    }
}
