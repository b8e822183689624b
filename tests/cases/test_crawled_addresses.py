"""A page keeps its place in the index until the page at the address that it states was seen, and `explain` tells why."""

import pytest
import sites


def canonical(*paths):
    return "".join(f'<link rel="canonical" href="{path}">' for path in paths)


def crawled(index, build, start):
    """Crawls a site that `build` makes, whose first page links to `start`."""
    site = sites.Site()
    build(site)
    site.page("/", "entrance", links=start)
    return sites.crawl(index, site)


def missing(site):
    site.page("/page", "keptword", head=canonical("/nowhere"))


def leads_back(site):
    site.page("/page", "keptword", head=canonical("/elsewhere"))
    site.redirect("/elsewhere", "/page")


def barred(site):
    site.page("/page", "keptword", head=canonical("/private/page"))
    site.page("/private/page", "keptword")
    site.rules.append("Disallow: /private/")


def hidden(site):
    site.page("/page", "keptword", head=canonical("/unlisted"))
    site.page("/unlisted", "keptword", head='<meta name="robots" content="noindex">')


def another_host(site):
    site.page("/page", "keptword", head=canonical("http://elsewhere.example/page"))



def an_image(site):
    site.page("/page", "keptword", head=canonical("/picture"))
    site.put("/picture", b"\x89PNG", kind="image/png")


@pytest.mark.parametrize("build", [missing, leads_back, barred, hidden, another_host, an_image])
def test_no_page_was_seen_at_the_address(index, build):
    explain = crawled(index, build, ["/page"])
    assert index.count("keptword") == 1
    told = explain("/page")
    assert "in index    yes" in told, told
    assert "no page that may be found was seen there" in told, told


def test_several_addresses(index):
    def build(site):
        site.page("/page", "keptword", head=canonical("/one", "/two"))
        site.page("/one", "oneword")
        site.page("/two", "twoword")

    explain = crawled(index, build, ["/page", "/one", "/two"])
    assert index.count("keptword") == 1
    assert "several addresses" in explain("/page")


def test_the_same_address_twice_is_one(index):
    def build(site):
        site.page("/page?from=here", "keptword", head=canonical("/page", "{base}/page"))
        site.page("/page", "keptword")

    explain = crawled(index, build, ["/page?from=here"])
    assert [hit["url"].split("/")[-1] for hit in index.search("keptword")["hits"]] == ["page"]
    assert "the page there stands for it" in explain("/page?from=here")


def test_the_page_there_has_another_text(index):
    def build(site):
        for word in ["leftword", "rightword"]:
            site.page(f"/{word}", word, head=canonical("/start"))
        site.page("/start", "startword", links=["/leftword"])

    explain = crawled(index, build, ["/leftword", "/rightword", "/start"])
    for word in ["leftword", "rightword", "startword"]:
        assert index.count(word) >= 1, word
    assert "the page there has another text" in explain("/leftword")


def test_a_chain_is_followed_to_its_end(index):
    def build(site):
        site.page("/a", "keptword", head=canonical("/b"))
        site.page("/b", "keptword", head=canonical("/old"))
        site.redirect("/old", "/c")
        site.page("/c", "keptword", head=canonical("/c"))

    explain = crawled(index, build, ["/a", "/b"])
    assert [hit["url"].split("/")[-1] for hit in index.search("keptword")["hits"]] == ["c"]
    told = explain("/a")
    assert "in index    no" in told and "/c, which is in the index for it" in told, told


def test_a_chain_whose_end_is_missing(index):
    def build(site):
        site.page("/a", "keptword", head=canonical("/b"))
        site.page("/b", "keptword", head=canonical("/c"))

    crawled(index, build, ["/a", "/b"])
    assert [hit["url"].split("/")[-1] for hit in index.search("keptword")["hits"]] == ["b"]


def test_a_circle(index):
    def build(site):
        for path, to in [("a", "b"), ("b", "c"), ("c", "a")]:
            site.page(f"/{path}", f"word{path}", head=canonical(f"/{to}"))

    crawled(index, build, ["/a", "/b", "/c"])
    for word in ["worda", "wordb", "wordc"]:
        assert index.count(word) == 1, word


def test_a_circle_of_one_text_has_one_document_and_a_reason(index):
    def build(site):
        site.page("/a", "keptword", head=canonical("/b"))
        site.page("/b", "keptword", head=canonical("/a"))

    explain = crawled(index, build, ["/a", "/b"])
    assert index.count("keptword") == 1
    assert "it leads in a circle" in explain("/a")


def test_replay_believes_the_same_addresses(index):
    site = sites.Site()
    site.page("/", "entrance", links=["/copy", "/original"])
    site.page("/copy", "keptword", head=canonical("/original"))
    site.page("/original", "keptword")
    sites.crawl(index, site)
    assert [hit["url"].split("/")[-1] for hit in index.search("keptword")["hits"]] == ["original"]
    replayed = index.path.parent / "replayed"
    index.done("crawl", "replay", index.path, "--into", replayed)
    index.path = replayed
    assert [hit["url"].split("/")[-1] for hit in index.search("keptword")["hits"]] == ["original"]
