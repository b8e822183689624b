//! Conversion of one text, Markdown or HTML file into a document.

use crate::front_matter::front_matter;
#[cfg(feature = "html")]
use crate::html;
use crate::input::{Input, InputError, Meter, decompressed_name};
use crate::light::{Light, Plain};
use crate::limits::Beyond;
use crate::markdown::plain_text;
use crate::opened::OpenError;
use crate::passed_over::Reason;
use document::Document;
use json::Map;
use std::io::Read;
use web::charset::{Decoded, How};

/// Upper limit on the bytes of a file, after decompression. It bounds memory.
pub(crate) const FILE_BYTES_MAX: u64 = 64 << 20;

/// Length of a file's beginning, in bytes, in which a NUL marks it as binary.
const BINARY_PROBE_BYTES: usize = 8 << 10;

/// Upper limit on the characters of a title made from a line of text.
const TITLE_CHARS_MAX: usize = 160;

/// Names of text files without an extension.
const TEXT_NAMES: [&str; 17] = [
    "README",
    "READ",
    "CHANGELOG",
    "CHANGES",
    "NEWS",
    "LICENSE",
    "LICENCE",
    "COPYING",
    "COPYRIGHT",
    "AUTHORS",
    "CONTRIBUTING",
    "INSTALL",
    "TODO",
    "FAQ",
    "HISTORY",
    "NOTICE",
    "HACKING",
];

/// Markup of a file's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Markup {
    Plain,
    /// Source code, or text that begins with a header: its name is its title.
    Code,
    Markdown,
    Light(Light),
    Html,
}

/// Endings of source code, scripts, settings and logs.
const CODE_ENDINGS: [&str; 44] = [
    "rs", "py", "js", "mjs", "ts", "jsx", "tsx", "java", "kt", "scala", "c", "h", "cc", "cpp",
    "hpp", "cs", "go", "rb", "php", "swift", "m", "pl", "pm", "lua", "r", "jl", "hs", "ml", "clj",
    "ex", "erl", "sh", "bash", "zsh", "sql", "toml", "yaml", "yml", "ini", "cfg", "conf", "css",
    "proto", "log",
];

impl Markup {
    /// Returns the markup that a file's name (before the ending of compression) indicates; `None` for a file that is not text.
    pub(crate) fn of(name: &str) -> Option<Markup> {
        let name = decompressed_name(name);
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        match ending.to_ascii_lowercase().as_str() {
            "txt" | "text" | "tex" => Some(Markup::Plain),
            "md" | "markdown" => Some(Markup::Markdown),
            "rst" | "rest" => Some(Markup::Light(Light::Rst)),
            "adoc" | "asciidoc" => Some(Markup::Light(Light::AsciiDoc)),
            "org" => Some(Markup::Light(Light::Org)),
            ending if CODE_ENDINGS.contains(&ending) => Some(Markup::Code),
            "html" | "htm" | "xhtml" => Some(Markup::Html),
            // Debian names its notes `README.Debian`.
            "" | "debian" => {
                let stem = name.split(['.', '-', '_']).next().unwrap_or(name);
                let is_text = TEXT_NAMES
                    .iter()
                    .any(|known| stem.eq_ignore_ascii_case(known));
                is_text.then_some(Markup::Plain)
            }
            _ => None,
        }
    }
}

