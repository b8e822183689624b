"""An index of a few documents made by a test, and what searches of it answer.

Each file of this folder holds the cases of one kind of fault, met in practice: small inputs, what a person typed, and what has
to be found. Inputs that are no text (office documents, PDF) stand beside the tests.
"""

import json
import pathlib
import subprocess

import pytest

RUN_SECONDS_MAX = 60
HERE = pathlib.Path(__file__).resolve().parent


class Index:
    """An index in a folder of its own, by the program alone."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.path = folder / "index"
        self.inputs = 0

    def run(self, *arguments, input=None):
        """Runs the program; returns its exit status, output and messages."""
        done = subprocess.run([self.binary, *map(str, arguments)], input=input, capture_output=True, timeout=RUN_SECONDS_MAX,
                              stdin=subprocess.DEVNULL if input is None else None, cwd=self.folder)
        output, errors = done.stdout.decode(), done.stderr.decode(errors="replace")
        assert "panicked" not in errors, f"{arguments}:\n{errors}"
        return done.returncode, output, errors

    def done(self, *arguments, input=None):
        """Runs the program, which must succeed; returns its output."""
        status, output, errors = self.run(*arguments, input=input)
        assert status == 0, f"{arguments}: {status}\n{output}\n{errors}"
        return output

    def add(self, *sources, options=()):
        """Indexes files; returns everything that was printed."""
        status, output, errors = self.run("index", self.path, *sources, *options)
        assert status == 0, f"index {sources}: {status}\n{output}\n{errors}"
        return output + errors

    def add_bytes(self, name, content, options=()):
        """Indexes a file of these bytes, or this text, under a name."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return self.add(path, options=options)

    def add_documents(self, documents, options=()):
        """Indexes dictionaries: `url` and `title` are made where they are missing."""
        self.inputs += 1
        lines = []
        for number, document in enumerate(documents):
            lines.append(json.dumps({"url": f"u:{number}", "title": "t"} | document, ensure_ascii=False))
        return self.add_bytes(f"documents-{self.inputs}.jsonl", "\n".join(lines) + "\n", options)

    def search(self, query, *options):
        """Returns the answer to a query with all words, of any number of hits a site."""
        return json.loads(self.done("search", self.path, "--all", "--json", "--per-site", "0", *options, "--", query))

    def hits(self, query, *options):
        """Returns the sorted ids of the hits."""
        return sorted(hit["id"] for hit in self.search(query, "-k", "100", *options)["hits"])

    def count(self, query, *options):
        """Returns the number of matches."""
        return self.search(query, *options)["total"]["value"]

    def warnings(self, query, *options):
        """Returns the warnings of an answer."""
        return self.search(query, *options)["warnings"]


@pytest.fixture
def index(binary, tmp_path):
    """An empty index."""
    return Index(binary, tmp_path)


@pytest.fixture
def inputs():
    """The folder of inputs that are no text."""
    return HERE / "inputs"
