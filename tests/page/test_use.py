"""Use of the page with a keyboard, on a phone, in the dark, and without JavaScript."""

import json
import re

import corpus
import dom
import pytest
from playwright.sync_api import expect

PHONE = {"width": 390, "height": 844}
TABS_TO_FIRST_HIT_MAX = 6
CONTRAST_MIN = 4.5


def test_first_page_invites_a_query(open_page, server, picture):
    page = open_page()
    page.goto(server.url())
    field = page.locator("input[name=q]")
    expect(field).to_be_focused()
    assert field.evaluate("e => e.labels?.length > 0 || !!e.getAttribute('aria-label')")
    assert page.locator("html").get_attribute("lang")
    assert "width=device-width" in page.locator("meta[name=viewport]").get_attribute("content")
    assert page.title()
    picture(page, "first")


@pytest.mark.parametrize("javascript", [True, False], ids=["javascript", "no javascript"])
def test_a_search(open_page, server, picture, javascript):
    page = open_page(java_script_enabled=javascript)
    page.goto(server.url())
    page.locator("input[name=q]").fill("lighthouse keeper")
    with page.expect_navigation(url=re.compile(r"/\?q=lighthouse")):
        page.keyboard.press("Enter")
    hits = dom.hits(page)
    assert len(hits) == 10
    for hit in hits:
        assert re.fullmatch(r"https://coast\d+\.example\.test/lighthouse/\d\.html", hit["link"])
        assert "keeper" in hit["title"]
        assert hit["marks"]
    assert {mark.lower() for hit in hits for mark in hit["marks"]} == {"lighthouse", "keeper"}
    assert page.locator("input[name=q]").input_value() == "lighthouse keeper"
    assert "lighthouse keeper" in page.title()
    picture(page, "results")


def test_keyboard_alone(open_page, server):
    page = open_page()
    page.goto(server.url())
    expect(page.locator("input[name=q]")).to_be_focused()
    page.keyboard.type("lighthouse")
    with page.expect_navigation(url=re.compile(r"/\?q=lighthouse")):
        page.keyboard.press("Enter")
    for _ in range(TABS_TO_FIRST_HIT_MAX):
        page.keyboard.press("Tab")
        focus = page.evaluate(dom.FOCUS_OF)
        assert focus["visible"], focus
        if focus["hit"]:
            break
    assert focus["hit"] and focus["name"] == "a", f"not at a hit after {TABS_TO_FIRST_HIT_MAX} tabs"
    first = dom.hits(page)[0]["link"]
    assert page.evaluate("() => document.activeElement.href") == first
    # No server has the addresses of the corpus: the test checks only that the browser requests them.
    page.route(first, lambda route: route.fulfill(body="there"))
    with page.expect_navigation(url=first):
        page.keyboard.press("Enter")
    assert page.incidents == [f"request: {first}"]
    page.incidents.clear()


def follow(page, link):
    """Clicks a link and waits for the page behind it."""
    with page.expect_navigation():
        page.locator(link).first.click()


@pytest.mark.parametrize("per_site", [0, 1])
def test_paging_is_exact(open_page, server, per_site):
    page = open_page()
    wanted = page.request.get(server.url("/search", q="lighthouse", per_site=per_site, k=100)).json()
    wanted = [hit["url"] for hit in wanted["hits"]]
    assert len(set(wanted)) == corpus.ORDINARY_SITES * corpus.ORDINARY_PER_SITE
    page.goto(server.url(q="lighthouse", per_site=per_site))
    held_back = page.get_by_role("heading", name="More of these sites")
    assert page.locator("a[rel=prev]").count() == 0
    pages = [[hit["link"] for hit in dom.hits(page)]]
    while page.locator("a[rel=next]").count():
        follow(page, "a[rel=next]")
        pages.append([hit["link"] for hit in dom.hits(page)])
        assert len(pages) < 20, "the next page never ends"
    assert held_back.count() == per_site
    assert [link for links in pages for link in links] == wanted
    assert all(pages), "a next page was offered and was empty"
    for links in reversed(pages[:-1]):
        follow(page, "a[rel=prev]")
        assert [hit["link"] for hit in dom.hits(page)] == links
    assert page.locator("a[rel=prev]").count() == 0


