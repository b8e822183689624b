//! Office documents, books and PDF: readable text, title and fields.

use crate::made;
use crate::support::{bad, document, pool, results};
use corpus::Extracted;

#[test]
fn paragraphs_tables_and_notes_of_a_text_document() {
    let body = "<w:p><w:r><w:t>The ly</w:t></w:r><w:r><w:t>nx</w:t><w:tab/><w:t xml:space='preserve'> runs</w:t></w:r></w:p>\
        <w:p/><w:p/><w:p/>\
        <w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>\
        <mc:AlternateContent><mc:Choice><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Choice>\
        <mc:Fallback><w:p><w:r><w:t>box</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent>\
        <w:p><w:r><w:instrText>HYPERLINK</w:instrText><w:delText>gone</w:delText></w:r></w:p>";
    let bytes = made::docx(body);
    let found = document("a.docx", &bytes);
    let text = "The lynx\t runs\n\na\nb\nbox\n\nA note.";
    assert_eq!(found, ("Lynx & owl".to_owned(), text.to_owned()));
    let Extracted::Document { fields, .. } = results(&pool(), "a.docx", &bytes).remove(0) else {
        panic!()
    };
    assert_eq!(fields["author"], "Ann");
    assert_eq!(fields["date"], "2024-05-01T10:00:00Z");
}

#[test]
fn slides_come_in_the_order_of_the_presentation_with_their_notes() {
    let (title, body) = document("a.pptx", &made::pptx());
    assert_eq!((&*title, &*body), ("", "first\nsaid aloud\n\nsecond"));
}

#[test]
fn rows_of_a_workbook_are_lines_wherever_their_cells_are() {
    let rows = "<row r='1'><c r='A1' t='s'><v>0</v></c><c r='B1' t='s'><v>1</v></c><c r='C1'/><c r='D1'><v>3.5</v></c></row>\
        <row r='2'><c t='b'><v>1</v></c><c t='inlineStr'><is><t>in line</t></is></c><c t='s'><v>99</v></c></row><row/>\
        <row><c s='1'><v>41998</v></c><c s='2'><v>40461.423726851797</v></c><c s='0'><v>0.10299999999999999</v></c></row>\
        <row r='1048576'><c r='XFD1048576' t='str'><f>A1</f><v>last</v></c></row>";
    let (title, body) = document("stock.xlsx", &made::xlsx(rows));
    let text =
        "Animals\nlynx\t東京\t3.5\nTRUE\tin line\n2014-12-25\t2010-10-10 10:10:10\t0.103\nlast";
    assert_eq!((&*title, &*body), ("stock.xlsx", text));
}

#[test]
fn a_document_of_libre_office_without_its_deleted_text() {
    let (title, body) = document("a.odt", &made::odt());
    let text = "A heading\nOne two\nthree four\na\tb";
    assert_eq!((&*title, &*body), ("Short tail", text));
}

#[test]
fn chapters_of_a_book_come_once_and_in_order() {
    let (title, body) = document("a.epub", &made::epub());
    assert_eq!((&*title, &*body), ("A book", "One\ncafé\n\nTwo"));
}

#[test]
fn pages_of_a_pdf() {
    let bytes = made::pdf("The caf\\351 of the lynx", "On cats");
    let (title, body) = document("a.pdf", &bytes);
    assert_eq!((&*title, &*body), ("On cats", "The café of the lynx"));
    let Extracted::Document { fields, .. } = results(&pool(), "a.pdf", &bytes).remove(0) else {
        panic!()
    };
    assert_eq!(fields["author"], "Dora");
}

#[test]
fn a_page_that_cannot_be_read_does_not_cost_the_others() {
    let pages = ["(First page) Tj", "1 Tf (lost) Tj", "(Third page) Tj"];
    let bytes = made::pdf_of(&pages, "");
    let found = results(&pool(), "a.pdf", &bytes);
    let [
        Extracted::Bad { reason, .. },
        Extracted::Document { body, .. },
    ] = &found[..]
    else {
        panic!("{found:?}")
    };
    assert!(
        reason.starts_with("1 of 3 pages cannot be read: "),
        "{reason}"
    );
    assert_eq!(body, "First page\n\nThird page");
}

#[test]
fn what_is_not_a_document_of_its_name_says_so() {
    let pool = pool();
    for (name, bytes, part) in [
        (
            "a.docx",
            b"\xd0\xcf\x11\xe0\xa1\xb1".to_vec(),
            "encrypted, or of a format before 2007",
        ),
        ("a.docx", made::epub(), "it has no word/document.xml"),
        ("a.xlsx", b"not a zip".to_vec(), "the document is damaged"),
        (
            "a.odt",
            made::zip(&[("content.xml", b"<a><b x=")]),
            "content.xml is damaged",
        ),
        (
            "a.ods",
            made::zip(&[
                ("META-INF/manifest.xml", b"<m:manifest xmlns:m='m'><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>"),
                ("content.xml", b"\x93\x1f"),
            ]),
            "the document is encrypted",
        ),
        ("a.epub", made::zip(&[]), "it has no META-INF/container.xml"),
        ("a.pdf", b"%PDF-1.4 nothing".to_vec(), "the PDF is damaged"),
        ("a.pdf", made::pdf("", ""), "the PDF has no text"),
        ("a.zip", b"PK\x03\x04".to_vec(), "the archive is damaged"),
        ("a.zip", made::zip(&[]), "an archive without members"),
    ] {
        let found = bad(&pool, name, &bytes);
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        assert_eq!(found[0].0, "");
        assert!(found[0].1.contains(part), "{name}: {found:?}");
    }
}
