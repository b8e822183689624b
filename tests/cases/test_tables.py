"""Tables: no row replaces another, both values of a column that is named twice are found, and reasons name the line."""

import itertools

import pytest

ENDS = {"unix": "\n", "windows": "\r\n", "mac": "\r"}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("last", [True, False])
def test_lines_end_as_any_system_ends_them(index, end, last):
    rows = ["title,body"] + [f"T{number},row{number} there" for number in range(50)]
    index.add_bytes("table.csv", end.join(rows) + (end if last else ""))
    assert index.count("there") == 50
    for number in range(50):
        assert index.count(f"row{number}") == 1


def test_ends_of_several_systems(index):
    ends = itertools.cycle(ENDS.values())
    index.add_bytes("table.tsv", "title\tbody\r" + "".join(f"T{n}\trow{n} there{next(ends)}" for n in range(30)))
    assert index.count("there") == 30


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_quoted_lines_belong_to_their_row_and_bad_rows_are_named(index, end):
    rows = ["title,body", 'One,"first', 'and second"', "", "lonely", "Two,third", "Three,too,many"]
    told = index.add_bytes("table.csv", "\ufeff" + end.join(rows))
    assert index.count('"first and second"') == 1
    assert index.count("third") == 1
    assert "table.csv:5: the row has 1 fields" in told
    assert "table.csv:7: the row has 3 fields" in told


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_a_column_twice_has_both_values(index, separator):
    rows = [["title", "body", "tag", "tag", "tag "], ["a", "text", "x", "y", "z"], ["b", "text", "", "y", ""]]
    index.add_bytes("table.csv", "\n".join(separator.join(row) for row in rows))
    assert [index.count(f"tag:{tag}") for tag in "xyz"] == [1, 2, 1]
    tags = sorted(str(hit["fields"]["tag"]) for hit in index.search("text", "--fields", "tag")["hits"])
    assert tags == ["['x', 'y', 'z']", "y"]


def test_columns_without_a_name_are_kept(index):
    index.add_bytes("table.csv", ",title,body,,\n0,a,text,p,q\n")
    fields = index.search("text", "--fields", "column 1,column 4,column 5")["hits"][0]["fields"]
    assert fields == {"column 1": "0", "column 4": "p", "column 5": "q"}


def test_separators_within_quotes_do_not_count(index):
    index.add_bytes("table.csv", '"a,b,c,d";title;body\n1;One;text here\n')
    assert index.count("here") == 1
