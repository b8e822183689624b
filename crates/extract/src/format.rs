//! Formats of files, by the endings of their names.

/// Format of a file, by the ending of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    #[cfg(feature = "archives")]
    Zip,
    #[cfg(feature = "archives")]
    Tar,
    #[cfg(feature = "office")]
    Word,
    #[cfg(feature = "office")]
    Slides,
    #[cfg(feature = "office")]
    Sheets,
    #[cfg(feature = "office")]
    OpenDocument,
    #[cfg(feature = "office")]
    Epub,
    #[cfg(feature = "mail")]
    Message,
    #[cfg(feature = "mail")]
    Mailbox,
    #[cfg(feature = "pdf")]
    Pdf,
    /// Text, Markdown, HTML or code.
    Text,
}

impl Format {
    /// Returns the format that a name without an ending of compression indicates.
    pub(crate) fn of(name: &str) -> Option<Format> {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        match ending.to_ascii_lowercase().as_str() {
            #[cfg(feature = "archives")]
            "zip" => Some(Format::Zip),
            #[cfg(feature = "archives")]
            "tar" => Some(Format::Tar),
            #[cfg(feature = "office")]
            "docx" | "docm" => Some(Format::Word),
            #[cfg(feature = "office")]
            "pptx" | "pptm" => Some(Format::Slides),
            #[cfg(feature = "office")]
            "xlsx" | "xlsm" => Some(Format::Sheets),
            #[cfg(feature = "office")]
            "odt" | "odp" | "ods" => Some(Format::OpenDocument),
            #[cfg(feature = "office")]
            "epub" => Some(Format::Epub),
            #[cfg(feature = "mail")]
            "eml" => Some(Format::Message),
            #[cfg(feature = "mail")]
            "mbox" => Some(Format::Mailbox),
            #[cfg(feature = "pdf")]
            "pdf" => Some(Format::Pdf),
            _ => corpus::is_text_name(name).then_some(Format::Text),
        }
    }
}

/// Returns a name in which short endings of compressed tar files are written out: `.tgz` as `.tar.gz`.
pub(crate) fn with_full_ending(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    for (short, full) in [
        (".tgz", ".tar.gz"),
        (".txz", ".tar.xz"),
        (".tbz2", ".tar.bz2"),
        (".tbz", ".tar.bz2"),
        (".tzst", ".tar.zst"),
    ] {
        if lower.ends_with(short) {
            return name[..name.len() - short.len()].to_owned() + full;
        }
    }
    for ending in [".gz", ".xz", ".bz2", ".zst"] {
        if lower.ends_with(ending) {
            return name[..name.len() - ending.len()].to_owned() + ending;
        }
    }
    name.to_owned()
}

/// Returns whether a member of this name is read.
#[cfg(any(feature = "archives", feature = "mail"))]
pub(crate) fn is_read(name: &str) -> bool {
    let name = with_full_ending(name);
    Format::of(corpus::decompressed_name(&name)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_endings_are_those_of_tar() {
        assert_eq!(with_full_ending("A.TGZ"), "A.tar.gz");
        assert_eq!(with_full_ending("a.TAR.XZ"), "a.TAR.xz");
        assert_eq!(with_full_ending("a.txt"), "a.txt");
        assert_eq!(Format::of("a.txt"), Some(Format::Text));
        assert_eq!(Format::of("a.png"), None);
    }

    /// Tests that the child reads what the parent sends.
    #[test]
    #[cfg(all(
        feature = "archives",
        feature = "office",
        feature = "mail",
        feature = "pdf"
    ))]
    fn every_kind_of_the_readers_of_folders_has_a_format() {
        for name in [
            "a.zip", "a.tar", "a.tar.gz", "a.tgz", "a.txz", "a.tbz", "a.tbz2", "a.tzst", "a.docx",
            "a.docm", "a.pptx", "a.pptm", "a.xlsx", "a.xlsm", "a.odt", "a.odp", "a.ods", "a.epub",
            "a.eml", "a.mbox", "a.pdf", "a.PDF", "a.Tar.Gz",
        ] {
            assert!(corpus::Kind::of(name).is_some(), "{name}");
            assert!(is_read(name), "{name}");
        }
    }
}