/// Reason why a file is not a document.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    #[error("cannot read: {0}")]
    Io(#[from] std::io::Error),
    #[error("{0}")]
    Damaged(String),
    #[error("{0}")]
    Beyond(Beyond),
    #[error("{0}")]
    PassedOver(Reason),
    #[error("longer than {FILE_BYTES_MAX} bytes")]
    TooLong,
    #[error("binary, not text")]
    Binary,
    #[cfg(feature = "html")]
    #[error("HTML cannot be read: {0}")]
    Html(#[from] lol_html::errors::RewritingError),
    #[cfg(not(feature = "html"))]
    #[error("HTML, which this program was built without (feature `html`)")]
    WithoutHtml,
    #[error("the path is longer than a URL may be")]
    LongPath,
}

impl From<OpenError> for FileError {
    fn from(error: OpenError) -> FileError {
        match error {
            OpenError::Io(error) => FileError::Io(error),
            OpenError::PassedOver(reason) => FileError::PassedOver(reason),
        }
    }
}

/// Returns why an input cannot be read, as a sentence.
pub(crate) fn reason(error: InputError) -> String {
    match error {
        InputError::Io(error) => FileError::Io(error).to_string(),
        InputError::Damaged(reason) => reason,
        InputError::Beyond(beyond) => beyond.to_string(),
    }
}

/// Reads a file's bytes, decompressed.
pub(crate) fn read_bytes(mut input: Input) -> Result<Vec<u8>, FileError> {
    input.resume();
    let mut bytes = Vec::new();
    let read = (&mut input)
        .take(FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes);
    if let Err(error) = read {
        return Err(match input.explain(error) {
            InputError::Io(error) => FileError::Io(error),
            InputError::Damaged(reason) => FileError::Damaged(reason),
            InputError::Beyond(beyond) => FileError::Beyond(beyond),
        });
    }
    if bytes.len() as u64 > FILE_BYTES_MAX {
        Err(FileError::TooLong)
    } else {
        Ok(bytes)
    }
}

/// Converts a file's bytes into a document. `name` is the title where the text has none.
pub(crate) fn document(
    url: String,
    name: &str,
    markup: Markup,
    bytes: Vec<u8>,
    meter: &Meter,
) -> Result<Document, FileError> {
    document_in(url, name, markup, bytes, None, meter)
}

/// Converts bytes into a document, as [`document`] does. `charset` is the encoding that a server named.
pub(crate) fn document_in(
    url: String,
    name: &str,
    markup: Markup,
    bytes: Vec<u8>,
    charset: Option<&str>,
    meter: &Meter,
) -> Result<Document, FileError> {
    if url.len() > document::URL_BYTES_MAX {
        return Err(FileError::LongPath);
    }
    let text = match markup {
        Markup::Html => text_of(web::charset::decode(&bytes, charset), &bytes, meter)?,
        _ => text_of(web::charset::decode_text(&bytes, charset), &bytes, meter)?,
    };
    let (mut fields, mut titled) = (Map::new(), None);
    let (title, body) = match markup {
        #[cfg(not(feature = "html"))]
        Markup::Html => return Err(FileError::WithoutHtml),
        #[cfg(feature = "html")]
        Markup::Html => {
            let page = html::read_page(&text)?;
            (page.title, page.text)
        }
        Markup::Markdown | Markup::Light(_) => {
            let matter = front_matter(&text);
            let text = &text[matter.bytes..];
            (fields, titled) = (matter.fields, matter.title);
            match markup {
                Markup::Light(light) => {
                    let Plain {
                        title,
                        fields: own,
                        text,
                    } = light.plain(text);
                    fields.extend(own);
                    (title.unwrap_or_default(), text)
                }
                _ => (heading(text).unwrap_or_default(), plain_text(text)),
            }
        }
        Markup::Code => (name.to_owned(), text),
        Markup::Plain => (String::new(), text),
    };
    let title = Some(title).filter(|title| !title.is_empty());
    let title = titled
        .or(title)
        .or_else(|| first_line(&body))
        .unwrap_or_else(|| name.to_owned());
    Ok(Document {
        url,
        title,
        body,
        fields,
        ..Document::default()
    })
}

/// Decodes a file's text by its byte order mark, else UTF-8 where it is that, else by the letters that are frequent in an
/// encoding, which is counted as a guess.
pub(crate) fn decode(bytes: Vec<u8>, meter: &Meter) -> Result<String, FileError> {
    text_of(web::charset::decode_text(&bytes, None), &bytes, meter)
}

/// Returns the text of bytes, without NUL, if they are one. A guess is counted.
fn text_of(decoded: Decoded<'_>, bytes: &[u8], meter: &Meter) -> Result<String, FileError> {
    let Decoded {
        text,
        encoding,
        how,
        ..
    } = decoded;
    let beginning = text.char_indices().nth(BINARY_PROBE_BYTES);
    let beginning = &text[..beginning.map_or(text.len(), |(end, _)| end)];
    if beginning.contains('\0') {
        return Err(FileError::Binary);
    }
    if how == How::Guess {
        let is_odd = |c: &char| c.is_control() && !c.is_whitespace();
        let odd = text.chars().filter(is_odd).count();
        // Written text never has one odd character in twenty.
        if odd * 20 > bytes.len() {
            return Err(FileError::Binary);
        }
        meter.guess(encoding);
    }
    Ok(match text.contains('\0') {
        true => text.replace('\0', " "),
        false => text.into_owned(),
    })
}

/// Returns the first heading: `# Words`, or a line underlined with `===` or `---`. Ignores code fences.
pub(crate) fn heading(text: &str) -> Option<String> {
    let mut fenced = false;
    let mut above = "";
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
        }
        if !fenced {
            let words = line.trim_start_matches('#');
            if words.len() < line.len() && line.len() - words.len() <= 6 && words.starts_with(' ') {
                let title = plain_line(words.trim_end_matches('#'));
                if !title.is_empty() {
                    return Some(title);
                }
            }
            let rule = |mark: u8| line.len() >= 3 && line.bytes().all(|byte| byte == mark);
            if (rule(b'=') || rule(b'-')) && above.chars().any(char::is_alphanumeric) {
                return Some(plain_line(above));
            }
        }
        above = if fenced { "" } else { line };
    }
    None
}

/// Returns the first line with a letter or a digit.
pub(crate) fn first_line(text: &str) -> Option<String> {
    let line = text
        .lines()
        .find(|line| line.chars().any(char::is_alphanumeric))?;
    Some(plain_line(line)).filter(|line| !line.is_empty())
}

