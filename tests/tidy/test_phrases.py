"""Phrases that were retired from comments, documents and help texts for plain technical English."""

import re
import subprocess
from collections import Counter

import pytest
from modules import TOKEN
from test_modules import compare

RETIRED = re.compile(
    r"\b(so many|so long|of who|who asks|what is told|is told|nobody waits|stands for who)\b", re.IGNORECASE
)
QUESTION = re.compile(r"//! [^\n]*\?[ \t]*$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)

# Occurrences by crate or document, of those that are not clean yet. Never more; what is clean leaves the list.
NOT_YET = {}


def comments(text):
    """The comments of Rust code; everything else as spaces."""
    out, at = [], 0
    for found in TOKEN.finditer(text):
        keep = found[0].startswith("//")
        out += [re.sub(r"[^\n]", " ", text[at : found.start()])]
        out += [found[0] if keep else re.sub(r"[^\n]", " ", found[0])]
        at = found.end()
    return "".join(out)


def prose(path, text):
    """What of a file is prose: comments, documents outside of code blocks, help texts."""
    if path.endswith(".rs"):
        return comments(text)
    if path.endswith(".md") and path != "CHANGELOG.md":
        return FENCED.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    if path.startswith("crates/cli/tests/golden/"):
        return text
    return ""


def retired(path, text):
    """`path:line: phrase` of each occurrence; a phrase may go over the end of a line of comment."""
    lines = [re.sub(r"^\s*//[/!]?", "", line).strip() for line in prose(path, text).split("\n")]
    joined, starts = "", []
    for line in lines:
        starts.append(len(joined))
        joined += line + " "
    found = [
        f"{path}:{sum(s <= match.start() for s in starts)}: {match[0]}" for match in RETIRED.finditer(joined)
    ]
    first = text.split("\n", 1)[0]
    if path.endswith(".rs") and QUESTION.match(first):
        found.append(f"{path}:1: {first}")
    return found


def group(path):
    return "/".join(path.split("/")[:2]) if path.startswith("crates/") else path


@pytest.fixture(scope="module")
def occurrences(root):
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "crates", "*.md"],
        cwd=root,
        capture_output=True,
        check=True,
    ).stdout.decode()
    found = []
    for path in filter(None, listed.split("\0")):
        if path.endswith((".rs", ".md")) or path.startswith("crates/cli/tests/golden/"):
            if (root / path).is_file():
                found += retired(path, (root / path).read_text(encoding="utf-8"))
    return found


def test_retired_phrases(occurrences):
    counts = Counter(group(line.split(":")[0]) for line in occurrences)
    broken = compare(counts, NOT_YET)
    named = [line for line in occurrences if any(b.startswith(group(line.split(":")[0]) + ":") for b in broken)]
    assert broken + named == []


def test_a_phrase_is_found_in_comments_over_lines_and_not_in_code():
    assert retired("crates/a/src/b.rs", "//! Waits so\n//! long.\nf(\"so many\");") == ["crates/a/src/b.rs:1: so long"]
    assert retired("crates/a/src/b.rs", "//! How is it?\n") == ["crates/a/src/b.rs:1: //! How is it?"]
    assert retired("crates/a/src/b.rs", "//! An idea.\n//! How is it?\n") == []


def test_documents_count_outside_of_code():
    assert retired("README.md", "```\nso long\n```\nThe price of who asks") == ["README.md:4: of who"]
    assert retired("CHANGELOG.md", "so long") == []
    assert retired("crates/cli/tests/golden/help.txt", "so many") == ["crates/cli/tests/golden/help.txt:1: so many"]
