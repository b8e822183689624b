//! Kinds of files by their names: what they are sent as, and what a browser may do with them.

use std::fs::File;
use std::io::{self, Read, Seek};

/// Beginning of a text that tells whether it is UTF-8, in bytes.
const BEGINNING_BYTES: u64 = 64 << 10;
/// Policy for what may hold scripts: it is a page of no origin, runs nothing, loads nothing and sends nothing.
const OF_PAGES: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; \
                        base-uri 'none'; frame-ancestors 'none'";
/// Policy for the rest. Viewers of browsers do not show a PDF in a sandbox.
const OF_OTHERS: &str = "script-src 'none'; frame-ancestors 'none'";

/// Endings of files that browsers show, and their media types.
const SHOWN: [(&str, &str); 4] = [
    ("pdf", "application/pdf"),
    ("html", "text/html"),
    ("htm", "text/html"),
    ("xhtml", "application/xhtml+xml"),
];
/// Endings of files that are saved, and their media types.
const SAVED: [(&str, &str); 20] = [
    ("zip", "application/zip"),
    ("gz", "application/gzip"),
    ("tgz", "application/gzip"),
    ("xz", "application/x-xz"),
    ("bz2", "application/x-bzip2"),
    ("zst", "application/zstd"),
    ("tar", "application/x-tar"),
    ("epub", "application/epub+zip"),
    ("eml", "message/rfc822"),
    ("mbox", "application/mbox"),
    ("svg", "image/svg+xml"),
    ("xml", "application/xml"),
    ("warc", "application/warc"),
    ("odt", "application/vnd.oasis.opendocument.text"),
    ("ods", "application/vnd.oasis.opendocument.spreadsheet"),
    ("odp", "application/vnd.oasis.opendocument.presentation"),
    (
        "docx",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ),
    (
        "xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    (
        "pptx",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ),
    ("parquet", "application/vnd.apache.parquet"),
];

/// Kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A browser shows it, or saves it.
    Known(&'static str, bool),
    /// Shown where it is text, else saved.
    Unknown,
}

impl Kind {
    pub(super) fn of(name: &str) -> Kind {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        let known = |list: &[(&str, &'static str)]| {
            let known = list.iter().find(|(of, _)| ending.eq_ignore_ascii_case(of));
            known.map(|(_, media_type)| *media_type)
        };
        let shown = known(&SHOWN).map(|media_type| Kind::Known(media_type, true));
        let saved = || known(&SAVED).map(|media_type| Kind::Known(media_type, false));
        shown.or_else(saved).unwrap_or(Kind::Unknown)
    }

    /// Returns the media type, for which a file of unknown kind is looked at, and the file at its beginning.
    pub(super) fn content_type(self, mut file: File) -> io::Result<(&'static str, File)> {
        if let Kind::Known(media_type, _) = self {
            return Ok((media_type, file));
        }
        let mut beginning = Vec::new();
        (&mut file)
            .take(BEGINNING_BYTES)
            .read_to_end(&mut beginning)?;
        file.rewind()?;
        let is_utf8 = match std::str::from_utf8(&beginning) {
            Ok(_) => true,
            Err(error) => error.error_len().is_none(),
        };
        let media_type = match (beginning.contains(&0), is_utf8) {
            (true, _) => "application/octet-stream",
            (false, true) => "text/plain; charset=utf-8",
            // Browsers know the encodings of their country.
            (false, false) => "text/plain",
        };
        Ok((media_type, file))
    }

    /// Returns the security policy under which it is shown.
    pub(super) fn policy(self) -> &'static str {
        match self {
            Kind::Known("application/pdf", _) => OF_OTHERS,
            Kind::Known(..) | Kind::Unknown => OF_PAGES,
        }
    }

    /// Returns whether a browser shows the file or saves it, and under which name.
    pub(super) fn disposition(self, name: &str) -> String {
        let how = match self {
            Kind::Known(_, false) => "attachment",
            Kind::Known(_, true) | Kind::Unknown => "inline",
        };
        let name = percent_encoding::utf8_percent_encode(name, percent_encoding::NON_ALPHANUMERIC);
        format!("{how}; filename*=UTF-8''{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_may_hold_scripts_is_in_a_sandbox_or_saved() {
        for name in ["a.html", "A.HTM", "a.xhtml", "a.svg", "a.xml", "a.txt", "a"] {
            let policy = Kind::of(name).policy();
            assert!(
                policy.starts_with("sandbox;") && !policy.contains("allow-"),
                "{name}"
            );
        }
        for name in ["a.svg", "a.xml", "a.zip", "a.tar.gz"] {
            assert!(
                Kind::of(name).disposition(name).starts_with("attachment;"),
                "{name}"
            );
        }
        let named = Kind::of("x").disposition("a\"\r\nb é.txt");
        assert_eq!(named, "inline; filename*=UTF-8''a%22%0D%0Ab%20%C3%A9%2Etxt");
    }

    #[test]
    fn a_file_of_no_known_kind_is_looked_at() {
        for (bytes, media_type) in [
            (&b"words"[..], "text/plain; charset=utf-8"),
            ("größe".as_bytes(), "text/plain; charset=utf-8"),
            (b"gr\xf6sse", "text/plain"),
            (b"\x7fELF\0", "application/octet-stream"),
            (b"<script>", "text/plain; charset=utf-8"),
        ] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(bytes).unwrap();
            file.rewind().unwrap();
            let (found, mut file) = Kind::of("a.conf").content_type(file).unwrap();
            let mut read = Vec::new();
            file.read_to_end(&mut read).unwrap();
            assert_eq!((found, &*read), (media_type, bytes));
        }
    }
}
