//! Macros of `mdoc`, which name what words are and may stand within the words of one another.

use super::escapes::{Strings, append_plain};

/// Macros that are replaced by what they mean, or dropped before their words.
const MACROS: [&str; 58] = [
    "Ad", "An", "Ao", "Ap", "Aq", "Ar", "Bo", "Bq", "Bro", "Brq", "Bx", "Cd", "Cm", "D1", "Dl",
    "Do", "Dq", "Dv", "Em", "Er", "Ev", "Fa", "Fl", "Fn", "Fo", "Ft", "Fx", "Ic", "In", "It", "Li",
    "Lk", "Ms", "Mt", "Nd", "Nm", "No", "Ns", "Nx", "Op", "Ox", "Pa", "Pf", "Po", "Pq", "Ql", "Qq",
    "Sq", "St", "Sy", "Tn", "Ux", "Va", "Vt", "Xo", "Xr", "Sx", "Rv",
];

/// Returns whether a request is a macro whose words are text.
pub(super) fn is_macro(name: &str) -> bool {
    MACROS.contains(&name)
}

/// Appends the words of a line, of which the first is a macro.
pub(super) fn append_mdoc(
    text: &mut String,
    words: &[String],
    page: &mut String,
    strings: &Strings,
) {
    let mut line = Line::default();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        if !is_macro(word) {
            line.push(word);
            continue;
        }
        let following = words[at..]
            .iter()
            .take_while(|word| !is_macro(word) && !is_mark(word));
        let count = following.count();
        let own = &words[at..at + count];
        match (word.as_str(), own) {
            ("Nm", []) => line.push(page),
            ("Nm", [name, ..]) if page.is_empty() => page.clone_from(name),
            ("Nd", _) => line.push("-"),
            ("Fl", []) => line.push("-"),
            ("Fl", flags) => {
                flags.iter().for_each(|flag| line.push(&format!("-{flag}")));
                at += count;
            }
            ("Xr", [name, section, ..]) => {
                line.push(&format!("{name}({section})"));
                at += 2;
            }
            ("Fn", [name, arguments @ ..]) => {
                line.push(&format!("{name}({})", arguments.join(", ")));
                at += count;
            }
            ("Fo", [name, ..]) => {
                line.push(&format!("{name}("));
                at += 1;
            }
            ("Pf", [prefix, ..]) => {
                line.push(prefix);
                line.is_joined = true;
                at += 1;
            }
            ("Ns" | "Ap", _) => {
                if word == "Ap" {
                    line.is_joined = true;
                    line.push("'");
                }
                line.is_joined = true;
            }
            ("Pq" | "Po", _) => line.open("(", word == "Pq"),
            ("Fx", _) => line.push("FreeBSD"),
            ("Nx", _) => line.push("NetBSD"),
            ("Ox", _) => line.push("OpenBSD"),
            ("Bx", _) => line.push("BSD"),
            ("Ux", _) => line.push("UNIX"),
            _ => {}
        }
    }
    append_plain(text, &line.closed(), strings);
}

/// Returns whether a word is a mark that follows the word before it.
fn is_mark(word: &str) -> bool {
    matches!(word, "." | "," | ";" | ":" | "?" | "!" | ")" | "]")
}

/// Words of a line, joined as a reader sees them.
#[derive(Default)]
struct Line {
    text: String,
    /// Whether the next word follows without a blank.
    is_joined: bool,
    /// Number of parentheses that the end of the line closes.
    open: usize,
}

impl Line {
    fn push(&mut self, word: &str) {
        let is_first = self.text.is_empty();
        if !is_first && !self.is_joined && !is_mark(word) {
            self.text.push(' ');
        }
        self.is_joined = matches!(word, "(" | "[");
        self.text.push_str(word);
    }

    fn open(&mut self, mark: &str, is_closed: bool) {
        self.push(mark);
        self.open += usize::from(is_closed);
    }

    /// Returns the line. Marks at its end follow what is closed.
    fn closed(mut self) -> String {
        if self.open == 0 {
            return self.text;
        }
        let marks = self.text.trim_end_matches(['.', ',', ';', ':']).len();
        let marks = self.text.split_off(marks);
        self.text.push_str(&")".repeat(self.open));
        self.text + &marks
    }
}
