"""Every row of the guides for those who come from elsewhere is tried: what its last column names is there, and is taken.

A row's code spans are commands, options, calls of HTTP, parameters, names in an answer, or texts to search for; one that is none
of these fails, so that a new row is tried, too.
"""

import contextlib
import json
import re
import subprocess
import urllib.parse

import pytest
import served

GUIDES = {"elasticsearch": 40, "lucene": 20, "meilisearch": 18}
DOCUMENTS = [
    {"url": "http://a.test/lynx", "title": "The lynx", "body": "A lynx has a short tail and tufted ears.", "lang": "en",
     "date": "2024-05-06", "price": 12, "isbn": "1", "author": "A. Cat"},
    {"url": "http://b.test/comet", "title": "Comets", "body": "The tail of a comet is made of dust.", "lang": "de",
     "date": "2025-01-02", "price": 20, "isbn": "2", "author": "B. Star"},
]
# Names that are no part of the program: of its crate, of other programs, and of what documents and fields are.
OTHER_NAMES = {"url", "id", "title", "body", "site", "text", "word", "jq", "standard", "weight = 3.0", "searchable = false",
               "shorttail", "ir_measures", "shard_size", "minimumNumberShouldMatch"}
# Parameters of the calls that write, which docs/updating.md describes.
OF_WRITING = {"refresh", "if_version"}
OF_CRATES = {"Storage": "crates/vfs/src", "Query::best_of([…]).tie_breaker(0.3)": "crates/shorttail/src",
             "query.constant_score(1.0)": "crates/shorttail/src"}


def rows(text):
    """The rows of all tables: their cells, without headings and lines."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    line = [all(re.fullmatch("-+", cell) for cell in row) for row in cells]
    return [row for at, row in enumerate(cells) if not line[at] and not (at + 1 < len(cells) and line[at + 1])]


class Program:
    """A server that writes, and one of a folder of indexes; with the helps of all commands."""

    def __init__(self, binary, folder, running):
        self.binary, self.helps = binary, {}
        (folder / "documents.jsonl").write_text("".join(json.dumps(one) + "\n" for one in DOCUMENTS))
        (folder / "many").mkdir()
        for index in ["one", "many/first"]:
            self.run("index", folder / index, folder / "documents.jsonl")
        self.one = running.enter_context(served.served(binary, folder / "one", "--writable"))
        self.many = running.enter_context(served.served(binary, folder / "many", "--writable"))

    def run(self, *arguments):
        told = subprocess.run([self.binary, *map(str, arguments)], capture_output=True, text=True, timeout=60)
        assert told.returncode == 0, (arguments, told.stderr)
        return told.stdout

    def ask(self, address, path, method="GET"):
        """Status and text of a reply."""
        status, _, text = served.ask(address + path, method, b"" if method in ("POST", "PUT", "PATCH") else None)
        return status, text

    def search(self, **parameters):
        status, text = self.ask(self.one[0], "/search?" + urllib.parse.urlencode({"q": "lynx", **parameters}))
        return status, json.loads(text) if status == 200 else text

    def help(self, command):
        if command not in self.helps:
            self.helps[command] = self.run(*command.split(), "--help")
        return self.helps[command]

    def commands(self):
        """The names of the subcommands."""
        found = re.findall(r"^  ([a-z][a-z-]+) ", self.help(""), re.MULTILINE)
        return [name for name in found if name != "help"]


@pytest.fixture(scope="module")
def program(binary, tmp_path_factory):
    with contextlib.ExitStack() as running:
        yield Program(binary, tmp_path_factory.mktemp("guides"), running)


def tries(program, span, root):
    """Whether what a code span names is there; None where it names nothing of the program."""
    words = span.split()
    if span in OTHER_NAMES:
        return True
    if span in OF_CRATES:
        name = re.findall(r"\w+", span.split("(")[0])[-1]
        sources = (root / OF_CRATES[span]).rglob("*.rs")
        return any(re.search(rf"(fn|trait|struct) {name}\b", source.read_text(encoding="utf-8")) for source in sources)
    known = program.commands()
    if words[0] == "shorttail" or words[0] in known:
        command = next((word for word in words if word in known), None)
        told = program.help(command) if command else ""
        return bool(command) and all(option in told for option in re.findall(r"--[a-z0-9-]+", span))
    if words[0].startswith("-") and re.match(r"--?[a-z]", words[0]) and not span.startswith("-word"):
        return any(re.search(rf"{words[0]}\b", program.help(command)) for command in known)
    if call := re.match(r"(GET|POST|PUT|DELETE|PATCH) (/\S*)", span):
        path = call[2].replace("NAME", "first").replace("…", "lynx")
        replies = [program.ask(address, path, call[1]) for pair in (program.one, program.many) for address in pair]
        if call[1] == "DELETE" and "NAME" in call[2]:
            program.ask(program.many[1], "/first", "PUT")
        return any(status not in (404, 405) for status, _ in replies)
    if path := re.match(r"/(NAME/)?[a-z]+$", span):
        return program.ask(program.many[0], path[0].replace("NAME", "first") + "?q=lynx")[0] == 200
    if span in OF_WRITING:
        return f"`{span}" in (root / "docs/updating.md").read_text(encoding="utf-8")
    if parameter := re.match(r"([a-z_]+)=(\S*)$", span):
        name, value = parameter.groups()
        if name in OF_WRITING:
            return name in (root / "docs/updating.md").read_text(encoding="utf-8")
        return program.search(**{name: value.replace("…", "lynx") or "lang"})[0] == 200
    if re.fullmatch(r"[a-z_]+", span):
        status, answer = program.search(explain=1, trace=1)
        names = {*answer, *(name for hit in answer["hits"] for name in hit)}
        # A partial answer has more.
        taken = program.search(**{span: "1" if span in ("k", "start") else "lang"})[0] == 200
        documented = f"| `{span}` |" in (root / "docs/formats/answer.md").read_text(encoding="utf-8")
        of_rules = re.search(rf"\b{span}\b", program.help("rules"))
        return span in names or taken or documented or bool(of_rules)
    if re.search(r"[a-z*]", span):
        # Alone, what only excludes finds nothing, and says so.
        status, answer = program.search(q=f"lynx {span}" if span.startswith("-") else span, words="any")
        return status == 200 and not answer["warnings"]
    return None


@pytest.mark.parametrize("guide", GUIDES)
def test_every_row_is_true(guide, root, program):
    table = rows((root / f"docs/coming-from-{guide}.md").read_text(encoding="utf-8"))
    assert len(table) >= GUIDES[guide]
    untrue = []
    for row in table:
        same = row[0] if row[-1].startswith("the same") and "python" not in row[0] else ""
        for span in re.findall(r"`([^`]+)`", same + row[-1]):
            if not tries(program, span.replace("\\|", "|"), root):
                untrue.append((row[0], span))
    assert not untrue, "\n".join(map(str, untrue))


def test_a_row_that_is_not_true_is_found(root, program):
    for span in ["--no-such-option", "shorttail nothing", "serve --nothing", "GET /nowhere", "no_such=1", "no_such_name",
                 "facet=no_such_field", "word AND AND"]:
        assert not tries(program, span, root), span
