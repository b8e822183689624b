"""Words at borders within documents: pages, notes, comments, text boxes, moved text, readings. Each stands for itself."""

import offices
import pytest
from offices import paragraph, run


def found(index, *words):
    """Asserts that each word is found once, and that none of those glued together is."""
    for word in words:
        assert index.count(word) == 1, word


# ---- PDF ---------------------------------------------------------------------------------------


def test_words_of_two_pages_at_the_same_height(index):
    index.add_bytes("a.pdf", offices.pdf("72 700 Td (ends in larch) Tj", "72 700 Td (spruce begins) Tj", "300 700 Td (alder) Tj"))
    found(index, "larch", "spruce", "begins", "alder")


def test_words_of_pages_where_one_cannot_be_read(index):
    # Read page by page, after the whole could not be.
    index.add_bytes("a.pdf", offices.pdf("72 700 Td (one poplar) Tj", "1 Tf (lost) Tj", "72 700 Td (willow two) Tj"))
    found(index, "poplar", "willow")


def test_a_word_is_divided_by_a_hyphen_between_pages(index):
    index.add_bytes("a.pdf", offices.pdf("72 40 Td (a chest-) Tj", "72 700 Td (nut tree) Tj"))
    found(index, "chestnut")


def test_columns_at_the_same_height_written_right_one_first(index):
    index.add_bytes("a.pdf", offices.pdf("300 700 Td (rowan) Tj -228 0 Td (hawthorn) Tj"))
    found(index, "rowan", "hawthorn")


def test_turned_text_has_its_blanks_and_lines(index):
    # Turned by a quarter: two words beside each other along the baseline, then a line.
    operations = "0 1 -1 0 100 100 Tm (juniper) Tj 80 0 Td (cypress) Tj -80 -20 Td (sequoia) Tj"
    index.add_bytes("a.pdf", offices.pdf(operations))
    found(index, "juniper", "cypress", "sequoia")


def test_pieces_of_one_word_stay_together(index):
    # Kerning, and an accent that is drawn over its letter.
    index.add_bytes("a.pdf", offices.pdf("72 700 Td [(mag) 20 (no) -15 (lia)] TJ 0 -20 Td (tree) Tj"))
    found(index, "magnolia", "tree")


# ---- OpenDocument ------------------------------------------------------------------------------

NOTE = ('<text:note text:note-class="footnote"><text:note-citation>7</text:note-citation>'
        "<text:note-body><text:p>{}</text:p></text:note-body></text:note>")
COMMENT = ("<office:annotation><dc:creator>Nobody Known</dc:creator><dc:date>2020-02-02T20:20:20</dc:date>"
           "<text:p>{}</text:p></office:annotation>")
BOX = "<draw:frame><draw:text-box><text:p>{}</text:p></draw:text-box></draw:frame>"


def test_a_note_between_two_words(index):
    index.add_bytes("a.odt", offices.odt(f"<text:p>very{NOTE.format('see below')} hard stone</text:p>"))
    found(index, "very", "see", "below", "hard", '"very hard stone"')


def test_a_note_within_a_word_parts_it_and_a_comment_does_not(index):
    body = f"<text:p>stone{NOTE.format('footword')}wall and sand{COMMENT.format('remarkword')}stone</text:p>"
    index.add_bytes("a.odt", offices.odt(body))
    found(index, "stone", "wall", "footword", "remarkword", "sandstone")
    assert index.count("2020-02-02T20:20:20") == 0


def test_several_paragraphs_in_a_note_and_a_note_in_a_box(index):
    note = NOTE.format("marble</text:p><text:p>granite")
    box = BOX.format(f"slate{NOTE.format('chalk')} basalt")
    index.add_bytes("a.odt", offices.odt(f"<text:p>left{note}{box}right</text:p><text:p>next</text:p>"))
    found(index, "left", "marble", "granite", "slate", "chalk", "basalt", "right", "next", '"slate basalt"')


