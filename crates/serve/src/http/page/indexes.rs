//! Page of all indexes of a server of many.

use super::assets::Files;
use super::times::counted;
use super::whole;
use askama::Template;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What is encoded in the path of an index: all that a name has beyond ASCII.
const ENCODED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

#[derive(Template)]
#[template(path = "indexes.html")]
struct Indexes {
    files: Files,
    count: String,
    indexes: Vec<Row>,
}

struct Row {
    name: String,
    path: String,
    documents: String,
}

/// Index of the page.
pub(crate) struct ListedIndex<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Its live documents; `None` where it is not open.
    pub(crate) documents_count: Option<u64>,
}

/// Returns the page of all indexes, with links to theirs.
pub(crate) fn indexes<'a>(indexes: impl Iterator<Item = ListedIndex<'a>>) -> String {
    let row = |index: ListedIndex<'_>| Row {
        name: index.name.to_owned(),
        path: utf8_percent_encode(index.name, &ENCODED).to_string(),
        documents: match index.documents_count {
            Some(count) => counted(count, "document", "documents"),
            None => "not opened yet".to_owned(),
        },
    };
    let indexes: Vec<Row> = indexes.map(row).collect();
    whole(&Indexes {
        files: Files::new(),
        count: counted(indexes.len() as u64, "index", "indexes"),
        indexes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_links_and_text() {
        let listed = |name, documents_count| ListedIndex {
            name,
            documents_count,
        };
        let html = indexes([listed("Bücher-2", Some(1)), listed("a.b", None)].into_iter());
        assert!(html.contains("2 indexes"), "{html}");
        assert!(html.contains("<a href=\"./B%C3%BCcher-2/\">Bücher-2</a></dt><dd>1 document</dd>"));
        assert!(html.contains("<a href=\"./a.b/\">a.b</a></dt><dd>not opened yet</dd>"));
        assert!(indexes(std::iter::empty()).contains("0 indexes"));
    }
}
