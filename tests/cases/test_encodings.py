"""Texts in other encodings than UTF-8: one decoder for every reader, which says where it guesses."""

import pytest

TEXT = "It\u2019s late \u2013 don\u2019t drink \u201cstrong\u201d coffee, caf\u00e9 closed, 5 \u20ac"
RUSSIAN = "Сова летит ночью над лесом и ищет мышей, а утром она спит в дупле старого дуба."


def told_guess(told):
    return [line for line in told.splitlines() if "is guessed" in line]


@pytest.mark.parametrize("name, content", [
    ("note.txt", "{}"), ("note.md", "# Note\n\n{}"), ("note.rst", "Note\n====\n\n{}"), ("note.py", "# {}"),
    ("table.csv", "title,body\nNote,\"{}\"\n"), ("table.tsv", "title\tbody\nNote\t{}\n"), ("page.html", "<title>Note</title><p>{}"),
    ("docs.trectext", "<DOC><DOCNO>1</DOCNO><TEXT>{}</TEXT></DOC>"),
])
def test_windows_1252_is_that_of_windows(index, name, content):
    told = index.add_bytes(name, content.format(TEXT).encode("cp1252"))
    for word in ["it's", "don't", "café", "strong"]:
        assert index.count(word) == 1, word
    assert "\u2019" in index.done("search", index.path, "late", "--json")
    assert "windows-1252 (1)" in told_guess(told)[0]


@pytest.mark.parametrize("name, content", [("note.txt", "{}"), ("table.csv", "title,body\nNote,\"{}\"\n")])
@pytest.mark.parametrize("encoding, guessed", [("windows-1251", True), ("koi8-r", True), ("utf-8", False), ("utf-8-sig", False),
                                               ("utf-16", False)])
def test_letters_tell_the_encoding(index, name, content, encoding, guessed):
    told = index.add_bytes(name, content.format(RUSSIAN).encode(encoding))
    assert index.count("сова") == 1
    assert bool(told_guess(told)) == guessed


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_known_by_its_zeros(index, encoding):
    index.add_bytes("note.txt", "A longer note about owls, which fly at night.".encode(encoding))
    index.add_bytes("table.csv", "title,body\nNote,another note about owls\n".encode(encoding))
    index.add_bytes("lines.jsonl", '{"url":"u:1","body":"owls of JSON"}\n'.encode(encoding))
    assert index.count("owls") == 3


def test_a_table_in_utf_16_of_another_system(index):
    index.add_bytes("table.csv", "title,body\r\nEule,fliegt über Köln\r\n".encode("utf-16"))
    assert index.count("über") == 1


def test_the_first_odd_letter_may_be_far_away(index):
    rows = "".join(f"T{number},row number {number}\n" for number in range(60_000))
    index.add_bytes("table.csv", ("title,body\n" + rows).encode() + "Last,café don\u2019t\n".encode("cp1252"))
    assert index.count("café don't") == 1


def test_a_table_of_two_encodings(index):
    told = index.add_bytes("table.csv", "title,body\nOne,café\n".encode() + "Two,café don\u2019t\n".encode("cp1252"))
    assert index.count("café") == 2
    assert index.count("don't") == 1
    assert told_guess(told)


def test_texts_about_pages_declare_nothing(index):
    told = index.add_bytes("note.md", "# Pages\n\nWrite `<meta charset=koi8-r>`, café.\n")
    assert index.count("café") == 1
    assert not told_guess(told)


def test_binaries_stay_out(index):
    index.add_bytes("note.txt", "a word")
    folder = index.folder / "folder"
    folder.mkdir()
    (folder / "a.txt").write_bytes(bytes(range(256)) * 20)
    (folder / "b.txt").write_text("another word")
    told = index.add(folder)
    assert "binary, not text" in told
    assert index.count("word") == 2
