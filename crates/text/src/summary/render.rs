//! Rendering of windows as HTML with no markup but `<mark>`, for any text.
use super::input::Match;
use super::shown::{Shown, is_visible, shown};
use super::windows::Window;

/// Escapes text for HTML, in element content and in quoted attributes alike.
pub fn escape_html(text: &str, out: &mut String) {
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escaped = match byte {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            b'\'' => "&#39;",
            _ => continue,
        };
        out.push_str(&text[from..at]);
        out.push_str(escaped);
        from = at + 1;
    }
    out.push_str(&text[from..]);
}

pub(super) fn html(text: &str, windows: &[Window], matches: &[Match]) -> String {
    let mut out = String::with_capacity(640);
    let mut shown_to = 0;
    for (ordinal, window) in windows.iter().enumerate() {
        let cut = ordinal > 0 || is_visible(&text[shown_to..window.start]);
        out.push_str(match (cut, ordinal) {
            (false, _) => "",
            (true, 0) => "… ",
            (true, _) => " … ",
        });
        window_html(text, window, matches, &mut out);
        shown_to = window.end;
    }
    if !windows.is_empty() && is_visible(&text[shown_to..]) {
        out.push_str(" …");
    }
    out
}

/// Appends one window with its matched words marked.
pub(super) fn window_html(text: &str, window: &Window, matches: &[Match], out: &mut String) {
    let mut piece = Piece {
        out,
        started: false,
        space: false,
    };
    let mut shown_to = window.start;
    let first = matches.partition_point(|found| found.start < window.start);
    let mut shown = matches[first..]
        .iter()
        .take_while(|found| found.start < window.end)
        .peekable();
    while let Some(found) = shown.next() {
        // The same word may be meant by several terms, and pairs of letters overlap.
        let mut end = found.end;
        while let Some(next) = shown.next_if(|next| next.start < end) {
            end = end.max(next.end);
        }
        let (start, end) = (found.start.max(shown_to), end.min(window.end));
        piece.push(&text[shown_to..start]);
        piece.mark(&text[start..end]);
        shown_to = end;
    }
    piece.push(&text[shown_to..window.end]);
}

/// A window being written. White space is withheld until a visible character follows.
struct Piece<'a> {
    out: &'a mut String,
    started: bool,
    space: bool,
}

impl Piece<'_> {
    fn push(&mut self, text: &str) {
        let mut run = 0;
        for (at, character) in text.char_indices() {
            let shown = shown(character);
            if shown == Shown::Itself {
                if self.space {
                    run = at;
                    self.push_space();
                }
                self.started = true;
                continue;
            }
            if run < at {
                escape_html(&text[run..at], self.out);
            }
            run = at + character.len_utf8();
            self.space |= shown == Shown::Space && self.started;
        }
        escape_html(&text[run..], self.out);
    }

    fn mark(&mut self, word: &str) {
        if self.space {
            self.push_space();
        }
        self.started = true;
        self.out.push_str("<mark>");
        // A word may hold characters that are not shown, and a line break between Han letters.
        self.push(word);
        self.out.push_str("</mark>");
    }

    fn push_space(&mut self) {
        self.out.push(' ');
        self.space = false;
    }
}
