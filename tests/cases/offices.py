"""Office documents, books and PDF files as small as their readers take them, made from pieces of their markup."""

import io
import zipfile

ODF = " ".join(f'xmlns:{prefix}="{prefix}"' for prefix in ["office", "text", "table", "draw", "dc", "svg", "presentation"])
WORD = " ".join(f'xmlns:{prefix}="{prefix}"' for prefix in ["w", "mc", "wps", "wp", "v", "a", "p", "r"])


def package(parts):
    """Returns a zip archive of these parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return out.getvalue()


def odt(body):
    return package({"content.xml": f"<office:document-content {ODF}><office:body><office:text>{body}</office:text>"
                                   "</office:body></office:document-content>"})


def docx(body, **parts):
    """Returns a document with this body; `footnotes`, `comments` are further parts."""
    document = f"<w:document {WORD}><w:body>{body}</w:body></w:document>"
    more = {f"word/{name}.xml": f"<w:{name} {WORD}>{text}</w:{name}>" for name, text in parts.items()}
    return package({"word/document.xml": document} | more)


def run(text):
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*pieces):
    return f"<w:p>{''.join(pieces)}</w:p>"


def pptx(*slides):
    """Returns a presentation whose slides are these shapes' paragraphs."""
    parts = {f"ppt/slides/slide{number}.xml": f"<p:sld {WORD}>{slide}</p:sld>" for number, slide in enumerate(slides, 1)}
    return package({"ppt/presentation.xml": f"<p:presentation {WORD}/>"} | parts)


def xlsx(rows, shared=""):
    return package({
        "xl/workbook.xml": "<workbook/>",
        "xl/sharedStrings.xml": f"<sst>{shared}</sst>",
        "xl/worksheets/sheet1.xml": f"<worksheet><sheetData>{rows}</sheetData></worksheet>",
    })


def epub(*chapters):
    items = "".join(f'<item id="c{n}" href="c{n}.xhtml" media-type="application/xhtml+xml"/>' for n, _ in enumerate(chapters))
    order = "".join(f'<itemref idref="c{n}"/>' for n, _ in enumerate(chapters))
    parts = {f"c{n}.xhtml": f"<html><body>{text}</body></html>" for n, text in enumerate(chapters)}
    return package({
        "META-INF/container.xml": '<container><rootfiles><rootfile full-path="content.opf"/></rootfiles></container>',
        "content.opf": f"<package><manifest>{items}</manifest><spine>{order}</spine></package>",
    } | parts)


def pdf(*pages):
    """Returns a PDF whose pages have these operations within a text object, in a font of 12 points."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n, _ in enumerate(pages))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for n, operations in enumerate(pages):
        objects.append("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
                       f" /Contents {5 + 2 * n} 0 R >>")
        content = f"BT /F1 12 Tf {operations} ET"
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    out, places = b"%PDF-1.4\n", []
    for number, text in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{text}\nendobj\n".encode()
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    return out + f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
