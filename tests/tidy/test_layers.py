"""The engine depends on the document alone, not on the readers of files, which bring half of all packages; and what measures
does not depend on what is measured."""

import tomllib

import pytest

READERS = {"corpus", "extract"}
MEASURED = {"engine", "serve"}
MEASURING = ("load", "lab", "lab-commands")
ENGINE = ("document", "fields", "index", "search", "engine", "ingest", "wire", "serve", "shorttail", "testkit")


def needs(manifests, crate):
    """Returns the crates of the workspace that a crate needs, over others, by any kind of dependency of its own."""
    found, waiting = set(), [crate]
    kinds = ("dependencies", "dev-dependencies", "build-dependencies")
    while waiting:
        manifest = manifests[waiting.pop()]
        parts = [manifest, *manifest.get("target", {}).values()]
        # A test of a crate below is not built with the crate above.
        for part in parts:
            for kind in kinds if manifest is manifests[crate] else ("dependencies", "build-dependencies"):
                new = (set(part.get(kind, {})) & set(manifests)) - found
                found |= new
                waiting += new
    return found


@pytest.fixture(scope="module")
def manifests(root):
    files = (root / "crates").glob("*/Cargo.toml")
    return {file.parent.name: tomllib.loads(file.read_text(encoding="utf-8")) for file in files}


@pytest.mark.parametrize("crate", ENGINE)
def test_the_engine_does_not_depend_on_readers(manifests, crate):
    assert needs(manifests, crate) & READERS == set()


@pytest.mark.parametrize("crate", MEASURING)
def test_what_measures_links_no_server(manifests, crate):
    assert needs(manifests, crate) & MEASURED == set()


def test_dependencies_are_followed():
    made_up = {
        "a": {"dev-dependencies": {"b": {}}},
        "b": {"target": {"unix": {"dependencies": {"c": {}}}}, "dev-dependencies": {"d": {}}},
        "c": {"dependencies": {"serde": {}}},
        "d": {},
    }
    assert needs(made_up, "a") == {"b", "c"}
