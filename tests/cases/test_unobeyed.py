"""Parts of a query that are not obeyed: each has a warning, and nothing is deleted by such a query."""

import pytest

NOT_OBEYED = [
    # Signs of other query languages.
    "cat && dog", "cat&&dog", "cat || dog", "cat | dog", "cat|dog", "dog !cat", "dog ! cat", "dog !(cat)", 'dog !"a cat"',
    # Dashes that telephones type.
    "dog –cat", "dog −cat",
    # Wildcards and edits within quotation marks.
    '"black do*"', '"bla* dog"', '"b?ack dog"', '"black * dog"', '"black dog~"', 'title:"bla* dog"',
    # Edits, distances and weights that are none.
    "roam~0.8", '"cat dog"~', '"cat dog"~near', '"cat dog"~1.5', "(cat dog)~2", "cat^", "cat^-2", '"cat dog"^high', "(cat dog)^",
    # Comparisons and ranges without a field that is there.
    ">5", "cat >=2024", "size>5", "size > 5", "1..5", "size:>=5", "size:<5", "size:1..5", "size:..5", "size:-5", "size:*", "size:[1 TO 5]",
    "meta.size:7", "file-size:big", "größe:7", "_exists_:cat", "size:(cat OR dog)", 'size:"cat"',
    # Signs behind a field, and before nothing.
    "title:-cat", "title:+cat", "dog -%%", "title:%% dog",
    # Escapes and expressions.
    "\\\"cat", "cat\\:dog", "\\(cat\\)", "/c[ao]t dog/", "/c(at/", "[cat dog]", "{cat}",
    # Values.
    "kind:pet^2", 'kind:"p*t"', 'kind:"pet"~2', "site:example.org^2",
]

ORDINARY = [
    "cat dog", "Cat, dog!", "what is a cat?", "foo & bar", "http://example.com/a?b=1&c=2", "std::string", "<b>cat</b>", "C++ .NET", "a = b",
    "12:30", "don't 'quote'", "wait..what", "kind:pet", "kind:p*", "kind:p*t", "kind:p?t", "kind:pet~1", "kind:/pe./", '"what is a cat?"', "cat^2 dog~1", '"cat dog"~2', "/ca?t/", "(cat OR dog)^2",
    "-cat dog", "5 – 7 cats", "100% cat", "c:\\cats",
]


@pytest.fixture
def pets(index):
    index.add_documents([{"body": "cat", "kind": "pet"}, {"body": "dog", "kind": "pet"}, {"body": "fish", "kind": "wild"}, {"body": "cat dog", "kind": "wild"}])
    return index


def test_what_is_not_obeyed_has_a_warning(pets):
    silent = [query for query in NOT_OBEYED if not pets.warnings(query)]
    assert silent == []


def test_ordinary_queries_have_none(pets):
    told = {query: warnings for query in ORDINARY if (warnings := pets.warnings(query))}
    assert told == {}


@pytest.mark.parametrize("query", ["cat || dog", "dog !cat", '"ca* dog"', "size:>=5", "title:-cat", "cat^-2"])
def test_nothing_is_deleted_or_filtered_by_what_is_not_obeyed(pets, query):
    before = pets.count("cat OR dog OR fish")
    status, _, errors = pets.run("delete", pets.path, "--query", query)
    assert status != 0 and "nothing was deleted" in errors
    assert pets.count("cat OR dog OR fish") == before == 4
    status, _, _ = pets.run("search", pets.path, "cat", "--filter", query)
    assert status != 0
