//! Safe output to a terminal: styles, and text without control characters.

use std::io::{self, IsTerminal, Write};

/// Whether output is styled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    ansi: bool,
}

impl Style {
    /// Plain text.
    pub const PLAIN: Style = Style { ansi: false };

    /// Returns a style for standard output: styled on a terminal, unless `NO_COLOR` (see no-color.org) is set.
    pub fn of_stdout() -> Style {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        Style {
            ansi: !refused && std::io::stdout().is_terminal(),
        }
    }

    /// Returns `text` in bold. The caller must have made it printable.
    pub fn bold(self, text: &str) -> String {
        self.wrap("\x1b[1m", text, "\x1b[22m")
    }

    /// Returns `text` in faint colour. The caller must have made it printable.
    pub fn faint(self, text: &str) -> String {
        self.wrap("\x1b[2m", text, "\x1b[22m")
    }

    fn wrap(self, on: &str, text: &str, off: &str) -> String {
        if self.ansi {
            format!("{on}{text}{off}")
        } else {
            text.to_owned()
        }
    }
}

/// The whole terminal, redrawn repeatedly. Dropping it restores the earlier contents.
pub struct Screen {
    _taken: (),
}

impl Screen {
    /// Takes over the terminal; `None` if standard output is not one.
    pub fn take() -> Option<Screen> {
        let dumb = std::env::var_os("TERM").is_none_or(|value| value == "dumb");
        if dumb || !io::stdout().is_terminal() {
            return None;
        }
        // Switches to the alternate screen and hides the cursor.
        let taken = write!(io::stdout(), "\x1b[?1049h\x1b[?25l").is_ok();
        taken.then_some(Screen { _taken: () })
    }

    /// Draws the first of `lines`, up to the height of the terminal, which cuts them at its right edge.
    pub fn draw(&mut self, lines: &[String]) -> io::Result<()> {
        let rows = terminal_size::terminal_size().map_or(24, |(_, height)| usize::from(height.0));
        io::stdout().write_all(redraw(lines, rows).as_bytes())?;
        io::stdout().flush()
    }
}

/// Returns the control sequences and text that draw `lines` over the earlier contents.
fn redraw(lines: &[String], rows: usize) -> String {
    // Line wrapping is off, so that a long line takes one row.
    let mut drawn = String::from("\x1b[?7l\x1b[H");
    for (number, line) in lines.iter().take(rows).enumerate() {
        if number > 0 {
            drawn.push_str("\r\n");
        }
        drawn.push_str(line);
        drawn.push_str("\x1b[K");
    }
    drawn.push_str("\x1b[J\x1b[?7h");
    drawn
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = write!(io::stdout(), "\x1b[?25h\x1b[?1049l");
        let _ = io::stdout().flush();
    }
}

/// Prints text and flushes it, for programs that read the output.
pub fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Returns `text` without characters that move the cursor, break the line or reverse its direction. Documents, file
/// names and URLs are untrusted, and a terminal obeys control characters.
pub fn printable(text: &str) -> String {
    text.chars().map(printable_character).collect()
}

fn printable_character(character: char) -> char {
    match character {
        '\t' | '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => ' ',
        // Directional embeddings, overrides and isolates reorder the text that follows them.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' => '\u{fffd}',
        _ if character.is_control() => '\u{fffd}',
        _ => character,
    }
}

/// Converts a summary (escaped text with `<mark>` around matched words) to a line for the terminal.
pub fn summary_text(summary_html: &str, style: Style) -> String {
    let mut line = String::with_capacity(summary_html.len());
    for (marked_idx, piece) in summary_html.split("<mark>").enumerate() {
        // The text is escaped, so every `<mark>` is a mark. The first piece comes before the first mark.
        let (marked, plain) = match piece.split_once("</mark>") {
            Some((marked, plain)) if marked_idx > 0 => (marked, plain),
            _ => ("", piece),
        };
        if !marked.is_empty() {
            line.push_str(&style.bold(&printable(&unescape_html(marked))));
        }
        line.push_str(&printable(&unescape_html(plain)));
    }
    line
}

/// Undoes the escapes of `text::summary::escape_html`, and no others.
fn unescape_html(html: &str) -> String {
    const ENTITIES: [(&str, char); 8] = [
        ("&amp;", '&'),
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&quot;", '"'),
        ("&#34;", '"'),
        ("&#39;", '\''),
        ("&#x27;", '\''),
        ("&apos;", '\''),
    ];
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(start) = rest.find('&') {
        text.push_str(&rest[..start]);
        rest = &rest[start..];
        let known = ENTITIES.iter().find(|(entity, _)| rest.starts_with(entity));
        let (length, character) = known.map_or((1, '&'), |(entity, c)| (entity.len(), *c));
        text.push(character);
        rest = &rest[length..];
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Style = Style::PLAIN;
    const ANSI: Style = Style { ansi: true };

    #[test]
    fn a_summary_is_unescaped_once_and_marks_become_bold() {
        let html = "a &lt;b&gt; <mark>c&amp;amp;</mark> &quot;d&#39;";
        assert_eq!(summary_text(html, PLAIN), "a <b> c&amp; \"d'");
        assert_eq!(summary_text(html, ANSI), "a <b> \x1b[1mc&amp;\x1b[22m \"d'");
        assert_eq!(summary_text("&lt;mark&gt;x", ANSI), "<mark>x");
        assert_eq!(summary_text("& &unknown; &", PLAIN), "& &unknown; &");
    }

    #[test]
    fn a_screen_is_drawn_over_and_cut_to_its_rows() {
        let lines = ["a", "b", "c"].map(String::from);
        assert_eq!(
            redraw(&lines, 2),
            "\x1b[?7l\x1b[Ha\x1b[K\r\nb\x1b[K\x1b[J\x1b[?7h"
        );
        assert!(Screen::take().is_none() || io::stdout().is_terminal());
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let hostile = "\x1b]0;owned\x07 <mark>\x1b[2J</mark>\r\n\u{9b}31m\u{202e}abc\0";
        let line = summary_text(hostile, PLAIN);
        assert!(!line.chars().any(char::is_control), "{line:?}");
        assert!(!line.contains('\u{202e}'));
        assert!(
            line.contains("]0;owned"),
            "what is printable stays: {line:?}"
        );
    }
}
