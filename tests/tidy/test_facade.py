"""The crate that programs embed is small, reads no files of others, and shows types of its own alone."""

import re
import subprocess

import pytest

PACKAGES_MAX = 55
# Crates whose types may change with any commit.
PRIVATE = ("document", "engine", "fields", "index", "ingest", "search", "text", "vfs", "wire", "serde_json")


@pytest.fixture(scope="module")
def packages(root):
    tree = subprocess.run(
        ["cargo", "tree", "--locked", "--package", "shorttail", "--edges", "normal", "--prefix", "none"],
        cwd=root,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    return {" ".join(line.split()[:2]) for line in tree.splitlines() if line.strip()}


def test_it_has_few_packages(packages):
    assert "shorttail-engine" in {package.split()[0] for package in packages}
    assert len(packages) <= PACKAGES_MAX, sorted(packages)


def test_it_has_no_readers_of_files(packages):
    names = {package.split()[0] for package in packages}
    assert names & {"shorttail-corpus", "shorttail-extract", "shorttail-web", "shorttail-ingest", "shorttail-serve"} == set()


def foreign(source):
    """Returns the public declarations of a file that name a type of a private crate, by path or as an imported name."""
    source = source.split("#[cfg(test)]")[0]
    source = re.sub(r"//.*", "", source)
    names = set()
    for group, one in re.findall(rf"\buse (?:{'|'.join(PRIVATE)})::(?:\{{([^}}]*)\}}|([^;{{]+))", source):
        names |= {re.split(r"\bas\b|::", name)[-1].strip() for name in (group or one).split(",")} - {""}
    private = rf"(?<!crate::)\b(?:{'|'.join(PRIVATE)})::" + "".join(rf"|\b{name}\b" for name in sorted(names))
    # Functions up to their bodies, fields, aliases, re-exports; then implementations of traits for public types.
    public = re.findall(r"^ *pub (?:fn [^{;]*|use [^;]*;|type [^;]*;|const [^=]*|\w+: [^\n]*)", source, re.MULTILINE)
    own = set(re.findall(r"^pub (?:struct|enum) (\w+)", source, re.MULTILINE))
    implemented = re.findall(r"^impl\b[^{]*? for (\w+)[^{]*", source, re.MULTILINE)
    heads = [head for head in re.findall(r"^impl\b[^{]* for [^{]*", source, re.MULTILINE)]
    public += [head for head, name in zip(heads, implemented, strict=True) if name in own]
    return [" ".join(declared.split()) for declared in public if re.search(private, declared)]


def test_its_types_are_its_own(root):
    files = sorted((root / "crates/shorttail/src").rglob("*.rs"))
    assert len(files) > 10
    wrong = {file.name: foreign(file.read_text(encoding="utf-8")) for file in files}
    assert {name: declared for name, declared in wrong.items() if declared} == {}


@pytest.mark.parametrize(
    "source",
    [
        "pub fn open(storage: vfs::SharedStorage) {}",
        "use vfs::{Lock, SharedStorage};\nimpl A {\n    pub fn open(\n        storage: SharedStorage,\n    ) -> A {}\n}",
        "use search::Query as Tree;\npub fn a() -> Tree {}",
        "pub struct A {\n    pub index: index::Index,\n}",
        "pub use search::Ranking;",
        "pub struct Error;\nimpl From<index::IndexError> for Error {}",
    ],
)
def test_types_of_others_are_found(source):
    assert len(foreign(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "use crate::index::Index;\npub fn open() -> Index {}",
        "pub(crate) fn open(storage: vfs::SharedStorage) {}",
        "pub struct A(search::Ranking);",
        "pub struct A {\n    index: index::Index,\n}",
        "struct A;\nimpl vfs::Storage for A {}",
        "pub use crate::index::Index;",
    ],
)
def test_types_of_its_own_pass(source):
    assert foreign(source) == []
