"""Documents for the first hour: every command of their ```console blocks is run, and prints what they show."""

import shutil

import peers
import pytest
from console import Session, matches, shape, steps

DOCUMENTS = {
    "docs/tutorial.md": 20,
    "docs/analysis.md": 1,
    "docs/updating.md": 10,
    "docs/fields.md": 6,
    "docs/rules.md": 11,
    "docs/coming-from-elasticsearch.md": 5,
    "docs/coming-from-lucene.md": 5,
    "docs/coming-from-meilisearch.md": 5,
}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_print_what_the_document_shows(document, root, binary, tmp_path):
    found = steps((root / document).read_text(encoding="utf-8"))
    assert len(found) >= DOCUMENTS[document]
    if missing := [tool for tool in ["curl", "jq"] if not shutil.which(tool)]:
        pytest.skip(f"no {' and no '.join(missing)} here")
    with peers.running() as ports:
        session = Session(tmp_path, binary, ports)
        try:
            for command, expected in found:
                session.run(command, expected)
            session.end()
        finally:
            if session.server:
                session.server.kill()


def test_steps_are_commands_with_their_output():
    text = "a\n```console\n$ one\n1\n\n$ cat > x <<'END'\n> y\n>\n> END\n$ two\n```\n```text\n$ none\n```\n"
    assert steps(text) == [("one", ["1", ""]), ("cat > x <<'END'\ny\n\nEND", []), ("two", [])]


def test_output_is_compared_but_for_numbers():
    assert matches(["a 12 documents in 1.5 ms", "…", "end …"], ["a 3 documents in 7 µs", "b", "c", "end of it"])
    assert not matches(["a 12 documents"], ["a 12 hits"])
    assert not matches(["a"], ["a", "b"])
    assert not matches(["a", "b"], ["a"])
    assert shape("total  216 µs  ███▉") == "total 0 s"
