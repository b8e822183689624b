"""Documents, addresses and queries that try to run scripts, forge highlights or lead elsewhere."""

import re

import corpus
import dom
import payloads
import pytest
from conftest import plain

# Payloads by the number in the document's needle.
HOSTILE = {n: d for n, d in enumerate(corpus.hostile()) if not corpus.refused(d)}
# Length up to which every query is answered; browsers accept longer addresses than servers.
QUERY_BYTES_ANSWERED = 2_000


def census(page):
    """Elements and attributes in use, after checking that nothing leads outside http and https."""
    found = page.evaluate(dom.CENSUS_OF)
    assert set(found["leads"]) <= {"http:", "https:"}, found["leads"]
    return set(found["used"])


@pytest.fixture(scope="module")
def ordinary(browser, server):
    """Elements and attributes of harmless pages: hostile ones must not have others."""
    page = browser.new_page()
    used = set()
    for parameters in [
        {},
        {"q": "lighthouse"},
        {"q": "lighthouse", "start": 10},
        {"q": "lighthouse keeper", "per_site": 1},
        {"q": "unlinked"},
        {"q": "untitled"},
        {"q": "longwinded"},
        {"q": "nosuchwordanywhere"},
        {"q": "nosuch word anywhere", "k": 5, "per_site": 0},
        {"q": "lighthouse nosuchwordanywhere"},
        {"q": "fog electric"},
        {"q": "\"nosuch words\" -anywhere"},
        {"q": "\"lighthouse (keeper OR -"},
        {"q": "lighthouse", "start": 9000},
        {"q": ")("},
    ]:
        page.goto(server.url(**parameters))
        used |= census(page)
    page.close()
    return used


def check_windows(summary, body):
    """Every window of a summary is a literal piece of the document, except for white space."""
    for window in summary.split("\u2026"):
        assert plain(window).replace(" ", "") in plain(body).replace(" ", ""), window


def test_documents_stay_text(open_page, server, ordinary):
    page = open_page()
    for number, document in HOSTILE.items():
        where = f"document {number}: {document['title'][:80]!r} {document['url'][:80]!r}"
        page.goto(server.url(q=corpus.needle(number)))
        assert census(page) <= ordinary, where
        hits = dom.hits(page)
        assert len(hits) == 1, f"{where}: {len(hits)} hits"
        title, shown = plain(document["title"]), plain(hits[0]["title"])
        assert shown == title or title.startswith(shown.removesuffix("\u2026").strip()), where
        check_windows(hits[0]["summary"], document["body"])
        assert hits[0]["marks"], where
        assert {mark.lower() for mark in hits[0]["marks"]} == {corpus.needle(number)}, where
        assert page.incidents == [], where


def test_stored_texts_stay_text(open_page, server):
    page = open_page()
    page.goto(server.url(q="lighthouse"))
    page.goto(dom.hits(page)[0]["stored"])
    ordinary = census(page)
    for number, document in HOSTILE.items():
        page.goto(server.url("/document", url=document["url"]))
        where = f"document {number}: {document['body'][:80]!r}"
        assert census(page) <= ordinary, where
        assert plain(page.locator("pre").text_content()) == plain(document["body"]), where
        shown = plain(page.locator("main").text_content())
        if document["url"].startswith(("file:", "/")):
            # No page tells the folders of the server.
            folder, name = document["url"].rsplit("/", 1)
            assert name in shown and not (folder and folder in shown), where
        else:
            assert plain(document["url"]) in shown, where
        assert page.incidents == [], where


def test_addresses_become_links_only_where_they_lead(open_page, server):
    page = open_page()
    first = len(payloads.TEXTS)
    for number in range(first, first + len(payloads.ADDRESSES)):
        if number not in HOSTILE:
            continue
        address = HOSTILE[number]["url"]
        page.goto(server.url(q=corpus.needle(number)))
        link = dom.hits(page)[0]["link"]
        if not re.match(r"https?://", address, re.IGNORECASE):
            assert link is None, f"{address!r} became {link!r}"
        elif link is not None:
            assert re.match(r"https?://", link, re.IGNORECASE), f"{address!r} became {link!r}"


def test_many_hostile_hits_on_one_page(open_page, server, ordinary, picture):
    page = open_page()
    shown = set()
    start = 0
    while True:
        page.goto(server.url(q="hostile", k=50, start=start))
        hits = dom.hits(page)
        if not hits:
            break
        assert census(page) <= ordinary
        for hit in hits:
            shown |= set(re.findall(r"needle[b-p]+", hit["title"]))
            assert {mark.lower() for mark in hit["marks"]} <= {"hostile"}, hit
        start += len(hits)
    assert shown == {corpus.needle(number) for number in HOSTILE}
    page.goto(server.url(q="hostile", k=50))
    picture(page, "hostile")


@pytest.mark.parametrize("javascript", [True, False], ids=["javascript", "no javascript"])
def test_queries_are_shown_as_typed(open_page, server, ordinary, javascript):
    page = open_page(java_script_enabled=javascript)
    texts = payloads.TEXTS + payloads.ADDRESSES
    # Without JavaScript only <noscript> reads differently; a sample shows that the page works at all.
    for text in texts if javascript else [t for t in texts if "noscript" in t] + texts[::8]:
        response = page.goto(server.url(q=text))
        if len(text.encode()) <= QUERY_BYTES_ANSWERED:
            assert response.status == 200, repr(text)
        else:
            assert response.status in (200, 400, 413, 414, 431), repr(text[:80])
        if response.status == 200:
            assert census(page) <= ordinary, repr(text)
            shown = page.locator("input[name=q]").input_value()
            # A one-line field has no line breaks.
            assert plain(shown).replace(" ", "") == plain(text).replace(" ", ""), repr(text)
        assert page.incidents == [], repr(text)


def test_direction_stays_inside(open_page, server):
    """A right-to-left override in a title must not reverse the address beside it."""
    page = open_page()
    page.goto(server.url(q=corpus.needle(payloads.TEXTS.index(chr(0x202E) + " never closed"))))
    leaks = page.evaluate(
        """hit => [...document.querySelectorAll(hit + ' *')]
            .filter(e => /[\\u202a-\\u202e\\u2066-\\u2069]/.test([...e.childNodes]
                .filter(n => n.nodeType == 3).map(n => n.data).join('')))
            .filter(e => {
                for (; !e.matches(hit); e = e.parentElement) {
                    const style = getComputedStyle(e);
                    if (/isolate|plaintext/.test(style.unicodeBidi)) return false;
                    if (!style.display.startsWith('inline')) return false;
                }
                return true;
            }).map(e => e.outerHTML)""",
        dom.HIT,
    )
    assert leaks == []


def test_headers_forbid_scripts_of_others(open_page, server):
    headers = open_page().goto(server.url(q="lighthouse")).headers
    policy = {
        name: set(sources)
        for name, *sources in (part.split() for part in headers["content-security-policy"].split(";"))
    }
    for kind in ("script-src", "object-src", "frame-src"):
        allowed = policy.get(kind, policy["default-src"])
        assert not allowed & {"'unsafe-inline'", "'unsafe-eval'", "*", "data:", "http:", "https:"}, kind
    assert policy["base-uri"] == {"'none'"}
    assert policy["form-action"] == {"'self'"}
    assert policy["frame-ancestors"] == {"'none'"}
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-type"].lower() == "text/html; charset=utf-8"
