"""Documents come back as they were sent: numbers digit by digit, whatever is nested as deep as it may be, or a reason that names
the path."""

import json

import pytest

NUMBERS = ["12345678901234567890123", "-98765432109876543210", "18446744073709551614", "18446744073709551615", "1e-5000", "1E400",
           "1.10", "-0", "-0.0", "1E5", "1e+05", "0.1000000000000000055511151231257827", "9007199254740993", "3.0"]


def stored(index, query="word"):
    """Returns the text of the fields of the first hit, as the program prints it."""
    output = index.done("search", index.path, query, "--all", "--json", "--fields", "x,deep,other")
    start = output.index('"fields":') + len('"fields":')
    depth, is_quoted = 0, False
    for at in range(start, len(output)):
        if output[at] == '"':
            is_quoted = not is_quoted
        depth += {"{": 1, "}": -1}.get(output[at], 0) if not is_quoted else 0
        if depth == 0:
            return output[start:at + 1]


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_are_kept(index, number):
    sent = '{"other":[%s,{"a":%s}],"x":%s}' % (number, number, number)
    index.add_bytes("one.jsonl", '{"url":"u:0","title":"t","body":"word",%s\n' % sent[1:])
    assert stored(index) == sent
    assert stored_again(index) == sent


def stored_again(index):
    """Returns the fields after everything was written anew."""
    index.done("optimize", index.path)
    assert index.run("check", index.path)[0] == 0
    return stored(index)


@pytest.mark.parametrize("depth", [1, 32, 33, 60, 100])
def test_nesting_is_kept(index, depth):
    sent = '{"deep":%s7%s}' % ('[{"a":' * (depth // 2) + "[" * (depth % 2), "]" * (depth % 2) + "}]" * (depth // 2))
    index.add_bytes("one.jsonl", '{"url":"u:0","title":"t","body":"word",%s\n' % sent[1:])
    assert stored(index) == sent


@pytest.mark.parametrize("depth", [101, 500, 100_000])
def test_deeper_nesting_is_refused_with_its_path(index, depth):
    lines = '{"url":"u:0","title":"t","body":"word"}\n{"url":"u:1","title":"t","body":"word","a":{"b":%s%s}}\n' % (
        "[" * depth, "]" * depth)
    told = index.add_bytes("two.jsonl", lines)
    assert "`a.b` is nested deeper than 100 levels" in told
    assert index.hits("word") == ["u:0"]


@pytest.mark.parametrize("fields, path", [('"a":1,"a":2', "a"), ('"a":{"b":1,"b":1}', "a.b"), ('"a":[{"b":{"c":1,"c":null}}]', "a.b.c")])
def test_a_name_twice_is_refused_with_its_path(index, fields, path):
    lines = '{"url":"u:0","title":"t","body":"word"}\n{"url":"u:1","title":"t","body":"word",%s}\n' % fields
    assert f"`{path}` occurs twice" in index.add_bytes("two.jsonl", lines)
    assert index.hits("word") == ["u:0"]


def test_ids_are_not_rounded(index):
    big = 2 ** 70
    lines = "".join('{"id":%d,"text":"word"}\n' % (big + n) for n in range(5))
    index.add_bytes("records.jsonl", lines)
    assert index.hits("word") == [str(big + n) for n in range(5)]


def test_fields_like_the_title_are_kept(index):
    index.add_bytes("records.jsonl", '{"id":1,"headline":"same","text":"word","x":"same"}\n')
    assert json.loads(stored(index)) == {"x": "same"}


@pytest.mark.parametrize("values", [
    [2 ** 64 - 2, 2 ** 64 - 1, 2 ** 64, 12345678901234567890123],
    [2 ** 63 - 1, 2 ** 63, 2 ** 63 + 1],
    [-(2 ** 63) - 1, -(2 ** 63) - 2],
])
def test_integers_beyond_64_bits_are_told_apart(index, values):
    index.add_documents([{"body": "word", "n": value} for value in values])
    for number, value in enumerate(values):
        assert index.hits(f"n:{value}") == [f"u:{number}"]
        assert index.hits(f"word n:{value}") == [f"u:{number}"]
    assert index.hits(f"n:{values[0] + 10}") == []


def test_one_integer_beyond_64_bits_is_a_misfit(index):
    told = index.add_documents([{"body": "word", "n": n} for n in [*range(30), 2 ** 70]])
    assert "1 value of n fit" in told
    assert "1 misfit" in index.done("fields", index.path)
    assert index.count("word n:>10") == 19
    assert index.count(f"word n:>{2 ** 70}") == 0
    assert index.count(f"word n:<{2 ** 70}") == 30


def test_floats_hold_no_rounded_integers(index):
    values = [0.5] * 5 + [2 ** 53, 2 ** 53 + 1, 2 ** 53 + 2]
    index.add_documents([{"body": "word", "n": value} for value in values])
    assert index.hits(f"word n:{2 ** 53}") == ["u:5"]
    assert index.hits(f"word n:{2 ** 53 + 1}") == []
    assert index.hits(f"word n:>{2 ** 53 + 1}") == ["u:7"]


def test_sums_are_exact(index):
    values = [2 ** 63 - 1] * 5 + [3]
    index.add_documents([{"body": "word", "n": value} for value in values])
    output = index.done("search", index.path, "word", "--all", "--json", "--facet", "n:stats")
    assert f'"sum":{sum(values)}' in output
