"""Values that arrive as text are typed by most of them, what does not fit is counted, and what identifies is no number."""

import random

import pytest


def kind(index, field):
    """Returns the type of a field."""
    for line in index.done("fields", index.path).splitlines():
        if line.startswith(field + " "):
            return line.split()[1]
    return None


def table(index, values, name="table.csv"):
    rows = "".join(f'{number},t,a word,"{value}"\n' for number, value in enumerate(values))
    return index.add_bytes(name, "id,title,body,x\n" + rows)


@pytest.mark.parametrize("values, expected", [
    (["100", "9", "25.5", ""], "f64"),
    (["100", "9", "-25", "n/a"], "i64"),
    (["100.0", "9.5", "25.25", "NULL"], "f64"),
    (["9.50", "10.00", "1234.10"], "f64"),
    (["1e3", "2.5E-3", "7"], "f64"),
    (["5", "6", "7", "8", "9", "ten"], "i64"),
    (["2024-05-06", "2024-05-07", "1949"], "date"),
    (["2024-05-06T10:00:00Z", "2024-05-06 10:00:00", ""], "date"),
    (["01234", "10115", "20095"], "keyword"),
    (["+49 30 123", "+4930124"], "keyword"),
    (["+4930123", "+4930124"], "keyword"),
    (["1.1", "1.2", "1.10"], "keyword"),
    (["1001", "1002", "B-7"], "keyword"),
    (["12345678901234567890123", "12345678901234567890124"], "keyword"),
    (["3-16-148410-0", "0-306-40615-2"], "keyword"),
    (["1,234", "5,678"], "keyword"),
])
def test_cells_are_typed_by_most_of_them(index, values, expected):
    table(index, values)
    assert kind(index, "x") == expected
    for number, value in enumerate(values):
        if value and expected == "keyword":
            assert index.hits(f'x:"{value}"') == [str(number)]


def test_numbers_of_cells_are_compared(index):
    table(index, ["100", "9", "25.5", "", "n/a"])
    assert index.hits("word x:>20") == ["0", "2"]
    assert index.hits("word x:9") == ["1"]
    found = index.search("word", "--sort", "x:desc", "--facet", "x:stats")
    assert [hit["id"] for hit in found["hits"]][:3] == ["0", "2", "1"]
    assert found["facets"][0]["stats"]["sum"] == 134.5
    assert "1 misfit" in index.done("fields", index.path)


@pytest.mark.parametrize("declared, query, expected", [
    ("i64", "x:>5", ["1", "2"]), ("f64", "x:>5", ["1", "2"]), ("keyword", "x:007", ["1"]),
])
def test_declared_types_take_texts(index, declared, query, expected):
    types = index.folder / "types.toml"
    types.write_text(f'x = "{declared}"\n')
    index.add_bytes("table.csv", "id,title,x\n0,a word,5\n1,a word,007\n2,a word, 8 \n3,a word,many\n", ("--fields", types))
    assert index.hits(f"word {query}") == expected


def test_declared_truth_values_take_texts(index):
    types = index.folder / "types.toml"
    types.write_text('x = "bool"\n')
    index.add_bytes("table.csv", "id,title,x\n0,a word,true\n1,a word,FALSE\n2,a word,maybe\n", ("--fields", types))
    assert (index.hits("word x:true"), index.hits("word x:false")) == (["0"], ["1"])


@pytest.mark.parametrize("odd", ["", "1949", "soon", "2024-13-01", "10000-01-01", "unknown"])
def test_one_odd_value_leaves_the_others_dates(index, odd):
    documents = [{"body": "word", "day": f"2024-{n % 12 + 1:02}-{n % 28 + 1:02}"} for n in range(50)]
    documents.append({"body": "word", "day": odd})
    random.Random(odd).shuffle(documents)
    told = index.add_documents(documents)
    assert kind(index, "day") == "date"
    assert "1 value of day fit" in told
    assert index.count("word day:2024") == 50
    assert index.count("word day:2024-05") == 4


@pytest.mark.parametrize("number", [1, 1949, 9999])
def test_a_year_as_a_number_is_no_second_of_1970(index, number):
    index.add_documents([{"body": "word", "day": "2024-05-06"}] * 5 + [{"body": "word", "day": number}])
    assert index.count("word day:1970") == (0 if number >= 1000 else 1)


def test_neither_order_nor_commits_change_types(index):
    values = ["5", "7", "n/a", "", "9"]
    documents = [{"body": "word", "x": value} for value in values]
    index.add_documents(documents)
    assert kind(index, "x") == "i64"
    index.add_documents([{"url": f"v:{n}", "body": "word", "x": "words of a text"} for n in range(20)])
    assert kind(index, "x") == "i64"
    assert index.count("word x:>5") == 2
    assert "22 misfits" in index.done("fields", index.path)
    index.done("optimize", index.path, "--partitions", "2")
    assert index.count("word x:>5") == 2
    assert "22 misfits" in index.done("fields", index.path)


ENDS = ["9999-12-31", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999999Z", "9999-12-31T12:00:00-01:00", "9999-12-31 23:59:59"]


@pytest.mark.parametrize("end", ENDS)
def test_no_end_is_the_end_of_9999(index, end):
    index.add_documents([{"body": "word", "end": "2024-05-06"}, {"body": "word", "end": end}])
    assert kind(index, "end") == "date"
    assert index.hits("word end:<1970") == []
    assert index.hits("word end:>=2025") == ["u:1"]
    assert index.hits("word end:9999") == ["u:1"]
    assert index.hits("word end:9999-12-31") == ["u:1"]
    assert index.hits("word end:>9999") == []
    for facet in ["year", "quarter", "month", "week", "day", "hour", "year:Europe/Berlin", "month:America/New_York",
                  "day:Pacific/Kiritimati", "step:30d"]:
        buckets = index.search("word", "--facet", f"end:{facet}")["facets"][0]["buckets"]
        assert sum(bucket["count"] for bucket in buckets) == 2, facet
        for bucket in buckets:
            assert index.count(f"word {bucket['filter']}") == bucket["count"], (facet, bucket)
    assert index.search("word", "--facet", "end:year")["facets"][0]["buckets"][-1]["value"] == "9999"
    assert [hit["id"] for hit in index.search("word", "--sort", "end:desc")["hits"]] == ["u:1", "u:0"]


@pytest.mark.parametrize("beyond", ["9999-12-31T23:30:00-01:00", "10000-01-01", "99999-01-01T00:00:00Z", "0000-01-01T00:00:00+01:00"])
def test_what_is_beyond_the_calendar_is_a_misfit(index, beyond):
    told = index.add_documents([{"body": "word", "end": "2024-05-06"}] * 3 + [{"url": "u:9", "body": "word", "end": beyond}])
    assert kind(index, "end") == "date"
    assert "1 value of end fit" in told
    assert index.count("word end:*") == 3
