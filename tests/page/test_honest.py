"""Notices of partial answers and the times of steps on the page."""

import re

import dom
import pytest
from conftest import Server
from playwright.sync_api import expect

PHONE = {"width": 390, "height": 844}
CONTRAST_MIN = 4.5
STEPS = {"search call", "parse", "queueing", "search", "merge", "details", "counts", "summaries", "render"}


class Cluster:
    """Two index servers, a document server and a front-end, each a process."""

    def __init__(self, binary, index, folder):
        self.processes = {}
        try:
            file = "chunks = 3\n"
            for name, kind, chunks in [
                ("first", "index-server", "0"),
                ("rest", "index-server", "1-2"),
                ("texts", "document-server", "0-2"),
            ]:
                server = Server(binary, kind, index, "--chunks", chunks)
                self.processes[name] = server
                file += f'[[{kind}]]\naddress = "{server.listens}"\nchunks = "{chunks}"\n'
            path = folder / "cluster.toml"
            path.write_text(file)
            self.processes["front-end"] = Server(binary, "front-end", "--cluster", path)
        except BaseException:
            self.stop()
            raise

    @property
    def front_end(self):
        return self.processes["front-end"]

    def kill(self, name):
        process = self.processes.pop(name).process
        process.kill()
        process.wait(10)

    def stop(self):
        for server in reversed(self.processes.values()):
            server.stop()


@pytest.fixture
def cluster(binary, index, tmp_path):
    cluster = Cluster(binary, index, tmp_path)
    yield cluster
    cluster.stop()


@pytest.fixture
def open_cluster_page(browser):
    """Opens pages of a server of its own."""
    contexts = []

    def open_page(**options):
        contexts.append(browser.new_context(**options))
        contexts[-1].set_default_timeout(10_000)
        return contexts[-1].new_page()

    yield open_page
    for context in contexts:
        context.close()


def faint(page, within):
    """Texts in an element that are hard to read, with their contrast."""
    found = {}
    for element in page.locator(f"{within} :is(p, a, h2, th, td, caption, dt, dd, span)").all():
        if element.is_visible() and element.inner_text().strip():
            contrast = element.evaluate(dom.CONTRAST_OF)
            if contrast["ratio"] < CONTRAST_MIN:
                found[element.evaluate("e => e.outerHTML")[:120]] = round(contrast["ratio"], 2)
    return found


def fits(page):
    return page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_a_whole_answer_has_no_banner(open_page, server):
    page = open_page()
    page.goto(server.url(q="lighthouse"))
    expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_lost_part_is_told(open_cluster_page, cluster, picture, scheme):
    page = open_cluster_page(color_scheme=scheme)
    front_end = cluster.front_end
    whole = page.request.get(front_end.url("/search", q="lighthouse", k=100)).json()
    assert whole["coverage"] == 1.0 and "degraded" not in whole
    page.goto(front_end.url(q="lighthouse"))
    expect(page.get_by_role("alert")).to_have_count(0)

    cluster.kill("rest")
    partial = page.request.get(front_end.url("/search", q="lighthouse", k=100)).json()
    assert 0 < partial["coverage"] < 1.0 and 0 < len(partial["hits"]) < len(whole["hits"])
    lost = partial["degraded"][0]["documents_count"]
    page.goto(front_end.url(q="lighthouse"))
    banner = page.get_by_role("alert")
    expect(banner).to_contain_text("This answer is not complete")
    expect(banner).to_contain_text(f"Only {int(partial['coverage'] * 100)} % of the documents were searched.")
    expect(banner).to_contain_text(f"Nothing was searched in chunks 1-2 ({lost} documents): no server there answers.")
    expect(page.locator(".count")).to_contain_text("at least")
    assert dom.hits(page)
    # The next query has the same options.
    assert banner.get_by_role("link", name="Search again").get_attribute("href") == "./?q=lighthouse"
    assert faint(page, "[role=alert]") == {}
    assert fits(page)
    picture(page, f"partial-{scheme}")

    page.goto(front_end.url(q="nosuchwordanywhere"))
    expect(page.locator("main")).to_contain_text("Nothing found in what was searched")
    expect(page.get_by_role("alert")).to_be_visible()

    answer = page.request.get(front_end.url("/search", q="lighthouse", partial="0"))
    assert answer.status == 503 and "partial=0" in answer.text()
    response = page.goto(front_end.url(q="lighthouse", partial="0"))
    assert response.status == 503
    expect(page.get_by_role("alert")).to_contain_text("No answer")

    # Without any index server there is no answer at all.
    cluster.kill("first")
    assert page.goto(front_end.url(q="lighthouse")).status == 503
    assert page.request.get(front_end.url("/search", q="lighthouse")).status == 503


def test_lost_texts_are_told(open_cluster_page, cluster):
    page = open_cluster_page()
    cluster.kill("texts")
    page.goto(cluster.front_end.url(q="lighthouse"))
    expect(page.get_by_role("alert")).to_contain_text(
        "Some hits of chunks 0-2 are without their text: no server there answers."
    )
    assert len(page.locator(dom.HIT).all()) == 10


