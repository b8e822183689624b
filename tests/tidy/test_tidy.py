"""Rules of the repository, and references in its documents to existing files and options."""

import hashlib
import re
import subprocess

import pytest

RUST_LINES_MAX = 500

# In two parts, so that this file does not find itself.
UNFINISHED = re.compile(r'(?<!")\b(TO' r"DO|FIX" r"ME)\b")
ELSEWHERE = re.compile(
    # Paths of one machine, and hosts of package mirrors: neither is valid elsewhere.
    r"(?<![\w.-])/(work|root|tmp/brief)/"
    r"|\b(index|static)\.crates\.io|pypi\.org/simple|files\.pythonhosted|registry\.npm|deb\.debian"
)

# proptest's float ranges (1.12) now and then fail an assertion of their own; `testkit::floats` does not.
FLOAT_RANGE = re.compile(r"\d\.\d*_?f(32|64) ?\.\.")

# A path that starts at the root of the repository.
PATH = re.compile(r"(?<![\w/.$-])(?:(?:crates|docs|tests|\.ci)/[\w.*/-]*|[A-Z][A-Z-]+\.md)(?<![.,-])")
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]+`|^    [^\n]*$", re.MULTILINE | re.DOTALL)
# Subcommands that have subcommands of their own.
WITH_QUESTIONS = {"crawl", "lab", "model"}
COMMAND = re.compile(r"(?:\bshorttail|cargo run --release --) +([a-z][a-z-]*)\b([^|#&;`\n]*)")


@pytest.fixture(scope="module")
def files(root):
    """Text of every file of the repository, by path."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=True,
    ).stdout.decode()
    texts = {}
    for path in filter(None, listed.split("\0")):
        try:
            texts[path] = (root / path).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue  # pictures and fixtures; files deleted but not yet committed
    return texts


def found(files, pattern, suffix="", leave_out=()):
    """`path:line: text` of every match."""
    return [
        f"{path}:{number}: {line.strip()[:120]}"
        for path, text in files.items()
        if path.endswith(suffix) and path not in leave_out
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def rust_sources(files):
    return {p: t for p, t in files.items() if re.match(r"crates/[^/]+/src/.*\.rs$", p)}


def test_nothing_is_left_unfinished(files):
    assert found(files, UNFINISHED) == []


def test_nothing_belongs_to_one_machine(files):
    assert found(files, ELSEWHERE, leave_out=["Cargo.lock", "tests/tidy/test_tidy.py"]) == []


def test_strategies_take_no_float_ranges(files):
    assert not found(files, FLOAT_RANGE, ".rs")


def test_rust_files_stay_readable(files):
    lengths = {path: len(text.splitlines()) for path, text in rust_sources(files).items()}
    assert {path: n for path, n in lengths.items() if n > RUST_LINES_MAX} == {}


def test_rust_files_say_what_they_answer(files):
    silent = [
        path
        for path, text in rust_sources(files).items()
        if not re.match(r"//! \S", text) and "tests" not in path.removesuffix(".rs").split("/")
    ]
    assert silent == []


def test_links_lead_somewhere(files, root):
    dead = []
    for path, text in files.items():
        if path.endswith(".md"):
            for target in LINK.findall(text):
                file = target.split("#")[0]
                outside = re.match(r"[a-z]+:", target)
                if file and not outside and not (root / path).parent.joinpath(file).exists():
                    dead.append(f"{path}: {target}")
    assert dead == []


def test_paths_in_documents_exist(files, root):
    absent = [
        f"{path}: {name}"
        for path, text in files.items()
        if path.endswith(".md")
        for name in PATH.findall(re.sub(r"https?://\S+", "", text))
        if not any(root.glob(name.rstrip("/")))
    ]
    assert absent == []


def test_commands_in_documents_exist(files, shorttail):
    """Every `shorttail SUBCOMMAND --option` of a document is known to the program's own help."""
    helps = {"": shorttail("--help")}
    wrong = []
    for path, text in files.items():
        if not path.endswith(".md"):
            continue
        code = "\n".join(CODE.findall(text)).replace("\\\n", " ")
        for subcommand, rest in COMMAND.findall(code):
            if not re.search(rf"^ +{subcommand}\b", helps[""], re.MULTILINE):
                wrong.append(f"{path}: shorttail {subcommand}")
                continue
            if subcommand not in helps:
                helps[subcommand] = shorttail(subcommand, "--help")
            # `shorttail model QUESTION --option`: the options are the question's.
            question = re.match(r" *([a-z][a-z-]*)(?=\s|$)", rest)
            is_listed = question and re.search(rf"^  {question[1]}\b", helps[subcommand], re.MULTILINE)
            # `shorttail crawl my-docs URL`: no question, but an index.
            if subcommand in WITH_QUESTIONS and question and (is_listed or subcommand != "crawl"):
                subcommand = f"{subcommand} {question[1]}"
                if not is_listed:
                    wrong.append(f"{path}: shorttail {subcommand}")
                    continue
                if subcommand not in helps:
                    helps[subcommand] = shorttail(*subcommand.split(), "--help")
            for option in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", rest):
                # The name of the first argument, which no help repeats.
                is_index = option == "--index" and re.search(r"^  [<\[]INDEX[>\]]", helps[subcommand], re.MULTILINE)
                if not is_index and not re.search(rf"{option}\b(?!-)", helps[subcommand]):
                    wrong.append(f"{path}: shorttail {subcommand} {option}")
    assert wrong == []


def test_licences_are_whole(files):
    assert "Copyright (c) 2026 The Shorttail developers" in files["LICENSE-MIT"]
    assert "END OF TERMS AND CONDITIONS" in files["LICENSE-APACHE"]


@pytest.mark.parametrize("schema_name, code_name", [("crawl.proto", "shorttail.crawl.v1.rs"), ("shorttail.proto", "shorttail.v1.rs"), ("urlfrontier.proto", "urlfrontier.rs")])
def test_generated_messages_are_current(root, schema_name, code_name):
    """The committed code is what crates/wire/generate made of the committed schema."""
    proto = root.joinpath("crates/wire/proto")
    head, code = proto.joinpath(code_name).read_bytes().split(b"// code sha256: ")
    schema = hashlib.sha256(proto.joinpath(schema_name).read_bytes()).hexdigest()
    assert f"// schema sha256: {schema}\n".encode() in head, (
        "the schema was changed: cargo run --manifest-path crates/wire/generate/Cargo.toml"
    )
    digest, code = code.split(b"\n", 1)
    assert digest.decode() == hashlib.sha256(code).hexdigest(), "the generated code was changed by hand"


def test_the_engine_has_no_server(root):
    """A program that embeds the engine compiles no asynchronous runtime and no network."""
    tree = subprocess.run(
        ["cargo", "tree", "--locked", "--package", "shorttail", "--edges", "normal", "--prefix", "none"],
        cwd=root,
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    names = {line.split()[0] for line in tree.splitlines() if line.strip()}
    assert "shorttail-search" in names
    assert names & {"tokio", "hyper", "tonic", "axum", "prost", "shorttail-serve"} == set()
