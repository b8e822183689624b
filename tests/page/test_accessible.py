"""Rules of accessibility: axe finds nothing on any kind of page, on a narrow phone and a wide screen, light and dark."""

import pathlib

import axe_playwright_python
import pytest

AXE = pathlib.Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
WIDTHS = [320, 1440]
PAGES = {
    "first page": {},
    "results": {"q": "lighthouse keeper"},
    "with some of the words": {"q": "lighthouse nosuchwordanywhere"},
    "corrected": {"q": "lighthuose"},
    "no results": {"q": '"nosuchwordanywhere"'},
    "sites held back": {"q": "lighthouse", "per_site": 1},
    "explained": {"q": "lighthouse", "explain": 1},
    "traced": {"q": "lighthouse", "trace": 1},
    "sorted with facets": {"q": "lighthouse", "facet": "site", "sort": "site"},
    "a further page": {"q": "lighthouse", "start": 10},
    "error": {"q": "lighthouse", "k": "many"},
}
# In the dark only colors are others.
DARK = ["results", "explained", "traced", "error"]


def broken_rules(page):
    page.evaluate(AXE)
    return page.evaluate("async () => (await axe.run()).violations")


@pytest.mark.parametrize("colors", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing(open_page, server, picture, width, colors):
    page = open_page(viewport={"width": width, "height": 900}, color_scheme=colors)
    names = PAGES if colors == "light" else DARK
    addresses = {name: server.url(**PAGES[name]) for name in names}
    page.goto(addresses["results"])
    addresses["stored text"] = page.get_by_role("link", name="Stored text").first.evaluate("e => e.href")
    found = []
    for name, address in addresses.items():
        page.goto(address)
        # A refused request is reported to the console.
        page.incidents.clear()
        for broken in broken_rules(page):
            where = "; ".join(node["html"][:200] for node in broken["nodes"][:3])
            found.append(f"{name}: {broken['id']} ({broken['impact']}): {broken['help']}: {where}")
        is_wider = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
        if page.evaluate(is_wider):
            found.append(f"{name}: wider than {width} pixels")
        if colors == "light":
            picture(page, f"{name} {width}")
    assert not found, "\n".join(found)


def test_axe_finds_what_is_broken(open_page, server):
    page = open_page()
    page.goto(server.url())
    page.evaluate("() => document.querySelector('main').append(document.createElement('img'))")
    assert "image-alt" in {broken["id"] for broken in broken_rules(page)}
