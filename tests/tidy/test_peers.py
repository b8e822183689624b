"""The verdict of bench/peers on hit counts: the majority of the other engines is right."""

import sys
from types import SimpleNamespace

import pytest


@pytest.fixture(scope="module")
def agreement(root):
    sys.path.insert(0, str(root / "bench/peers"))
    try:
        from compare import agreement
    finally:
        sys.path.pop(0)
    return agreement


def modes(**counts):
    """One mode of two queries; the counts of each engine."""
    engines = {name: {"counts": found, "best_urls": ["u", "u"]} for name, found in counts.items()}
    return {"and": {"engines": engines}}, SimpleNamespace(queries=["first", "second"])


def test_one_engine_that_counts_otherwise_is_the_one_in_question(agreement):
    found = agreement.compare(*modes(lucene=[1, 8], tantivy=[1, 7], seekstorm=[1, 7], shorttail=[1, 7]))
    assert agreement.shorttail_agrees(found)
    assert [name for name, one in found["engines"].items() if agreement.differing(one)] == ["lucene"]
    said = " ".join(agreement.sentences(found, {name: name.title() for name in found["engines"]}))
    assert "Lucene: hit counts DIFFER from the majority of the other engines on 1 of 2 searches" in said


def test_shorttail_alone_is_wrong(agreement):
    assert not agreement.shorttail_agrees(agreement.compare(*modes(lucene=[1, 7], tantivy=[1, 7], shorttail=[1, 8])))


def test_two_engines_have_only_each_other(agreement):
    assert agreement.shorttail_agrees(agreement.compare(*modes(lucene=[1, 7], shorttail=[1, 7])))
    assert not agreement.shorttail_agrees(agreement.compare(*modes(lucene=[1, 7], shorttail=[1, 8])))


def test_an_earlier_shorttail_judges_only_where_there_is_no_other(agreement):
    found = agreement.compare(*modes(lucene=[1, 7], tantivy=[1, 7], before=[1, 8], shorttail=[1, 8]))
    assert not agreement.shorttail_agrees(found)
    assert agreement.shorttail_agrees(agreement.compare(*modes(before=[1, 8], shorttail=[1, 8])))
    assert not agreement.shorttail_agrees(agreement.compare(*modes(before=[1, 8], shorttail=[1, 7])))


def test_without_a_majority_a_search_is_undecided(agreement):
    found = agreement.compare(*modes(lucene=[1, 7], tantivy=[1, 9], shorttail=[1, 8]))
    assert agreement.shorttail_agrees(found)
    assert found["engines"]["shorttail"]["undecided"] == 1