/// Removes the Markdown of a line: `[words](address)` becomes `words`; images, tags and emphasis marks are dropped.
fn plain_line(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '!' if rest.starts_with('[') => {
                rest = rest.split_once(')').map_or("", |(_, after)| after);
            }
            '[' | '`' | '*' => {}
            ']' if rest.starts_with('(') => {
                rest = rest.split_once(')').map_or("", |(_, after)| after);
            }
            ']' => {}
            '<' if rest.contains('>') => {
                rest = rest.split_once('>').map_or("", |(_, after)| after);
            }
            other => plain.push(other),
        }
        if plain.len() > 4 * TITLE_CHARS_MAX {
            break;
        }
    }
    let words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    cut_title(words.trim_start_matches(['#', '=', '-', ' ']))
}

/// Returns a title of limited length.
pub(crate) fn cut_title(title: &str) -> String {
    let cut: String = title.chars().take(TITLE_CHARS_MAX).collect();
    cut.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(name: &str, bytes: &[u8], title: &str, body: &str) {
        let markup = Markup::of(name).unwrap();
        let document = document(
            "u".to_owned(),
            name,
            markup,
            bytes.to_vec(),
            &Meter::default(),
        )
        .unwrap();
        assert_eq!(
            (document.title.as_str(), document.body.as_str()),
            (title, body)
        );
    }

    #[test]
    fn titles() {
        check(
            "a.md",
            b"![x](y) intro\n# The `title` #\nz",
            "The title",
            "x intro\nThe title\nz",
        );
        check("a.md", b"```\n# no\n```\n\nYes\n===\n", "Yes", "# no\nYes");
        check("a.rst", b"====\nRst\n====\nx", "Rst", "Rst\nx");
        check(
            "a.org",
            b"---\ntitle: Matter\n---\n* Org\nx",
            "Matter",
            "Org\nx",
        );
        check(
            "a.txt",
            b"\n ---\n  First  line\nx",
            "First line",
            "\n ---\n  First  line\nx",
        );
        check("a.txt", b"", "a.txt", "");
        check("a.html", b"<title>T</title><p>b", "T", "b");
        check("a.html", b"<p>b<p>c", "b", "b\nc");
        check("README", b"r", "r", "r");
        assert_eq!(
            heading("# [serde](https://x) &mdash; <b>x</b>").unwrap(),
            "serde &mdash; x"
        );
    }

    #[test]
    fn names() {
        for name in [
            "README",
            "readme.gz",
            "LICENSE-MIT",
            "README.Debian.gz",
            "x.TXT",
            "x.md.gz",
        ] {
            assert!(Markup::of(name).is_some(), "{name}");
        }
        for name in ["readme.pdf", "a", "a.gz", "photo.png", "main.o", ""] {
            assert!(Markup::of(name).is_none(), "{name}");
        }
    }

    #[test]
    fn characters() {
        check("a.txt", b"caf\xe9", "café", "café");
        check("a.txt", b"\xff\xfeh\0i\0", "hi", "hi");
        check("a.txt", b"\xfe\xff\0h\0i", "hi", "hi");
        check("a.txt", b"\xef\xbb\xbfhi", "hi", "hi");
        // Pages name their encoding, or have letters that are frequent in one.
        check(
            "a.html",
            b"<meta charset=koi8-r><title>\xd3\xcf\xd7\xc1</title><p>\xd3\xcf\xd7\xc1",
            "сова",
            "сова",
        );
        let shift_jis = b"\x82\xd3\x82\xad\x82\xeb\x82\xa4\x82\xcd\x96\xe9\x82\xc9\x94\xf2\x82\xd4\x92\xb9\x82\xc5\x82\xa0\x82\xe9\x81\x42\x90\xc3\x82\xa9\x82\xc9\x94\xf2\x82\xd1\x81\x41\x82\xcb\x82\xb8\x82\xdd\x82\xf0\x95\xdf\x82\xe9\x81\x42";
        check(
            "b.html",
            &[b"<title>x</title><p>", &shift_jis[..]].concat(),
            "x",
            "ふくろうは夜に飛ぶ鳥である。静かに飛び、ねずみを捕る。",
        );
        assert!(matches!(
            decode(b"a\0b".to_vec(), &Meter::default()),
            Err(FileError::Binary)
        ));
        assert!(matches!(
            decode(b"\x01\x02\xff\x03".to_vec(), &Meter::default()),
            Err(FileError::Binary)
        ));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_document_or_an_error(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            name in "a\\.(txt|md|html)",
        ) {
            let _ = document("u".to_owned(), &name, Markup::of(&name).unwrap(), bytes, &Meter::default());
        }

        #[test]
        fn any_text_has_a_title(text in "[^\0]{0,80}\n[^\0]{0,80}", line in "[\\[\\]()!<>#`*a é]{0,30}") {
            for text in [text, line] {
                let document = document("u".to_owned(), "n", Markup::Markdown, text.into_bytes(), &Meter::default()).unwrap();
                prop_assert!(!document.title.is_empty());
            }
        }
    }
}