def test_time_that_is_over_is_told(open_page, server):
    page = open_page()
    # One millisecond is reserved for titles and texts: none is left for searches, so there is no answer.
    assert page.goto(server.url(q="lighthouse", timeout="1ms")).status == 504
    expect(page.get_by_role("alert")).to_contain_text("No answer in time")
    assert all("504" in seen for seen in page.incidents), page.incidents
    page.incidents.clear()


def rows(page):
    """The chart's rows: step, part, begin and length in microseconds, and where the bar is in pixels."""
    return page.evaluate(
        """() => [...document.querySelectorAll('#timeline tbody tr')].map(row => {
            const number = text => Number(text.replaceAll(',', ''));
            const [began, took] = [...row.querySelectorAll('.figure')].map(e => number(e.textContent));
            const bar = row.querySelector('svg rect:last-of-type').getBoundingClientRect();
            const whole = row.querySelector('svg').getBoundingClientRect();
            const part = row.querySelector('th span');
            return {
                step: row.querySelector('th').firstChild.textContent.trim(),
                part: part ? part.textContent : '',
                began, took,
                left: bar.left, width: bar.width, from: whole.left, to: whole.right,
            };
        })"""
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_timeline_of_a_query(open_page, server, picture, scheme):
    page = open_page(color_scheme=scheme)
    page.goto(server.url(q="lighthouse keeper", per_site=2))
    assert page.locator("#timeline").count() == 0
    link = page.get_by_role("link", name="Where the time went, step by step")
    with page.expect_navigation(url=re.compile(r"/\?q=lighthouse\+keeper&per_site=2&trace=1#timeline")):
        link.click()
    chart = page.locator("#timeline")
    expect(chart).to_be_visible()
    shown = rows(page)
    by_handlers = [row for row in shown if row["step"].startswith("handler ")]
    assert {row["step"] for row in by_handlers} == {"handler 0 begins"}
    phases = [row for row in shown if row not in by_handlers]
    assert {row["step"] for row in phases} == STEPS
    assert next(row for row in shown if row["step"] == "search call")["part"] == "chunks 0-2"

    # All bars have one scale: position and length match their figures.
    [(left, right)] = {(row["from"], row["to"]) for row in shown}
    ends = max(row["began"] + row["took"] for row in shown)
    scale = (right - left) / ends
    for row in shown:
        assert row["left"] - left == pytest.approx(row["began"] * scale, abs=3), row
        assert row["width"] == pytest.approx(row["took"] * scale, abs=3), row
        assert row["left"] + row["width"] <= right + 1, row

    # A part lies within its whole, and is indented.
    call, *steps = [row for row in phases if row["part"] == "chunks 0-2" and row["step"] != "details"][:4]
    for row in steps:
        assert call["began"] <= row["began"], row
        assert row["began"] + row["took"] <= call["began"] + call["took"] + 2, row
    assert chart.locator("tbody th.depth-1").count() == 3

    # Figures are aligned at the right.
    rights = page.evaluate(
        """() => [...document.querySelectorAll('#timeline tbody .figure:not(.began)')]
            .map(e => e.getBoundingClientRect().right)"""
    )
    assert max(rights) - min(rights) < 0.5
    # Screen readers skip the drawing; the table has the same figures.
    expect(page.get_by_role("table")).to_have_count(1)
    assert chart.locator("svg").evaluate_all("all => all.every(e => e.closest('[aria-hidden=true]'))")
    assert faint(page, "#timeline") == {}
    assert fits(page)
    picture(page, f"timeline-{scheme}")


def test_the_timeline_on_a_phone(open_page, server, picture):
    page = open_page(viewport=PHONE, java_script_enabled=True)
    page.goto(server.url(q="lighthouse keeper", trace="1"))
    assert fits(page)
    assert all(row["to"] - row["from"] >= 80 for row in rows(page))
    picture(page, "timeline-phone")


def test_the_page_and_the_json_tell_the_same_steps(open_page, server):
    page = open_page()
    answer = page.request.get(server.url("/search", q="lighthouse", trace="1")).json()
    page.goto(server.url(q="lighthouse", trace="1"))
    told = sorted((span["name"], span.get("part", "")) for span in answer["trace"])
    assert sorted((row["step"], row["part"]) for row in rows(page) if row["step"] != "render") == told
    # Paging and the next query keep the option.
    assert "trace=1" in page.locator("a[rel=next]").get_attribute("href")
    assert page.locator("input[name=trace]").get_attribute("value") == "1"


def test_the_timeline_of_several_processes(open_cluster_page, cluster, picture):
    page = open_cluster_page()
    page.goto(cluster.front_end.url(q="lighthouse", trace="1"))
    parts = {row["part"] for row in rows(page)}
    assert parts == {"", "chunks 0", "chunks 1-2", "chunks 0-2"}
    picture(page, "timeline-cluster")
