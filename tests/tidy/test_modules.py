"""Modules of a crate form no cycles, and a module with children is the `mod.rs` of their folder."""

import pytest
from modules import Crate, blanked, cycles, folder_cycles, leaves, without_tests

# Modules in cycles, of crates that are not clean yet. Never more; a crate without cycles leaves the list.
NOT_YET = {}

# Modules `x.rs` beside a folder `x`, of crates that are not clean yet.
NOT_YET_FOLDERS = {}


@pytest.fixture(scope="module")
def crates(root):
    """Sources under `src/` by path, by crate."""
    return {
        crate.name: {
            path.relative_to(crate / "src").as_posix(): path.read_text(encoding="utf-8")
            for path in (crate / "src").rglob("*.rs")
        }
        for crate in sorted((root / "crates").iterdir())
        if (crate / "src").is_dir()
    }


def compare(counts, allowed):
    """Returns violations of the exemptions, one line each: a count that rose, or an exemption that is not needed."""
    risen = [
        f"{name}: {count}, allowed are {allowed.get(name, 0)}"
        for name, count in counts.items()
        if count > allowed.get(name, 0)
    ]
    return risen + [f"{name}: clean, take it out of the list" for name in allowed if not counts.get(name)]


def test_modules_form_no_cycles(crates):
    found = {crate: cycles(sources) for crate, sources in crates.items()}
    differing = compare({crate: count for crate, (count, _) in found.items()}, NOT_YET)
    named = [line for entry in differing for line in found.get(entry.split(":")[0], (0, []))[1]]
    assert differing + named == []


def test_folders_are_layers(crates):
    found = {crate: folder_cycles(sources) for crate, sources in crates.items()}
    assert {crate: lines for crate, lines in found.items() if lines} == {}


def test_modules_with_children_are_called_mod(crates):
    def beside(sources):
        folders = {path.rsplit("/", 1)[0] for path in sources if "/" in path}
        return sorted(path for path in sources if path.removesuffix(".rs") in folders)

    found = {crate: beside(sources) for crate, sources in crates.items()}
    differing = compare({crate: len(paths) for crate, paths in found.items()}, NOT_YET_FOLDERS)
    named = [f"{path}: git mv to mod.rs" for entry in differing for path in found.get(entry.split(":")[0], [])]
    assert differing + named == []


def edges(sources):
    return {
        ("::".join(a) or "crate", "::".join(b) or "crate")
        for a, targets in Crate(sources).edges().items()
        for b in targets
    }


def test_literals_and_comments_are_no_code():
    text = 'a /* x /* y */ z */ b // c\n"d\\"" e \'f\' r#"g"# &\'h i b\'"\' for'
    assert blanked(text).split() == ["a", "b", "e", "&'h", "i", "for"]
    assert len(blanked(text)) == len(text)


def test_tests_are_no_code():
    code = "#[cfg(test)] mod t { fn f() {} } #[cfg(test)]\nmod tests; struct S { #[cfg(test)] x: u8, y: u8 }"
    left, declared = without_tests(code)
    assert (left.split(), declared) == ("struct S { y: u8 }".split(), ["tests"])
    left, _ = without_tests("#[cfg(test)] use a::{b, c}; #[cfg(test)] #[inline] fn f<A, B>(a: A) -> B {} d;")
    assert left.split() == ["d;"]
    assert without_tests("#[cfg(not(test))] fn f() {}")[0] == "#[cfg(not(test))] fn f() {}"


def test_use_trees():
    found = [("::".join(s), alias) for s, alias in leaves("a::{self, b as c, d::{e, f::*}}")]
    assert found == [("a", "a"), ("a::b", "c"), ("a::d::e", "e"), ("a::d::f", "*")]


def test_reexports_lead_to_their_file():
    sources = {
        "lib.rs": "mod a; mod b; pub use b::inner::Thing;",
        "a.rs": "use crate::Thing;",
        "b/mod.rs": "pub mod inner;",
        "b/inner.rs": "pub struct Thing;",
    }
    assert edges(sources) == {("a", "b::inner")}


def test_paths_and_imports_of_modules_are_edges_where_an_item_is_named():
    sources = {
        "lib.rs": "mod a; mod b;",
        "a.rs": "use crate::b; fn f() { b::g() } //! [`crate::nothing`]",
        "b.rs": "pub fn g() { let a = 1; a; self::h() } fn h() {}",
    }
    assert edges(sources) == {("a", "b")}


def test_a_parent_and_a_child_that_use_each_other_are_a_cycle():
    parent = "mod child; pub use child::Child; pub struct Shared; "
    child = "use super::Shared; pub struct Child(Shared);"
    assert cycles({"lib.rs": "mod a;", "a/mod.rs": parent, "a/child.rs": child}) == (0, [])
    used = {"lib.rs": "mod a;", "a/mod.rs": parent + "fn f() -> Child {}", "a/child.rs": child}
    assert cycles(used) == (2, ["a -> a::child -> a (a/mod.rs:1, a/child.rs:1); 2 modules in all"])


def test_the_shortest_cycle_is_named_with_lines():
    sources = {
        "lib.rs": "mod a;\nmod b;\nmod c;",
        "a.rs": "use crate::b::B;\nuse crate::c::C;\npub struct A;",
        "b.rs": "use crate::c::C;\npub struct B;",
        "c.rs": "pub struct C;\nfn f() { crate::a::A; }",
    }
    assert cycles(sources) == (3, ["a -> c -> a (a.rs:2, c.rs:2); 3 modules in all"])


def test_globs_count_where_a_name_is_used():
    sources = {"lib.rs": "mod a; mod b;", "a.rs": "use crate::b::*; fn f() { g() }", "b.rs": "pub fn g() {}"}
    assert edges(sources) == {("a", "b")}
    assert edges(sources | {"a.rs": "use crate::b::*; fn f() {}"}) == set()


def test_exemptions_only_shrink():
    assert compare({"a": 2, "b": 0}, {"a": 2}) == []
    assert compare({"a": 1}, {"a": 2}) == []
    assert compare({"a": 3}, {"a": 2}) == ["a: 3, allowed are 2"]
    assert compare({"a": 0}, {"a": 2}) == ["a: clean, take it out of the list"]
    assert compare({}, {"a": 2}) == ["a: clean, take it out of the list"]
