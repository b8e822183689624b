//! Text of a manual page.
//!
//! Not a formatter: it drops what only a formatter needs (definitions, conditions, fonts, table layouts) and keeps
//! every word that a reader would search for. It reads both the `man` macros (`.SH`, `.B`) and the `mdoc` macros
//! (`.Sh`, `.Fl`).

/// Returns a manual page's text without its markup.
pub(crate) fn read_text(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut definition_end: Option<String> = None;
    let mut table_layout = false;
    for line in source.lines() {
        if let Some(end) = &definition_end {
            if line.trim_end() == end.as_str() {
                definition_end = None;
            }
            continue;
        }
        if table_layout {
            table_layout = !line.trim_end().ends_with('.');
            continue;
        }
        let control = line.strip_prefix(['.', '\'']);
        let Some(control) = control else {
            append_plain(&mut text, line);
            text.push('\n');
            continue;
        };
        let control = control.trim_start();
        let (name, arguments) = control
            .split_once(char::is_whitespace)
            .unwrap_or((control, ""));
        match name {
            "de" | "de1" | "am" | "ig" => {
                let end = arguments.split_whitespace().nth(usize::from(name != "ig"));
                definition_end = Some(format!(".{}", end.unwrap_or(".")));
            }
            "TS" => table_layout = true,
            "SH" | "SS" | "Sh" | "Ss" => {
                text.push('\n');
                append_arguments(&mut text, arguments);
            }
            "PP" | "P" | "LP" | "Pp" | "TP" | "It" | "IP" | "sp" | "Nm" | "Nd" | "Op" | "Fl"
            | "Ar" | "Cm" | "Pa" | "Xr" | "Dv" | "Ev" | "Fn" | "Fa" | "Ft" | "Vt" | "Va" | "Ic"
            | "Li" | "Dl" | "D1" | "Em" | "Sy" | "Dq" | "Sq" | "Ql" | "Qq" | "Pq" | "Bq" | "Aq"
            | "Er" | "In" | "Cd" | "St" | "Tn" | "An" | "Lk" | "Mt" | "No" | "B" | "I" | "R"
            | "BR" | "RB" | "BI" | "IB" | "IR" | "RI" | "SM" | "SB" | "UR" | "MT" | "SY" | "OP" => {
                append_arguments(&mut text, arguments);
            }
            // Every other macro instructs the formatter.
            _ => {}
        }
    }
    text
}

/// Appends a macro's arguments as words. Quotes group an argument and are dropped.
fn append_arguments(text: &mut String, arguments: &str) {
    append_plain(text, &arguments.replace('"', ""));
    text.push('\n');
}

/// Appends text with its escapes resolved: fonts and motions are dropped, special characters become themselves.
fn append_plain(text: &mut String, line: &str) {
    let mut rest = line;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = append_escape(text, &rest[at + 1..]);
    }
    text.push_str(rest);
}

/// Resolves one escape, given the text after its backslash, and returns the text after the escape.
fn append_escape<'a>(text: &mut String, rest: &'a str) -> &'a str {
    let mut characters = rest.chars();
    let Some(kind) = characters.next() else {
        return "";
    };
    let after = characters.as_str();
    match kind {
        '"' | '#' => "",
        'f' | 'F' | '*' | 'n' | 'm' | 'M' | 'g' | 'k' => after_name(after).1,
        's' => after
            .trim_start_matches(['+', '-'])
            .trim_start_matches(|c: char| c.is_ascii_digit()),
        'h' | 'v' | 'w' | 'l' | 'L' | 'D' | 'o' | 'b' | 'z' | 'x' | 'N' => {
            let quoted = after
                .strip_prefix('\'')
                .and_then(|inner| inner.split_once('\''));
            quoted.map_or(after, |(_, after)| after)
        }
        '(' | '[' => {
            let (name, after) = after_name(rest);
            text.push_str(special(name));
            after
        }
        '-' => {
            text.push('-');
            after
        }
        'e' | '\\' => {
            text.push('\\');
            after
        }
        ' ' | '~' | '0' | 't' => {
            text.push(' ');
            after
        }
        '\'' | '`' | '.' => {
            text.push(kind);
            after
        }
        // Zero-width marks: \& \| \^ \% \: \/ \, \c \{ \} \d \u and the like.
        _ => after,
    }
}

/// Splits off a name in one of the three forms `x`, `(xx`, `[xxx]`. Returns the name and the rest.
fn after_name(rest: &str) -> (&str, &str) {
    if let Some(inner) = rest.strip_prefix('[') {
        return inner.split_once(']').unwrap_or((inner, ""));
    }
    let (rest, characters) = match rest.strip_prefix('(') {
        Some(inner) => (inner, 2),
        None => (rest, 1),
    };
    let end = rest
        .char_indices()
        .nth(characters)
        .map_or(rest.len(), |(at, _)| at);
    rest.split_at(end)
}

fn special(name: &str) -> &'static str {
    match name {
        "aq" | "cq" | "oq" | "fm" => "'",
        "dq" | "lq" | "rq" | "Lq" | "Rq" => "\"",
        "hy" | "mi" | "en" => "-",
        "em" => " - ",
        "bu" => "*",
        "co" => "©",
        "rg" => "®",
        "tm" => "™",
        "ti" | "ap" => "~",
        "ha" | "a^" => "^",
        "ga" => "`",
        "rs" => "\\",
        "sl" => "/",
        "ba" | "or" => "|",
        "at" => "@",
        "sh" => "#",
        "Do" => "$",
        "lB" => "[",
        "rB" => "]",
        "lC" => "{",
        "rC" => "}",
        "la" | "<" => "<",
        "ra" | ">" => ">",
        "->" => "->",
        "<-" => "<-",
        "<=" => "<=",
        ">=" => ">=",
        "mu" => "×",
        ":a" => "ä",
        ":o" => "ö",
        ":u" => "ü",
        "ss" => "ß",
        "'e" => "é",
        _ => " ",
    }
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
            "\nNAME\ngrep - print lines\n-A  NUM , \na\tb\n© xy café z\\\n"
        );
        assert_eq!(read_text(".Sh X\n.Nm ls\n.Op Fl a\n"), "\nX\nls\nFl a\n");
    }

    proptest! {
        #[test]
        fn any_text_is_a_page(source in "([.'\\\\]?[(\\[\\*fsh'\"a-zé]{0,6}\n?){0,20}") {
            let _ = read_text(&source);
        }
    }
}