def test_pages_have_numbers_that_lead_to_hits(open_page, server, picture):
    page = open_page()
    page.goto(server.url(q="lighthouse", k=5))
    numbers = page.locator("nav.pages").get_by_role("link", name=re.compile(r"^Page \d+$"))
    assert numbers.all_inner_texts() == ["2", "3", "4", "5"]
    assert page.locator("[aria-current=page]").inner_text() == "1"
    first = [hit["link"] for hit in dom.hits(page)]
    picture(page, "page numbers")
    with page.expect_navigation():
        numbers.last.click()
    assert page.locator("[aria-current=page]").inner_text() == "5"
    there = [hit["link"] for hit in dom.hits(page)]
    assert there and not set(there) & set(first)
    # A limit of hits a site leaves none out.
    page.goto(server.url(q="lighthouse", per_site=1, k=5))
    assert numbers.all_inner_texts() == ["2", "3", "4", "5"]


def test_targets_are_large_enough(open_page, server):
    page = open_page()
    for address in [server.url(), server.url(q="lighthouse", k=5), server.url(q="nosuchwordanywhere")]:
        page.goto(address)
        small = page.evaluate(
            """() => [...document.querySelectorAll("a, button, input, summary")]
                .filter(e => e.offsetParent && !e.closest(".skip, dt") && e.type !== "hidden")
                // A title is as high as its lines.
                .map(e => [e.outerHTML, (e.closest("h2") || e).getBoundingClientRect().height])
                .filter(([, height]) => height < 24)"""
        )
        assert small == []


def test_the_slash_moves_to_the_search_field(open_page, server):
    page = open_page()
    page.goto(server.url(q="lighthouse"))
    field = page.locator("input[name=q]")
    expect(field).not_to_be_focused()
    page.keyboard.press("/")
    expect(field).to_be_focused()
    assert field.input_value() == "lighthouse"
    page.keyboard.press("End")
    page.keyboard.type("/x")
    assert field.input_value() == "lighthouse/x"


def test_nothing_here_is_a_page_for_browsers(open_page, server, picture):
    page = open_page()
    response = page.goto(server.url("/nowhere"))
    page.incidents.clear()
    assert response.status == 404
    assert page.locator("h1").inner_text() == "Nothing is here"
    assert page.locator("input[name=q]").count() == 1
    picture(page, "nothing is here")
    answer = page.request.get(server.url("/nowhere"), headers={"accept": "*/*"})
    assert answer.status == 404 and "reason" in answer.json()["error"]


def test_a_typo_is_corrected(open_page, server, picture):
    page = open_page()
    page.goto(server.url(q="lighthuose keeper"))
    better = page.locator(".better")
    assert better.locator("a").inner_text() == "lighthouse keeper"
    picture(page, "did you mean")
    with page.expect_navigation():
        better.locator("a").click()
    assert page.locator(".better").count() == 0
    assert "lighthouse" in dom.hits(page)[0]["summary"].lower()


def test_what_finds_nothing_is_answered_with_its_correction(open_page, server, picture):
    page = open_page()
    page.goto(server.url(q="lighthuose"))
    better = page.locator(".better")
    assert better.locator("b").inner_text() == "lighthouse"
    assert "lighthouse" in dom.hits(page)[0]["summary"].lower()
    assert page.locator("input[name=q]").input_value() == "lighthuose"
    picture(page, "showing results for")
    with page.expect_navigation():
        better.locator("a").click()
    assert page.locator("ol.hits li").count() == 0
    assert better.inner_text().startswith("Did you mean lighthouse?")


def test_words_are_marked_in_titles(open_page, server):
    page = open_page()
    page.goto(server.url(q="title:lighthouse"))
    marked = page.locator("ol.hits h2 mark")
    assert marked.count() and all(text.lower().startswith("lighthouse") for text in marked.all_inner_texts())


def test_nothing_found_says_so(open_page, server, picture):
    page = open_page()
    page.goto(server.url(q="nosuchwordanywhere"))
    assert page.locator(dom.HIT).count() == 0
    assert re.search(r"\bno\b|\bnothing\b", page.locator("main").inner_text(), re.IGNORECASE)
    picture(page, "nothing")


def test_untitled_documents_have_a_name(open_page, server):
    page = open_page()
    page.goto(server.url(q="untitled"))
    assert dom.hits(page)[0]["title"].strip()


