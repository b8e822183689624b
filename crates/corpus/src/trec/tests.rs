//! Tests of TREC files.

use super::*;
use proptest::prelude::*;

fn read_all(bytes: &[u8]) -> Vec<Result<Document, String>> {
    let stream = std::io::Cursor::new(bytes.to_vec());
    let input = Input::from_reader(stream, &crate::input::Meter::default());
    let mut trec = Trec::new("t.trec".to_owned(), input);
    let mut found = Vec::new();
    loop {
        match trec.next().expect("an input without errors") {
            Step::Good { document, .. } => found.push(Ok(document)),
            Step::Bad { bad, .. } => found.push(Err(bad.to_string())),
            Step::End => return found,
            _ => {}
        }
    }
}

const NEWS: &str = "\
<DOC>
<DOCNO> FT911-3 </DOCNO>
<DATE>910514 </DATE>
<HEADLINE>
FT  14 MAY 91 / Owls &amp; mice
</HEADLINE>
<TEXT>
The <F P=105>barn</F> owl hunts.<P>It is quiet; 1 < 2.
</TEXT>
</DOC>
stray
<doc><docno>AP-1</docno><head>One</head><text>first</text><text>second</text></doc>
<DOC><DOCNO>X-1</DOCNO>
plain words &hyph; no elements
</DOC>
<DOC>
no number
</DOC>
";

#[test]
fn news_are_documents() {
    let found = read_all(NEWS.as_bytes());
    let owls = found[0].as_ref().unwrap();
    assert_eq!(
        (&*owls.url, owls.id.as_deref()),
        ("id:FT911-3", Some("FT911-3"))
    );
    assert_eq!(owls.title, "FT 14 MAY 91 / Owls & mice");
    assert_eq!(owls.body, "The barn owl hunts.\nIt is quiet; 1 < 2.");
    assert_eq!(owls.fields["date"], "910514");
    let second = found[1].as_ref().unwrap();
    assert_eq!((&*second.title, &*second.body), ("One", "first\nsecond"));
    assert_eq!(found[2].as_ref().unwrap().body, "plain words - no elements");
    assert_eq!(
        found[3],
        Err("t.trec:16: the document has no DOCNO".to_owned())
    );
    assert_eq!(found.len(), 4);
}

#[cfg(feature = "html")]
#[test]
fn web_pages_are_documents() {
    let page = "<DOC>\n<DOCNO>GX0-1</DOCNO>\n<DOCHDR>\nhttp://x.test/a.html 1.2.3.4 200\nHTTP/1.1 200 OK\n</DOCHDR>\n\
        <html><title>A page</title><p>caf\u{e9}<script>no</script>\n</DOC>\n";
    let found = read_all(page.as_bytes());
    let page = found[0].as_ref().unwrap();
    assert_eq!(
        (&*page.url, page.id.as_deref()),
        ("http://x.test/a.html", Some("GX0-1"))
    );
    assert_eq!((&*page.title, &*page.body), ("A page", "café"));
}

#[test]
fn a_torn_end_is_named() {
    let found = read_all(&NEWS.as_bytes()[..100]);
    assert_eq!(
        found,
        [Err("t.trec:1: the file ends within a document".to_owned())]
    );
    assert!(is_trec(b"\n <DOC>\n<DOCNO>1</DOCNO>"));
    assert!(!is_trec(b"<DOCTYPE html><docno>") && !is_trec(b"<doc>") && !is_trec(b""));
}

proptest! {
    #[test]
    fn any_bytes_are_documents_or_errors(text in r"(<DOC>|</DOC>|<DOCNO>|</DOCNO>|<TEXT>|</TEXT>|<DOCHDR>|</|<|>|&|[a-cé]{1,3}|\n){0,40}") {
        read_all(text.as_bytes());
    }

    /// Documents do not depend on where lines break.
    #[test]
    fn lines_break_anywhere(ids in prop::collection::vec("[a-z]{1,4}", 1..9), one_line in any::<bool>()) {
        let space = if one_line { " " } else { "\n" };
        let text: String = ids
            .iter()
            .map(|id| format!("<DOC>{space}<DOCNO>{id}</DOCNO>{space}<TEXT>{space}x {id}{space}</TEXT></DOC>\n"))
            .collect();
        let found = read_all(text.as_bytes());
        let read: Vec<&str> = found.iter().map(|one| one.as_ref().unwrap().id.as_deref().unwrap()).collect();
        prop_assert_eq!(read, ids);
    }
}
