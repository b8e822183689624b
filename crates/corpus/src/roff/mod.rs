//! Text of a manual page.
//!
//! Not a formatter: it drops what only a formatter needs (definitions, conditions, fonts, table layouts) and keeps
//! every word that a reader would search for. It reads both the `man` macros (`.SH`, `.B`) and the `mdoc` macros
//! (`.Sh`, `.Fl`).

mod escapes;
mod mdoc;

use escapes::{Strings, append_plain};
use mdoc::append_mdoc;

/// Returns a manual page's text without its markup.
pub(crate) fn read_text(source: &str) -> String {
    let mut page = Page {
        text: String::with_capacity(source.len()),
        ..Page::default()
    };
    for line in source.lines() {
        page.read(line);
    }
    page.text
}

/// Page as far as it is read.
#[derive(Default)]
struct Page {
    text: String,
    strings: Strings,
    /// Request that ends a definition; `None` outside of one.
    definition_end: Option<String>,
    is_table: bool,
    /// Whether the lines say how a table is laid out.
    is_table_layout: bool,
    /// What the page is about, which `.Nm` without words stands for.
    name: String,
}

/// Requests that words of the text follow on their line.
const OF_WORDS: [&str; 14] = [
    "B", "I", "R", "SM", "SB", "UR", "MT", "URL", "MTO", "SY", "OP", "TQ", "CW", "C",
];
/// Requests whose words alternate between two fonts, and make one word.
const ALTERNATING: [&str; 6] = ["BR", "RB", "BI", "IB", "IR", "RI"];

impl Page {
    fn read(&mut self, line: &str) {
        if let Some(end) = &self.definition_end {
            if line.strip_prefix('.').map(str::trim) == Some(end) {
                self.definition_end = None;
            }
            return;
        }
        if self.is_table_layout {
            self.is_table_layout = !line.trim_end().ends_with('.');
            return;
        }
        match line.strip_prefix(['.', '\'']) {
            Some(control) => self.obey(control.trim_start()),
            None => {
                let marks = |line: &str| line.replace("T{", "").replace("T}", "");
                match self.is_table {
                    true => self.append(&marks(line)),
                    false => self.append(line),
                }
                self.end_line();
            }
        }
    }

    /// Follows a request, given without its dot.
    fn obey(&mut self, control: &str) {
        let (name, rest) = control
            .split_once(char::is_whitespace)
            .unwrap_or((control, ""));
        match name {
            "de" | "de1" | "am" | "ig" => {
                let end = rest.split_whitespace().nth(usize::from(name != "ig"));
                self.definition_end = Some(end.unwrap_or(".").to_owned());
            }
            "ds" => self.define(rest),
            "TS" => (self.is_table, self.is_table_layout) = (true, true),
            "TE" => self.is_table = false,
            "if" | "ie" => {
                let (condition, line) = rest
                    .trim_start()
                    .split_once(char::is_whitespace)
                    .unwrap_or((rest, ""));
                // Text for printers alone is there again for terminals.
                if condition != "t" {
                    self.read_within(line);
                }
            }
            "el" => self.read_within(rest),
            "SH" | "SS" | "Sh" | "Ss" => {
                self.text.push('\n');
                self.append(&arguments(rest).join(" "));
                self.end_line();
            }
            "IP" => {
                if let Some(tag) = arguments(rest).first() {
                    self.append(tag);
                    self.end_line();
                }
            }
            name if ALTERNATING.contains(&name) => {
                self.append(&arguments(rest).concat());
                self.end_line();
            }
            name if OF_WORDS.contains(&name) => {
                self.append(&arguments(rest).join(" "));
                self.end_line();
            }
            name if mdoc::is_macro(name) => {
                let mut words = vec![name.to_owned()];
                words.extend(arguments(rest));
                append_mdoc(&mut self.text, &words, &mut self.name, &self.strings);
                self.end_line();
            }
            // Every other request instructs the formatter.
            _ => {}
        }
    }

    /// Reads the line that a condition stands before, if it is one.
    fn read_within(&mut self, line: &str) {
        let line = line
            .trim_start()
            .trim_start_matches("\\{")
            .trim_start_matches('\\')
            .trim_start();
        if !line.is_empty() && !line.starts_with("if") {
            self.read(line);
        }
    }

    fn define(&mut self, rest: &str) {
        let (name, value) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let value = value.trim_start();
        let mut plain = String::new();
        append_plain(
            &mut plain,
            value.strip_prefix('"').unwrap_or(value),
            &self.strings,
        );
        self.strings.insert(name.to_owned(), plain);
    }

