//! Manual pages among the files of a folder: `ls.1`, `printf.3.gz`, `openssl-x509.1ssl`.

use crate::file::{self, FileError};
use crate::input::{Meter, decompressed_name};
use crate::roff;
use document::{Document, URL_BYTES_MAX};

/// Letters that a section may have after its digit: `3pm`, `1ssl`.
const SUFFIX_CHARS_MAX: usize = 6;

/// Manual page, by the name of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Page {
    name: String,
    section: String,
}

impl Page {
    /// Reads the name of a file, compressed or not; `None` where it is not that of a manual page.
    pub(crate) fn of(file: &str) -> Option<Page> {
        let (name, section) = decompressed_name(file).rsplit_once('.')?;
        let suffix = section.strip_prefix(|c: char| c.is_ascii_digit() && c != '0')?;
        let is_section = suffix.len() <= SUFFIX_CHARS_MAX
            && suffix.bytes().all(|byte| byte.is_ascii_lowercase());
        (is_section && !name.is_empty()).then(|| Page {
            name: name.to_owned(),
            section: section.to_owned(),
        })
    }

    /// Returns the page as a document: its title is its name, its section and what it says that it is.
    pub(crate) fn document(
        &self,
        url: String,
        bytes: Vec<u8>,
        meter: &Meter,
    ) -> Result<Document, FileError> {
        if url.len() > URL_BYTES_MAX {
            return Err(FileError::LongPath);
        }
        let source = file::decode(bytes, meter)?;
        let body = roff::read_text(&source);
        let mut title = format!("{}({})", self.name, self.section);
        if let Some(purpose) = purpose(&body) {
            title.push_str(&format!(": {purpose}"));
        }
        Ok(Document {
            url,
            title: file::cut_title(&title),
            body,
            ..Document::default()
        })
    }
}

/// Returns what a page is for: what follows the dash below its first heading.
fn purpose(body: &str) -> Option<String> {
    let lines = body.lines().map(str::trim);
    let mut lines = lines.skip_while(|line| line.is_empty());
    let _heading = lines.next()?;
    let named: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    let named = named.join(" ");
    let (_, purpose) = named.split_once(" - ")?;
    let end = purpose.find(". ").unwrap_or(purpose.len());
    let purpose = purpose[..end]
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    (!purpose.is_empty()).then_some(purpose)
}

/// Returns whether the beginning of a file is that of a manual page: a request that begins one before any text. A page that
/// only stands for another one has no text.
pub(crate) fn is_page(beginning: &[u8]) -> bool {
    let text = String::from_utf8_lossy(beginning);
    let is_comment = |line: &&str| {
        let line = line.trim_end();
        line.is_empty()
            || line == "."
            || [".\\\"", "'\\\"", "\\\"", ".\\#"]
                .iter()
                .any(|start| line.starts_with(start))
    };
    let first = text.lines().find(|line| !is_comment(line));
    let is_redirect = first.is_some_and(|line| line.starts_with(".so "));
    let is_request = first.is_some_and(|line| line.starts_with(['.', '\'']));
    let begins = |line: &str| {
        [".TH", ".Dd", ".Dt", ".SH", ".Sh"]
            .iter()
            .any(|name| line.starts_with(name))
    };
    is_request && !is_redirect && text.lines().any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_pages() {
        let page = |name, section| {
            Some(Page {
                name: String::from(name),
                section: String::from(section),
            })
        };
        for (file, expected) in [
            ("ls.1", page("ls", "1")),
            ("ls.1.gz", page("ls", "1")),
            ("File::Temp.3pm.gz", page("File::Temp", "3pm")),
            ("systemd.exec.5", page("systemd.exec", "5")),
            ("ls.0", None),
            ("ls.10", None),
            ("photo.7z", page("photo", "7z")),
            (".1", None),
            ("ls", None),
            ("a.3dimensional", None),
        ] {
            assert_eq!(Page::of(file), expected, "{file}");
        }
    }

    #[test]
    fn what_is_no_page_is_known_by_its_beginning() {
        assert!(is_page(b".\\\" by hand\n.\n.TH LS 1\n.SH NAME\n"));
        assert!(is_page(b"'\\\" t\n.ie \\n(.g .ds Aq \\(aq\n.TH X 1\n"));
        assert!(is_page(b".Dd May 1\n.Dt LS 1\n"));
        for other in [
            "",
            "7z\u{bc}",
            "text\n.TH\n",
            ".so man1/ls.1\n",
            ".hidden\n",
            "1.2.3\n",
        ] {
            assert!(!is_page(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn a_page_is_titled_by_its_purpose() {
        let check = |source: &str, title: &str| {
            let page = Page::of("ls.1").unwrap();
            let source = source.as_bytes().to_vec();
            let document = page
                .document("u".into(), source, &Meter::default())
                .unwrap();
            assert_eq!(document.title, title);
        };
        check(
            ".TH LS 1\n.SH NAME\nls \\- list directory\ncontents\n.SH SYNOPSIS\n.B ls\n",
            "ls(1): list directory contents",
        );
        check(
            ".Dd May 1\n.Dt LS 1\n.Sh NAME\n.Nm ls\n.Nd list directory contents\n.Sh SYNOPSIS\n",
            "ls(1): list directory contents",
        );
        check(".TH LS 1\n.SH OTHER\nwords\n", "ls(1)");
    }
}