@pytest.mark.parametrize("shape", ["custom-shape", "rect", "ellipse", "g", "caption"])
def test_drawings_with_text(index, shape):
    index.add_bytes("a.odt", offices.odt(f"<text:p>under<draw:{shape}><text:p>quartz</text:p></draw:{shape}>over</text:p>"))
    found(index, "under", "quartz", "over")


def test_titles_of_drawings(index):
    frame = "<draw:frame><svg:title>obsidian</svg:title><svg:desc>a pumice</svg:desc><draw:image/></draw:frame>"
    index.add_bytes("a.odt", offices.odt(f"<text:p>before{frame}after</text:p>"))
    found(index, "before", "obsidian", "pumice", "after")


def test_fields_in_a_paragraph_are_part_of_it(index):
    index.add_bytes("a.odt", offices.odt("<text:p>by <text:creator>Amelia</text:creator> on <text:date>Monday</text:date></text:p>"))
    found(index, '"by Amelia on Monday"')


def test_comments_and_notes_in_cells(index):
    cells = "".join(f"<table:table-cell>{text}</table:table-cell>" for text in [
        COMMENT.format("tuff") + "<text:p>gneiss</text:p>",
        f"<text:p>schist{NOTE.format('loess')}</text:p>",
        f"<text:p>{BOX.format('<text:span>marl</text:span>')}gravel</text:p>",
    ])
    index.add_bytes("a.odt", offices.odt(f"<table:table><table:table-row>{cells}</table:table-row></table:table>"))
    found(index, "tuff", "gneiss", "schist", "loess", "marl", "gravel")


def test_readings_of_an_open_document(index):
    ruby = "<text:ruby><text:ruby-base>東</text:ruby-base><text:ruby-text>とう</text:ruby-text></text:ruby>"
    index.add_bytes("a.odt", offices.odt(f"<text:p>{ruby}京の駅</text:p>"))
    found(index, "東京", "とう")


# ---- Word --------------------------------------------------------------------------------------


def test_moved_text_is_where_it_was_moved_to(index):
    moved = paragraph(
        run("stays "),
        f"<w:moveFrom>{run('origin')}</w:moveFrom>",
        f"<w:moveTo>{run('target')}</w:moveTo>",
        '<w:moveFromRangeStart w:id="1"/>',
        f"<w:moveFrom>{run('second origin')}<w:hyperlink>{run('thirdorigin')}</w:hyperlink></w:moveFrom>",
        '<w:moveFromRangeEnd w:id="1"/>',
        run(" end"),
    )
    index.add_bytes("a.docx", offices.docx(moved))
    found(index, "stays", "target", "end")
    for word in ["origin", "second", "thirdorigin"]:
        assert index.count(word) == 0, word


def test_deleted_text_in_any_form_is_left_out(index):
    body = paragraph(
        run("kept"),
        "<w:del><w:r><w:delText> erased</w:delText></w:r></w:del>",
        f"<w:del>{run(' struck')}</w:del>",
        f"<w:ins>{run(' added')}</w:ins>",
    )
    # The mark of a paragraph that was deleted: its own text stays.
    body += "<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr>" + run("following") + "</w:p>"
    index.add_bytes("a.docx", offices.docx(body))
    found(index, "kept", "added", "following")
    for word in ["erased", "struck"]:
        assert index.count(word) == 0, word


def text_box(words):
    return f"<w:txbxContent>{paragraph(run(words))}</w:txbxContent>"


def test_text_boxes_are_read_once_and_part_no_sentence(index):
    drawing = (f"<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing>{text_box('boxedonce')}</w:drawing></mc:Choice>"
               f"<mc:Choice Requires='wpg'><w:drawing>{text_box('boxedonce')}</w:drawing></mc:Choice>"
               f"<mc:Fallback><w:pict>{text_box('boxedonce')}</w:pict></mc:Fallback></mc:AlternateContent></w:r>")
    index.add_bytes("a.docx", offices.docx(paragraph(run("caption"), drawing, run("tail of it"))))
    found(index, "caption", "boxedonce", "tail")
    hit = index.search("boxedonce", "-k", "1")["hits"][0]
    assert str(hit).count("boxedonce") <= 2, "in the summary, perhaps in the title"
    assert index.count('"boxedonce boxedonce"') == 0


