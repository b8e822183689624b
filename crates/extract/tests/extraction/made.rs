//! Files made for the tests, as the usual programs write them.

use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;

/// Returns a zip archive of these members.
pub(crate) fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        archive
            .start_file(*name, SimpleFileOptions::default())
            .unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// Returns a tar archive of these members.
pub(crate) fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, *bytes).unwrap();
    }
    archive.into_inner().unwrap()
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn main_relation(target: &str) -> String {
    format!(
        "<Relationships xmlns='http://schemas.openxmlformats.org/package/2006/relationships'>\
         <Relationship Id='rId1' Type='{RELATIONS}/officeDocument' Target='{target}'/></Relationships>"
    )
}

const CORE: &str = "<?xml version='1.0' encoding='UTF-8'?><cp:coreProperties \
    xmlns:cp='http://schemas.openxmlformats.org/package/2006/metadata/core-properties' \
    xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:dcterms='http://purl.org/dc/terms/'>\
    <dc:title>Lynx &amp; owl</dc:title><dc:creator>Ann</dc:creator>\
    <dcterms:created>2024-05-01T10:00:00Z</dcterms:created></cp:coreProperties>";

/// Returns a text document with this body of WordprocessingML.
pub(crate) fn docx(body: &str) -> Vec<u8> {
    let document = format!(
        "<?xml version='1.0'?><w:document xmlns:w='w' xmlns:mc='mc'><w:body>{body}</w:body></w:document>"
    );
    zip(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("_rels/.rels", main_relation("word/document.xml").as_bytes()),
        ("word/document.xml", document.as_bytes()),
        (
            "word/footnotes.xml",
            b"<w:footnotes xmlns:w='w'><w:footnote><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>",
        ),
        ("docProps/core.xml", CORE.as_bytes()),
    ])
}

/// Returns a presentation of two slides, whose order is not that of their numbers.
pub(crate) fn pptx() -> Vec<u8> {
    let slide = |words: &str| {
        format!("<p:sld xmlns:p='p' xmlns:a='a'><a:p><a:r><a:t>{words}</a:t></a:r></a:p></p:sld>")
    };
    zip(&[
        ("_rels/.rels", main_relation("ppt/presentation.xml").as_bytes()),
        (
            "ppt/presentation.xml",
            b"<p:presentation xmlns:p='p' xmlns:r='r'><p:sldIdLst><p:sldId id='256' r:id='rId2'/>\
              <p:sldId id='257' r:id='rId1'/></p:sldIdLst></p:presentation>",
        ),
        (
            "ppt/_rels/presentation.xml.rels",
            b"<Relationships><Relationship Id='rId1' Target='slides/slide1.xml'/>\
              <Relationship Id='rId2' Target='slides/slide2.xml'/></Relationships>",
        ),
        ("ppt/slides/slide1.xml", slide("second").as_bytes()),
        ("ppt/slides/slide2.xml", slide("first").as_bytes()),
        (
            "ppt/slides/_rels/slide2.xml.rels",
            b"<Relationships><Relationship Id='rId1' Target='../notesSlides/notesSlide1.xml'/></Relationships>",
        ),
        ("ppt/notesSlides/notesSlide1.xml", slide("said aloud").as_bytes()),
    ])
}

/// Returns a workbook with these rows of SpreadsheetML in its one sheet.
pub(crate) fn xlsx(rows: &str) -> Vec<u8> {
    let sheet = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
    zip(&[
        ("_rels/.rels", main_relation("/xl/workbook.xml").as_bytes()),
        (
            "xl/workbook.xml",
            b"<workbook xmlns:r='r'><sheets><sheet name='Animals' sheetId='1' r:id='rId9'/></sheets></workbook>",
        ),
        (
            "xl/_rels/workbook.xml.rels",
            b"<Relationships><Relationship Id='rId9' Target='worksheets/sheet1.xml'/></Relationships>",
        ),
        (
            "xl/sharedStrings.xml",
            "<sst><si><t>lynx</t></si><si><r><t>東</t></r><r><t>京</t></r><rPh><t>トウキョウ</t></rPh></si></sst>"
                .as_bytes(),
        ),
        (
            "xl/styles.xml",
            b"<styleSheet><numFmts><numFmt numFmtId='164' formatCode='yyyy\\-mm\\-dd'/></numFmts><cellStyleXfs><xf numFmtId='0'/>\
              </cellStyleXfs><cellXfs><xf numFmtId='0'/><xf numFmtId='164'/><xf numFmtId='22'/></cellXfs></styleSheet>",
        ),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
    ])
}

/// Returns a text document of LibreOffice.
pub(crate) fn odt() -> Vec<u8> {
    let content = "<office:document-content xmlns:office='o' xmlns:text='t' xmlns:table='b'><office:body><office:text>\
        <text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>\
        <text:h>A  heading</text:h><text:p>One<text:s text:c='9'/>two<text:line-break/>three\n four</text:p>\
        <table:table><table:table-row><table:table-cell table:number-columns-repeated='1000000'><text:p>a</text:p>\
        </table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>\
        </office:text></office:body></office:document-content>";
    let meta = "<office:document-meta xmlns:office='o' xmlns:dc='d' xmlns:meta='m'><office:meta>\
        <dc:title>Short tail</dc:title><meta:initial-creator>Bea</meta:initial-creator>\
        </office:meta></office:document-meta>";
    zip(&[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("content.xml", content.as_bytes()),
        ("meta.xml", meta.as_bytes()),
    ])
}

