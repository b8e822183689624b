"""The second hour of new users: what they type, on their documents, and what they expect to see.

Each test is a step that once failed: pages of two hits beside a second site, `word*` that found less than `word`, columns that were
not searched, names that a server did not know, a page led by an accident, hits that did not open.
"""

import json
import re
import subprocess
import urllib.parse

import pytest
import served
from served import ask

PAGE = 10


class Index:
    """An index in a folder, and the commands that use it."""

    def __init__(self, shorttail, binary, folder):
        self.shorttail, self.binary, self.folder, self.index = shorttail, binary, folder, folder / "index"

    def add(self, name, content):
        """Indexes a file of this name, or documents, one a line."""
        if not isinstance(content, (str, bytes)):
            content = "".join(json.dumps(one) + "\n" for one in content)
        (self.folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return self.shorttail("index", self.index, self.folder / name)

    def search(self, query, *options):
        return json.loads(self.shorttail("search", self.index, query, "--json", *options))

    def urls(self, query, *options):
        return [hit["url"] for hit in self.search(query, *options)["hits"]]


    def served(self, *options):
        return served.served(self.binary, self.index, *options)


@pytest.fixture
def index(shorttail, binary, tmp_path):
    return Index(shorttail, binary, tmp_path)


def pages(address, query):
    """The URLs of all pages, each of which is full but the last."""
    found = []
    while True:
        parameters = urllib.parse.urlencode({"q": query, "k": PAGE, "start": len(found)})
        answer = json.loads(ask(f"{address}/search?{parameters}")[2])
        found += [hit["url"] for hit in answer["hits"]]
        if not answer["more_hits"]:
            return found
        assert len(answer["hits"]) == PAGE, query


def news(count, site="news.test", text="The president spoke about the economy, speech number {}."):
    return [{"url": f"https://{site}/{n}", "title": f"Speech {n}", "body": text.format(n)} for n in range(count)]


# ---- the engineer: pages, patterns, columns ------------------------------------------------------


def test_a_document_of_a_second_site_takes_no_hits_from_a_page(index):
    index.add("news.jsonl", news(40))
    before = index.search("president")
    index.add("other.jsonl", news(1, "other.test"))
    after = index.search("president")
    assert len(before["hits"]) == len(after["hits"]) == PAGE
    assert (after["total"]["value"], after["more_hits"]) == (41, True)
    with index.served() as (public, _):
        found = pages(public, "president")
    assert len(found) == len(set(found)) == 41


def test_two_corpora_in_one_index_fill_every_page(index):
    words = ["amber", "birch", "cedar", "delta", "ember", "fjord", "glade", "heath"]
    first = [f"{words[n % 8]} {words[n // 3 % 8]} {words[n // 5 % 8]}" for n in range(90)]
    second = [f"{words[n % 5]} {words[n // 2 % 8]}" for n in range(45)]
    for site, texts in [("one.test", first), ("two.test", second)]:
        index.add(f"{site}.jsonl", [{"url": f"https://{site}/{n}", "title": "", "body": text} for n, text in enumerate(texts)])
    texts = [set(text.split()) for text in first + second]
    with index.served() as (public, _):
        for a in words:
            for b in words:
                holding = sum(1 for held in texts if {a, b} & held)
                found = pages(public, " ".join(sorted({a, b})))
                assert len(found) == len(set(found)) == holding, (a, b)


def test_a_beginning_finds_all_that_the_word_finds(index):
    index.add("policies.jsonl", [
        {"url": "p:1", "title": "", "body": "Two policies of insurance"},
        {"url": "p:2", "title": "", "body": "A policy of insurance"},
        {"url": "p:3", "title": "", "body": "Earthquakes and an earthquake, policies for the running of it"},
        {"url": "p:4", "title": "", "body": "He runs"},
    ])
    for word in ["policies", "earthquake", "running", "insurance"]:
        assert set(index.urls(word)) <= set(index.urls(f"{word}*")), word
    assert index.urls("polici?s")
    assert index.urls("ear*quake")


def test_short_columns_are_searched_and_counted(index):
    index.add("products.jsonl", [
        {"id": "1", "name": "Galaxy S24", "brand": "Samsung", "category": "phones", "price": 799},
        {"id": "2", "name": "Pixel 9", "brand": "Google", "category": "phones", "price": 699},
    ])
    assert len(index.urls("samsung")) == len(index.urls("799")) == 1
    answer = index.search("phones", "--facet", "brand")
    assert {bucket["value"] for bucket in answer["facets"][0]["buckets"]} == {"Samsung", "Google"}
    assert len(index.urls("phones", "--filter", "brand:Google")) == 1


def test_people_in_a_table_are_found_by_their_work(index):
    index.add("people.csv", "name,work,town\nAda Berg,accountant,Bonn\nIan Fox,baker,Köln\n")
    hits = index.search("accountant")["hits"]
    assert [hit["title"] for hit in hits] == ["Ada Berg"]
    assert index.urls("koln") == index.urls("Köln") != []


def test_nothing_found_has_facets_all_the_same(index):
    index.add("news.jsonl", [{**one, "topic": "economy"} for one in news(3)])
    answer = index.search("zebra", "--facet", "topic")
    assert answer["facets"][0]["buckets"] == []


# ---- the engineer: order ------------------------------------------------------------------------


def test_an_accident_of_all_words_does_not_lead(index):
    about = [{"url": f"j:{n}", "title": "Steve Jobs", "body": f"Steve Jobs of Apple. Steve Jobs and the Mac. Jobs, part {n}."} for n in range(3)]
    diary = "A diary of the election. " + "Votes were counted in town and country, and the count went on and on. " * 60
    accident = {"url": "x:1", "title": "Diary", "body": diary + "A tree dies. Steve has jobs."}
    fill = [{"url": f"f:{n}", "title": "", "body": f"He has jobs to do, number {n}, and one dies."} for n in range(30)]
    index.add("all.jsonl", [*about, accident, *fill])
    hits = index.search("steve jobs dies")["hits"]
    assert hits[0]["url"].startswith("j:")
    assert all(hit["score"] <= 2 * hits[0]["score"] for hit in hits)


def test_words_that_tell_nothing_are_no_reason_to_stand_back(index):
    sails = {"url": "s:1", "title": "Solar sails", "body": "Solar sails steer by tilting against the light of the sun."}
    idle = [{"url": f"i:{n}", "title": "", "body": f"How do we do it, how do you do {n}"} for n in range(30)]
    index.add("all.jsonl", [sails, *idle])
    answer = index.search("how do solar sails steer")
    assert [hit["url"] for hit in answer["hits"]] == ["s:1"]
    assert answer["total"]["value"] == 1 and not answer["hits"][0].get("lacks")
    assert "<mark>how</mark>" not in answer["hits"][0]["summary"].lower()


def test_equal_texts_are_one_hit_where_asked_for(index):
    index.add("copies.jsonl", [{"url": f"c:{n}", "title": "Terms", "body": "The same terms of use"} for n in range(12)] + news(2, text="terms {}"))
    assert len(index.urls("terms")) == PAGE
    hits = index.search("terms", "--collapse", "text")["hits"]
    assert len(hits) == 3 and max(hit.get("hidden", 0) for hit in hits) == 11


def test_a_typing_error_is_answered_and_others_are_offered(index):
    index.add("news.jsonl", news(30, text="On Saturday the president spoke, {}.") + news(1, "odd.test", "The saturdy of a typo, {}."))
    for typed, meant in [("presidnet", "president"), ("presidet", "president"), ("satruday", "saturday")]:
        answer = index.search(typed)
        assert (answer["query"], answer["corrected"]) == (typed, meant)
        assert len(answer["hits"]) == PAGE and answer["total"]["value"] == 30
        assert answer["phases_us"]["spelling"] > 0
        assert index.search(typed, "--start", 20)["corrected"] == meant
        assert index.search(typed, "--verbatim")["hits"] == []
    # What a document has stands, and the far more frequent word is offered only where it is.
    assert index.search("saturdy")["hits"][0]["url"].startswith("https://odd.test")
    assert not index.search('"presidnet"')["hits"]


def test_the_owner_says_which_words_find_each_other(index):
    index.add("flats.jsonl", [
        {"url": "f:1", "title": "", "body": "a television set"},
        {"url": "f:2", "title": "", "body": "a telly in New York"},
        {"url": "f:3", "title": "", "body": "the york of a new age"},
    ])
    rules = index.folder / "rules.toml"
    rules.write_text('stop_words = ["the"]\nsynonyms = ["tv, telly, television", "nyc -> new york"]\n')
    assert index.urls("tv", "--verbatim") == []
    index.shorttail("rules", index.index, rules)
    assert set(index.urls("tv")) == set(index.urls("telly")) == {"f:1", "f:2"}
    assert index.urls("nyc") == ["f:2"], "a synonym of several words is a phrase"
    assert index.urls("the tv") == index.urls("tv")
    assert index.urls("tv", "--no-rules", "--verbatim") == []
    rules.write_text("")
    index.shorttail("rules", index.index, rules)
    assert index.urls("tv", "--verbatim") == []


def test_the_owner_says_what_stands_first_and_what_scores_more(index):
    index.add("shop.jsonl", [
        {"url": f"p:{n}", "title": f"Camera {n}", "body": "a camera with a strap", "brand": brand, "published": day}
        for n, (brand, day) in enumerate([("Acme", "2020-01-01"), ("Zeta", "2020-01-01"), ("Zeta", "2026-11-01")])
    ] + [{"url": "p:hours", "title": "Opening hours", "body": "nine to five"}])
    plain = index.urls("camera")
    assert sorted(plain) == ["p:0", "p:1", "p:2"]
    rules = index.folder / "rules.toml"
    rules.write_text("""
        [[pins]]
        queries = ["camera", "Cameras!"]
        first = ["p:hours", "p:nowhere"]
        hidden = ["p:1"]
        [[priors]]
        filter = "brand:Acme"
        weight = 0.5
        [[priors]]
        field = "published"
        half_days = 365
        weight = 2
    """)
    index.shorttail("rules", index.index, rules)
    found = index.search("CAMERA")
    assert [hit["url"] for hit in found["hits"]] == ["p:hours", "p:2", "p:0"], "the newest, then the brand"
    assert [hit.get("pinned", False) for hit in found["hits"]] == [True, False, False]
    assert found["total"]["value"] == 3
    assert index.urls("camera", "--filter", "brand:Zeta") == ["p:2"], "filters hold for what is pinned, too"
    assert index.urls("camera strap")[-1] == "p:1", "another query hides nothing"
    assert sorted(index.urls("camera", "--no-rules")) == sorted(plain)
    told = index.shorttail("search", index.index, "camera", "--explain")
    for part in ["pinned by a rule", "prior of brand:Acme", "prior of published = weight * half / (half + age)"]:
        assert part in told, part


# ---- the engineer: servers, pages of one's own, files --------------------------------------------


def test_a_server_begins_with_nothing_and_takes_what_index_takes(index):
    with index.served("--writable") as (public, admin):
        body = b'{"url": "n:1", "name": "Galaxy S24", "text": "A phone with a short name", "brand": "Samsung"}\n'
        status, _, told = ask(f"{admin}/documents?refresh=wait", "POST", body, Content_Type="application/x-ndjson")
        assert status == 200, told
        for query in ["samsung", "galaxy", "phone"]:
            assert json.loads(ask(f"{public}/search?q={query}")[2])["total"]["value"] == 1, query


def test_a_page_of_ones_own_may_ask(index):
    index.add("news.jsonl", news(3))
    origin = "https://www.example.org"
    with index.served("--allow-origin", origin) as (public, _):
        status, headers, _ = ask(f"{public}/search", "OPTIONS", Origin=origin, Access_Control_Request_Method="GET")
        assert status in (200, 204) and headers["access-control-allow-origin"] == origin
        status, headers, _ = ask(f"{public}/search?q=president", Origin=origin)
        assert status == 200 and headers["access-control-allow-origin"] == origin
        _, headers, _ = ask(f"{public}/search?q=president", Origin="https://elsewhere.example")
        assert headers["access-control-allow-origin"] is None


def test_a_hit_of_a_file_opens(index):
    folder = index.folder / "docs"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub/plan.html").write_text("<title>Plan</title><p>The plan of the year</p>")
    (folder / "towns.csv").write_text("name,river\nBonn,Rhine\n")
    (folder / "tool.1").write_text('.TH TOOL 1\n.SH NAME\ntool \\- turns the crank\n')
    index.shorttail("index", index.index, folder)
    assert len(index.urls("plan")) == len(index.urls("rhine")) == len(index.urls("crank")) == 1
    with index.served("--map", f"file://{folder}=https://intranet.test/docs", "--originals", folder) as (public, _):
        text = ask(f"{public}/search?q=plan")[2]
        assert json.loads(text)["hits"][0]["url"] == "https://intranet.test/docs/sub/plan.html"
        assert str(folder) not in text and str(folder) not in ask(f"{public}/?q=plan", Accept="text/html")[2]


def test_all_documents_and_bodies_of_parameters(index):
    index.add("news.jsonl", news(12))
    assert index.search("*")["total"]["value"] == 12
    with index.served() as (public, _):
        body = json.dumps({"q": "president", "k": 3, "start": 3}).encode()
        status, _, text = ask(f"{public}/search", "POST", body, Content_Type="application/json")
        assert status == 200 and len(json.loads(text)["hits"]) == 3
        by_words = [json.loads(ask(f"{public}/search?q=president+zebra{more}")[2])["total"]["value"] for more in ("", "&words=auto", "&words=all")]
        hits = json.loads(ask(f"{public}/search?q=president+zebra")[2])["hits"]
        assert by_words == [0, 0, 0] and len(hits) == PAGE, "auto is the default, and finds some of the words"


def test_a_beginning_finds_titles_while_it_is_typed(index):
    index.add("news.jsonl", news(12) + [{"url": "t:1", "title": "Grand Canyon", "body": "A gorge"}])
    with index.served() as (public, _):
        for typed in ["gra", "grand ca", "grnad"]:
            found = json.loads(ask(f"{public}/suggest?q={urllib.parse.quote(typed)}")[2])
            assert "Grand Canyon" in json.dumps(found), typed


# ---- the researcher and the planner --------------------------------------------------------------


def test_a_metric_of_waiting_requests_is_of_the_moment(index):
    index.add("news.jsonl", news(3))
    with index.served("--writable") as (public, admin):
        body = b'{"url": "n:1", "title": "One", "body": "more"}\n'
        assert ask(f"{admin}/documents?refresh=wait", "POST", body, Content_Type="application/x-ndjson")[0] == 200
        ask(f"{public}/search?q=president")
        gauges = re.findall(r"^shorttail_\w*queue\w*(?:\{[^}]*\})? ([\d.]+)$", ask(f"{admin}/metrics")[2], re.MULTILINE)
        assert gauges and all(float(value) == 0 for value in gauges)


def test_a_crawl_that_gets_nothing_says_so(binary, tmp_path):
    command = [binary, "crawl", tmp_path / "crawl", "http://127.0.0.1:9/", "--max-pages", "1"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60)
    assert done.returncode != 0, done.stdout + done.stderr