def test_long_texts_are_read_to_their_middle(open_page, server):
    page = open_page()
    page.goto(server.url(q="longwinded filler"))
    assert "longwinded" in dom.hits(page)[0]["summary"]


@pytest.mark.parametrize(
    "query", ["", "lighthouse keeper", "longwinded", "hostile", "nosuchwordanywhere", "w" * 1000]
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phone(open_page, server, picture, query, scheme):
    page = open_page(viewport=PHONE, is_mobile=True, has_touch=True, color_scheme=scheme)
    pages = range(0, 210, 50) if query == "hostile" else [0]
    for start in pages:
        more = {"k": 50, "start": start} if query == "hostile" else {}
        page.goto(server.url(**{"q": query, **more} if query else {}))
        wide = page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1] == PHONE["width"], f"scrolls sideways at start={start}: {wide}"
    assert page.locator("input[name=q]").evaluate("e => parseFloat(getComputedStyle(e).fontSize)") >= 16
    if query in ("", "lighthouse keeper"):
        picture(page, f"phone-{scheme}-{'results' if query else 'first'}", full_page=False)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours(open_page, server, picture, scheme):
    page = open_page(color_scheme=scheme)
    page.goto(server.url(q="lighthouse keeper"))
    faint = {}
    for element in page.locator("body, main *:not(:has(*)), header *, footer *").all():
        if not element.is_visible() or not element.inner_text().strip():
            continue
        contrast = element.evaluate(dom.CONTRAST_OF)
        if contrast["ratio"] < CONTRAST_MIN:
            faint[element.evaluate("e => e.outerHTML")[:120]] = round(contrast["ratio"], 2)
    assert faint == {}
    behind = page.locator("body").evaluate(dom.CONTRAST_OF)["behind"]
    assert behind < 0.1 if scheme == "dark" else behind > 0.8
    picture(page, scheme)


def server_timing(response):
    """Milliseconds by name."""
    entries = response.headers["server-timing"].split(",")
    parsed = [re.fullmatch(r"\s*([\w-]+)(?:;desc=\"[^\"]*\")?;dur=([\d.]+)\s*", e) for e in entries]
    assert all(parsed), response.headers["server-timing"]
    return {m[1]: float(m[2]) for m in parsed}


PHASES = [
    *("parse", "queueing", "index_search", "optimization_searches"),
    *("merge", "details", "summaries", "render"),
]


def test_json_and_header_time_every_phase(open_page, server):
    response = open_page().request.get(server.url("/search", q="lighthouse"))
    phases = json.loads(response.body())["phases_us"]
    assert set(phases) >= set(PHASES)
    timing = {name.replace("-", "_"): ms for name, ms in server_timing(response).items()}
    for name in PHASES:
        assert timing[name] * 1000 == pytest.approx(phases[name], abs=0.5), name


def test_page_shows_the_time_of_every_phase(open_page, server):
    page = open_page()
    response = page.goto(server.url(q="lighthouse keeper"))
    timing = {name.replace("-", "_"): ms for name, ms in server_timing(response).items()}
    text = page.locator("body").text_content()
    for name in PHASES:
        spoken = name.replace("_", "[ _-]")
        shown = re.search(rf"{spoken}\s*:?\s*([\d.,]+)\s*(µs|us|ms)", text, re.IGNORECASE)
        assert shown, f"no time of {name} in the page"
        us = float(shown[1].replace(",", "")) * (1000 if shown[2] == "ms" else 1)
        # The page shows two digits.
        assert us == pytest.approx(timing[name] * 1000, rel=0.051, abs=1), name


def test_documents_with_some_words_stand_apart(open_page, server):
    page = open_page()
    page.goto(server.url(q="lighthouse nosuchwordanywhere", k=5))
    assert "No document has all of the words" in page.locator(".count").inner_text()
    assert page.locator("h2.some").inner_text() == "With some of the words"
    assert page.locator("ol.hits > li").count() == 5
    lacks = page.locator(".lacks").all_inner_texts()
    assert lacks == ["Lacks nosuchwordanywhere"] * 5
    # All of them hold the one word, so nothing stands apart.
    page.goto(server.url(q="lighthouse"))
    assert page.locator("h2.some, .lacks").count() == 0