def test_old_text_boxes_without_a_choice(index):
    box = f"<w:r><w:pict><v:textbox>{text_box('oldbox')}</v:textbox></w:pict></w:r>"
    fallback = f"<w:r><mc:AlternateContent><mc:Fallback><w:pict>{text_box('onlyfallback')}</w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    index.add_bytes("a.docx", offices.docx(paragraph(run("one"), box, run("two"), fallback, run("three"))))
    found(index, "one", "oldbox", "two", "onlyfallback", "three")


def test_codes_of_fields_are_not_text_and_their_results_are(index):
    field = ("<w:r><w:fldChar w:fldCharType='begin'/></w:r><w:r><w:instrText>HYPERLINK secretcode</w:instrText></w:r>"
             "<w:r><w:fldChar w:fldCharType='separate'/></w:r>" + run("shownresult") + "<w:r><w:fldChar w:fldCharType='end'/></w:r>")
    index.add_bytes("a.docx", offices.docx(paragraph(run("see "), field)))
    found(index, "shownresult")
    assert index.count("secretcode") == 0


def test_footnotes_and_comments_of_word(index):
    body = paragraph(run("rock"), "<w:r><w:footnoteReference w:id='2'/></w:r>", run("fall and sand"),
                     "<w:r><w:commentReference w:id='3'/></w:r>", run("bank"))
    notes = f"<w:footnote>{paragraph(run('belowword'))}</w:footnote>"
    comments = f"<w:comment>{paragraph(run('saidword'))}</w:comment><w:comment>{paragraph(run('repliedword'))}</w:comment>"
    index.add_bytes("a.docx", offices.docx(body, footnotes=notes, comments=comments))
    found(index, "rock", "fall", "sandbank", "belowword", "saidword", "repliedword")


def test_readings_of_word(index):
    ruby = f"<w:r><w:ruby><w:rt>{run('きょう')}</w:rt><w:rubyBase>{run('京')}</w:rubyBase></w:ruby></w:r>"
    index.add_bytes("a.docx", offices.docx(paragraph(run("東"), ruby, run("に"))))
    found(index, "東京", "きょう")


# ---- Presentations, workbooks, books, mail -----------------------------------------------------


def test_shapes_and_cells_of_slides(index):
    shape = "<p:sp><p:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></p:txBody></p:sp>"
    cell = "<a:tc><a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody></a:tc>"
    slide = shape.format("heron") + shape.format("egret") + f"<a:tbl><a:tr>{cell.format('stork')}{cell.format('crane')}</a:tr></a:tbl>"
    index.add_bytes("a.pptx", offices.pptx(slide, shape.format("ibis")))
    found(index, "heron", "egret", "stork", "crane", "ibis")


def test_cells_of_a_sheet_and_how_they_are_pronounced(index):
    inline = "<c t='inlineStr'><is><t>山田</t><rPh sb='0' eb='2'><t>ヤマダ</t></rPh></is></c>"
    rich = "<c t='inlineStr'><is><r><t>king</t></r><r><t>fisher</t></r></is></c>"
    index.add_bytes("a.xlsx", offices.xlsx(f"<row>{inline}{rich}<c t='inlineStr'><is><t>finch</t></is></c></row>"))
    found(index, "山田", "kingfisher", "finch")
    assert index.count("ヤマダ") == 0


def test_chapters_of_a_book(index):
    index.add_bytes("a.epub", offices.epub("<p>ends in plover", "curlew begins</p><p><ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby>の", "godwit"))
    found(index, "plover", "curlew", "漢字", "godwit")


def test_parts_of_a_message(index):
    part = "--x\r\nContent-Type: {}\r\n\r\n{}\r\n"
    body = part.format("text/plain", "first lapwing") + part.format("text/html", "<p>dunlin</p>") + part.format("text/plain", "knot last")
    index.add_bytes("a.eml", f"From: a@example.org\r\nSubject: birds\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n{body}--x--\r\n")
    found(index, "lapwing", "dunlin", "knot")
