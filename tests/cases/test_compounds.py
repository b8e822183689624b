"""Compounds: quoted they are the whole compound, and any run of neighbouring parts of a longer one is found."""

import random

import pytest

TEXTS = {
    "u:whole": "the tik-tok clock",
    "u:first": "the tik clock",
    "u:other": "the tik-tak clock",
    "u:apart": "the tik tok clock",
    "u:camel": "the TikTok clock",
    "u:end": "a clock, tik_tok",
    "u:longer": "a clock big.tik-tok.small",
}


@pytest.fixture
def clocks(index):
    index.add_documents([{"url": url, "body": body} for url, body in TEXTS.items()], options=("--languages", "none"))
    return index


WHOLE = ["u:apart", "u:camel", "u:end", "u:longer", "u:whole"]


@pytest.mark.parametrize(("query", "expected"), [
    ('"tik-tok"', WHOLE),
    ('"tik_tok"', WHOLE),
    ('"TikTok"', WHOLE),
    ('"tik-tok"~1', WHOLE),
    ('"tik-tok"~3', WHOLE),
    ('tik-tok', WHOLE),
    # Parts of a compound share its place: what stands before it stands before each of its parts.
    ('"clock tik-tok"', ["u:end", "u:longer"]),
    ('"the tik-tok"', ["u:apart", "u:camel", "u:whole"]),
    ('"the tik-tok clock"', ["u:apart", "u:camel", "u:whole"]),
    ('"tik-toe"', []),
    ('"clock tik-toe"', []),
    ('clock -"tik-tok"', ["u:first", "u:other"]),
    ('clock -tik-tok', ["u:first", "u:other"]),
    ('"tik-tak" OR "tik-toe"', ["u:other"]),
    ('+"tik-tok" -"the tik-tok"', ["u:end", "u:longer"]),
])
def test_quoted_compound_is_the_whole_compound(clocks, query, expected):
    assert clocks.hits(query) == expected


@pytest.mark.parametrize("query", ['"tik-tok"', '"the tik-tok"', '"clock tik_tok"', 'clock -"tik-tok"', '"tik-toe"'])
def test_delete_drops_what_search_finds(clocks, query):
    found = clocks.hits(query)
    told = clocks.done("delete", clocks.path, "--query", query, "--dry-run")
    assert sorted(line for line in told.splitlines() if line.startswith("u:")) == found
    clocks.done("delete", clocks.path, "--query", query)
    assert clocks.hits("clock") == sorted(set(TEXTS) - set(found))


@pytest.mark.parametrize("query", ['"9f1c2d44-77aa-4b0e-9d1e-0242ac120002"', '"libfoo2.so.6"', '"a.b.c.d.e.f.g"', '"v2.0-rc1"'])
def test_names_of_many_parts(index, query):
    name = query.strip('"')
    index.add_documents([{"body": f"see {name} there"}, {"body": f"see {name[:-1]}9 there"}, {"body": f"see {name.split('.')[0].split('-')[0]} there"}])
    assert index.hits(query) == ["u:0"]
    assert index.hits(f'"see {name}"') == ["u:0"]
    assert index.hits(f'see -{query}') == ["u:1", "u:2"]


RUNS = [
    ("get_user_id", "db_get_user_id_fast"),
    ("user_id", "db_get_user_id_fast"),
    ("example.org", "mail.example.org"),
    ("example.org", "write to jo@lists.example.org"),
    ("lists.example", "jo@lists.example.org"),
    ("path.join", "os.path.join(a)"),
    ("os.path", "os.path.join(a)"),
    ("2019-11-02", "IMG_2019-11-02_paris.jpg"),
    ("2019-11", "log-2019-11-02"),
    ("2019-11-02", "2019-11-02T08:15:00Z"),
    ("mother-in", "a mother-in-law"),
    ("in-law", "a mother-in-law's house"),
    ("HttpRequest", "class XMLHttpRequestError"),
    ("httprequest", "class XMLHttpRequestError"),
    ("sha256", "run sha256sum"),
    ("R&D", "R&D-department"),
    ("c++", "modern-C++"),
]


@pytest.mark.parametrize(("run", "text"), RUNS)
def test_runs_of_parts_are_found(index, run, text):
    index.add_documents([{"body": f"before {text} after"}, {"body": "before after"}], options=("--languages", "none"))
    for query in (run, f'"{run}"', f"+{run} before", f'title:nothing OR "{run}"'):
        assert index.hits(query) == ["u:0"], query
    assert index.hits(f"before -{run}") == ["u:1"]


@pytest.mark.parametrize(("phrase", "text"), [
    ("user id", "db_get_user_id_fast"),
    ("get user id", "db_get_user_id_fast"),
    ("important words", "file_with_important_words.pdf"),
    ("before db get user id", "before db_get_user_id"),
    ("get user id after", "db_get_user_id after"),
    ("2019 11 02", "IMG_2019-11-02_paris.jpg"),
])
def test_runs_of_parts_are_found_as_phrases(index, phrase, text):
    index.add_documents([{"body": text}, {"body": " and ".join(phrase.split())}], options=("--languages", "none"))
    assert index.hits(f'"{phrase}"') == ["u:0"]


def test_what_is_no_run_is_not_found(index):
    index.add_documents([{"body": "db_get_user_id 7-11 or a-1-2"}])
    for query in ("db_user", "user_get", "get_id", '"db user"', '"7 1"', '"71 1"', '"1 12"', '"id get"'):
        assert index.hits(query) == [], query


def test_summaries_mark_the_compound(index):
    index.add_documents([{"body": "call sys_get_temp_dir here"}])
    assert "<mark>sys_get_temp_dir</mark>" in index.done("search", index.path, "temp_dir", "--json")


def has_run(place, letters):
    parts = place.replace("_", "-").replace(".", "-").split("-")
    return any("".join(parts[start:end]) == letters for start in range(len(parts)) for end in range(start + 1, len(parts) + 1))


def holds(text, phrase):
    """Whether a text has a phrase, its parts written together or apart, by trying all ways."""
    places = text.split()
    parts = phrase.replace("-", " ").replace("_", " ").split()
    for cuts in range(2 ** (len(parts) - 1)):
        groups = [parts[0]]
        for number, part in enumerate(parts[1:]):
            if cuts >> number & 1:
                groups.append(part)
            else:
                groups[-1] += part
        for start in range(len(places) - len(groups) + 1):
            if all(has_run(place, group) for place, group in zip(places[start:], groups)):
                return True
    return False


def test_made_up_compounds_are_found_where_the_texts_have_them(index):
    chance = random.Random(11)
    parts = ["red", "ant", "re", "d", "dant"]

    def word(most):
        return chance.choice("-_").join(chance.choice(parts) for _ in range(chance.randint(1, most)))

    def text(words, most):
        return " ".join(word(most) for _ in range(chance.randint(1, words)))

    texts = [text(5, 4) for _ in range(100)]
    index.add_documents([{"body": body + " end"} for body in texts], options=("--languages", "none"))
    for _ in range(40):
        phrase = text(3, 2)
        expected = sorted(f"u:{number}" for number, body in enumerate(texts) if holds(body, phrase))
        assert index.hits(f'"{phrase}"') == expected, phrase
        for query, count in [(f'"{phrase}"', len(expected)), (f'end -"{phrase}"', len(texts) - len(expected))]:
            told = index.done("delete", index.path, "--query", query, "--dry-run")
            assert f"would delete {count} document" in told, (query, told)