/// Returns a book of two chapters.
pub(crate) fn epub() -> Vec<u8> {
    zip(&[
        ("mimetype", b"application/epub+zip"),
        (
            "META-INF/container.xml",
            b"<container><rootfiles><rootfile full-path='OEBPS/content.opf'/></rootfiles></container>",
        ),
        (
            "OEBPS/content.opf",
            b"<package xmlns:dc='d'><metadata><dc:title>A book</dc:title><dc:creator>Cid</dc:creator></metadata>\
              <manifest><item id='b' href='text/two%20b.xhtml' media-type='application/xhtml+xml'/>\
              <item id='a' href='text/one.xhtml' media-type='application/xhtml+xml'/>\
              <item id='c' href='cover.png' media-type='image/png'/></manifest>\
              <spine><itemref idref='a'/><itemref idref='b'/><itemref idref='a'/><itemref idref='c'/></spine></package>",
        ),
        (
            "OEBPS/text/one.xhtml",
            b"<?xml version='1.0'?><html><head><title>1</title></head><body><h1>One</h1><p>caf&eacute;</p></body></html>",
        ),
        ("OEBPS/text/two b.xhtml", b"<html><body><p>Two</p></body></html>"),
    ])
}

/// Returns a PDF of one page with these words and this title, as a simple program writes it.
pub(crate) fn pdf(words: &str, title: &str) -> Vec<u8> {
    pdf_of(&[&format!("({words}) Tj")], title)
}

/// Returns a PDF of pages with these operations.
pub(crate) fn pdf_of(pages: &[&str], title: &str) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len())
        .map(|page| format!("{} 0 R", 5 + 2 * page))
        .collect();
    let kids = kids.join(" ");
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", pages.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_owned(),
        format!("<< /Title ({title}) /Author (Dora) >>"),
    ];
    for page in pages {
        let content = format!("BT /F1 12 Tf 72 720 Td {page} ET");
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {} 0 R \
             /Resources << /Font << /F1 3 0 R >> >> >>",
            objects.len() + 2
        ));
        objects.push(format!(
            "<< /Length {} >>\nstream\n{content}\nendstream",
            content.len()
        ));
    }
    let objects: Vec<Vec<u8>> = objects.into_iter().map(String::into_bytes).collect();
    pdf_file(&objects)
}

/// Returns a PDF of these objects: the first is the catalogue, the fourth the information.
pub(crate) fn pdf_file(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut pdf = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(pdf.len());
        writeln!(pdf, "{} 0 obj", number + 1).unwrap();
        pdf.extend_from_slice(object);
        pdf.extend_from_slice(b"\nendobj\n");
    }
    let start = pdf.len();
    write!(pdf, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).unwrap();
    for place in places {
        writeln!(pdf, "{place:010} 00000 n ").unwrap();
    }
    write!(
        pdf,
        "trailer\n<< /Size {} /Root 1 0 R /Info 4 0 R >>\nstartxref\n{start}\n%%EOF\n",
        objects.len() + 1
    )
    .unwrap();
    pdf
}

/// Returns a message with text, HTML and three attachments, of which one is an image.
pub(crate) fn message(words: &str) -> Vec<u8> {
    let page = "<html><body><p>As HTML</p></body></html>";
    let report = base64(&docx("<w:p><w:t>attached</w:t></w:p>"));
    format!(
        "From: =?UTF-8?Q?J=C3=B6rg?= <joerg@example.org>\r\nTo: Ann <ann@example.org>, bob@example.org\r\n\
         Subject: =?UTF-8?B?w5xiZXIgZGVuIEx1Y2hz?=\r\nDate: Wed, 1 May 2024 10:00:00 +0200\r\n\
         MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=out\r\n\r\n\
         --out\r\nContent-Type: multipart/alternative; boundary=in\r\n\r\n\
         --in\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n\
         caf=E9 {words}\r\n--in\r\nContent-Type: text/html\r\n\r\n{page}\r\n--in--\r\n\
         --out\r\nContent-Type: application/octet-stream; name=\"report.docx\"\r\n\
         Content-Disposition: attachment; filename=\"../report.docx\"\r\nContent-Transfer-Encoding: base64\r\n\r\n{report}\r\n\
         --out\r\nContent-Type: image/png\r\nContent-Disposition: attachment; filename=cat.png\r\n\r\nPNG\r\n\
         --out\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=notes.txt\r\n\r\nSome notes\r\n\
         --out--\r\n"
    )
    .into_bytes()
}

/// Returns a mailbox of two messages. The second quotes a line that begins with `From`.
pub(crate) fn mailbox() -> Vec<u8> {
    b"From ann@example.org Wed May  1 10:00:00 2024\nFrom: ann@example.org\nSubject: One\n\nFirst text.\n\
      From here on it is not a new message.\n\n\
      From bob@example.org Wed May  1 11:00:00 2024\nFrom: bob@example.org\nSubject: Two\nContent-Type: text/html\n\n\
      <p>Second<p>\n>From the start.\n"
        .to_vec()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let number = three
            .iter()
            .fold(0u32, |sum, &byte| sum << 8 | u32::from(byte));
        let number = number << (8 * (3 - three.len()));
        for digit in 0..=three.len() {
            text.push(char::from(
                DIGITS[(number >> (18 - 6 * digit)) as usize & 63],
            ));
        }
        text.push_str(&"=".repeat(3 - three.len()));
    }
    text
}
