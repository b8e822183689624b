"""The search box of examples/search-box, on a page of another origin."""

import contextlib
import functools
import http.server
import re
import threading

import corpus
import pytest
from conftest import Server
from payloads import TEXTS
from playwright.sync_api import Error, expect

SCRIPT_BYTES_MAX = 3_072


@pytest.fixture(scope="module")
def folder(root):
    return root / "examples" / "search-box"


@pytest.fixture(scope="module")
def site(folder, binary, index, tmp_path_factory):
    """The origin of the page, and the server that its script asks."""
    pages_folder = tmp_path_factory.mktemp("search-box")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    pages = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=pages_folder))
    threading.Thread(target=pages.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{pages.server_port}"
    server = Server(binary, "serve", index, "--allow-origin", origin)
    for name in ("index.html", "search-box.js"):
        text = (folder / name).read_text(encoding="utf-8")
        (pages_folder / name).write_text(text.replace("http://127.0.0.1:7700", server.origin), encoding="utf-8")
    yield origin, server
    pages.shutdown()
    assert server.stop() == 0


@pytest.fixture
def box(browser, site):
    """The page, whose script asks the server of the test; no script of a document may run."""
    origin, _ = site
    context = browser.new_context()
    context.set_default_timeout(10_000)
    seen = []
    context.expose_function("ran", lambda *_: seen.append("a script ran"))
    page = context.new_page()
    page.on("pageerror", lambda error: seen.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (seen.append("dialog"), dialog.dismiss()))

    # Where Enter leads stays in the browser.
    page.route(re.compile(r"\.test/"), lambda route: route.fulfill(body="a document"))
    page.goto(origin + "/")
    yield page
    context.close()
    assert seen == []


def options(page):
    return page.get_by_role("option")


def test_the_script_is_small(folder):
    assert (folder / "search-box.js").stat().st_size <= SCRIPT_BYTES_MAX


def test_titles_are_shown_and_chosen_by_keyboard(box):
    field = box.get_by_role("combobox")
    expect(field).to_have_attribute("aria-expanded", "false")
    field.press_sequentially("the lighthouse of ca")
    expect(options(box)).to_have_count(8)
    expect(field).to_have_attribute("aria-expanded", "true")
    assert options(box).first.locator("mark").all_text_contents() == ["The", "lighthouse", "of", "cape"]
    for key, chosen in [("ArrowDown", 0), ("ArrowDown", 1), ("ArrowUp", 0), ("ArrowUp", None), ("ArrowUp", 7)]:
        field.press(key)
        selected = box.locator("[role=option][aria-selected=true]")
        expect(selected).to_have_count(0 if chosen is None else 1)
        if chosen is not None:
            expect(options(box).nth(chosen)).to_have_attribute("aria-selected", "true")
            expect(field).to_have_attribute("aria-activedescendant", options(box).nth(chosen).get_attribute("id"))
    field.press("Escape")
    expect(options(box)).to_have_count(0)
    expect(field).to_have_attribute("aria-expanded", "false")
    field.press_sequentially("p")
    expect(options(box)).to_have_count(8)
    field.press("ArrowDown")
    with box.expect_navigation(url=re.compile(r"^https://coast\d+\.example\.test/")):
        field.press("Enter")


def test_a_typing_error_finds_the_title(box):
    box.get_by_role("combobox").fill("the lihgthouse of cape 17")
    expect(options(box).first).to_have_text("The lighthouse of cape 17, its keeper and its lamp")


def test_nothing_is_shown_for_nothing(box):
    field = box.get_by_role("combobox")
    field.fill("the lighthouse")
    expect(options(box)).to_have_count(8)
    field.fill("zzzzzzzz")
    expect(options(box)).to_have_count(0)
    field.fill("the lighthouse")
    expect(options(box)).to_have_count(8)
    field.fill("")
    expect(options(box)).to_have_count(0)


def test_titles_are_texts_whatever_they_hold(box):
    field = box.get_by_role("combobox")
    for number, document in zip(range(len(TEXTS)), corpus.hostile()):
        if corpus.refused(document):
            continue
        field.fill(corpus.needle(number))
        expect(options(box).filter(has_text=corpus.needle(number)).first).to_be_visible()
        tags = box.locator("[role=option] *").evaluate_all("all => all.map(one => one.tagName)")
        assert set(tags) <= {"MARK"}, tags


def test_an_answer_that_comes_late_is_dropped(box):
    field = box.get_by_role("combobox")
    held = []
    first = re.compile(r"/suggest.*q=the%20lighthouse$")
    box.route(first, lambda route: held.append(route))
    with box.expect_request(first):
        field.fill("the lighthouse")
    field.fill("address")
    expect(options(box).first).to_contain_text("address")
    late = {"titles": [{"title": "late", "title_html": "late", "url": "https://late.test/"}]}
    # A dropped request may be gone already.
    with contextlib.suppress(Error):
        held[0].fulfill(json=late)
    expect(options(box).first).to_contain_text("address")