    fn append(&mut self, line: &str) {
        append_plain(&mut self.text, line, &self.strings);
        // The next line goes on where this one says so.
        if line.trim_end().ends_with("\\c") {
            self.text.push(GOES_ON);
        }
    }

    fn end_line(&mut self) {
        match self.text.ends_with(GOES_ON) {
            true => drop(self.text.pop()),
            false => self.text.push('\n'),
        }
    }
}

/// Stands for the end of a line that the next one continues.
const GOES_ON: char = '\u{1}';

/// Splits the arguments of a request. Quotation marks group words, and two of them within are one.
fn arguments(line: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() && !rest.starts_with("\\\"") {
        let mut argument = String::new();
        if let Some(quoted) = rest.strip_prefix('"') {
            rest = quoted;
            loop {
                let end = rest.find('"').unwrap_or(rest.len());
                argument.push_str(&rest[..end]);
                rest = rest.get(end + 1..).unwrap_or("");
                match rest.strip_prefix('"') {
                    Some(after) => {
                        argument.push('"');
                        rest = after;
                    }
                    None => break,
                }
            }
        } else {
            let mut is_escaped = false;
            let end = rest.find(|c: char| {
                let is_end = matches!(c, ' ' | '\t') && !is_escaped;
                is_escaped = c == '\\' && !is_escaped;
                is_end
            });
            let end = end.unwrap_or(rest.len());
            argument.push_str(&rest[..end]);
            rest = &rest[end..];
        }
        arguments.push(argument);
        rest = rest.trim_start();
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_without_markup() {
        let source = ".\\\" comment\n.TH GREP 1\n.de XX\n.B hidden\n..\n.SH NAME\ngrep \\- print \\fBlines\\fP\n\
                      .BR \\-A \" NUM\" , \\c\n.TS\nl l.\na\tb\n.TE\n\\(co x\\*(Dt\\s-1y\\s0 caf\\['e] \\h'2n'z\\e\n";
        assert_eq!(
            read_text(source),
            "\nNAME\ngrep - print lines\n-A NUM,a\tb\n© xy café z\\\n"
        );
    }

    #[test]
    fn requests_of_man() {
        let check = |source: &str, text: &str| assert_eq!(read_text(source), text, "{source}");
        check(".BR ls (1)\n.IR file .txt\n", "ls(1)\nfile.txt\n");
        check(".B \"two words\" \"\"\"x\"\"\"\n", "two words \"x\"\n");
        check(".IP \\(bu 2\n.TP 4\n.sp 1\nx\n", "*\nx\n");
        check(".ds C+ C++\nin \\*(C+ and \\*[C+]\n", "in C++ and C++\n");
        check(
            ".if t printed\n.if n shown\n.ie \\n(.g .B one\n.el .B two\n",
            "shown\none\ntwo\n",
        );
        check("\\[u00E4]\\(:o\\(~n \\fI\\,x\\/\\fP\\|y\n", "äöñ xy\n");
        check("a\\ b\\&.c\n.B a\\ b\n", "a b.c\na b\n");
        check(".de X\n.  am Y\n.  .\nz\n", "z\n");
        check(".TS\nl.\na\tT{\nb\nT}\n.TE\n", "a\t\nb\n\n");
    }

    #[test]
    fn requests_of_mdoc() {
        let check = |source: &str, text: &str| assert_eq!(read_text(source), text, "{source}");
        check(
            ".Dd May 1\n.Dt LS 1\n.Sh NAME\n.Nm ls\n.Nd list files\n",
            "\nNAME\nls\n- list files\n",
        );
        check(
            ".Nm ls\n.Nm\n.Op Fl a Ar file ...\n",
            "ls\nls\n-a file ...\n",
        );
        check(".It Fl l Ns Ar n , Fl q\nlong\n", "-ln, -q\nlong\n");
        check(
            ".Xr ls 1 ,\n.Pq see Xr cat 1 .\n",
            "ls(1),\n(see cat(1)).\n",
        );
        check(
            ".Fn open \"const char *path\" \"int flags\"\n",
            "open(const char *path, int flags)\n",
        );
        check(".Bl -tag -width indent\n.Ox\n.El\n", "OpenBSD\n");
        check(".Sh X\n.Op Fl a\n", "\nX\n-a\n");
    }

    proptest! {
        #[test]
        fn any_text_is_a_page(source in "([.'\\\\]?(Fl|Nm|ds |if |BR |\\*)?[(\\[\\*fsh'\"a-zé ]{0,6}\n?){0,20}") {
            let _ = read_text(&source);
        }
    }
}
